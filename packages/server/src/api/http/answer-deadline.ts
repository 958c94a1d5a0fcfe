import type { FastifyReply, FastifyRequest } from "fastify";
import { Problem } from "../../domain/problem.ts";
import { answerError } from "./error-answer.ts";
import { asksToWait } from "./long-wait.ts";
import type { Api } from "./schema-types.ts";

/** Something that is done by its time, or else. */
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
    /** Answered by its work alone, however long that takes: a list, a wait, many tasks at once. */
    isPatient?: boolean;
  }
  interface FastifyRequest {
    deadline: Deadline | null;
  }
}

/** Callers are promised an answer within 2 s; what is left is for the way, and for a timer that is late. */
const ANSWER_MS = 1_750;
/** What is left of it that is not worth another look. */
const SHORT_MS = 100;

/**
 * A statement has a time of its own, and a request may need several: the database that goes silent at the second one
 * must not cost the caller the time of both. As with one statement, the caller is told to ask again, and not whether it was done.
 */
export function answerInTime(app: Api, deadlines: Deadlines): void {
  app.decorateRequest("deadline", null);
  function begin(request: FastifyRequest, reply: FastifyReply, ms = ANSWER_MS): void {
    const deadline = deadlines.begin(ms, () => {
      // An answer that is being streamed has begun, though it is not over.
      if (reply.sent || reply.raw.headersSent) return;
      // While the caller was sending, that was its own time.
      const workedMs = request.raw.complete ? Math.max(0, deadline.atMs - request.bodyAtMs) : 0;
      if (ANSWER_MS - workedMs > SHORT_MS) begin(request, reply, ANSWER_MS - workedMs);
      else {
        answerError(new Problem("database_away"), request, reply);
        // What the work says when it is done is heard by none.
        reply.log = reply.log.child({}, { level: "silent" });
        reply.hijack();
      }
    });
    request.deadline = deadline;
  }
  app.addHook("onRequest", (request, reply, done) => {
    if (request.routeOptions.config.isPatient !== true && !asksToWait(request)) begin(request, reply);
    done();
  });
  app.addHook("onResponse", (request, _reply, done) => {
    if (request.deadline !== null) deadlines.end(request.deadline);
    done();
  });
}
