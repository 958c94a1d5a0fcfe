import { forbiddenHeader, isHeaderName, isHeaderValue } from "../../domain/header.ts";
import type { ProblemDetail } from "../../domain/problem.ts";
import { echo } from "../http/complaint.ts";
import { LARGEST_HEADERS_BYTES, LONGEST_URL, MOST_HEADERS } from "../schemas/task-request.ts";

/**
 * Spaces, control characters and lone surrogates: the URL parser drops or replaces them, so what is called would not
 * be what the record shows, and PostgreSQL refuses a NUL.
 */
const NOT_IN_URL = /[\s\p{Cc}\p{Cs}]/u;

/** What stands between `//` and the path. For http a backslash is a slash, and further slashes are skipped. */
const AUTHORITY = /^https?:\/\/[/\\]*([^/\\?#]*)/i;

const NOT_IN_AUTHORITY = /[@{}]/;

/**
 * Absolute http or https, and no credentials: they would be stored and shown in every record. They are looked for in
 * the text, because a parsed URL no longer shows empty ones (`http://@host`). Nor may a placeholder stand for the host:
 * which one is called must be known now.
 */
export function isCallUrl(text: string): boolean {
  if (text.length > LONGEST_URL || NOT_IN_URL.test(text)) return false;
  const authority = AUTHORITY.exec(text)?.[1];
  return authority !== undefined && !NOT_IN_AUTHORITY.test(authority) && URL.canParse(text);
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
