import { ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { Problem, type ProblemCode } from "../../domain/problem.ts";
import { problemText } from "./error-answer.ts";
import { newRequestId } from "./request-id.ts";

const NODE_PROBLEMS: Readonly<Record<string, ProblemCode>> = {
  HPE_HEADER_OVERFLOW: "headers_too_large",
  ERR_HTTP_REQUEST_TIMEOUT: "request_timeout",
};

/** The client is gone, or has ended its side in the middle of the headers. A thousand of them may do so in the same turn. */
const ENDED_BY_CLIENT: ReadonlySet<string> = new Set(["ECONNRESET", "HPE_INVALID_EOF_STATE"]);

/** Answers bytes that are not a valid request: only the socket exists, so the response is written directly. */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (ENDED_BY_CLIENT.has(error.code ?? "") || !socket.writable || isBeingAnswered(socket)) {
    socket.destroy();
    return;
  }
  const { head, body } = answerOf(NODE_PROBLEMS[error.code ?? ""] ?? "request_malformed");
  socket.end(`${head}X-Request-Id: ${newRequestId()}\r\n\r\n${body}`);
  socket.destroySoon();
}

const answers = new Map<ProblemCode, { readonly head: string; readonly body: string }>();

/** Created once: a thousand incomplete requests may time out in the same turn of the event loop. */
function answerOf(code: ProblemCode) {
  const known = answers.get(code);
  if (known !== undefined) return known;
  const problem = new Problem(code);
  const body = problemText(problem);
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "X-Content-Type-Options: nosniff",
    "Connection: close",
    "",
  ].join("\r\n");
  const answer = { head, body };
  answers.set(code, answer);
  return answer;
}

/** A partly written answer: more bytes would be read as part of it. */
function isBeingAnswered(socket: Socket): boolean {
  return (
    "_httpMessage" in socket &&
    socket._httpMessage instanceof ServerResponse &&
    socket._httpMessage.headersSent
  );
}
