import type { Reach } from "../../domain/reach.ts";
import type { DismissedTask } from "../../domain/task-changes.ts";
import { type Sql, statement } from "../sql.ts";
import { aheadSeconds, withClock } from "./sandbox-clocks.ts";

const DISMISS_TASK = statement(
  "dismiss_task",
  `with found as (
     select f.team_id, f.id, now() + make_interval(secs => ${aheadSeconds()}) as at
       from tasks f ${withClock("f")}
      where f.team_id = $1 and f.id = $2 and ($3 = 'live' or f.sandbox) and f.status = 'failed' for update of f
   ), dismissed as (
     update tasks t set dismissed_at = coalesce(t.dismissed_at, found.at)
       from found where t.team_id = found.team_id and t.id = found.id and t.status = 'failed'
     returning t.team_id, t.id, t.queue_id, t.sandbox, t.flow
   )
   select d.team_id as "teamId", d.id, d.queue_id::float8 as "queueId", d.sandbox, d.flow, q.name as queue
     from dismissed d join queues q on q.team_id = d.team_id and q.id = d.queue_id`,
  { prepared: true },
);

/** Marks a failed task as done with. A second dismissal keeps the time of the first. Null if the task is in another state. */
export async function dismissTask(sql: Sql, reach: Reach, id: string): Promise<DismissedTask | null> {
  const rows = await sql.rows<DismissedTask>(DISMISS_TASK, [reach.teamId, id, reach.environment]);
  return rows[0] ?? null;
}
