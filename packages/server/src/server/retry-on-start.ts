import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { Problem } from "../domain/problem.ts";
import { sayWhatIsAwaited } from "../postgres/start-waits.ts";

/** A busy machine or a slow disk takes long to answer; after this time the operator must act. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 100;

/**
 * Runs one step of a start on a database that was reached before. If the database does not answer, the step is retried
 * for a minute, and the log says what it waits for. The step must be idempotent. Not retried: a failure that `mayPass`
 * excludes.
 */
export function retryOnStart<T>(
  log: Logger,
  step: string,
  work: () => Promise<T>,
  mayPass: (error: Problem) => boolean = () => true,
): Promise<T> {
  return sayWhatIsAwaited(
    (event, fields) => log.warn(fields, event),
    step,
    async () => {
      const giveUpMs = performance.now() + PATIENCE_MS;
      for (;;) {
        try {
          return await work();
        } catch (error) {
          const isAway = error instanceof Problem && error.code === "database_away" && mayPass(error);
          if (!isAway || performance.now() > giveUpMs) throw error;
          await sleep(PAUSE_MS);
        }
      }
    },
  );
}
