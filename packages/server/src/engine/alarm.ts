import type { Time } from "../domain/time.ts";
import type { Sql } from "../store/sql.ts";
import { flowsWithDueTasks, lookForDueFlows } from "../store/tasks/due-flows.ts";
import { type DueLook, lookForDue, queuesWithDueTasks } from "../store/tasks/due-queues.ts";
import type { DatabaseClock } from "./database-clock.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { Flows } from "./flows.ts";
import type { SayHint } from "./hints.ts";
import { isShared, type LocalQueues } from "./local-queues.ts";
import { LEAN, type RoundCost } from "./round-cost.ts";
import { createTimetable } from "./timetable.ts";

/** Polling interval. If a hint is lost, a delayed task of another node is found this late at worst. */
export const POLL_MS = 5_000;
export const ALARM_COST: RoundCost = { rows: 1, bytes: LEAN, per: "queue", turns: "each" };
export const FLOW_ALARM_COST: RoundCost = { rows: 1, bytes: LEAN, per: "flow", turns: "each" };
/**
 * Overlap of two checks, because a commit takes time. Checks that a timer triggered overlap less, as there are many of
 * them.
 */
const OVERLAP_MS = 500;
const POLL_OVERLAP_MS = 15_000;
/** Tasks due within this time of each other share one check. */
const SHORTEST_NAP_MS = 10;
/** Every queue and every flow is checked this often, in case every other mechanism failed. */
const FULL_LOOK_MS = 60_000;

export interface Alarm {
  /** Finds tasks that became due and has them claimed. Returns the milliseconds until the next check. */
  ringOnce(): Promise<number>;
  /** True if a task due at this time needs an earlier check than planned. */
  readonly isSooner: (runAt: Date) => boolean;
  /** The next check covers every queue, or every flow. */
  lookEverywhere(): void;
}

/** The places that an alarm watches: queues, or flows. */
interface Watched<Place> {
  /** Those with a task that became due since this time of the database, with an overlap; without a time: right before now. */
  lookForDue(sinceMs: number | null, overlapMs: number): Promise<DueLook<Place>>;
  allDue(): Promise<readonly Place[]>;
  /** `isExpected`: this worker knew beforehand that a task would come due now. */
  cameDue(place: Place, isExpected: boolean): void;
  /** Found by the check of everything: whatever is known of it may be out of date. */
  isDue(place: Place): void;
}

interface AlarmTime {
  readonly time: Time;
  readonly clock: DatabaseClock;
}

/** Wakes the dispatcher when a delayed task becomes due. All tasks share one timer. */
export function createAlarm({
  sql,
  dispatcher,
  localQueues,
  hint,
  ...time
}: AlarmTime & {
  readonly sql: Sql;
  readonly dispatcher: Pick<Dispatcher, "notice" | "lookAgain">;
  readonly localQueues: Pick<LocalQueues, "find">;
  readonly hint: SayHint;
}): Alarm {
  return watch(time, {
    lookForDue: (sinceMs, overlapMs) => lookForDue(sql, sinceMs, overlapMs),
    allDue: () => queuesWithDueTasks(sql),
    cameDue({ teamId, queue }, isExpected) {
      dispatcher.notice(teamId, queue);
      // Another worker may have the slots, and would find the task only with its next poll.
      const local = localQueues.find(teamId, queue);
      if (isExpected && (local === undefined || isShared(local))) hint({ kind: "due", teamId, queue });
    },
    isDue: ({ teamId, queue }) => dispatcher.lookAgain(teamId, queue),
  });
}

/** The same for tasks with a flow, which wait in an index of their own. */
export function createFlowAlarm({
  sql,
  flows,
  ...time
}: AlarmTime & {
  readonly sql: Sql;
  readonly flows: Pick<Flows, "notice" | "refresh">;
}): Alarm {
  return watch(time, {
    lookForDue: (sinceMs, overlapMs) => lookForDueFlows(sql, sinceMs, overlapMs),
    allDue: () => flowsWithDueTasks(sql),
    cameDue: ({ teamId, flow, queue, turn }) => flows.notice(teamId, flow, queue, { turn }),
    isDue: ({ teamId, flow, queue, turn }) => flows.refresh(teamId, flow, queue, turn),
  });
}

function watch<Place>({ time, clock }: AlarmTime, watched: Watched<Place>): Alarm {
  const timetable = createTimetable({ time, clock, shortestMs: SHORTEST_NAP_MS, longestMs: POLL_MS });
  let fullLookAtMs = 0;
  let pollAtMs = 0;
  /** When the next task comes due, as far as the last check saw. */
  let dueAtMs = Number.POSITIVE_INFINITY;
  /** In database time, so that a clock jump skips no task. */
  let lookedUntilMs: number | null = null;

  async function lookAtEverything(nowMs: number): Promise<void> {
    // Set before the check, so that a request during the check is not lost.
    fullLookAtMs = nowMs + FULL_LOOK_MS;
    const due = await watched.allDue().catch((error) => {
      fullLookAtMs = 0;
      throw error;
    });
    for (const place of due) watched.isDue(place);
  }

  return {
    async ringOnce() {
      const nowMs = time.monotonicMs();
      const isExpected = nowMs >= dueAtMs;
      if (nowMs >= fullLookAtMs) await lookAtEverything(nowMs);
      const overlapMs = nowMs >= pollAtMs ? POLL_OVERLAP_MS : OVERLAP_MS;
      const { databaseMs, cameDue, untilNextMs } = await watched.lookForDue(lookedUntilMs, overlapMs);
      clock.learn(databaseMs);
      lookedUntilMs = databaseMs;
      if (nowMs >= pollAtMs) pollAtMs = nowMs + POLL_MS;
      dueAtMs = untilNextMs === null ? Number.POSITIVE_INFINITY : time.monotonicMs() + untilNextMs;
      for (const place of cameDue) watched.cameDue(place, isExpected);
      return timetable.nap(untilNextMs);
    },
    isSooner: timetable.isSooner,
    lookEverywhere() {
      fullLookAtMs = 0;
    },
  };
}
