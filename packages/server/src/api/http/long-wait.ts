import type { FastifyReply, FastifyRequest, preValidationHookHandler } from "fastify";
import { Type } from "typebox";
import type { Api } from "./schema-types.ts";

const MOST_SECONDS = 60;
/** The server closes a connection without traffic after a minute: a waiting one has until its answer is written. */
const ANSWER_MS = 15_000;

export const WaitQuery = Type.Object(
  {
    wait: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MOST_SECONDS,
        default: 0,
        description:
          "Answer when the task has ended, or after this many seconds, with the whole record at that time.",
      }),
    ),
  },
  { additionalProperties: false },
);

export function asksToWait({ query }: FastifyRequest): boolean {
  return typeof query === "object" && query !== null && "wait" in query;
}

/** Most requests have no wait and cost one check. */
export const readWait: preValidationHookHandler = ({ query }, _reply, done) => {
  if (typeof query === "object" && query !== null && "wait" in query) {
    const { wait } = query;
    if (typeof wait === "string" && /^\d{1,3}$/.test(wait)) query.wait = Number(wait);
  }
  done();
};

/** For this long, unless it ends before. */
interface Wait {
  readonly seconds: number;
  readonly over: AbortSignal;
}

export type OpenWait = (request: FastifyRequest, reply: FastifyReply, seconds: number) => Wait;

/** Creates waits that end when the client disconnects, and at once when the server stops. */
export function openWaits(app: Api): OpenWait {
  const open = new Map<AbortController, FastifyReply>();
  let isStopping = false;
  app.addHook("preClose", async () => {
    isStopping = true;
    for (const [wait, reply] of open) end(wait, reply);
  });
  return (request, reply, seconds) => {
    const wait = new AbortController();
    open.set(wait, reply);
    reply.raw.once("close", () => {
      open.delete(wait);
      wait.abort();
    });
    request.raw.socket.setTimeout?.(seconds * 1000 + ANSWER_MS);
    if (isStopping) end(wait, reply);
    return { seconds, over: wait.signal };
  };
}

/** The server has closed idle connections by then: one kept open after this answer would prevent its stop. */
function end(wait: AbortController, reply: FastifyReply): void {
  reply.header("connection", "close");
  wait.abort();
}
