import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

export const REQUEST_ID_HEADER = "x-request-id";

/** Characters that are safe in a header and a log line: no spaces, quotes or control characters. */
const SANE_ID = /^[\w.:;,@=+/~-]{1,128}$/;

/** The caller's own id, to correlate logs; otherwise a new one. */
export function requestIdOf(request: Pick<IncomingMessage, "headers">): string {
  const sent = request.headers[REQUEST_ID_HEADER];
  return typeof sent === "string" && SANE_ID.test(sent) ? sent : newRequestId();
}

export function newRequestId(): string {
  return randomUUID();
}
