import { Problem } from "../../domain/problem.ts";
import { clockTime, judgeFiring, ownTime, type Schedule } from "../../domain/schedule.ts";
import type { NewTask } from "../../domain/task.ts";
import { type Database, type Sql, Unstorable } from "../../store/sql.ts";
import {
  dueInSandbox,
  dueSchedules,
  fireSchedule,
  hasUnendedTask,
  untilNextRunMs,
} from "../../store/tasks/schedules.ts";
import { NO_WORKER } from "../../store/tasks/tallies.ts";
import { type Accepted, insertTasks } from "../../store/tasks/task-intake.ts";
import type { PreparedTask } from "./task-batch.ts";
import type { AcceptedFrom, TaskService } from "./task-service.ts";

const BATCH = 100;
/** At once: many schedules are for the full hour, and the last of them must not be late. */
const AT_ONCE = 4;
/** The net under the hints: a schedule that another node was told of is seen this late at worst. */
const LONGEST_NAP_MS = 5_000;

export interface ScheduleRunner {
  /** Makes the tasks of all schedules that are due. Returns how long to nap until the next is. */
  fireOnce(): Promise<number>;
  /** The same for the sandbox of a team whose time is ahead of the clock. Returns how many were due. */
  fireAhead(time: { readonly teamId: number; readonly aheadMs: number }): Promise<number>;
}

/**
 * The same firing, with a span that the task it makes refers to. A firing resolves with its task, with the reason why there is
 * none, or with null where none was to be made, or another node made it.
 */
export type TraceFirings = <More extends unknown[], Fired extends { readonly id: string } | Error | null>(
  fire: (schedule: Schedule, ...more: More) => Promise<Fired>,
) => (schedule: Schedule, ...more: More) => Promise<Fired>;

/**
 * Every node that makes calls runs one, and all of them wake at the same time: which one fires a schedule is decided in
 * the transaction that makes its task.
 */
export function createScheduleRunner(deps: {
  readonly database: Database;
  readonly accept: TaskService["accept"];
  /** What the team may do now; null if it is gone. */
  readonly termsOf: (teamId: number) => Promise<AcceptedFrom["terms"] | null>;
  readonly onStored: (task: NewTask, accepted: Accepted) => void;
  readonly traceFirings?: TraceFirings | undefined;
}): ScheduleRunner {
  const { database, traceFirings = (each) => each } = deps;

  const fire = traceFirings(async (schedule: Schedule, aheadMs: number): Promise<NewTask | Error | null> => {
    if (schedule.nextRunAt === null) return null;
    const now = new Date(schedule.now.getTime() + aheadMs);
    const judged = judgeFiring(schedule, ownTime(schedule, schedule.nextRunAt), ownTime(schedule, now));
    const { fires } = judged;
    const next = clockTime(schedule, judged.next);
    const terms = fires ? await deps.termsOf(schedule.teamId) : null;
    const prepared = terms && (await attempt(() => prepareTask(deps.accept, schedule, terms)));
    if (prepared instanceof Error || prepared === null) return makeNone(schedule, next, prepared);
    const { task } = prepared;
    let accepted: Accepted | null = null;
    const stored = await attempt(() =>
      fireSchedule(database, schedule, { next, error: null }, async (sql) => {
        if (schedule.overlap === "skip" && (await hasUnendedTask(sql, schedule))) return null;
        accepted = await insertTask(sql, task);
        return task.id;
      }),
    );
    if (stored instanceof Error) return makeNone(schedule, next, stored);
    if (!stored || accepted === null) return null;
    deps.onStored(task, accepted);
    return task;
  });

  async function makeNone(schedule: Schedule, next: Date, why: Error | null): Promise<Error | null> {
    const firing = { next, error: why?.message ?? null };
    return (await fireSchedule(database, schedule, firing, async () => null)) ? why : null;
  }

  return {
    async fireAhead({ teamId, aheadMs }) {
      const due = await dueInSandbox(database, teamId, aheadMs, BATCH);
      for (const schedule of due) await fire(schedule, aheadMs);
      return due.length;
    },
    async fireOnce() {
      const due = await dueSchedules(database, BATCH);
      const waiting = [...due];
      const failures: unknown[] = [];
      const work = async () => {
        for (let schedule = waiting.shift(); schedule !== undefined; schedule = waiting.shift())
          // One that cannot be fired now must not keep the others from it.
          await fire(schedule, 0).catch((error) => failures.push(error));
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      if (failures.length > 0) throw failures[0];
      if (due.length === BATCH) return 0;
      const untilMs = await untilNextRunMs(database);
      // A timer may fire a fraction early. What is due already is in another node's hands.
      return untilMs === null
        ? LONGEST_NAP_MS
        : Math.min(LONGEST_NAP_MS, Math.max(20, Math.ceil(untilMs) + 1));
    },
  };
}

/** Everything but storing it. Whether its creator may use vault tokens was asked when the schedule was made. */
export function prepareTask(
  accept: TaskService["accept"],
  schedule: Schedule,
  terms: AcceptedFrom["terms"],
): Promise<PreparedTask> {
  const { teamId, sandbox, task } = schedule;
  const origin = { teamId, sandbox, terms, idempotency: null, requireTokenUse: () => {} };
  return accept(origin, task.request);
}

export async function insertTask(sql: Sql, task: NewTask): Promise<Accepted> {
  const [accepted = null] = await insertTasks(sql, [{ task, reservation: null }], NO_WORKER);
  if (accepted === null) throw new Problem("queue_not_found", { name: task.queue });
  return accepted;
}

/** A refusal is the schedule's to tell; a database that is away, or a bug, is a reason to try again. */
async function attempt<T>(work: () => Promise<T>): Promise<T | Error> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Unstorable) return new Error("The task holds characters that cannot be stored");
    if (error instanceof Problem && (error.status < 500 || error.code === "vault_off")) return error;
    throw error;
  }
}
