import { forbiddenHeader, isHeaderName, isHeaderValue } from "../domain/header.ts";
import type { ProblemDetail } from "../domain/problem.ts";
import { echo } from "./complaint.ts";
import { LARGEST_HEADERS_BYTES, LONGEST_URL, MOST_HEADERS } from "./schemas/task-request.ts";

/**
 * Spaces, control characters and lone surrogates: the URL parser drops or replaces them, so what is called would not
 * be what the record shows, and PostgreSQL refuses a NUL.
 */
const NOT_IN_URL = /[\s\p{Cc}\p{Cs}]/u;

/** Absolute http or https, and no credentials: they would be stored and shown in every record. */
export function isCallUrl(text: string): boolean {
  if (text.length > LONGEST_URL || NOT_IN_URL.test(text)) return false;
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === "" && password === "" && !hasUserInfo(text);
}

/** `http://@host` has empty credentials, which the parsed URL no longer shows. */
function hasUserInfo(text: string): boolean {
  const authority = /^https?:[/\\]*([^/\\?#]*)/i.exec(text);
  return authority?.[1]?.includes("@") ?? false;
}

/** Every rule that the headers of a call break. */
export function headerComplaints(headers: Readonly<Record<string, string>>): ProblemDetail[] {
  const complaints: ProblemDetail[] = [];
  const seen = new Set<string>();
  let bytes = 0;
  const entries = Object.entries(headers);
  if (entries.length > MOST_HEADERS)
    return [{ field: "headers", error: `headers must be at most ${MOST_HEADERS}` }];
  for (const [name, value] of entries) {
    bytes += name.length + value.length;
    const reason = nameComplaint(name, seen) ?? valueComplaint(name, value);
    if (reason !== null) complaints.push({ field: `headers[${JSON.stringify(echo(name))}]`, error: reason });
    seen.add(name.toLowerCase());
  }
  if (bytes > LARGEST_HEADERS_BYTES) {
    complaints.push({
      field: "headers",
      error: `headers must be at most ${LARGEST_HEADERS_BYTES} bytes together`,
    });
  }
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
