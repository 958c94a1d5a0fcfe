import { Problem } from "../domain/problem.ts";
import type { Time, Timer } from "../domain/time.ts";
import type { Log } from "./log.ts";

export interface Loop {
  /** Runs the next round now instead of at the end of the pause. */
  wake(): void;
  stop(): Promise<void>;
}

/** The pause after a round that threw: long enough not to spin, short enough to recover in time. */
const NAP_AFTER_ERROR_MS = 500;

/**
 * The loop of every actor. A round returns the pause until the next, a wake cuts the pause short, an error is logged
 * and the loop continues. A wake during a round is not lost: another round follows at once.
 */
export function startLoop(options: {
  readonly name: string;
  readonly once: () => Promise<number>;
  readonly time: Time;
  readonly log: Log;
}): Loop {
  let stopped = false;
  let woken = false;
  let timer: Timer | null = null;
  let endNap: (() => void) | null = null;

  async function run(): Promise<void> {
    options.log.debug({ actor: options.name }, "actor.started");
    while (!stopped) {
      woken = false;
      const napMs = await round();
      if (!stopped && !woken) await nap(napMs);
    }
    options.log.debug({ actor: options.name }, "actor.stopped");
  }

  async function round(): Promise<number> {
    try {
      return await options.once();
    } catch (error) {
      // An unreachable database is not a bug of the actor: log one line and try again in the next round.
      if (error instanceof Problem)
        options.log.warn({ actor: options.name, problem: error.message }, "actor.waits");
      else options.log.error({ actor: options.name, err: error }, "actor.failed");
      return NAP_AFTER_ERROR_MS;
    }
  }

  function nap(ms: number): Promise<void> {
    return new Promise((resolve) => {
      endNap = resolve;
      timer = options.time.setTimer(resolve, ms);
    });
  }

  function wake(): void {
    woken = true;
    timer?.cancel();
    endNap?.();
  }

  const running = run();
  return {
    wake,
    async stop() {
      stopped = true;
      wake();
      await running;
    },
  };
}
