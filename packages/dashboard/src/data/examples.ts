import { printExact } from "./exact-json.ts";
import { quote } from "./task.ts";

/** A curl against this server that works as it stands, once KEY is set. */
export function curl(method: string, path: string, body?: unknown): string {
  const start = `curl -X ${method} ${window.location.origin}${path}`;
  if (body === undefined) return `${start} -H "Authorization: Bearer $KEY"`;
  return [
    start,
    `  -H "Authorization: Bearer $KEY" -H "Content-Type: application/json"`,
    `  -d ${quote(printExact(body))}`,
  ].join(" \\\n");
}
