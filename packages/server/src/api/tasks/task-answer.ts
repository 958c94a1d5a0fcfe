import type { FastifyReply } from "fastify";
import type { CreatedTask } from "../../domain/task.ts";

/** Sent as text: the payload is included as written, and a serializer would have to guess the shape. */
export function sendText(reply: FastifyReply, json: string): FastifyReply {
  return reply.type("application/json; charset=utf-8").send(json);
}

/** The answer to a creation: made now, or by an earlier request with the same idempotency or deduplication key. */
export function sendCreated(
  reply: FastifyReply,
  { replayed, joined }: Pick<CreatedTask, "replayed" | "joined">,
  json: string,
): FastifyReply {
  if (replayed) reply.header("idempotent-replayed", "true");
  return sendText(reply.code(replayed || joined !== null ? 200 : 201), json);
}
