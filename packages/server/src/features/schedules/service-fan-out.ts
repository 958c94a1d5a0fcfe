import { Problem } from "../../domain/problem.ts";
import { reachOf } from "../../domain/reach.ts";
import type { NewTask } from "../../domain/task.ts";
import type { TaskRequest } from "../../domain/task-copies.ts";
import { whyRefused } from "../../service/tasks/refusal.ts";
import type { PreparedTask } from "../../service/tasks/task-batch.ts";
import type { AcceptedFrom, TaskService } from "../../service/tasks/task-service.ts";
import type { InTurns } from "../../service/turns.ts";
import { inPortions } from "../../store/portions.ts";
import type { Sql } from "../../store/sql.ts";
import { INSERT_BYTES, INSERT_ROWS, INSERT_WEIGHT } from "../../store/tasks/submission.ts";
import { NO_WORKER } from "../../store/tasks/tallies.ts";
import { type Accepted, insertTasks } from "../../store/tasks/task-intake.ts";
import type { Schedule } from "./domain.ts";
import type { DueSchedule, Recipient } from "./store-firings.ts";

/** Whom the firing of a message calls: one URL, or the endpoints that a URL group has by then. */
export interface FanOut {
  /** At least one. Rejects with a problem if there are none. */
  recipientsOf(teamId: number, request: TaskRequest): Promise<readonly Recipient[]>;
  requestTo(request: TaskRequest, recipient: Recipient): TaskRequest;
}

/** Of tasks that are no messages. */
const ONLY_ITSELF: FanOut = {
  recipientsOf: async (_teamId, { call }) => [call],
  requestTo: (request) => request,
};

export function fanOutOf({ message }: TaskRequest, ofMessages: FanOut = ONLY_ITSELF): FanOut {
  return message == null ? ONLY_ITSELF : ofMessages;
}

/** What one portion does of one firing. */
export interface Part {
  readonly schedule: DueSchedule;
  /** None if this time has fired already, or the firing is refused. */
  readonly recipients: readonly Recipient[];
  /** Those of later portions. */
  readonly rest: readonly Recipient[];
  readonly refusal: Error | null;
}

/** An earlier portion of this firing is stored. */
export function isUnderWay({ isFired, fanOut }: Pick<DueSchedule, "isFired" | "fanOut">): boolean {
  return isFired && fanOut !== null;
}

/** Due schedules that look for their recipients at the same time. */
const PER_LOOK = 20;

/**
 * As many of these firings as a portion holds, in their order; the last may be cut. The others stay due. `failed` gets
 * schedules whose recipients could not be looked up.
 */
export async function cutPortion(
  due: readonly DueSchedule[],
  ofMessages: FanOut | undefined,
  failed: (failure: unknown) => void,
): Promise<Part[]> {
  const parts: Part[] = [];
  let tasks = 0;
  let bytes = 0;
  const isFull = () => tasks >= INSERT_ROWS || bytes >= INSERT_BYTES;

  function cut(schedule: DueSchedule, found: readonly Recipient[] | Error): void {
    if (found instanceof Error) {
      tasks += 1;
      parts.push({ schedule, recipients: [], rest: [], refusal: found });
      return;
    }
    const size = Math.max(1, schedule.size);
    const most = Math.max(1, Math.min(INSERT_ROWS - tasks, Math.floor((INSERT_BYTES - bytes) / size)));
    const recipients = found.slice(0, most);
    tasks += Math.max(1, recipients.length);
    bytes += recipients.length * size;
    parts.push({ schedule, recipients, rest: found.slice(most), refusal: null });
  }

  async function lookUp({ teamId, task, isFired, fanOut }: DueSchedule): Promise<readonly Recipient[]> {
    if (isFired) return fanOut ?? [];
    return fanOutOf(task.request, ofMessages).recipientsOf(teamId, task.request);
  }

  for (let at = 0; at < due.length && !isFull(); at += PER_LOOK) {
    const looked = due.slice(at, at + PER_LOOK);
    const found = await Promise.allSettled(looked.map(lookUp));
    for (const [index, schedule] of looked.entries()) {
      const each = found[index];
      if (each === undefined || isFull()) break;
      if (each.status === "fulfilled") cut(schedule, each.value);
      else if (isRefusal(each.reason)) cut(schedule, each.reason);
      else failed(each.reason);
    }
  }
  return parts;
}

export interface Preparation {
  readonly accept: TaskService["accept"];
  readonly inTurns: InTurns;
  readonly fanOut?: FanOut | undefined;
}

/** A firing whose tasks are to be prepared. */
export interface Wanted {
  readonly schedule: Pick<Schedule, "teamId" | "sandbox" | "task">;
  readonly terms: AcceptedFrom["terms"];
  readonly recipients: readonly Recipient[];
}

/**
 * Everything except storing them, in the order of the firings. Those of one team share its turns: a team whose requests take
 * turns too goes first once, not once for each of them. The creator's right to use vault tokens was checked when the schedule
 * was created.
 */
export async function prepareTasks(
  { accept, inTurns, fanOut }: Preparation,
  firings: readonly Wanted[],
): Promise<PromiseSettledResult<PreparedTask[]>[]> {
  const begun = firings.map((): Promise<PreparedTask>[] => []);
  const byTeam = new Map<number, { readonly index: number; readonly recipient: Recipient }[]>();
  for (const [index, { schedule, recipients }] of firings.entries()) {
    const items = byTeam.get(schedule.teamId) ?? [];
    items.push(...recipients.map((recipient) => ({ index, recipient })));
    byTeam.set(schedule.teamId, items);
  }
  const prepare = (index: number, recipient: Recipient) => {
    const firing = firings[index];
    if (firing === undefined) return;
    const { teamId, sandbox, task } = firing.schedule;
    const origin = {
      teamId,
      sandbox,
      terms: firing.terms,
      idempotency: null,
      requireTokenUse: () => {},
    };
    const accepted = accept(origin, fanOutOf(task.request, fanOut).requestTo(task.request, recipient));
    // Awaited below, after further turns.
    accepted.catch(() => {});
    begun[index]?.push(accepted);
  };
  await Promise.all(
    [...byTeam].map(([teamId, items]) =>
      inTurns(teamId, items, ({ index, recipient }) => prepare(index, recipient)),
    ),
  );
  return Promise.allSettled(begun.map((each) => Promise.all(each)));
}

/** In their order, in statements of bounded size. */
export async function storeTasks(sql: Sql, tasks: readonly NewTask[]): Promise<Accepted[]> {
  const stored: Accepted[] = [];
  for (const portion of inPortions(tasks, INSERT_WEIGHT.of, INSERT_WEIGHT.most)) {
    const submissions = portion.map((task) => ({ task, reservation: null }));
    for (const [index, accepted] of (await insertTasks(sql, submissions, NO_WORKER)).entries()) {
      const task = portion[index];
      if (accepted === null && task !== undefined)
        throw await whyRefused(sql, reachOf(task.teamId, task.sandbox), task);
      if (accepted !== null) stored.push(accepted);
    }
  }
  return stored;
}

/** The schedule records a refusal; an unreachable database, or a bug, is retried. */
export function isRefusal(error: unknown): error is Problem {
  return error instanceof Problem && (error.status < 500 || error.code === "vault_off");
}
