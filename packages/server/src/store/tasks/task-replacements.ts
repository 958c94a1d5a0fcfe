import type { NewTask } from "../../domain/task.ts";
import { type Sql, statement } from "../sql.ts";
import { EVENT_COLUMNS, eventCte } from "./event-writes.ts";
import { carriedFigures, keepingFigures } from "./flow-intake.ts";
import { joiningLines } from "./ordered-lines.ts";
import { aheadSeconds, withClock } from "./sandbox-clocks.ts";
import { INSERTED, insertedRow, REPLACED } from "./task-columns.ts";
import { simulatedRow } from "./task-intake.ts";

/** A request that takes the place of a pending task's. */
export interface Replacement {
  /** With the id of the task that it replaces. */
  readonly task: NewTask;
  /** Milliseconds since 1970; null: as the request says, at the latest when the task was due before. */
  readonly dueMs: number | null;
  /** The callback of the task from now on; its hash is null if that stays. */
  readonly callback: { readonly hash: string | null; readonly sealed: string | null };
}

export interface Replaced {
  readonly id: string;
  readonly queueId: number;
  /** The time of the request, by the task's clock. */
  readonly createdAt: Date;
  readonly runAt: Date;
}

const REPLACE_TASKS = statement(
  "replace_tasks",
  `with timed as materialized (
     select a.*, d.due_ms, d.new_hash, d.new_sealed, s.said, t.tags as old_tags, t.queue_id as own_queue_id, t.run_at as old_run_at,
            to_timestamp(d.due_ms / 1000) as due_then,
            now() + make_interval(secs => ${aheadSeconds()}) as at, make_interval(secs => ${aheadSeconds()}) as ahead,
            now() + make_interval(secs => ${aheadSeconds()}) + make_interval(secs => a.expires_in_seconds) as expires_at,
            now() + make_interval(secs => ${aheadSeconds()}) + make_interval(secs => a.delay_seconds) as delayed_until
       from jsonb_to_recordset($1::jsonb) as a(${INSERTED.record})
       join jsonb_to_recordset($2::jsonb) as d(id uuid, due_ms float8, new_hash text, new_sealed text) on d.id = a.id
       left join jsonb_to_recordset($3::jsonb) as s(id uuid, said jsonb) on s.id = a.id
       join tasks t on t.team_id = a.team_id and t.id = a.id
       ${withClock("t")}
   ), asked as materialized (
     select a.*,
            coalesce(a.due_then, a.run_at,
                     case when a.delay_seconds > 0 then a.delayed_until else least(a.old_run_at, a.at) end) as begins_at,
            coalesce(a.max_retries, q.max_retries) as own_max_retries,
            coalesce(a.backoff, q.backoff) as own_backoff,
            coalesce(a.retry_delay_seconds, q.retry_delay_seconds) as own_retry_delay_seconds,
            coalesce(a.retry_max_delay_seconds, nullif(q.retry_max_delay_seconds, 3600)) as own_retry_max_delay_seconds,
            coalesce(a.no_retry_statuses, q.no_retry_statuses) as own_no_retry_statuses,
            coalesce(a.timeout_seconds, q.timeout_seconds) as own_timeout_seconds
       from timed a join queues q on q.team_id = a.team_id and q.id = a.own_queue_id
   ), replaced as (
     update tasks t
        set ${REPLACED},
            max_retries = a.own_max_retries,
            backoff = a.own_backoff,
            retry_delay_seconds = a.own_retry_delay_seconds,
            retry_max_delay_seconds = a.own_retry_max_delay_seconds,
            no_retry_statuses = a.own_no_retry_statuses,
            timeout_seconds = a.own_timeout_seconds,
            run_at = a.begins_at,
            due_at = case when not t.sandbox and a.flow is null then a.begins_at end,
            flow_due_at = case when not t.sandbox and a.flow is not null then a.begins_at end,
            deadline_at = case when not t.sandbox then a.expires_at end,
            callback_hash = coalesce(decode(a.new_hash, 'hex'), t.callback_hash),
            callback_sealed = decode(a.new_sealed, 'hex')
       from asked a
      where t.team_id = a.team_id and t.id = a.id and t.status = 'pending' and t.attempt_count = 0
     returning t.team_id, t.queue_id, t.id, t.status, t.sandbox, t.flow, t.tags, a.old_tags, a.at, a.ahead, a.said, a.expires_at, t.created_at, t.run_at,
               ${EVENT_COLUMNS}
   ), untagged as (
     delete from task_tags g using replaced r
      where r.old_tags is not null and g.team_id = r.team_id and g.tag = any(r.old_tags) and g.task_id = r.id
        and (r.tags is null or g.tag <> all(r.tags))
   ), tagged as (
     insert into task_tags (team_id, tag, task_id)
     select r.team_id, tag, r.id from replaced r cross join unnest(r.tags) as tag
     on conflict do nothing
   ), unsimulated as (
     delete from simulations s using replaced r
      where r.sandbox and r.said is null and r.expires_at is null and s.team_id = r.team_id and s.task_id = r.id
   ), simulated as (
     insert into simulations as s (team_id, task_id, said, next_at)
     select r.team_id, r.id, r.said, case when r.said is null then r.expires_at else r.run_at end - r.ahead
       from replaced r where r.sandbox and (r.said is not null or r.expires_at is not null)
     on conflict (team_id, task_id) do update set said = excluded.said, next_at = excluded.next_at
   ), ${eventCte({ from: "replaced", type: "'task.replaced'" })}, inserted as (
     select team_id, sandbox, flow, id from replaced
   )${keepingFigures("$4")}, ${joiningLines("replaced")}
   select id, queue_id::float8 as "queueId", at as "createdAt", run_at as "runAt" from replaced`,
);

/** Must run in the transaction that has locked the tasks. Throws unless each of them is replaced. */
export async function replaceTasks(sql: Sql, replacements: readonly Replacement[]): Promise<Replaced[]> {
  if (replacements.length === 0) return [];
  const rows = await sql.rows<Replaced>(REPLACE_TASKS, [
    JSON.stringify(replacements.map(({ task }) => insertedRow(task, null))),
    JSON.stringify(
      replacements.map(({ task: { id }, dueMs, callback }) => ({
        id,
        due_ms: dueMs,
        new_hash: callback.hash,
        new_sealed: callback.sealed,
      })),
    ),
    JSON.stringify(replacements.flatMap(({ task }) => simulatedRow(task) ?? [])),
    carriedFigures(replacements.map(({ task }) => task)),
  ]);
  if (rows.length < replacements.length) throw new Error("A task that was locked could not be replaced");
  return rows;
}
