import type { FailureReason } from "../../domain/task.ts";
import { type Sql, statement } from "../sql.ts";
import { afterChange, ENDING_COLUMNS, endColumns, IS_NOTIFIED } from "./endings.ts";
import { one } from "./tallies.ts";
import { untilNext } from "./until-next.ts";

const EXPIRE_TASKS = statement(
  "expire_tasks",
  `with late as (
     select team_id, id, status as was from tasks
      where deadline_at is not null and deadline_at <= now()
      order by deadline_at limit $2 for update skip locked
   ), expired as (
     update tasks t
        set ${endColumns({ status: "'failed'", completed: "false" })},
            failure_reason = case was when 'polling' then 'poll_timeout' when 'waiting' then 'callback_timeout'
                                      else 'expired' end,
            error = case was when 'polling' then 'Polling timed out after ' || (t.poll_config ->> 'maxDuration') || ' s'
                               || coalesce(': last poll failed: ' || (t.poll -> 'seen' ->> 'error'), '')
                             when 'waiting' then 'No callback within ' || t.max_wait_seconds || ' s'
                             else 'No attempt was begun within ' || t.expires_in_seconds || ' s' end
       from late where t.team_id = late.team_id and t.id = late.id
     returning t.team_id, t.queue_id, t.id, t.status, t.failure_reason, t.flow, late.was, ${ENDING_COLUMNS}
   ), ${afterChange({
     from: "expired",
     worker: "$1::bigint",
     writer: "other",
     deltas: {
       pending: `-${one("was = 'pending'")}`,
       polling: `-${one("was = 'polling'")}`,
       waiting: `-${one("was = 'waiting'")}`,
     },
   })}
   select failure_reason as reason, team_id as "teamId", id, queue_id::float8 as "queueId", flow,
          ${IS_NOTIFIED} as notify
     from expired`,
  { prepared: true },
);

export interface Expired {
  readonly reason: FailureReason;
  readonly teamId: number;
  readonly id: string;
  readonly queueId: number;
  readonly flow: string | null;
  /** A completion notification is due. */
  readonly notify: boolean;
}

/** Ends a batch of tasks that waited or were polled for too long, or did not start in time. Returns them. */
export async function expireTasks(sql: Sql, batch: number, workerId: number): Promise<Expired[]> {
  return sql.rows<Expired>(EXPIRE_TASKS, [workerId, batch]);
}

export const untilNextDeadlineMs = untilNext(
  "until_next_deadline",
  "deadline_at",
  "tasks where deadline_at is not null",
);
