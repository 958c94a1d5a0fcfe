import type { Time } from "../src/domain/time.ts";
import { systemTime } from "../src/server/system-time.ts";

/** Time that passes only when the test says so: timers included, turns of the event loop not. */
export interface TestTime extends Time {
  /** Lets time pass; what was to happen meanwhile happens, in order. */
  pass(ms: number): void;
  /** As if the process had been frozen: the clocks have gone on, the timers have not. */
  freeze(ms: number): void;
}

const START_MS = Date.parse("2030-01-01T00:00:00Z");

export function createTestTime(): TestTime {
  const timers = new Set<{ readonly work: () => void; atMs: number }>();
  let passedMs = 0;
  return {
    ...systemTime,
    nowMs: () => START_MS + passedMs,
    monotonicMs: () => passedMs,
    setTimer(work, ms) {
      const timer = { work, atMs: passedMs + ms };
      timers.add(timer);
      return { cancel: () => timers.delete(timer) };
    },
    pass(ms) {
      const untilMs = passedMs + ms;
      for (;;) {
        const [next] = [...timers].sort((one, other) => one.atMs - other.atMs);
        if (next === undefined || next.atMs > untilMs) break;
        passedMs = Math.max(passedMs, next.atMs);
        timers.delete(next);
        next.work();
      }
      passedMs = untilMs;
    },
    freeze(ms) {
      passedMs += ms;
      for (const timer of timers) timer.atMs += ms;
    },
  };
}
