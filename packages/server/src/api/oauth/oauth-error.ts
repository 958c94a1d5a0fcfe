import type { FastifyReply, FastifyRequest } from "fastify";
import { type OAuthErrorCode, OAuthRefusal } from "../../domain/identity/oauth-refusal.ts";
import type { Problem } from "../../domain/problem.ts";
import { refuse } from "../http/error-answer.ts";

/** For the routes that OAuth clients call: every refusal in the form that they read (RFC 6749, 5.2). */
export function answerOAuthError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.headers({ "cache-control": "no-store", "content-type": "application/json; charset=utf-8" });
  if (error instanceof OAuthRefusal) {
    if (error.status === 401) reply.header("www-authenticate", 'Basic realm="Bellhop", charset="UTF-8"');
    return send(reply.code(error.status), error.error, error.description);
  }
  const problem = refuse(error, request, reply);
  return problem === null
    ? send(reply, "server_error", "Internal server error")
    : send(reply, codeOf(problem), textOf(problem));
}

/** Text and not an object: the serializer of the route must not decide what of an error is shown. */
function send(reply: FastifyReply, error: OAuthErrorCode, description: string): FastifyReply {
  return reply.send(JSON.stringify({ error, error_description: description }));
}

/** Come back later, or ask otherwise. */
function codeOf({ status }: Problem): OAuthErrorCode {
  return status === 429 || status >= 500 ? "temporarily_unavailable" : "invalid_request";
}

function textOf(problem: Problem): string {
  return problem.code === "body_not_typed"
    ? "Content-Type must be application/x-www-form-urlencoded"
    : new OAuthRefusal("invalid_request", problem.message).description;
}
