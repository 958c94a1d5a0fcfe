import type { Time } from "../domain/time.ts";
import type { DatabaseClock } from "./database-clock.ts";

/** When an actor that works by due times looks next. */
export interface Timetable {
  /** How long to nap until the next thing is due; null: nothing is known to be. */
  nap(untilNextMs: number | null): number;
  /** True if something due at this time is due before the next look: the look must come earlier than planned. */
  isSooner(at: Date): boolean;
  /** The same of something due after so long. */
  isSoonerThan(waitMs: number): boolean;
}

export function createTimetable(deps: {
  readonly time: Time;
  readonly clock: DatabaseClock;
  /** What is due within this time of each other shares a look. */
  readonly shortestMs: number;
  /** The net: what became due unnoticed is seen this late at worst. */
  readonly longestMs: number;
}): Timetable {
  const { time, clock, shortestMs, longestMs } = deps;
  let nextLookAtMs = 0;
  const isSoonerThan = (waitMs: number) => time.monotonicMs() + waitMs < nextLookAtMs;
  return {
    nap(untilNextMs) {
      // A timer may fire a fraction early, and a look that comes too early finds nothing.
      const untilMs = untilNextMs === null ? longestMs : Math.ceil(untilNextMs) + 1;
      const napMs = Math.min(longestMs, Math.max(shortestMs, untilMs));
      nextLookAtMs = time.monotonicMs() + napMs;
      return napMs;
    },
    isSooner: (at) => isSoonerThan(at.getTime() - clock.nowMs()),
    isSoonerThan,
  };
}
