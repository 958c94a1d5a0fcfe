import type { DeliveryVerdict } from "../../domain/delivery.ts";
import { prepare, type Sql } from "../sql.ts";
import { dueTeams, pickedByTeam, type TeamRoom } from "./due-teams.ts";
import { heldRows } from "./held-rows.ts";

/** A worker's right to deliver one notification. */
export interface NotificationClaim {
  readonly teamId: number;
  readonly id: string;
  readonly taskId: string;
  readonly url: string;
  /** Written in the statement that ended the task, and so at the same instant. */
  readonly endedAt: Date;
  readonly fence: number;
  /** This one included. */
  readonly attempt: number;
}

const WAITING = "notifications where status = 'pending' and worker_id is null";

const CLAIM_DUE = prepare(
  "claim_due_notifications",
  `with picked as (
     ${pickedByTeam("next_at", WAITING, { rooms: "$2", worker: "$1" })}
   )
   update notifications n set worker_id = $1, fence = fence + 1, attempts = attempts + 1
     from picked where n.team_id = picked.team_id and n.id = picked.id
   returning n.team_id as "teamId", n.id, n.task_id as "taskId", n.url, n.created_at as "endedAt", n.fence,
             n.attempts as attempt`,
);

export async function claimDueNotifications(
  sql: Sql,
  workerId: number,
  rooms: readonly TeamRoom[],
): Promise<NotificationClaim[]> {
  return sql.rows<NotificationClaim>(CLAIM_DUE, [workerId, JSON.stringify(rooms)]);
}

export async function settleNotification(
  sql: Sql,
  claim: NotificationClaim,
  { status, waitMs, error }: DeliveryVerdict,
): Promise<void> {
  await sql.rows(
    `update notifications
        set status = $4, worker_id = null, fence = fence + 1, last_error = $6,
            next_at = coalesce(now() + make_interval(secs => $5::float8 / 1000.0), next_at)
      where team_id = $1 and id = $2 and fence = $3`,
    [claim.teamId, claim.id, claim.fence, status, waitMs, error],
  );
}

export const teamsWithDueNotifications = dueTeams("teams_with_due_notifications", "next_at", WAITING);

export const heldNotifications = heldRows("notifications");
