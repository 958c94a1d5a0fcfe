import type { FastifySchemaValidationError, FastifyServerOptions } from "fastify";
import { echo, invalid, MOST_DETAILS, mustBe } from "../../domain/complaint.ts";
import { Problem, type ProblemDetail } from "../../domain/problem.ts";
import { closestName } from "../../domain/spelling.ts";
import { SHOWN_AS } from "../schemas/field.ts";
import { ruleOf } from "./rule-text.ts";

/**
 * Nothing a caller sent is changed here: no "5" becomes 5, no unknown field disappears, no default appears.
 * All errors are collected, which is safe because no schema has items or patterns whose errors could multiply:
 * there is at most one per field that was sent. `format` only documents.
 */
const RULES = {
  allErrors: true,
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: false,
  validateFormats: false,
  strict: true,
  // Half a second of each start. The reference, which is made of the same schemas, is checked by a test.
  validateSchema: false,
  verbose: true,
  // For the reference alone.
  keywords: [SHOWN_AS],
};

export const ajvOptions: NonNullable<FastifyServerOptions["ajv"]> = { customOptions: RULES };

/** For one of many items in a body: it stops at the first broken rule. */
export const itemAjvOptions = { customOptions: { ...RULES, allErrors: false } };

/** By a sentence of their own; and of an `if` that led to a broken rule only the rule counts. */
const REPORTED_ELSEWHERE: ReadonlySet<string> = new Set(["additionalProperties", "required", "if"]);

/** Turns what ajv found into the refusal. Only the first unknown field is compared with the known ones, which takes its time. Fields nobody knows come first: they are often why another is missing. */
export function toProblem(errors: FastifySchemaValidationError[], part: string): Problem {
  if (errors.some(({ keyword, instancePath }) => keyword === "type" && instancePath === "")) {
    return new Problem(part === "body" ? "body_not_object" : "request_malformed");
  }
  const firstOf = (
    keep: (keyword: string) => boolean,
    describe: (error: VerboseError, index: number) => ProblemDetail,
  ) =>
    // Only as many as are shown: describing a hundred thousand fields would keep everybody else waiting.
    errors
      // Of alternatives none of which fits, only the rule that names them all counts.
      .filter(({ keyword, schemaPath }) => keep(keyword) && !schemaPath.includes("/anyOf/"))
      .slice(0, MOST_DETAILS)
      .map(describe);
  return invalid([
    ...firstOf((keyword) => keyword === "additionalProperties", unknown),
    ...firstOf((keyword) => keyword === "required", missing),
    ...firstOf((keyword) => !REPORTED_ELSEWHERE.has(keyword), wrong),
  ]);
}

/** With `verbose`, ajv adds the schema that was broken. */
type VerboseError = FastifySchemaValidationError & { readonly parentSchema?: unknown };

function unknown({ params, parentSchema }: VerboseError, index: number): ProblemDetail {
  return unknownField(String(params.additionalProperty), index === 0 ? parentSchema : undefined);
}

function missing({ params }: VerboseError): ProblemDetail {
  return { field: String(params.missingProperty), error: `${params.missingProperty} is required` };
}

function wrong({ instancePath, parentSchema }: VerboseError): ProblemDetail {
  return mustBe(fieldName(instancePath), ruleOf(parentSchema));
}

export function unknownField(name: string, schema?: unknown): ProblemDetail {
  const meant = closestName(name, propertyNames(schema));
  const hint = meant === undefined ? "" : ` (did you mean "${meant}"?)`;
  return { field: echo(name), error: `Unknown field "${echo(name)}"${hint}` };
}

function propertyNames(schema: unknown): readonly string[] {
  if (typeof schema !== "object" || schema === null || !("properties" in schema)) return [];
  const { properties } = schema;
  return typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
}

/** `/headers/X-A` → `headers["X-A"]`. */
function fieldName(instancePath: string): string {
  const [, first = "", ...rest] = instancePath.split("/");
  const keys = rest.map((part) => echo(part.replaceAll("~1", "/").replaceAll("~0", "~")));
  return first + keys.map((key) => `[${JSON.stringify(key)}]`).join("");
}
