import { reachOf } from "../../domain/reach.ts";
import type { NewTask } from "../../domain/task.ts";
import type { TaskChanges } from "../../domain/task-changes.ts";
import { createTeamOrder } from "../../domain/team-order.ts";
import { whyRefused } from "../../service/tasks/refusal.ts";
import type { AcceptedFrom } from "../../service/tasks/task-service.ts";
import { inTurns } from "../../service/turns.ts";
import { type Database, type Sql, Unstorable } from "../../store/sql.ts";
import type { TeamRoom } from "../../store/tasks/due-teams.ts";
import { INSERT_ROWS } from "../../store/tasks/submission.ts";
import { NO_WORKER } from "../../store/tasks/tallies.ts";
import { type Accepted, insertTasks } from "../../store/tasks/task-intake.ts";
import type { TraceFirings } from "../../tracing/tracing.ts";
import { clockTime, judgeFiring, ownTime } from "./domain.ts";
import { rememberCronTimes } from "./domain-cron.ts";
import {
  cutPortion,
  isRefusal,
  isUnderWay,
  type Part,
  type Preparation,
  prepareTasks,
  type Wanted,
} from "./service-fan-out.ts";
import {
  type DueSchedule,
  type FiringTime,
  type Recipient,
  recordFirings,
  takeDueSchedules,
  teamsWithDueSchedules,
  withUnendedTasks,
} from "./store-firings.ts";

/** Polling interval: if a hint is lost, another node's new schedule is found this late at worst. */
const LONGEST_NAP_MS = 5_000;
/** A timer may fire slightly early; and another node may fire what is due. */
const SHORTEST_NAP_MS = 20;

const BY_THE_CLOCK: FiringTime = { sandboxOnly: false, aheadMs: 0 };

export interface ScheduleRunner {
  /** Creates the tasks of one portion of due schedules. Returns the milliseconds until the next. */
  fireOnce(): Promise<number>;
  /** The same for a team's sandbox whose clock is ahead. Returns the number of schedules in the portion. */
  fireAhead(time: { readonly teamId: number; readonly aheadMs: number }): Promise<number>;
}

/** A task to be stored; an error if there is none; null if the firing is skipped. */
type Prepared = NewTask | Error | null;

/** A judged schedule of a portion. `failure`: it could not be prepared and is retried. */
type Judged =
  | {
      readonly schedule: DueSchedule;
      readonly next: Date;
      readonly task: Prepared;
      /** The further tasks of the same firing in this portion. */
      readonly more: readonly NewTask[];
      /** The recipients of later portions. */
      readonly rest: readonly Recipient[];
    }
  | { readonly failure: unknown };

/** A judged schedule whose tasks are prepared: the place among them. */
interface Firing {
  readonly schedule: DueSchedule;
  readonly next: Date;
  readonly rest: readonly Recipient[];
  readonly place: number;
}

/**
 * Every worker runs one, and all of them wake at the same time. A portion is one transaction, bounded in tasks and bytes:
 * it locks due schedules, which other nodes skip, creates their tasks and advances them. Teams take turns, so that one
 * team's backlog delays another's schedule by a portion; a firing to many endpoints goes over several portions, and the
 * schedule's row says whom it has not reached. A node that crashes in between has changed nothing of its portion.
 */
