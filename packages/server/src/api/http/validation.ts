import type { FastifySchemaValidationError, FastifyServerOptions } from "fastify";
import { echo, invalid, MOST_DETAILS, mustBe } from "../../domain/complaint.ts";
import { Problem, type ProblemDetail } from "../../domain/problem.ts";
import { closestName } from "../../domain/spelling.ts";
import { SHOWN_AS } from "../schemas/field.ts";
import { ruleOf } from "./rule-text.ts";

/**
 * Validation never changes the input: no "5" becomes 5, no unknown field disappears, no default appears. All errors are
 * collected, which is safe because no schema has items or patterns whose errors could multiply: there is at most one
 * per sent field. `format` only documents.
 */
const RULES = {
  allErrors: true,
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: false,
  validateFormats: false,
  strict: true,
  // Saves half a second per start. A test checks the schemas of the reference.
  validateSchema: false,
  verbose: true,
  // Halves the time to compile, during which all requests wait; validation takes the same time.
  code: { optimize: false },
  // For the reference alone.
  keywords: [SHOWN_AS],
};

export const ajvOptions: NonNullable<FastifyServerOptions["ajv"]> = { customOptions: RULES };

/** For one item of a batch: stops at the first error. */
export const itemAjvOptions = { customOptions: { ...RULES, allErrors: false } };

/** These have their own message; for an `if` only the broken rule counts. */
const REPORTED_ELSEWHERE: ReadonlySet<string> = new Set(["additionalProperties", "required", "if"]);

/**
 * Converts ajv's errors into the refusal. Only the first unknown field is compared with the known ones, which is slow.
 * Unknown fields come first: they often explain a missing one.
 */
export function toProblem(errors: FastifySchemaValidationError[], part: string): Problem {
  if (errors.some(({ keyword, instancePath }) => keyword === "type" && instancePath === "")) {
    return new Problem(part === "body" ? "body_not_object" : "request_malformed");
  }
  const judged = errorsOfMeantAlternatives(errors);
  const firstOf = (
    keep: (keyword: string) => boolean,
    describe: (error: VerboseError, index: number) => ProblemDetail,
  ) =>
    // Only as many as are shown: describing a hundred thousand fields would block others.
    judged
      .filter(({ keyword }) => keep(keyword))
      .slice(0, MOST_DETAILS)
      .map(describe);
  return invalid([
    ...firstOf((keyword) => keyword === "additionalProperties", unknown),
    ...firstOf((keyword) => keyword === "required", missing),
    ...firstOf((keyword) => !REPORTED_ELSEWHERE.has(keyword), wrong),
  ]);
}

/**
 * If no alternative of an `anyOf` matches, the rule that names them all counts. If the value is an object, and only one
 * alternative is, the caller meant that one: its errors say what to change.
 */
function errorsOfMeantAlternatives(
  errors: readonly FastifySchemaValidationError[],
): FastifySchemaValidationError[] {
  const meant: string[] = [];
  for (const { keyword, schemaPath, instancePath } of errors) {
    if (keyword !== "anyOf") continue;
    const inside = errors.filter((each) => each.schemaPath.startsWith(`${schemaPath}/`));
    const alternativeOf = (each: FastifySchemaValidationError) =>
      `${schemaPath}/${each.schemaPath.slice(schemaPath.length + 1).split("/", 1)}/`;
    const others = new Set(
      inside
        .filter((each) => each.instancePath === instancePath && !OF_OBJECTS.has(each.keyword))
        .map(alternativeOf),
    );
    const [first, ...rest] = new Set(inside.map(alternativeOf).filter((each) => !others.has(each)));
    if (first !== undefined && rest.length === 0) meant.push(first);
  }
  return errors.filter(({ keyword, schemaPath }) => {
    const own = meant.find((each) => schemaPath.startsWith(each));
    if (own !== undefined) return !schemaPath.slice(own.length).includes("/anyOf/");
    const isMeant = keyword === "anyOf" && meant.some((each) => each.startsWith(`${schemaPath}/`));
    return !isMeant && !schemaPath.includes("/anyOf/");
  });
}

/** Rules that only an object can break. */
const OF_OBJECTS: ReadonlySet<string> = new Set(["additionalProperties", "required"]);

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
