import type { Call } from "../domain/call.ts";
import type { Outcome } from "../domain/outcome.ts";

/**
 * A target that is built in, for the first task on a new server. Calls to it are answered here, in the process: nothing is
 * looked up, no connection is opened, and the egress guard is not asked because nothing leaves. `.invalid` never resolves
 * (RFC 2606), so no real host is shadowed.
 */
export const ECHO_ORIGIN = "http://echo.bellhop.invalid";

/** More of a body than this is not repeated. */
const LONGEST_BODY = 16_384;

/** Answers with what was sent, as JSON: with 503 at `/status/503`, with 200 everywhere else. */
export function answerEcho(
  path: string,
  { method, body }: Pick<Call, "method" | "body">,
  /** Name, value, name, value, as they would leave. */
  headers: readonly string[],
): Outcome {
  const statusCode = Number(/^\/status\/([2-5]\d\d)$/.exec(path)?.[1] ?? 200);
  const text = body ?? "";
  const sent = headers.flatMap((name, index) => (index % 2 === 0 ? [[name, headers[index + 1]]] : []));
  const answer = {
    message: statusCode < 300 ? "Bellhop made this call" : `This address always answers ${statusCode}`,
    method,
    path,
    headers: Object.fromEntries(sent),
    body: text.slice(0, LONGEST_BODY),
  };
  return {
    kind: "response",
    statusCode,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(answer),
    truncated: text.length > LONGEST_BODY,
    durationMs: 0,
  };
}
