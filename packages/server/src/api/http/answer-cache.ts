import type { FastifyReply } from "fastify";
import { REQUEST_ID_HEADER } from "./request-id.ts";
import type { Api } from "./schema-types.ts";

interface Made {
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

/**
 * For answers that are the same for everybody: each route of the scope makes its answer once and gives the same bytes
 * ever after. Any stranger may ask for them, some take a tenth of a second to make, and a caller that reads one slowly must not
 * keep a copy of it in our memory.
 */
export function cacheAnswers(scope: Api): void {
  const made = new Map<string, Made>();
  scope.addHook("preHandler", (request, reply, done) => {
    const known = made.get(request.routeOptions.url ?? "");
    if (known === undefined) done();
    else reply.headers(known.headers).send(known.body);
  });
  scope.addHook("onSend", async (request, reply, payload) => {
    if (reply.statusCode !== 200 || typeof payload !== "string") return payload;
    const body = Buffer.from(payload);
    made.set(request.routeOptions.url ?? "", { headers: headersOf(reply), body });
    return body;
  });
}

/** All but what belongs to the one request. */
function headersOf(reply: FastifyReply): Record<string, string> {
  const { [REQUEST_ID_HEADER]: _, ...headers } = reply.getHeaders();
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
