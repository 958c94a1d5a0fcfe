import type { Time } from "../domain/time.ts";

/**
 * Database time, which decides when tasks are due. The clock of this machine may differ by an hour, and either clock
 * may jump: every read of the database's clock updates the difference.
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
