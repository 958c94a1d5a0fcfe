import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from "fastify";

export function logRequest(request: FastifyRequest, reply: FastifyReply, route: string | null): void {
  logRequestLine(request.log, {
    requestId: request.id,
    method: request.method,
    route,
    status: reply.statusCode,
    ms: reply.elapsedTime,
    team: request.principal?.team ?? null,
  });
}

/** The log line of a request. It has the route's pattern, not the URL: a URL, header or body may contain a secret. */
export function logRequestLine(
  log: FastifyBaseLogger,
  line: {
    readonly requestId: string;
    readonly method: string;
    readonly route: string | null;
    readonly status: number;
    readonly ms: number;
    readonly team: string | null;
  },
): void {
  log.info({ ...line, ms: Math.round(line.ms * 10) / 10 }, "request");
}
