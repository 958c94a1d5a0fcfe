import type { EndedStatus, TaskStatus } from "../../domain/task.ts";
import { EVENT_COLUMNS, eventCte } from "./event-writes.ts";
import { type NO_WORKER, one, tally } from "./tallies.ts";
import { stateColumns } from "./task-state.ts";

/*
 * What it means that a task ends, for every statement that can end one. `endColumns` is what becomes of its row, in the
 * update; `afterChange` what else happens in the same commit, so that neither count nor notification can be lost.
 * In between the statement's own `returning` must yield team_id, queue_id, id, status and ENDING_COLUMNS.
 */

/** What `afterChange` needs of a task, for a returning clause. */
export const ENDING_COLUMNS = `t.sandbox, t.on_complete_url, ${EVENT_COLUMNS}`;

/**
 * The columns of `update tasks t` that every statement sets which takes a task out of a worker's hands, and perhaps ends
 * it. The rows that end lose what nothing will need again. Of those that are completed that is the id of the callback,
 * which is a secret; a task that failed or was cancelled may be retried, and its call must name the same id again.
 */
export function endColumns(options: {
  readonly status: string;
  /** The new run_at, where there is one. */
  readonly runAt?: string;
  /** The rows that end. Left out: all of them. */
  readonly when?: string;
  /** The rows that end as completed. */
  readonly completed: string;
  /** Of the rows that do not end. They are as before where nothing is said. */
  readonly onward?: { readonly deadlineAt?: string; readonly poll?: string };
  /** The rows that end and keep how they were polled. */
  readonly keepsPoll?: string;
  /** When they end, where that is not now. */
  readonly at?: string;
  /** Spent: used, so that it leads nowhere any more. Otherwise it still tells the task's state. */
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
 * The CTEs that follow the update: those that ended are counted and notified. Their idempotency key stays taken: freed, it let
 * a duplicate that was delayed on its way make a second task. Teams that listen are told of every row.
 */
export function afterChange(options: {
  /** The CTE that yields the changed rows. */
  readonly from: string;
  readonly worker: string | typeof NO_WORKER;
  readonly writer: "settle" | "other";
  /** What each row adds to the states that do not end. */
  readonly deltas: Partial<Record<Exclude<TaskStatus, EndedStatus>, string>>;
  /** How they may have ended. */
  readonly ends?: readonly EndedStatus[];
  /** Of a hot statement: whether it is the one that tells. False: none is told. */
  readonly tells?: boolean;
  /** The rows, as `c`, of which there is something to tell to those that listen. Left out: all of them. */
  readonly toldWhen?: string;
}): string {
  const { from, deltas, tells, toldWhen, ends = ["completed", "failed"] } = options;
  const told = { from, isHot: tells === true, ...(toldWhen !== undefined && { when: toldWhen }) };
  const ended = Object.fromEntries(ends.map((status) => [status, one(`status = '${status}'`)]));
  return `tallied as (
     ${tally({ ...options, deltas: { ...deltas, ...ended } })}
   ), notified as (
     insert into notifications (team_id, id, task_id, url)
     select team_id, gen_random_uuid(), id, on_complete_url from ${from}
      where status in (${ends.map((status) => `'${status}'`).join(", ")}) and on_complete_url is not null
   )${tells === false ? "" : `, ${eventCte(told)}`}`;
}

/** The CTEs that free the idempotency keys of tasks that are gone, and by what else they were found. `from` yields the tasks. */
export function lettingGo(from: string): string {
  return `let_go as (
     delete from idempotency_keys k using ${from} e
      where e.idempotency_key is not null
        and k.team_id = e.team_id and k.key = e.idempotency_key and k.task_id = e.id
   ), ${unlisting(from)}`;
}

/** Of tasks that are removed so long after their creation that their idempotency key is free anyway, this is all. */
export function unlisting(from: string): string {
  return `untagged as (
     delete from task_tags g using ${from} e
      where e.tags is not null and g.team_id = e.team_id and g.tag = any(e.tags) and g.task_id = e.id
   ), unscheduled as (
     delete from schedule_firings f using ${from} e
      where e.schedule_id is not null
        and f.team_id = e.team_id and f.schedule_id = e.schedule_id and f.task_id = e.id
   ), unsimulated as (
     delete from simulations s using ${from} e
      where e.sandbox and s.team_id = e.team_id and s.task_id = e.id
   )`;
}

/**
 * The CTE `kept`, of queues to which tasks go back: none of them is deleted before this statement commits, and those that
 * were are seen as deleted, also if that was committed only while we waited for their rows. The lock is the weakest that
 * a deletion waits for; nothing else does.
 */
export function keepingQueues(queues: string): string {
  return `kept as (
     select q.team_id, q.id, q.name, q.deleted_at
       from (${queues}) wanted join queues q on q.team_id = wanted.team_id and q.id = wanted.queue_id
        for key share of q
   )`;
}
