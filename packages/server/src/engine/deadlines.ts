import type { Time } from "../domain/time.ts";
import type { Sql } from "../store/sql.ts";
import { expireTasks, untilNextDeadlineMs } from "../store/tasks/task-deadlines.ts";
import type { DatabaseClock } from "./database-clock.ts";
import { type EngineMeter, NO_METER } from "./meter.ts";
import { createTimetable } from "./timetable.ts";

const LONGEST_NAP_MS = 1_000;
const BATCH = 500;

export interface Deadlines {
  /** Ends tasks that waited or were polled for too long. Returns the milliseconds until the next round. */
  expireOnce(): Promise<number>;
}

export function createDeadlines(deps: {
  readonly sql: Sql;
  readonly workerId: () => number;
  readonly time: Time;
  readonly clock: DatabaseClock;
  readonly meter?: EngineMeter;
  readonly onEnded: () => void;
}): Deadlines {
  const { meter = NO_METER } = deps;
  const timetable = createTimetable({ ...deps, shortestMs: 1, longestMs: LONGEST_NAP_MS });
  return {
    async expireOnce() {
      const expired = await expireTasks(deps.sql, BATCH, deps.workerId());
      for (const { reason, teamId, queueId } of expired) meter.ended(reason, teamId, queueId);
      if (expired.length > 0) deps.onEnded();
      if (expired.length === BATCH) return 0;
      return timetable.nap(await untilNextDeadlineMs(deps.sql));
    },
  };
}