export function createScheduleRunner(
  deps: Omit<Preparation, "inTurns"> & {
    readonly database: Database;
    readonly inTurns?: Preparation["inTurns"];
    /** The current limits of these teams; deleted teams are omitted. */
    readonly termsOf: (teamIds: readonly number[]) => Promise<ReadonlyMap<number, AcceptedFrom["terms"]>>;
    readonly changes: Pick<TaskChanges, "created">;
    readonly traceFirings?: TraceFirings | undefined;
  },
): ScheduleRunner {
  const { database, traceFirings = (each) => each } = deps;
  const preparation: Preparation = { inTurns, ...deps };
  const order = createTeamOrder();
  /** The portions of sandboxes: requests fire them, as many as there are. */
  let ahead: Promise<unknown> = Promise.resolve();

  /** When each of these is due next, and the tasks of those that fire. */
  async function judge(
    parts: readonly Part[],
    aheadMs: number,
    terms: ReadonlyMap<number, AcceptedFrom["terms"]>,
  ): Promise<Judged[]> {
    const timesOf = rememberCronTimes();
    const firings: Wanted[] = [];
    const decided = parts.map(({ schedule, recipients, rest, refusal }): Judged | Firing => {
      try {
        const now = new Date(schedule.now.getTime() + aheadMs);
        const dueAt = ownTime(schedule, schedule.nextRunAt);
        const { fires, next } = judgeFiring(schedule, dueAt, ownTime(schedule, now), timesOf);
        const own = terms.get(schedule.teamId);
        const mayFire = own !== undefined && (isUnderWay(schedule) || (fires && !schedule.isFired));
        const base = { schedule, next: clockTime(schedule, next), more: [], rest: [] };
        if (!mayFire) return { ...base, task: null };
        if (refusal !== null) return { ...base, task: refusal };
        return { ...base, rest, place: firings.push({ schedule, terms: own, recipients }) - 1 };
      } catch (failure) {
        return { failure };
      }
    });
    const prepared = await prepareTasks(preparation, firings);
    return decided.map((each): Judged => {
      if (!("place" in each)) return each;
      const { schedule, next, rest, place } = each;
      const result = prepared[place];
      if (result?.status === "fulfilled") {
        const [task = null, ...more] = result.value.map((one) => one.task);
        return { schedule, next, task, more, rest };
      }
      const failure = result?.reason;
      return isRefusal(failure) ? { schedule, next, task: failure, more: [], rest: [] } : { failure };
    });
  }

  /** A firing's span lasts until the portion is committed: `stored` has the result of each schedule. */
  const fire = traceFirings(
    async (
      schedule: DueSchedule,
      begin: (schedule: DueSchedule) => void,
      stored: Promise<ReadonlyMap<string, Prepared>>,
    ): Promise<Prepared> => {
      begin(schedule);
      return (await stored).get(schedule.id) ?? null;
    },
  );

  /** `refusal`: nothing is tried, and each schedule records it. Returns the number of schedules in the portion. */
  async function firePortion(
    time: FiringTime,
    teamIds: readonly number[],
    limit: number,
    refusal: Error | null = null,
  ): Promise<number> {
    const commit = deferred<ReadonlyMap<string, Prepared>>();
    const firings: Promise<unknown>[] = [];
    let judged: Judged[] = [];
    let accepted: (readonly [NewTask, Accepted])[] = [];
    let parts: readonly Part[] = [];
    try {
      const results = await database.transaction(async (sql) => {
        judged = [];
        accepted = [];
        const due = await takeDueSchedules(sql, time, roomsOf(teamIds, limit));
        parts = await cutPortion(due, deps.fanOut, (failure) => judged.push({ failure }));
        if (parts.length === 0) return new Map<string, Prepared>();
        const terms = await deps.termsOf([...new Set(parts.map(({ schedule }) => schedule.teamId))]);
        const traced = parts.map((part) => {
          const begun = deferred<Part>();
          const begin = (schedule: DueSchedule) =>
            begun.resolve({ ...part, schedule, ...(refusal && { refusal }) });
          firings.push(fire(part.schedule, begin, commit.promise));
          return begun.promise;
        });
        judged.push(...(await judge(await Promise.all(traced), time.aheadMs, terms)));
        return storeFirings(sql, judged, time.aheadMs, (task, stored) => accepted.push([task, stored]));
      });
      commit.resolve(results);
    } catch (error) {
      commit.reject(error);
      await Promise.allSettled(firings);
      if (!(error instanceof Unstorable)) throw error;
      // The failing one is found by halving the portion, and then recorded.
      if (parts.length > 1) return firePortion(time, teamIds, Math.ceil(parts.length / 2));
      return firePortion(time, teamIds, 1, new Error("The task holds characters that cannot be stored"));
    }
    await Promise.allSettled(firings);
    order.served(parts.map(({ schedule }) => schedule.teamId));
    for (const [task, stored] of accepted) deps.changes.created(task, stored);
    const failed = judged.find((each) => "failure" in each);
    if (failed !== undefined) throw failed.failure;
    return parts.length;
  }

  return {
    fireAhead({ teamId, aheadMs }) {
      // One after another: a portion looks things up over further connections while its transaction has one, and together they
      // could have all that there are.
      const fired = ahead.then(() => firePortion({ sandboxOnly: true, aheadMs }, [teamId], INSERT_ROWS));
      ahead = fired.catch(() => {});
      return fired;
    },
    async fireOnce() {
      const { teamIds, untilNextMs } = await teamsWithDueSchedules(database);
      if (teamIds.length > 0 && (await firePortion(BY_THE_CLOCK, order.inTurn(teamIds), INSERT_ROWS)) > 0)
        return 0;
      // Another node has the locks of what is due.
      if (teamIds.length > 0) return SHORTEST_NAP_MS;
      return untilNextMs === null
        ? LONGEST_NAP_MS
        : Math.min(LONGEST_NAP_MS, Math.max(SHORTEST_NAP_MS, Math.ceil(untilNextMs) + 1));
    },
  };
}

