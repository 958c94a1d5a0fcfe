import type { LimitName, Limits } from "../limits.ts";
import type { JsonBounds } from "./scan.ts";

/** Maps the bounds of JSON to the limits of a plan. */
const LIMIT_OF: Readonly<Record<keyof JsonBounds, LimitName>> = {
  depth: "jsonDepth",
  keys: "jsonKeys",
  elements: "jsonElements",
  stringLength: "jsonStringLength",
};

/** The bounds of a plan for JSON that is large enough to be measured. */
export function jsonBounds(limits: Limits): JsonBounds {
  return {
    depth: limits.jsonDepth ?? Number.POSITIVE_INFINITY,
    keys: limits.jsonKeys ?? Number.POSITIVE_INFINITY,
    elements: limits.jsonElements ?? Number.POSITIVE_INFINITY,
    stringLength: limits.jsonStringLength ?? Number.POSITIVE_INFINITY,
  };
}

/** The bound that a text exceeds, with the plan's limit: `has more than 100 keys (jsonKeys)`. */
export function excessText(bound: keyof JsonBounds, bounds: JsonBounds): string {
  const most = bounds[bound];
  const limit = LIMIT_OF[bound];
  switch (bound) {
    case "depth":
      return `is nested deeper than ${most} levels (${limit})`;
    case "stringLength":
      return `has a string of more than ${most} characters (${limit})`;
    default:
      return `has more than ${most} ${bound} (${limit})`;
  }
}
