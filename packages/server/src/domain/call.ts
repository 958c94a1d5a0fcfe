import { echo, mustBe } from "./complaint.ts";
import { forbiddenHeader, isHeaderName, isHeaderValue } from "./header.ts";
import type { ProblemDetail } from "./problem.ts";
import { remembered } from "./remembered.ts";

export const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
export type Method = (typeof METHODS)[number];

/** One HTTP call as it is sent, independent of the kind of task. */
export interface Call {
  readonly method: Method;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** Sent instead of the body, which is text. */
  readonly bytes?: Uint8Array;
}

export const CALL_LIMITS = {
  /** Longer than most servers accept, short enough for every row. */
  url: 8192,
  headers: 64,
  headersBytes: 16 * 1024,
} as const;

/** The rule of the egress policy that a URL breaks, as the end of a sentence after the field's name; or null. */
export type RefuseUrl = (url: string) => string | null;

/**
 * Spaces, control characters and lone surrogates: the URL parser drops or replaces them, so the call would differ from
 * the record, and PostgreSQL refuses a NUL.
 */
const NOT_IN_URL = /[\s\p{Cc}\p{Cs}]/u;

/** The part between `//` and the path. For http a backslash is a slash, and further slashes are skipped. */
const AUTHORITY = /^https?:\/\/[/\\]*([^/\\?#]*)/i;

const NOT_IN_AUTHORITY = /[@{}]/;

/**
 * Absolute http or https without credentials: they would be stored and shown in every record. They are searched for in
 * the text, because a parsed URL no longer shows empty ones (`http://@host`). A placeholder may not be in the host: it
 * must be known now.
 */
export const isCallUrl = remembered((text) => {
  if (text.length > CALL_LIMITS.url || NOT_IN_URL.test(text)) return false;
  const authority = AUTHORITY.exec(text)?.[1];
  return authority !== undefined && !NOT_IN_AUTHORITY.test(authority) && URL.canParse(text);
});

export function urlComplaint(field: string, url: string, refuseUrl: RefuseUrl): ProblemDetail | null {
  if (!isCallUrl(url)) return mustBe(field, "a valid http or https URL");
  const refusal = refuseUrl(url);
  return refusal === null ? null : { field, error: `${field} ${refusal}` };
}

/** Every rule that the headers of a call break. */
export function headerComplaints(headers: Call["headers"]): ProblemDetail[] {
  const entries = Object.entries(headers);
  if (entries.length > CALL_LIMITS.headers) return [mustBe("headers", `at most ${CALL_LIMITS.headers}`)];
  const complaints: ProblemDetail[] = [];
  const seen = new Set<string>();
  let bytes = 0;
  for (const [name, value] of entries) {
    bytes += name.length + value.length;
    const error = nameComplaint(name, seen) ?? valueComplaint(name, value);
    if (error !== null) complaints.push({ field: `headers[${JSON.stringify(echo(name))}]`, error });
    seen.add(name.toLowerCase());
  }
  if (bytes > CALL_LIMITS.headersBytes)
    complaints.push(mustBe("headers", `at most ${CALL_LIMITS.headersBytes} bytes together`));
  return complaints;
}

function nameComplaint(name: string, seen: ReadonlySet<string>): string | null {
  if (!isHeaderName(name)) return `Header name "${echo(name)}" is not valid`;
  if (forbiddenHeader(name)) return `Header "${echo(name)}" cannot be set`;
  return seen.has(name.toLowerCase()) ? `Header "${echo(name)}" is given twice` : null;
}

function valueComplaint(name: string, value: string): string | null {
  return isHeaderValue(value) ? null : `Header "${echo(name)}" has a value that is not valid in a header`;
}
