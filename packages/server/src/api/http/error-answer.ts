import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { Problem, type ProblemCode } from "../../domain/problem.ts";
import { REQUEST_ID_HEADER } from "./request-id.ts";
import { logRequest } from "./request-log.ts";

/** Fastify's own refusals by code; its texts are never shown. */
const FASTIFY_PROBLEMS: Readonly<Record<string, ProblemCode>> = {
  FST_ERR_BAD_URL: "url_malformed",
  FST_ERR_MAX_PARAM_LENGTH: "not_found",
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "body_not_typed",
  FST_ERR_CTP_BODY_TOO_LARGE: "body_too_large",
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "request_malformed",
};

export const NO_SNIFF = { "x-content-type-options": "nosniff" };

/** Sends every error answer except pages. */
export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const problem = refuse(error, request, reply);
  return reply.type("application/json; charset=utf-8").send(problemText(problem));
}

/** Sets the status and its headers. A bug is logged; the caller learns only that there is one. */
export function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): Problem {
  const expected = toProblem(error, request);
  if (expected === null) request.log.error({ requestId: request.id, err: error }, "request failed");
  const problem = expected ?? new Problem("internal");
  if (problem.status === 401) reply.header("www-authenticate", "Bearer");
  if (problem.retryAfterSeconds !== null) reply.header("retry-after", String(problem.retryAfterSeconds));
  reply.code(problem.status);
  return problem;
}

/** The router's refusals have no route, so no hook sees them: the id and the log line are added here. */
export function answerFrameworkError(
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  reply.header(REQUEST_ID_HEADER, request.id).headers(NO_SNIFF);
  answerError(error, request, reply);
  logRequest(request, reply, request.routeOptions.url ?? null);
}

/** Text, because the route's serializer must not filter an error. */
export function problemText(problem: Problem): string {
  return JSON.stringify(problemBody(problem));
}

export function problemBody({ message: error, code, details }: Problem): object {
  return details.length === 0 ? { error, code } : { error, code, details };
}

/** Null for a bug. */
function toProblem(error: unknown, request: FastifyRequest): Problem | null {
  if (error instanceof Problem) return error;
  if (!(error instanceof Error)) return null;
  // The client disconnected while sending its body: not a bug.
  if (error === request.raw.errored) return new Problem("request_malformed");
  const code = "code" in error && typeof error.code === "string" ? FASTIFY_PROBLEMS[error.code] : undefined;
  return code === undefined ? null : new Problem(code);
}
