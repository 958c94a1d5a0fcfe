import type { Time } from "../domain/time.ts";

const TICK_MS = 500;
/** A cancel whose hint no node reads is answered after a second: a shorter freeze is over by then. */
const FROZEN_MS = 1_000;
/** The process reads the hints that arrived during a freeze within this time after it. */
const CATCH_UP_MS = 500;

export interface FreezeWatch {
  /** Starts the watch, at the first of the calls that it guards. */
  start(): void;
  /** Whether the process was frozen since this point of `monotonicMs`, and may not have read its hints yet. */
  since(pointMs: number): boolean;
}

/**
 * Detects that this process was frozen. The race: a call waits for its connection, the process is frozen, another node cancels
 * the task and answers; then this process resumes, and the connection is ready before the hint of the cancel is read.
 * The watch ends when `isNeeded` says that there is no call to guard.
 */
export function createFreezeWatch(time: Time, isNeeded: () => boolean): FreezeWatch {
  let tickedAtMs = 0;
  let resumedAtMs = Number.NEGATIVE_INFINITY;
  let isTicking = false;

  function tick(): void {
    const nowMs = time.monotonicMs();
    if (nowMs - tickedAtMs > FROZEN_MS) resumedAtMs = nowMs;
    tickedAtMs = nowMs;
    isTicking = isNeeded();
    if (isTicking) time.setTimer(tick, TICK_MS);
  }

  return {
    start() {
      tickedAtMs = time.monotonicMs();
      resumedAtMs = Number.NEGATIVE_INFINITY;
      if (isTicking) return;
      isTicking = true;
      time.setTimer(tick, TICK_MS);
    },
    since(pointMs) {
      const nowMs = time.monotonicMs();
      // The timers may run after the connection is ready.
      if (nowMs - tickedAtMs > FROZEN_MS) return nowMs - pointMs > FROZEN_MS;
      return nowMs - resumedAtMs <= CATCH_UP_MS && pointMs < resumedAtMs;
    },
  };
}
