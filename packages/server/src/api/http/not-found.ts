import type { FastifyReply, FastifyRequest } from "fastify";
import { Problem } from "../../domain/problem.ts";
import type { Api } from "./schema-types.ts";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;

/**
 * Decides between 404 and 405 for a request without a route, by asking the router for the path's other methods. This
 * covers every method, also unregistered ones (OPTIONS, PROPFIND, …).
 */
export function createNotFoundRefusal(app: Api): (request: FastifyRequest, reply: FastifyReply) => Problem {
  return (request, reply) => {
    const allowed = METHODS.filter((method) => Boolean(app.findRoute({ method, url: request.url })));
    if (allowed.length === 0) return new Problem("not_found");
    reply.header("allow", allowed.join(", "));
    return new Problem("method_not_allowed");
  };
}
