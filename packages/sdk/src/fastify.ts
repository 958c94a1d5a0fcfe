import type { NodeRequest } from "./node-adapter.ts";
import { createReceiver, type HandlerArgs } from "./receiver.ts";

export { type HandlerOptions, NoRetry, type Notification, type ReceivedCall } from "./receiver.ts";

/** What is used of Fastify's request. */
export interface FastifyRequest {
  readonly headers: NodeRequest["headers"];
  readonly raw: AsyncIterable<Uint8Array>;
}

/** What is used of Fastify's reply. */
export interface FastifyReply {
  code(status: number): unknown;
  header(name: string, value: string): unknown;
  send(body: Uint8Array): unknown;
}

/** A route's options, with its handler among them. */
export interface FastifyRoute {
  onRequest(request: FastifyRequest, reply: FastifyReply): Promise<unknown>;
  handler(): never;
}

/**
 * A route: `app.post("/tasks/resize", handler(async ({ payload }) => …))`. It answers in the hook `onRequest`, because
 * afterwards Fastify has parsed the body, and the signature is over its bytes. Parsers and body limits of the application
 * do not apply to it.
 */
export function handler<Payload = unknown>(...args: HandlerArgs<Payload>): FastifyRoute {
  const receive = createReceiver(args);
  return {
    async onRequest({ headers, raw }, reply) {
      const answered = await receive({ headers, body: raw });
      reply.code(answered.status);
      answered.headers.forEach((value, name) => {
        reply.header(name, value);
      });
      reply.send(new Uint8Array(await answered.arrayBuffer()));
      return reply;
    },
    handler() {
      throw new Error("onRequest has answered");
    },
  };
}
