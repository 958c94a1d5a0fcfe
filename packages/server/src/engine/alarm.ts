import type { Time } from "../domain/time.ts";
import type { Sql } from "../store/sql.ts";
import { lookForDue, queuesWithDueTasks } from "../store/tasks/due-queues.ts";
import type { DatabaseClock } from "./database-clock.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { createTimetable } from "./timetable.ts";

/** The net under the hints: another node's delayed task is seen this late at worst. */
export const POLL_MS = 5_000;
/** How far looks overlap: a commit can take its time. Less for a look that a timer asked for, as those are many. */
const OVERLAP_MS = 500;
const POLL_OVERLAP_MS = 15_000;
/** Tasks due within this time of each other share a look. */
const SHORTEST_NAP_MS = 10;
/** Every queue is asked this often, in case everything else failed. */
const FULL_LOOK_MS = 60_000;

export interface Alarm {
  /** Looks for tasks that came due, tells the dispatcher, and returns how long to nap until the next. */
  ringOnce(): Promise<number>;
  /** True if the next look must come earlier than planned for a task due at this time. */
  readonly isSooner: (runAt: Date) => boolean;
  /** The next look asks every queue. */
  lookEverywhere(): void;
}

/** Wakes the dispatcher when the time of a delayed task has come. One timer for all of them. */
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
  /** By the database's clock, so that what lies in a jump of it is looked for too. */
  let lookedUntilMs: number | null = null;

  async function lookAtEveryQueue(nowMs: number): Promise<void> {
    // Before the look: another one that is asked for meanwhile must not be forgotten.
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
