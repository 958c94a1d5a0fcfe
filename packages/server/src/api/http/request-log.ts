import type { FastifyReply, FastifyRequest } from "fastify";

/**
 * The one line of a request. It has the route's pattern and not the URL: a URL can hold a secret, and a header or a
 * body always can.
 */
export function logRequest(request: FastifyRequest, reply: FastifyReply, route: string | null): void {
  request.log.info(
    {
      requestId: request.id,
      method: request.method,
      route,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      team: request.principal?.team ?? null,
    },
    "request",
  );
}
