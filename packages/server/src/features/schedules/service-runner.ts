import { setImmediate } from "node:timers/promises";
import { Problem } from "../../domain/problem.ts";
import { reachOf } from "../../domain/reach.ts";
import type { NewTask } from "../../domain/task.ts";
import type { TaskChanges } from "../../domain/task-changes.ts";
import type { TaskRequest } from "../../domain/task-copies.ts";
import { whyRefused } from "../../service/tasks/refusal.ts";
import type { PreparedTask } from "../../service/tasks/task-batch.ts";
import type { AcceptedFrom, TaskService } from "../../service/tasks/task-service.ts";
import { type Database, type Sql, Unstorable } from "../../store/sql.ts";
import { NO_WORKER } from "../../store/tasks/tallies.ts";
import { type Accepted, insertTasks } from "../../store/tasks/task-intake.ts";
import type { TraceFirings } from "../../tracing/tracing.ts";
import { clockTime, judgeFiring, ownTime, type Schedule } from "./domain.ts";
import { type cronTimes, rememberCronTimes } from "./domain-cron.ts";
import { untilNextRunMs } from "./store.ts";
import {
  type DueSchedule,
  type FiringTime,
  recordFirings,
  takeDueSchedules,
  withUnendedTasks,
} from "./store-firings.ts";

/** Firings per transaction: many schedules fire on the hour, and the last of them must not be late. */
const BATCH = 500;
/** Polling interval: if a hint is lost, another node's new schedule is found this late at worst. */
const LONGEST_NAP_MS = 5_000;

/**
 * After this many prepared firings the runner checks the clock, and yields once it has held the event loop for too
 * long. A turn lasts as long as the calls of earlier firings take, so a batch must not wait for more turns than it
 * needs.
 */
const PER_LOOK = 25;
const TURN_MS = 5;

const BY_THE_CLOCK: FiringTime = { teamId: null, aheadMs: 0 };

export interface ScheduleRunner {
  /** Creates the tasks of a batch of due schedules. Returns the milliseconds until the next. */
  fireOnce(): Promise<number>;
  /** The same for a team's sandbox whose clock is ahead. Returns the number of due schedules. */
  fireAhead(time: { readonly teamId: number; readonly aheadMs: number }): Promise<number>;
}

/** The requests of one firing, at least one: most tasks stand for themselves. Rejects with a problem if there are none. */
export type ExpandTask = (teamId: number, request: TaskRequest) => Promise<readonly TaskRequest[]>;

const ONLY_ITSELF: ExpandTask = async (_teamId, request) => [request];

/** A task to be stored; an error if there is none; null if the firing is skipped. */
type Prepared = NewTask | Error | null;

/** A judged schedule of a batch. `failure`: it could not be prepared and is retried. */
type Judged =
  | {
      readonly schedule: DueSchedule;
      readonly next: Date;
      readonly task: Prepared;
      /** The further tasks of the same firing. */
      readonly more: readonly NewTask[];
    }
  | { readonly failure: unknown };

/**
 * Every worker runs one, and all of them wake at the same time. A batch is one transaction: it locks due schedules,
 * which other nodes skip, creates their tasks and advances them. A node that crashes in between has changed nothing.
 */
export function createScheduleRunner(deps: {
  readonly database: Database;
  readonly accept: TaskService["accept"];
  /** The current limits of these teams; deleted teams are omitted. */
  readonly termsOf: (teamIds: readonly number[]) => Promise<ReadonlyMap<number, AcceptedFrom["terms"]>>;
  readonly changes: Pick<TaskChanges, "created">;
  readonly expand?: ExpandTask | undefined;
  readonly traceFirings?: TraceFirings | undefined;
}): ScheduleRunner {
  const { database, expand, traceFirings = (each) => each } = deps;

  async function judge(
    schedule: DueSchedule,
    aheadMs: number,
    terms: AcceptedFrom["terms"] | undefined,
    timesOf: typeof cronTimes,
  ): Promise<Judged> {
    try {
      const now = new Date(schedule.now.getTime() + aheadMs);
      const dueAt = ownTime(schedule, schedule.nextRunAt);
      const judged = judgeFiring(schedule, dueAt, ownTime(schedule, now), timesOf);
      const next = clockTime(schedule, judged.next);
      if (!judged.fires || schedule.isFired || terms === undefined)
        return { schedule, next, task: null, more: [] };
      const prepared = await refusalOr(() => prepareTasks(deps.accept, schedule, terms, expand));
      if (prepared instanceof Error) return { schedule, next, task: prepared, more: [] };
      const [task = null, ...more] = prepared;
      return { schedule, next, task, more };
    } catch (failure) {
      return { failure };
    }
  }

  /** A firing's span lasts until the batch is committed: `stored` has the result of each schedule. */
  const fire = traceFirings(
    async (
      schedule: DueSchedule,
      prepare: (schedule: DueSchedule) => Promise<void>,
      stored: Promise<ReadonlyMap<string, Prepared>>,
    ): Promise<Prepared> => {
      await prepare(schedule);
      return (await stored).get(schedule.id) ?? null;
    },
  );

  /** `refusal`: nothing is tried, and each schedule records it. Returns the number of due schedules. */
  async function fireBatch(time: FiringTime, limit: number, refusal: Error | null = null): Promise<number> {
    const commit = deferred<ReadonlyMap<string, Prepared>>();
    const firings: Promise<unknown>[] = [];
    const judged: Judged[] = [];
    const accepted: (readonly [NewTask, Accepted])[] = [];
    let count = 0;
    try {
      const results = await database.transaction(async (sql) => {
        const due = await takeDueSchedules(sql, time, limit);
        count = due.length;
        if (count === 0) return new Map<string, Prepared>();
        const terms = await deps.termsOf([...new Set(due.map(({ teamId }) => teamId))]);
        const timesOf = rememberCronTimes();
        const preparing: Promise<void>[] = [];
        let turnBeganMs = performance.now();
        for (const [index, each] of due.entries()) {
          if (index > 0 && index % PER_LOOK === 0 && performance.now() - turnBeganMs > TURN_MS) {
            await setImmediate();
            turnBeganMs = performance.now();
          }
          const prepared = deferred<void>();
          const prepare = async (schedule: DueSchedule) => {
            const found = await judge(schedule, time.aheadMs, terms.get(schedule.teamId), timesOf);
            judged.push(refusal === null || "failure" in found ? found : { ...found, task: refusal });
            prepared.resolve();
          };
          firings.push(fire(each, prepare, commit.promise));
          preparing.push(prepared.promise);
        }
        await Promise.all(preparing);
        return storeFirings(sql, judged, time.aheadMs, (task, stored) => accepted.push([task, stored]));
      });
      commit.resolve(results);
    } catch (error) {
      commit.reject(error);
      await Promise.allSettled(firings);
      if (!(error instanceof Unstorable)) throw error;
      // The failing one is found by halving the batch, and then recorded.
      if (count > 1) return fireBatch(time, Math.ceil(count / 2));
      return fireBatch(time, 1, new Error("The task holds characters that cannot be stored"));
    }
    await Promise.allSettled(firings);
    for (const [task, stored] of accepted) deps.changes.created(task, stored);
    const failed = judged.find((each) => "failure" in each);
    if (failed !== undefined) throw failed.failure;
    return count;
  }

  return {
    fireAhead: (time) => fireBatch(time, BATCH),
    async fireOnce() {
      if ((await fireBatch(BY_THE_CLOCK, BATCH)) > 0) return 0;
      const untilMs = await untilNextRunMs(database);
      // A timer may fire slightly early. Due schedules are processed by another node.
      return untilMs === null
        ? LONGEST_NAP_MS
        : Math.min(LONGEST_NAP_MS, Math.max(20, Math.ceil(untilMs) + 1));
    },
  };
}