/** Of each team an equal share of so many schedules, or one of each of the first teams. */
function roomsOf(teamIds: readonly number[], limit: number): TeamRoom[] {
  const most = Math.max(1, Math.floor(limit / Math.max(1, teamIds.length)));
  return teamIds.slice(0, limit).map((teamId) => ({ teamId, most }));
}

/** Creates all tasks at once, and advances every schedule. Returns the result of each. */
async function storeFirings(
  sql: Sql,
  judged: readonly Judged[],
  aheadMs: number,
  onAccepted: (task: NewTask, accepted: Accepted) => void,
): Promise<ReadonlyMap<string, Prepared>> {
  const ready = judged.flatMap((each) => ("failure" in each ? [] : each));
  const skipping = ready.filter(
    ({ schedule, task }) => isTask(task) && schedule.overlap === "skip" && !isUnderWay(schedule),
  );
  const busy = await withUnendedTasks(
    sql,
    skipping.map(({ schedule }) => schedule),
  );
  const isSkipped = (each: (typeof ready)[number]) => skipping.includes(each) && busy.has(each.schedule.id);
  const wanted = ready.map((each) => (isSkipped(each) ? null : each.task));
  const tasks = wanted.filter(isTask);
  const more = ready.flatMap((each, index) => (isTask(wanted[index] ?? null) ? each.more : []));
  const all = [...tasks, ...more];
  const stored =
    tasks.length === 0
      ? []
      : await insertTasks(
          sql,
          all.map((task) => ({ task, reservation: null })),
          NO_WORKER,
          aheadMs,
        );
  const accepted = new Map(all.map((task, index) => [task.id, stored[index] ?? null]));
  for (const task of all) {
    const row = accepted.get(task.id) ?? null;
    if (row !== null) onAccepted(task, row);
  }
  const results: Prepared[] = [];
  for (const task of wanted) {
    const isRefused = isTask(task) && (accepted.get(task.id) ?? null) === null;
    results.push(isRefused ? await whyRefused(sql, reachOf(task.teamId, task.sandbox), task) : task);
  }
  await recordFirings(
    sql,
    ready.map(({ schedule, next, rest }, index) => {
      const result = results[index] ?? null;
      return {
        schedule,
        next,
        rest: isTask(result) ? rest : [],
        taskId: isTask(result) && !isUnderWay(schedule) ? result.id : null,
        error: result instanceof Error ? result.message : null,
      };
    }),
  );
  return new Map(ready.map(({ schedule }, index) => [schedule.id, results[index] ?? null]));
}

function isTask(prepared: Prepared): prepared is NewTask {
  return prepared !== null && !(prepared instanceof Error);
}

interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

function deferred<T>(): Deferred<T> {
  let resolve: Deferred<T>["resolve"] = () => {};
  let reject: Deferred<T>["reject"] = () => {};
  const promise = new Promise<T>((resolved, rejected) => {
    resolve = resolved;
    reject = rejected;
  });
  // It may have no waiter.
  promise.catch(() => {});
  return { promise, resolve, reject };
}
