import type { DeliveryVerdict } from "../../domain/delivery.ts";
import type { EventPosition, EventType } from "../../domain/event.ts";
import type { PageRequest } from "../../domain/page.ts";
import type { WebhookDelivery } from "../../domain/webhook.ts";
import { type Sql, statement } from "../sql.ts";
import { dueTeams, pickedByTeam, type TeamRoom } from "./due-teams.ts";
import type { EventPlace } from "./event-reads.ts";
import { heldRows } from "./held-rows.ts";

/** A worker's right to make one delivery. */
export interface DeliveryClaim {
  readonly teamId: number;
  readonly id: string;
  readonly webhookId: string;
  readonly event: EventType;
  readonly body: string;
  /** Null if the webhook was deleted or disabled. */
  readonly url: string | null;
  readonly fence: number;
  /** Including this one. */
  readonly attempt: number;
}

const WAITING = "webhook_deliveries where status = 'pending' and worker_id is null";

const CLAIM_DUE = statement(
  "claim_due_deliveries",
  `with picked as (
     ${pickedByTeam("next_at", WAITING, { rooms: "$2", worker: "$1" })}
   ), claimed as (
     update webhook_deliveries d set worker_id = $1, fence = fence + 1, attempts = attempts + 1
       from picked where d.team_id = picked.team_id and d.id = picked.id
     returning d.team_id, d.id, d.webhook_id, d.event, d.body, d.fence, d.attempts
   )
   select d.team_id as "teamId", d.id, d.webhook_id as "webhookId", d.event, coalesce(d.body, '') as body, w.url, d.fence,
          d.attempts as attempt
     from claimed d left join webhooks w on w.team_id = d.team_id and w.id = d.webhook_id and w.enabled`,
  { prepared: true },
);

export async function claimDueDeliveries(
  sql: Sql,
  workerId: number,
  rooms: readonly TeamRoom[],
): Promise<DeliveryClaim[]> {
  return sql.rows<DeliveryClaim>(CLAIM_DUE, [workerId, JSON.stringify(rooms)]);
}

export const teamsWithDueDeliveries = dueTeams("teams_with_due_deliveries", "next_at", WAITING);

const SETTLE_DELIVERY = statement(
  "settle_delivery",
  `update webhook_deliveries
      set status = $4, worker_id = null, fence = fence + 1, last_error = $6, response_code = $7,
          body = case when $4 = 'pending' then body end,
          next_at = coalesce(now() + make_interval(secs => $5::float8 / 1000.0), next_at)
    where team_id = $1 and id = $2 and fence = $3
   returning 1`,
);

/** True if the claim was still valid. */
export async function settleDelivery(
  sql: Sql,
  claim: DeliveryClaim,
  { status, waitMs, responseCode, error }: DeliveryVerdict,
): Promise<boolean> {
  const rows = await sql.rows(SETTLE_DELIVERY, [
    claim.teamId,
    claim.id,
    claim.fence,
    status,
    waitMs,
    error,
    responseCode,
  ]);
  return rows.length === 1;
}

export const heldDeliveries = heldRows("webhook_deliveries");

const WEBHOOK_READERS = statement(
  "webhook_readers",
  `select team_id as "teamId", xid::text as xid, seq::text as seq, index from webhook_readers order by team_id`,
);

/** The position up to which each team's events have become deliveries. */
export async function webhookReaders(sql: Sql): Promise<EventPlace[]> {
  const rows = await sql.rows<{ teamId: number; xid: string; seq: string; index: number }>(WEBHOOK_READERS);
  return rows.map(({ teamId, ...position }) => ({ teamId, position: { ...position, atMs: 0 } }));
}

const OPEN_READER = statement(
  "open_reader",
  `insert into webhook_readers (team_id, xid, seq, index)
   values ($1, pg_snapshot_xmin(pg_current_snapshot()), 0, 0) on conflict (team_id) do nothing`,
);

/** Starts at the current position, unless there is one already. */
export async function openReader(sql: Sql, teamId: number): Promise<void> {
  await sql.rows(OPEN_READER, [teamId]);
}

const CLOSE_READER = statement("close_reader", "delete from webhook_readers where team_id = $1");

export async function closeReader(sql: Sql, teamId: number): Promise<void> {
  await sql.rows(CLOSE_READER, [teamId]);
}

export interface NewDelivery {
  readonly id: string;
  readonly webhookId: string;
  readonly event: EventType;
  readonly body: string;
}

const ADVANCE_READER = statement(
  "advance_reader",
  `with moved as (
     update webhook_readers set xid = $5::xid8, seq = $6, index = $7
      where team_id = $1 and xid = $2::xid8 and seq = $3 and index = $4
     returning team_id
   )
   insert into webhook_deliveries (team_id, id, webhook_id, event, body)
   select m.team_id, n.id, n."webhookId", n.event, n.body
     from moved m
    cross join jsonb_to_recordset($8::jsonb) as n(id uuid, "webhookId" uuid, event text, body text)
     join webhooks w on w.team_id = m.team_id and w.id = n."webhookId"`,
);

/**
 * Moves from one position to the next and inserts the deliveries in between, once: of two nodes that try, one finds the
 * position changed.
 */
export async function advanceReader(
  sql: Sql,
  { teamId, position: from }: EventPlace,
  to: EventPosition,
  deliveries: readonly NewDelivery[],
): Promise<void> {
  await sql.rows(ADVANCE_READER, [
    teamId,
    from.xid,
    from.seq,
    from.index,
    to.xid,
    to.seq,
    to.index,
    JSON.stringify(deliveries),
  ]);
}

const COUNT_PENDING = statement(
  "count_pending",
  `select count(*)::integer as count from (
     select 1 from webhook_deliveries where team_id = $1 and webhook_id = $2 and status = 'pending' limit $3) waiting`,
);

/** Counts up to `most`. */
export async function countPending(
  sql: Sql,
  teamId: number,
  webhookId: string,
  most: number,
): Promise<number> {
  const [row] = await sql.rows<{ count: number }>(COUNT_PENDING, [teamId, webhookId, most]);
  return row?.count ?? 0;
}

const LIST_DELIVERIES = statement(
  "list_deliveries",
  `select id, event, status, attempts, response_code as "responseCode", last_error as error, created_at as "createdAt",
          case when status = 'pending' then next_at end as "nextAt"
     from webhook_deliveries
    where team_id = $1 and webhook_id = $2 and ($3::uuid is null or id < $3)
    order by id desc limit $4`,
);

/** Newest first, before the given one. */
export async function listDeliveries(
  sql: Sql,
  teamId: number,
  webhookId: string,
  { limit, cursor }: PageRequest,
): Promise<WebhookDelivery[]> {
  return sql.rows<WebhookDelivery>(LIST_DELIVERIES, [teamId, webhookId, cursor, limit]);
}

const REMOVE_OLD_DELIVERIES = statement(
  "remove_old_deliveries",
  `delete from webhook_deliveries d using (
     select team_id, id from webhook_deliveries where created_at < now() - make_interval(days => $1)
      order by created_at limit $2) old
    where d.team_id = old.team_id and d.id = old.id
   returning 1`,
  { patience: "chore" },
);

/** Removes a batch of those that were made so long ago. Returns how many. */
export async function removeOldDeliveries(sql: Sql, days: number, batch: number): Promise<number> {
  const rows = await sql.rows(REMOVE_OLD_DELIVERIES, [days, batch]);
  return rows.length;
}
