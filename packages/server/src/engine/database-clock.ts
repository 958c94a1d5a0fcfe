import type { Time } from "../domain/time.ts";

/**
 * The hour by the database's clock, which is the one that tasks are due by. This machine's own may be an hour off, and
 * either may step: the difference is learned anew with every look at the database's.
 */
export interface DatabaseClock {
  nowMs(): number;
  learn(databaseMs: number): void;
}

export function createDatabaseClock(time: Time): DatabaseClock {
  let aheadMs: number | null = null;
  return {
    nowMs: () => (aheadMs === null ? time.nowMs() : time.monotonicMs() + aheadMs),
    learn(databaseMs) {
      aheadMs = databaseMs - time.monotonicMs();
    },
  };
}
