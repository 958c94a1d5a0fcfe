import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import type { preParsingHookHandler } from "fastify";
import type { Allowance } from "../../service/access/team-meter.ts";

/** What the short path (routes/short-create.ts) did with a request before it left it to Fastify. */
export interface Handover {
  /** The request is counted against its team's limit; it must not be counted twice. */
  readonly counted: Allowance | Promise<Allowance>;
  /** The body, which can be read from the connection only once. */
  readonly body?: Buffer;
  /** Why the request is refused. */
  readonly error?: unknown;
}

const handovers = new WeakMap<IncomingMessage, Handover>();

export function handOver(request: IncomingMessage, handover: Handover): void {
  handovers.set(request, handover);
}

export function handoverOf(request: IncomingMessage): Handover | undefined {
  return handovers.get(request);
}

/** Gives Fastify the body that was read already, or the reason to refuse the request. */
export const readHandover: preParsingHookHandler = (request, _reply, payload, done) => {
  const handover = handovers.get(request.raw);
  if (handover === undefined) done(null, payload);
  else if (handover.error !== undefined) done(asError(handover.error));
  else if (handover.body === undefined) done(null, payload);
  else done(null, Readable.from([handover.body], { objectMode: false }));
};

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error("Refused", { cause: error });
}
