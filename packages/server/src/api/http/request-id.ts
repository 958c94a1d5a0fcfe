import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

export const REQUEST_ID_HEADER = "x-request-id";

/** What may go into a header and a log line as it came: no spaces, quotes or control characters. */
const SANE_ID = /^[\w.:;,@=+/~-]{1,128}$/;

/** The caller's own id, so that its logs and ours can be read side by side; otherwise a new one. */
export function requestIdOf(request: Pick<IncomingMessage, "headers">): string {
  const sent = request.headers[REQUEST_ID_HEADER];
  return typeof sent === "string" && SANE_ID.test(sent) ? sent : newRequestId();
}

export function newRequestId(): string {
  return randomUUID();
}
