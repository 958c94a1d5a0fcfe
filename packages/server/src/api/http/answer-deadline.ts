import type { FastifyReply, FastifyRequest, onRequestHookHandler, onResponseHookHandler } from "fastify";
import { Problem } from "../../domain/problem.ts";
import { answerError } from "./error-answer.ts";
import { asksToWait } from "./long-wait.ts";
import type { Api } from "./schema-types.ts";

/** A deadline of a request. */
interface Deadline {
  /** On the clock of `performance`. */
  readonly atMs: number;
}

export interface Deadlines {
  begin(ms: number, onMissed: () => void): Deadline;
  end(deadline: Deadline): void;
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** Without a deadline, as scans are: a wait, many tasks at once. */
    isPatient?: boolean;
  }
  interface FastifyRequest {
    deadline: Deadline | null;
    /** When the request arrived, on the clock of `performance`. */
    arrivedAtMs: number;
  }
}

/** Callers get an answer within 2 s; the rest is for the network and late timers. */
const ANSWER_MS = 1_750;
/** A remainder not worth another timer. */
const SHORT_MS = 100;

/**
 * Each statement has its own timeout, and a request may need several: a database that becomes silent at the second one
 * must not cost the caller both timeouts. As with one statement, the caller is told to retry, not whether the change
 * was made. Call it after `guardRoutes`: the time includes that of authentication.
 */
export function answerInTime(app: Api, deadlines: Deadlines): void {
  app.decorateRequest("deadline", null);
  app.decorateRequest("arrivedAtMs", 0);
  function begin(request: FastifyRequest, reply: FastifyReply, ms = ANSWER_MS): void {
    const deadline = deadlines.begin(ms, () => {
      // A streamed answer has started, though it has not ended.
      if (reply.sent || reply.raw.headersSent) return;
      const leftMs = ANSWER_MS - workedMs(request, deadline.atMs);
      if (leftMs > SHORT_MS) begin(request, reply, leftMs);
      else {
        answerError(new Problem("database_away"), request, reply);
        // The late result of the work is not logged.
        reply.log = reply.log.child({}, { level: "silent" });
        reply.hijack();
      }
    });
    request.deadline = deadline;
    if (request.arrivedAtMs === 0) request.arrivedAtMs = deadline.atMs - ms;
  }
  const beginUnlessWaiting: onRequestHookHandler = (request, reply, done) => {
    if (!asksToWait(request)) begin(request, reply);
    done();
  };
  const end: onResponseHookHandler = (request, _reply, done) => {
    if (request.deadline !== null) deadlines.end(request.deadline);
    done();
  };
  app.addHook("onRoute", (route) => {
    if (route.config?.isPatient === true || route.config?.cost?.kind === "scan") return;
    route.onRequest = [beginUnlessWaiting, ...[route.onRequest ?? []].flat()];
    route.onResponse = [end, ...[route.onResponse ?? []].flat()];
  });
}

/** The time until now, without that in which the body waited for memory or was being sent. */
function workedMs({ arrivedAtMs, readFromMs, bodyAtMs, raw }: FastifyRequest, nowMs: number): number {
  if (readFromMs === 0) return nowMs - arrivedAtMs;
  return readFromMs - arrivedAtMs + (raw.complete ? Math.max(0, nowMs - bodyAtMs) : 0);
}
