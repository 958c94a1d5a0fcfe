import type { FastifyReply, FastifyRequest } from "fastify";

/** The log line of a request. It has the route's pattern, not the URL: a URL, header or body may contain a secret. */
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