/** Creates all tasks at once, and advances every schedule. Returns the result of each. */
async function storeFirings(
  sql: Sql,
  judged: readonly Judged[],
  aheadMs: number,
  onAccepted: (task: NewTask, accepted: Accepted) => void,
): Promise<ReadonlyMap<string, Prepared>> {
  const ready = judged.flatMap((each) => ("failure" in each ? [] : each));
  const skipping = ready.filter(({ schedule, task }) => isTask(task) && schedule.overlap === "skip");
  const busy = await withUnendedTasks(
    sql,
    skipping.map(({ schedule }) => schedule),
  );
  const wanted = ready.map(({ schedule, task }) =>
    isTask(task) && schedule.overlap === "skip" && busy.has(schedule.id) ? null : task,
  );
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
  for (const task of more) {
    const row = accepted.get(task.id) ?? null;
    if (row !== null) onAccepted(task, row);
  }
  const refusals = new Map<string, Problem>();
  for (const task of all)
    if (accepted.get(task.id) === null)
      refusals.set(task.id, await whyRefused(sql, reachOf(task.teamId, task.sandbox), task));
  const results = wanted.map((task): Prepared => {
    if (!isTask(task)) return task;
    const row = accepted.get(task.id) ?? null;
    if (row === null) return refusals.get(task.id) ?? new Problem("queue_not_found", { name: task.queue });
    onAccepted(task, row);
    return task;
  });
  await recordFirings(
    sql,
    ready.map(({ schedule, next }, index) => {
      const result = results[index] ?? null;
      return {
        schedule,
        next,
        taskId: isTask(result) ? result.id : null,
        error: result instanceof Error ? result.message : null,
      };
    }),
  );
  return new Map(ready.map(({ schedule }, index) => [schedule.id, results[index] ?? null]));
}

function isTask(prepared: Prepared): prepared is NewTask {
  return prepared !== null && !(prepared instanceof Error);
}

/** Everything except storing them. The creator's right to use vault tokens was checked when the schedule was created. */
export async function prepareTasks(
  accept: TaskService["accept"],
  schedule: Pick<Schedule, "teamId" | "sandbox" | "task">,
  terms: AcceptedFrom["terms"],
  expand: ExpandTask = ONLY_ITSELF,
): Promise<PreparedTask[]> {
  const { teamId, sandbox, task } = schedule;
  const origin = { teamId, sandbox, terms, idempotency: null, requireTokenUse: () => {} };
  if (task.request.message == null) return [await accept(origin, task.request)];
  const requests = await expand(teamId, task.request);
  return Promise.all(requests.map((request) => accept(origin, request)));
}

/** In their order. */
export async function storeTasks(sql: Sql, tasks: readonly NewTask[]): Promise<Accepted[]> {
  const submissions = tasks.map((task) => ({ task, reservation: null }));
  const stored: Accepted[] = [];
  for (const [index, accepted] of (await insertTasks(sql, submissions, NO_WORKER)).entries()) {
    const task = tasks[index];
    if (accepted === null && task !== undefined)
      throw await whyRefused(sql, reachOf(task.teamId, task.sandbox), task);
    if (accepted !== null) stored.push(accepted);
  }
  return stored;
}

/** The schedule records a refusal; an unreachable database, or a bug, is retried. */
async function refusalOr(prepare: () => Promise<PreparedTask[]>): Promise<readonly NewTask[] | Error> {
  try {
    return (await prepare()).map(({ task }) => task);
  } catch (error) {
    if (error instanceof Problem && (error.status < 500 || error.code === "vault_off")) return error;
    throw error;
  }
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
