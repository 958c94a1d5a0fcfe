import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { Problem } from "./domain/problem.ts";
import { sayWhatIsAwaited } from "./postgres/start-waits.ts";

/** A machine that starts much at once, or has a slow disk, takes long to answer; what does not pass by then is for the operator. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 100;

/**
 * Does one step of a start on a database that was reached before. One that does not answer, or hangs up, is asked again for a
 * minute, and the log says what is waited for. The step must bear to be done twice.
 */
export function retryOnStart<T>(log: Logger, step: string, work: () => Promise<T>): Promise<T> {
  return sayWhatIsAwaited(
    (event, fields) => log.warn(fields, event),
    step,
    async () => {
      const giveUpMs = performance.now() + PATIENCE_MS;
      for (;;) {
        try {
          return await work();
        } catch (error) {
          const isAway = error instanceof Problem && error.code === "database_away";
          if (!isAway || performance.now() > giveUpMs) throw error;
          await sleep(PAUSE_MS);
        }
      }
    },
  );
}
