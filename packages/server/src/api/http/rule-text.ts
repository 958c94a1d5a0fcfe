import { AUDIT_ACTION_PATTERN } from "../../domain/identity/audit-event.ts";
import { QUEUE_NAME_PATTERN, QUEUE_READ_PATTERN } from "../../domain/queue.ts";
import { RESPONSE_CODE_PATTERN } from "../../domain/task-filter.ts";
import { IDEMPOTENCY_KEY_PATTERN } from "../../domain/task-request.ts";
import { STATUS_LIST_PATTERN, STATUSES } from "../schemas/task-status.ts";

/** Readable rules for patterns. */
const PATTERN_RULES: ReadonlyMap<unknown, string> = new Map([
  [QUEUE_NAME_PATTERN, "1 to 64 letters, digits or hyphens"],
  [QUEUE_READ_PATTERN, "1 to 64 letters, digits, dots, underscores or hyphens"],
  [AUDIT_ACTION_PATTERN, "an action such as queue.created"],
  [IDEMPOTENCY_KEY_PATTERN, "1 to 255 printable ASCII characters"],
  [STATUS_LIST_PATTERN, `one of ${STATUSES.map((status) => JSON.stringify(status)).join(", ")}`],
  [RESPONSE_CODE_PATTERN, "a status code, a class of them such as 5xx, timeout or network"],
]);

/** The readable rule of a field, from its schema: the same text whichever part was broken, so that one answer is enough. */
export function ruleOf(schema: unknown): string {
  if (!isRecord(schema)) return "valid";
  const { type, minimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  if (Array.isArray(schema.anyOf)) return alternatives(schema.anyOf.map(ruleOf));
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) {
    return `one of ${schema.enum.map((value) => JSON.stringify(value)).join(", ")}`;
  }
  switch (type) {
    case "integer":
      return maximum === undefined
        ? `an integer of at least ${minimum}`
        : `an integer between ${minimum} and ${maximum}`;
    case "number":
      return `a number between ${minimum} and ${maximum}`;
    case "boolean":
      return "true or false";
    case "array":
      return maxItems === undefined
        ? "an array"
        : `an array of ${minItems ?? 0} to ${maxItems} ${itemsOf(schema)}`;
    case "object":
      return "an object";
    default:
      return PATTERN_RULES.get(schema.pattern) ?? textRule(minLength, maxLength);
  }
}

/** Only lists of strings and numbers are limited. */
export function itemsOf(schema: unknown): string {
  const items = isRecord(schema) && isRecord(schema.items) ? schema.items : {};
  return items.type === "integer"
    ? `integers between ${items.minimum} and ${items.maximum}`
    : items.type === "string"
      ? "strings"
      : "items";
}

/** `a`, `b or c`, … */
function alternatives(rules: readonly string[]): string {
  return rules.length < 2 ? rules.join() : `${rules.slice(0, -1).join(", ")} or ${rules.at(-1)}`;
}

function textRule(minLength: unknown, maxLength: unknown): string {
  return maxLength === undefined ? "a string" : `a string of ${minLength ?? 0} to ${maxLength} characters`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
