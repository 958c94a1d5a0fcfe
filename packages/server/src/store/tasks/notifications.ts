import { prepare, type Sql } from "../sql.ts";
import { dueTeams, pickedByTeam, type TeamRoom } from "./due-teams.ts";

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

/** `waitMs` null: it is over, delivered or given up. */
export async function settleNotification(
  sql: Sql,
  claim: NotificationClaim,
  outcome: {
    readonly status: "pending" | "delivered" | "failed";
    readonly waitMs: number | null;
    readonly error: string | null;
  },
): Promise<void> {
  await sql.rows(
    `update notifications
        set status = $4, worker_id = null, fence = fence + 1, last_error = $6,
            next_at = coalesce(now() + make_interval(secs => $5::float8 / 1000.0), next_at)
      where team_id = $1 and id = $2 and fence = $3`,
    [claim.teamId, claim.id, claim.fence, outcome.status, outcome.waitMs, outcome.error],
  );
}

export const teamsWithDueNotifications = dueTeams("teams_with_due_notifications", "next_at", WAITING);

/** As much of a claim as tells it from every other. */
type NotificationKey = Pick<NotificationClaim, "teamId" | "id" | "fence">;

/** What the database says this worker delivers, to compare with what it knows of. */
export async function heldNotifications(sql: Sql, workerId: number): Promise<NotificationKey[]> {
  return sql.rows<NotificationKey>(
    `select team_id as "teamId", id, fence from notifications where worker_id = $1`,
    [workerId],
  );
}

/** Lets go of deliveries that no node makes: the answer to their claim was lost. */
export async function releaseNotifications(sql: Sql, deliveries: readonly NotificationKey[]): Promise<void> {
  await sql.rows(
    `update notifications n set worker_id = null, fence = n.fence + 1
       from jsonb_to_recordset($1::jsonb) as r("teamId" integer, id uuid, fence integer)
      where n.team_id = r."teamId" and n.id = r.id and n.fence = r.fence`,
    [JSON.stringify(deliveries.map(({ teamId, id, fence }) => ({ teamId, id, fence })))],
  );
}

/** Lets go of deliveries whose worker is no more. */
export async function reapNotifications(sql: Sql): Promise<void> {
  await sql.rows(
    `update notifications n set worker_id = null, fence = fence + 1
      where n.worker_id is not null and not exists (select 1 from workers w where w.id = n.worker_id)`,
  );
}
