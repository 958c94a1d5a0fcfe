import type { DeliveryVerdict } from "../../domain/delivery.ts";
import type { Reach } from "../../domain/reach.ts";
import type { NotificationState } from "../../domain/task.ts";
import { type Sql, statement } from "../sql.ts";
import { dueTeams, pickedByTeam, type TeamRoom } from "./due-teams.ts";
import { heldRows } from "./held-rows.ts";

/** A worker's right to deliver one notification. */
export interface NotificationClaim {
  readonly teamId: number;
  readonly id: string;
  readonly taskId: string;
  readonly url: string;
  /** The row is written by the statement that ended the task, so at the same time. */
  readonly endedAt: Date;
  readonly fence: number;
  /** Including this one. */
  readonly attempt: number;
}

const WAITING = "notifications where status = 'pending' and worker_id is null";

const CLAIM_DUE = statement(
  "claim_due_notifications",
  `with picked as (
     ${pickedByTeam("next_at", WAITING, { rooms: "$2", worker: "$1" })}
   )
   update notifications n set worker_id = $1, fence = fence + 1, attempts = attempts + 1
     from picked where n.team_id = picked.team_id and n.id = picked.id
   returning n.team_id as "teamId", n.id, n.task_id as "taskId", n.url, n.created_at as "endedAt", n.fence,
             n.attempts as attempt`,
  { prepared: true },
);

export async function claimDueNotifications(
  sql: Sql,
  workerId: number,
  rooms: readonly TeamRoom[],
): Promise<NotificationClaim[]> {
  return sql.rows<NotificationClaim>(CLAIM_DUE, [workerId, JSON.stringify(rooms)]);
}

const SETTLE_NOTIFICATION = statement(
  "settle_notification",
  `update notifications
      set status = $4, worker_id = null, fence = fence + 1, last_error = $6,
          next_at = coalesce(now() + make_interval(secs => $5::float8 / 1000.0), next_at)
    where team_id = $1 and id = $2 and fence = $3`,
);

export async function settleNotification(
  sql: Sql,
  claim: NotificationClaim,
  { status, waitMs, error }: DeliveryVerdict,
): Promise<void> {
  await sql.rows(SETTLE_NOTIFICATION, [claim.teamId, claim.id, claim.fence, status, waitMs, error]);
}

/** A column of a query over `tasks t`. The filter on the task saves the lookup for tasks without a notification. */
export const NOTIFICATIONS_OF_TASK = `(
   select json_agg(n) from (
     select n.url, n.status, n.attempts, n.last_error as "lastError",
            case when n.status = 'pending' then n.next_at end as "nextAt"
       from notifications n
      where num_nonnulls(t.on_complete_url, t.on_failure_url) > 0 and n.team_id = t.team_id and n.task_id = t.id
      order by n.created_at) n) as notifications`;

/** What `NOTIFICATIONS_OF_TASK` yields. */
export type NotificationJson = Omit<NotificationState, "nextAt"> & { readonly nextAt: string | null };

export function toNotification({ nextAt, ...others }: NotificationJson): NotificationState {
  return { ...others, nextAt: nextAt === null ? null : new Date(nextAt) };
}

const RESEND_NOTIFICATION = statement(
  "resend_notification",
  `update notifications n
      set status = 'pending', attempts = 0, last_error = null, next_at = now(), fence = n.fence + 1
     from (select l.team_id, l.id, rank() over (order by l.created_at desc) as place
             from tasks t join notifications l on l.team_id = t.team_id and l.task_id = t.id
            where t.team_id = $1 and t.id = $2 and ($3 = 'live' or t.sandbox) and t.completed_at is not null) last
    where n.team_id = last.team_id and n.id = last.id and last.place = 1 and n.status <> 'pending'
   returning n.id`,
);

/**
 * Makes the notifications of a task's last end due again, each with all its tries and the same id. False unless the task
 * has ended and one of them was delivered or given up. `created_at` stays: the courier compares it with the end of the
 * task, and so drops a notification whose task was retried at the same time.
 */
export async function resendNotification(sql: Sql, reach: Reach, taskId: string): Promise<boolean> {
  const resent = await sql.rows(RESEND_NOTIFICATION, [reach.teamId, taskId, reach.environment]);
  return resent.length > 0;
}

export const teamsWithDueNotifications = dueTeams("teams_with_due_notifications", "next_at", WAITING);

export const heldNotifications = heldRows("notifications");
