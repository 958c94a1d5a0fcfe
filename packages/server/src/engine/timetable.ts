import type { Time } from "../domain/time.ts";
import type { DatabaseClock } from "./database-clock.ts";

/** The next check of an actor that works by due times. */
export interface Timetable {
  /** The milliseconds until the next item is due; null if none is known. */
  nap(untilNextMs: number | null): number;
  /** True if an item due at this time needs an earlier check than planned. */
  isSooner(at: Date): boolean;
  /** The same for an item due after this delay. */
  isSoonerThan(waitMs: number): boolean;
}

export function createTimetable(deps: {
  readonly time: Time;
  readonly clock: DatabaseClock;
  /** Items due within this time of each other share one check. */
  readonly shortestMs: number;
  /** Polling interval: an item that became due unnoticed is found this late at worst. */
  readonly longestMs: number;
}): Timetable {
  const { time, clock, shortestMs, longestMs } = deps;
  let nextLookAtMs = 0;
  const isSoonerThan = (waitMs: number) => time.monotonicMs() + waitMs < nextLookAtMs;
  return {
    nap(untilNextMs) {
      // A timer may fire slightly early, and a check that runs too early finds nothing.
      const untilMs = untilNextMs === null ? longestMs : Math.ceil(untilNextMs) + 1;
      const napMs = Math.min(longestMs, Math.max(shortestMs, untilMs));
      nextLookAtMs = time.monotonicMs() + napMs;
      return napMs;
    },
    isSooner: (at) => isSoonerThan(at.getTime() - clock.nowMs()),
    isSoonerThan,
  };
}
