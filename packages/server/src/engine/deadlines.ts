import type { Sql } from "../store/sql.ts";
import { expireTasks, untilNextDeadlineMs } from "../store/tasks/task-deadlines.ts";

const LONGEST_NAP_MS = 1_000;
const BATCH = 500;

export interface Deadlines {
  /** Ends tasks that have waited or been polled for too long. Returns how long to nap. */
  expireOnce(): Promise<number>;
}

export function createDeadlines(deps: {
  readonly sql: Sql;
  readonly nodeId: () => number;
  readonly onEnded: () => void;
}): Deadlines {
  return {
    async expireOnce() {
      const expired = await expireTasks(deps.sql, BATCH, deps.nodeId());
      if (expired > 0) deps.onEnded();
      if (expired === BATCH) return 0;
      const untilNextMs = (await untilNextDeadlineMs(deps.sql)) ?? LONGEST_NAP_MS;
      return Math.min(LONGEST_NAP_MS, Math.max(1, Math.ceil(untilNextMs) + 1));
    },
  };
}
