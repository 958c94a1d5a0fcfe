import type { TaskChanges } from "../domain/task-changes.ts";
import type { Time } from "../domain/time.ts";
import type { Sql } from "../store/sql.ts";
import { expireTasks, untilNextDeadlineMs } from "../store/tasks/task-deadlines.ts";
import type { DatabaseClock } from "./database-clock.ts";
import { LEAN, type RoundCost } from "./round-cost.ts";
import { createTimetable } from "./timetable.ts";

const LONGEST_NAP_MS = 1_000;
const BATCH = 500;
export const DEADLINE_COST: RoundCost = { rows: BATCH, bytes: BATCH * LEAN, turns: "oldest first" };

export interface Deadlines {
  /** Ends tasks that waited or were polled for too long. Returns the milliseconds until the next round. */
  expireOnce(): Promise<number>;
}

export function createDeadlines(deps: {
  readonly sql: Sql;
  readonly workerId: () => number;
  readonly time: Time;
  readonly clock: DatabaseClock;
  readonly changes: Pick<TaskChanges, "ended">;
}): Deadlines {
  const timetable = createTimetable({ ...deps, shortestMs: 1, longestMs: LONGEST_NAP_MS });
  return {
    async expireOnce() {
      const expired = await expireTasks(deps.sql, BATCH, deps.workerId());
      for (const task of expired) deps.changes.ended(task, task.reason, task.notify);
      if (expired.length === BATCH) return 0;
      return timetable.nap(await untilNextDeadlineMs(deps.sql));
    },
  };
}
