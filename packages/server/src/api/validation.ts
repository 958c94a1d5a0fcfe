import type { FastifySchemaValidationError, FastifyServerOptions } from "fastify";
import { Problem, type ProblemDetail } from "../domain/problem.ts";
import { broken, echo, invalid } from "./complaint.ts";
import { ruleOf } from "./rule-text.ts";
import { closestName } from "./spelling.ts";

/**
 * Nothing a caller sent is changed on the way in: no "5" becomes 5, no unknown field disappears, no default appears.
 * All errors are collected, which is safe because no schema has items or patterns whose errors could multiply:
 * there is at most one per field that was sent. `format` only documents.
 */
export const ajvOptions: NonNullable<FastifyServerOptions["ajv"]> = {
  customOptions: {
    allErrors: true,
    coerceTypes: false,
    removeAdditional: false,
    useDefaults: false,
    validateFormats: false,
    strict: true,
    verbose: true,
  },
};

/** Turns what ajv found into the refusal. Fields nobody knows come first: they are often why another is missing. */
export function toProblem(errors: FastifySchemaValidationError[], part: string): Problem {
  const unknown: ProblemDetail[] = [];
  const missing: ProblemDetail[] = [];
  const wrong: ProblemDetail[] = [];
  for (const error of errors) {
    const { keyword, instancePath, params } = error;
    const schema = "parentSchema" in error ? error.parentSchema : undefined;
    if (keyword === "additionalProperties") {
      unknown.push(unknownField(String(params.additionalProperty), schema));
    } else if (keyword === "required") {
      const field = String(params.missingProperty);
      missing.push({ field, error: `${field} is required` });
    } else if (instancePath === "") {
      return new Problem(part === "body" ? "body_not_object" : "request_malformed");
    } else {
      wrong.push(broken(fieldName(instancePath), ruleOf(schema)));
    }
  }
  return invalid([...unknown, ...missing, ...wrong]);
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
