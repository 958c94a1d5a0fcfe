import type { Reach } from "../../domain/reach.ts";
import type { RetriedTask } from "../../domain/task-changes.ts";
import { type Sql, statement } from "../sql.ts";
import { keepingQueues } from "./endings.ts";
import { joiningLines } from "./ordered-lines.ts";
import { aheadSeconds, withClock } from "./sandbox-clocks.ts";
import { NO_WORKER, one, tally } from "./tallies.ts";
import { stateColumns } from "./task-state.ts";

/** How a task is restarted. */
export interface Renewal {
  readonly delaySeconds: number;
  /** Null: as before. */
  readonly priority: number | null;
}

/**
 * A task that was cancelled in the middle of a call waits for a second at least: by then the call is torn down, so that
 * no task has two calls at once. Notifications of the ending that were not delivered yet are dropped with it: what they
 * would tell is no longer so, and the next ending has one of its own.
 */
const RETRY_TASK = statement(
  "retry_task",
  `with found as (
     select f.team_id, f.id, f.queue_id, f.status as was,
            f.status = 'failed' and f.failure_reason is distinct from 'expired' and f.dismissed_at is null as blocked, make_interval(secs => ${aheadSeconds()}) as ahead,
            greatest(now() + make_interval(secs => ${aheadSeconds()}) + make_interval(secs => $3),
                     case when f.status = 'cancelled' then f.completed_at + interval '1 second' end) as begins_at
       from tasks f ${withClock("f")}
      where f.team_id = $1 and f.id = $2 and ($5 = 'live' or f.sandbox) and f.status in ('failed', 'cancelled')
        for update of f
   ), ${keepingQueues("select team_id, queue_id from found")}, retried as (
     update tasks t
        set ${stateColumns("'pending'", "found.begins_at")},
            run_at = found.begins_at,
            priority = coalesce($4, t.priority),
            fence = t.fence + 1,
            retries = t.retries + 1,
            failures = 0,
            interruptions = 0,
            deadline_at = case when not t.sandbox then now() + make_interval(secs => t.expires_in_seconds) end,
            completed_at = null,
            result = null,
            error = null,
            failure_reason = null,
            dismissed_at = null,
            -- What a cancel has left, if no worker has taken it: the job that it would end is another's now.
            poll = null
       from found join kept q on q.team_id = found.team_id and q.id = found.queue_id and q.deleted_at is null
      where t.team_id = found.team_id and t.id = found.id
     returning t.team_id, t.queue_id, t.id, q.name as queue, t.flow, t.created_at, t.run_at, t.sandbox, t.expires_in_seconds, was, found.blocked, found.ahead
   ), ${joiningLines("retried", "t.blocked")}, tallied as (
     ${tally({
       from: "retried",
       worker: NO_WORKER,
       writer: "other",
       deltas: {
         pending: "1",
         failed: `-${one("was = 'failed'")}`,
         cancelled: `-${one("was = 'cancelled'")}`,
       },
     })}
   ), resumed as (
     update simulations s
        set next_at = case when s.said is null then r.expires_at else r.run_at - r.ahead end
       from (select *, now() + make_interval(secs => expires_in_seconds) as expires_at from retried) r where r.sandbox and s.team_id = r.team_id and s.task_id = r.id
   ), untold as (
     delete from notifications n using retried r
      where n.team_id = r.team_id and n.task_id = r.id and n.status = 'pending'
   )
   select team_id as "teamId", id, queue, flow, queue_id::float8 as "queueId", sandbox, now() as "createdAt", run_at as "runAt" from retried`,
  { prepared: true },
);

/** Restarts a failed or cancelled task under its id. Null if it is in another state, or its queue was deleted. */
export async function retryTask(
  sql: Sql,
  reach: Reach,
  id: string,
  renewal: Renewal,
): Promise<RetriedTask | null> {
  const rows = await sql.rows<RetriedTask>(RETRY_TASK, [
    reach.teamId,
    id,
    renewal.delaySeconds,
    renewal.priority,
    reach.environment,
  ]);
  return rows[0] ?? null;
}
