import { sliceMember } from "../raw-json.ts";

/** JSON as it was received, and its value: the value is for looking into, the text for keeping. */
export interface JsonText {
  readonly text: string;
  readonly value: unknown;
}

/** Null for what is not JSON. */
export function parseJsonText(text: string): JsonText | null {
  try {
    return { text, value: JSON.parse(text) };
  } catch {
    return null;
  }
}

const INDEX = /^\d+$/;

/**
 * The value at a dotted path; numbers are indexes of arrays. Own properties only: what a stranger's answer inherits
 * from our runtime (`constructor`, `__proto__`, an array's `length`) is not part of the answer.
 */
export function readPath(value: unknown, path: string): unknown {
  if (path === "") return value;
  let current = value;
  for (const key of path.split(".")) {
    if (typeof current !== "object" || current === null) return undefined;
    if (Array.isArray(current) && !INDEX.test(key)) return undefined;
    current = Object.getOwnPropertyDescriptor(current, key)?.value;
  }
  return current;
}

/**
 * The value at a path as text: a string as itself, anything else as the JSON it was written in, so that a number
 * too large for a double survives. Null where there is nothing: no such path, or `null` at its end.
 */
export function textAt({ text, value }: JsonText, path: string): string | null {
  const found = readPath(value, path);
  if (found === undefined || found === null) return null;
  return typeof found === "string" ? storable(found) : (slicePath(text, path) ?? serialise(found));
}

/** Walks through objects only; an array on the way yields undefined. */
function slicePath(text: string, path: string): string | undefined {
  if (path === "") return text;
  let slice: string | undefined = text;
  for (const key of path.split(".")) {
    if (slice === undefined || !/^\s*\{/.test(slice)) return undefined;
    slice = sliceMember(slice, key);
  }
  return slice;
}

/** JSON.stringify recurses: an answer can be nested deeper than our stack is high. */
function serialise(value: unknown): string | null {
  try {
    return JSON.stringify(value);
  } catch {
    return null;
  }
}

/**
 * An escape (`\u0000`, half a surrogate pair) passes as text and becomes, once parsed, a character that PostgreSQL
 * refuses. The settlement would fail, and the poll be made again without end.
 */
function storable(text: string): string {
  return text.replace(/[\0\p{Cs}]/gu, "\uFFFD");
}
