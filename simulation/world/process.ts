import type { Random } from "../../chaos/rig/random.ts";
import type { Time } from "../../packages/server/src/domain/time.ts";
import { SHORT_MS } from "../../packages/server/src/server/system-time.ts";
import type { Event, Scheduler } from "./scheduler.ts";

/** What wakes a process up: a timer of its own, something to read, or a statement's deadline. */
export type Cause = "timer" | "read" | "deadline";

/**
 * A process of a node. Paused, nothing in it runs: what was to happen meanwhile waits for it. Dead, nothing ever does, and
 * its sockets are closed. Between two waits its code runs without a break, so these are all the moments that there are.
 */
export interface Process {
  readonly node: number;
  readonly pid: number;
  readonly time: Time;
  readonly isAlive: boolean;
  readonly isPaused: boolean;
  /** Does the work in the process after so long, or when it wakes, or never. */
  after(ms: number, cause: Cause, work: () => void): Event;
  pause(): void;
  wake(): void;
  end(): void;
  /** Called once, when the process ends. */
  onEnd(work: () => void): Event;
}

/** After a standstill the pool reads before it gives anything up: one round of its timer. */
const DEADLINE_AFTER_PAUSE_MS = 100;
export const START_OF_TIME_MS = Date.parse("2030-01-01T00:00:00Z");

export function createProcess(options: {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly node: number;
  readonly pid: number;
  /** How far the machine's clock is off. */
  readonly clockErrorMs: number;
}): Process {
  const { scheduler, random } = options;
  const startedMs = scheduler.nowMs;
  const endings = new Set<() => void>();
  let backlog: { cause: Cause; event: { isOff: boolean }; work: () => void }[] = [];
  let state: "running" | "paused" | "dead" = "running";

  function after(ms: number, cause: Cause, work: () => void): Event {
    const event = {
      isOff: false,
      cancel() {
        this.isOff = true;
      },
    };
    scheduler.after(ms, () => {
      if (state === "paused") backlog.push({ cause, event, work });
      else if (state === "running" && !event.isOff) work();
    });
    return event;
  }

  /** Whether a timer or a socket is looked at first depends on where in its loop the process stood. */
  function delayAfterPause(cause: Cause): number {
    if (cause === "deadline") return DEADLINE_AFTER_PAUSE_MS;
    return cause === "timer" ? 1 : random.next() * 2;
  }

  return {
    node: options.node,
    pid: options.pid,
    time: {
      nowMs: () => START_OF_TIME_MS + scheduler.nowMs + options.clockErrorMs,
      monotonicMs: () => scheduler.nowMs - startedMs,
      setTimer: (work, ms) => after(ms, "timer", work),
      soon(work) {
        after(0.01, "timer", work);
      },
      shortly(work) {
        after(SHORT_MS, "timer", work);
      },
    },
    get isAlive() {
      return state !== "dead";
    },
    get isPaused() {
      return state === "paused";
    },
    after,
    pause() {
      if (state === "running") state = "paused";
    },
    wake() {
      if (state !== "paused") return;
      state = "running";
      const missed = backlog;
      backlog = [];
      for (const { cause, event, work } of missed)
        after(delayAfterPause(cause), cause, () => {
          if (!event.isOff) work();
        });
    },
    end() {
      if (state === "dead") return;
      state = "dead";
      backlog = [];
      for (const work of endings) work();
      endings.clear();
    },
    onEnd(work) {
      endings.add(work);
      return { cancel: () => endings.delete(work) };
    },
  };
}
