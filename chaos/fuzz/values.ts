import fc from "fast-check";
import type { Random } from "../rig/random.ts";
import type { Schema } from "./document.ts";

/** Strings that some rule may be meant for. */
const PLAUSIBLE = [
  "default",
  "emails",
  "Ada",
  "http://127.0.0.1:9/target",
  "https://api.example.com/v1/jobs?x=1",
  "http://127.0.0.1:9/{callbackUrl}",
  "2030-01-01T00:00:00Z",
  "2030-01-01T00:00:00.123+02:00",
  "ada@example.com",
  "tasks:read",
  "client_credentials",
  "replicate",
  "tok_01k9z3mxe5f8hrk3yv5pzq8c2d",
  "pending",
  "fixed",
  "POST",
];

/** Strings that no rule is meant for, and some code may stumble over. */
const ODD = [
  "",
  " ",
  "\u0000",
  "\ud800",
  "ß漢字🙂",
  "' or 1=1 --",
  "../../etc/passwd",
  "%00",
  "__proto__",
  "{startResult.body.id}",
  "\r\nX-A: b",
  "9".repeat(400),
  "x".repeat(70_000),
  "-0",
  "1e999",
  "NaN",
];

const ODD_VALUES: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  -(2 ** 63),
  [],
  {},
  [[[[]]]],
  { __proto__: null, constructor: {} },
  ["a", 1, null],
];

/** Values made from a schema: good ones, and ones that are nearly so. */
export function createValues(random: Random, schemas: (schema: Schema) => Schema) {
  const matching = new Map<string, readonly string[]>();

  /** Fits the schema, as far as the schema tells. */
  function good(given: Schema, depth = 0): unknown {
    const schema = given.$ref === undefined ? given : schemas(given);
    const choices = schema.oneOf ?? schema.anyOf;
    if (choices !== undefined) return good(random.pick(choices), depth);
    if (schema.enum !== undefined) return random.pick(schema.enum);
    if (schema.examples !== undefined && random.chance(0.3)) return random.pick(schema.examples);
    const type = typeof schema.type === "string" ? schema.type : random.pick(schema.type ?? ["null"]);
    switch (type) {
      case "string":
        return text(schema);
      case "integer":
      case "number":
        return number(schema, type === "integer");
      case "boolean":
        return random.chance(0.5);
      case "array": {
        const length = random.between(schema.minItems ?? 0, Math.min(schema.maxItems ?? 3, 4));
        return Array.from({ length }, () => good(schema.items ?? { type: "string" }, depth + 1));
      }
      case "object":
        return object(schema, depth);
      default:
        return null;
    }
  }

  function object(schema: Schema, depth: number): Record<string, unknown> {
    const made: Record<string, unknown> = {};
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      if (schema.required?.includes(name) || random.chance(depth > 3 ? 0 : 0.25))
        made[name] = good(field, depth + 1);
    }
    if (typeof schema.additionalProperties === "object" && random.chance(0.7))
      made[random.pick(["X-A", "a", "Content-Type"])] = good(schema.additionalProperties, depth + 1);
    return made;
  }

  function number({ minimum = -5, maximum = 100 }: Schema, isInteger: boolean): number {
    const edge = random.pick([minimum, maximum, random.between(minimum, Math.min(maximum, minimum + 50))]);
    return isInteger ? Math.round(edge) : edge;
  }

  function text({ pattern, format, minLength = 0, maxLength = 200, examples = [] }: Schema): string {
    if (format === "date-time") return random.pick(["2030-01-01T00:00:00Z", "2020-02-29T23:59:59.999Z"]);
    if (pattern !== undefined) return random.pick(thatMatch(pattern));
    const own = examples.filter((example) => typeof example === "string");
    const fitting = [...own, ...PLAUSIBLE].filter(({ length }) => length >= minLength && length <= maxLength);
    return random.pick(fitting.length === 0 ? ["x".repeat(minLength)] : fitting);
  }

  function thatMatch(pattern: string): readonly string[] {
    const known = matching.get(pattern);
    if (known !== undefined) return known;
    const rule = new RegExp(pattern, "u");
    const seed = random.between(0, 2 ** 31);
    const made = [
      ...PLAUSIBLE.filter((text) => rule.test(text)),
      ...fc.sample(fc.stringMatching(rule), { numRuns: 5, seed }),
    ];
    matching.set(pattern, made);
    return made;
  }

  /** One thing in it is not as it should be. */
  function bad(schema: Schema): unknown {
    const value = good(schema);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return odd();
    const made: Record<string, unknown> = { ...value };
    const name = random.chance(0.8) ? random.pick([...Object.keys(made), "extra"]) : oddText();
    if (random.chance(0.2)) delete made[name];
    else {
      const inner = made[name];
      const isDeep = typeof inner === "object" && inner !== null && !Array.isArray(inner);
      made[name] = isDeep && random.chance(0.5) ? { ...inner, [oddText()]: odd() } : odd();
    }
    return made;
  }

  function oddText(): string {
    return random.pick(random.chance(0.7) ? ODD : PLAUSIBLE);
  }

  function odd(): unknown {
    return random.chance(0.5) ? oddText() : random.pick(ODD_VALUES);
  }

  return { good, bad, odd, oddText };
}
