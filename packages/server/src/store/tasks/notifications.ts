import { prepare, type Sql } from "../sql.ts";
import { untilNext } from "./until-next.ts";

/** A worker's right to deliver one notification. */
export interface NotificationClaim {
  readonly teamId: number;
  readonly id: string;
  readonly taskId: string;
  readonly url: string;
  readonly fence: number;
  /** This one included. */
  readonly attempt: number;
}

const CLAIM_DUE = prepare(
  "claim_due_notifications",
  `with picked as (
     select team_id, id from notifications
      where status = 'pending' and worker_id is null and next_at <= now()
        and exists (select 1 from workers where id = $1)
      order by next_at limit $2 for update skip locked
   )
   update notifications n set worker_id = $1, fence = fence + 1, attempts = attempts + 1
     from picked where n.team_id = picked.team_id and n.id = picked.id
   returning n.team_id as "teamId", n.id, n.task_id as "taskId", n.url, n.fence, n.attempts as attempt`,
);

export async function claimDueNotifications(
  sql: Sql,
  workerId: number,
  limit: number,
): Promise<NotificationClaim[]> {
  return sql.rows<NotificationClaim>(CLAIM_DUE, [workerId, limit]);
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

export const untilNextNotificationMs = untilNext(
  "until_next_notification",
  "next_at",
  "notifications where status = 'pending' and worker_id is null",
);

/** Lets go of deliveries that this worker holds in the database and does not make. */
export async function releaseStrayNotifications(
  sql: Sql,
  workerId: number,
  underWay: readonly string[],
): Promise<void> {
  await sql.rows(
    "update notifications set worker_id = null, fence = fence + 1 where worker_id = $1 and id <> all ($2::uuid[])",
    [workerId, underWay],
  );
}

/** Lets go of deliveries whose worker is no more. */
export async function reapNotifications(sql: Sql): Promise<void> {
  await sql.rows(
    `update notifications n set worker_id = null, fence = fence + 1
      where n.worker_id is not null and not exists (select 1 from workers w where w.id = n.worker_id)`,
  );
}
