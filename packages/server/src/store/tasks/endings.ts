import type { EndedStatus, TaskStatus } from "../../domain/task.ts";
import { EVENT_COLUMNS, eventCte } from "./event-writes.ts";
import { type NO_WORKER, one, tally } from "./tallies.ts";
import { stateColumns } from "./task-state.ts";

/*
 * The end of a task, for every statement that can end one. `endColumns` are its row's new values in the update;
 * `afterChange` is the rest of the same commit, so that neither count nor notification can be lost. The statement's own
 * `returning` must yield team_id, queue_id, id, status and ENDING_COLUMNS.
 */

/** The columns that `afterChange` needs, for a returning clause. */
export const ENDING_COLUMNS = `t.sandbox, t.on_complete_url, t.on_failure_url, ${EVENT_COLUMNS}`;

/** Whether the end of such a row has a notification, or may have one: it only wakes the courier. */
export const IS_NOTIFIED = "num_nonnulls(on_complete_url, on_failure_url) > 0";

/**
 * The columns of `update tasks t` for every statement that takes a task from a worker and may end it. Rows that end
 * lose values that are no longer needed. A completed task loses its callback id, which is a secret; a failed or
 * cancelled task may be retried, and its call must use the same id again.
 */
export function endColumns(options: {
  readonly status: string;
  /** The new run_at, if any. */
  readonly runAt?: string;
  /** The rows that end; default: all. */
  readonly when?: string;
  /** The rows that end as completed. */
  readonly completed: string;
  /** For rows that do not end; unchanged by default. */
  readonly onward?: { readonly deadlineAt?: string; readonly poll?: string };
  /** The rows that end and keep their poll state. */
  readonly keepsPoll?: string;
  /** The time of the end; default: now. */
  readonly at?: string;
  /** `spent`: the callback was used and is invalid. Otherwise it still reports the task's state. */
  readonly callback?: "spent";
}): string {
  const { status, runAt, when, completed, onward, keepsPoll, callback, at = "now()" } = options;
  const ended = (value: string, otherwise: string) =>
    when === undefined ? value : `case when ${when} then ${value} else ${otherwise} end`;
  const columns = [
    stateColumns(status, runAt),
    ...(runAt === undefined ? [] : [`run_at = ${runAt}`]),
    `completed_at = ${ended(at, "null")}`,
    `deadline_at = ${ended("null", onward?.deadlineAt ?? "t.deadline_at")}`,
    `poll = ${ended(keepsPoll === undefined ? "null" : `case when ${keepsPoll} then t.poll end`, onward?.poll ?? "t.poll")}`,
    ...(completed === "false"
      ? []
      : [`callback_sealed = case when ${completed} then null else t.callback_sealed end`]),
    ...(callback === "spent" ? ["callback_hash = null"] : []),
    "fence = t.fence + 1",
    "worker_id = null",
  ];
  return columns.join(",\n            ");
}

/**
 * The CTEs after the update: ended tasks are counted and notified. Their idempotency key stays reserved: a freed key
 * let a delayed duplicate create a second task. Every changed row produces an event for subscribed teams.
 */
export function afterChange(options: {
  /** The CTE that yields the changed rows. */
  readonly from: string;
  readonly worker: string | typeof NO_WORKER;
  readonly writer: "settle" | "other";
  /** What each row adds to the counts of open states. */
  readonly deltas: Partial<Record<Exclude<TaskStatus, EndedStatus>, string>>;
  /** How they may have ended. */
  readonly ends?: readonly EndedStatus[];
  /** For a hot statement: whether it writes events. */
  readonly tells?: boolean;
  /** The rows, as `c`, that produce an event; default: all. */
  readonly toldWhen?: string;
}): string {
  const { from, deltas, tells, toldWhen, ends = ["completed", "failed"] } = options;
  const told = { from, isHot: tells === true, ...(toldWhen !== undefined && { when: toldWhen }) };
  const ended = Object.fromEntries(ends.map((status) => [status, one(`status = '${status}'`)]));
  return `tallied as (
     ${tally({ ...options, deltas: { ...deltas, ...ended } })}
   ), notified as (
     insert into notifications (team_id, id, task_id, url)
     ${toldUrl(from, "on_complete_url", ends)}${
       ends.every((status) => status === "completed")
         ? ""
         : `
      union all
     ${toldUrl(
       from,
       "on_failure_url",
       ends.filter((status) => status !== "completed"),
     )}`
     }
   )${tells === false ? "" : `, ${eventCte(told)}`}`;
}

function toldUrl(from: string, url: string, ends: readonly EndedStatus[]): string {
  return `select team_id, gen_random_uuid(), id, ${url} from ${from}
      where status in (${ends.map((status) => `'${status}'`).join(", ")}) and ${url} is not null`;
}

/** The CTEs that delete the idempotency keys and index rows of deleted tasks. `from` yields the tasks. */
export function lettingGo(from: string): string {
  return `let_go as (
     delete from idempotency_keys k using ${from} e
      where e.idempotency_key is not null
        and k.team_id = e.team_id and k.key = e.idempotency_key and k.task_id = e.id
   ), let_bound_go as (
     delete from idempotency_keys k using ${from} e, bound_keys b
      where e.dedupe is not null and b.team_id = e.team_id and b.task_id = e.id
        and k.team_id = b.team_id and k.key = b.key and k.sandbox = b.sandbox and k.task_id = e.id
   ), ${unlisting(from)}`;
}

/** Enough for tasks deleted so long after their creation that their idempotency key has expired. */
export function unlisting(from: string): string {
  return `untagged as (
     delete from task_tags g using ${from} e
      where e.tags is not null and g.team_id = e.team_id and g.tag = any(e.tags) and g.task_id = e.id
   ), unscheduled as (
     delete from schedule_firings f using ${from} e
      where e.schedule_id is not null
        and f.team_id = e.team_id and f.schedule_id = e.schedule_id and f.task_id = e.id
   ), unbound as (
     delete from bound_keys b using ${from} e
      where e.dedupe is not null and b.team_id = e.team_id and b.task_id = e.id
   ), unsimulated as (
     delete from simulations s using ${from} e
      where e.sandbox and s.team_id = e.team_id and s.task_id = e.id
   )`;
}

/**
 * The CTE `kept` with the queues that tasks return to: none is deleted before this statement commits, and deleted ones
 * are seen as deleted, even if that was committed while we waited for their rows. The lock is the weakest that a
 * deletion waits for; no other statement waits for it.
 */
export function keepingQueues(queues: string): string {
  return `kept as (
     select q.team_id, q.id, q.name, q.deleted_at
       from (${queues}) wanted join queues q on q.team_id = wanted.team_id and q.id = wanted.queue_id
        for key share of q
   )`;
}
