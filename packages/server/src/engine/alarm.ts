import type { Time } from "../domain/time.ts";
import type { Sql } from "../store/sql.ts";
import { lookForDue, queuesWithDueTasks } from "../store/tasks/due-queues.ts";
import type { DatabaseClock } from "./database-clock.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { createTimetable } from "./timetable.ts";

/** Polling interval. If a hint is lost, a delayed task of another node is found this late at worst. */
export const POLL_MS = 5_000;
/**
 * Overlap of two checks, because a commit takes time. Checks that a timer triggered overlap less, as there are many of
 * them.
 */
const OVERLAP_MS = 500;
const POLL_OVERLAP_MS = 15_000;
/** Tasks due within this time of each other share one check. */
const SHORTEST_NAP_MS = 10;
/** Every queue is checked this often, in case every other mechanism failed. */
const FULL_LOOK_MS = 60_000;

export interface Alarm {
  /** Finds tasks that became due and wakes the dispatcher. Returns the milliseconds until the next check. */
  ringOnce(): Promise<number>;
  /** True if a task due at this time needs an earlier check than planned. */
  readonly isSooner: (runAt: Date) => boolean;
  /** The next check covers every queue. */
  lookEverywhere(): void;
}

/** Wakes the dispatcher when a delayed task becomes due. All tasks share one timer. */
export function createAlarm(deps: {
  readonly sql: Sql;
  readonly dispatcher: Pick<Dispatcher, "notice" | "lookAgain">;
  readonly time: Time;
  readonly clock: DatabaseClock;
}): Alarm {
  const { sql, dispatcher, time, clock } = deps;
  const timetable = createTimetable({ time, clock, shortestMs: SHORTEST_NAP_MS, longestMs: POLL_MS });
  let fullLookAtMs = 0;
  let pollAtMs = 0;
  /** In database time, so that a clock jump skips no task. */
  let lookedUntilMs: number | null = null;

  async function lookAtEveryQueue(nowMs: number): Promise<void> {
    // Set before the check, so that a request during the check is not lost.
    fullLookAtMs = nowMs + FULL_LOOK_MS;
    const due = await queuesWithDueTasks(sql).catch((error) => {
      fullLookAtMs = 0;
      throw error;
    });
    for (const { teamId, queue } of due) dispatcher.lookAgain(teamId, queue);
  }

  return {
    async ringOnce() {
      const nowMs = time.monotonicMs();
      if (nowMs >= fullLookAtMs) await lookAtEveryQueue(nowMs);
      const overlapMs = nowMs >= pollAtMs ? POLL_OVERLAP_MS : OVERLAP_MS;
      const { databaseMs, cameDue, untilNextMs } = await lookForDue(sql, lookedUntilMs, overlapMs);
      clock.learn(databaseMs);
      lookedUntilMs = databaseMs;
      if (nowMs >= pollAtMs) pollAtMs = nowMs + POLL_MS;
      for (const { teamId, queue } of cameDue) dispatcher.notice(teamId, queue);
      return timetable.nap(untilNextMs);
    },
    isSooner: timetable.isSooner,
    lookEverywhere() {
      fullLookAtMs = 0;
    },
  };
}
