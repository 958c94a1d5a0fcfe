import type { DeliveryVerdict } from "../../domain/delivery.ts";
import type { EventPosition, EventType } from "../../domain/event.ts";
import type { PageRequest } from "../../domain/page.ts";
import type { DeliveredEvent, WebhookDelivery } from "../../domain/webhook.ts";
import { type Sql, statement } from "../sql.ts";
import { dueTeams, pickedByTeam, type TeamRoom } from "./due-teams.ts";
import { type EventPlace, readEvents } from "./event-reads.ts";
import { heldRows } from "./held-rows.ts";

/** A worker's right to make one delivery. */
export interface DeliveryClaim {
  readonly teamId: number;
  readonly id: string;
  readonly webhookId: string;
  readonly event: DeliveredEvent;
  readonly body: string;
  /** The id of the first delivery of its message: the receiver can tell repeated ones by it. */
  readonly messageId: string;
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
   select d.team_id as "teamId", d.id, d.webhook_id as "webhookId", d.event, d.body, w.url, d.fence,
          d.attempts as attempt, coalesce(r.message_id, d.id) as "messageId"
     from claimed d left join webhooks w on w.team_id = d.team_id and w.id = d.webhook_id and w.enabled
     left join redeliveries r on r.team_id = d.team_id and r.delivery_id = d.id`,
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
   values ($1, $2::xid8, $3, 0) on conflict (team_id) do nothing`,
);

/**
 * Starts at the current position, unless there is one already. The oldest open transaction of the whole server would be too early: one
 * that writes no events may be hours old, and a webhook that is enabled again would get the events since.
 */
export async function openReader(sql: Sql, teamId: number): Promise<void> {
  const { horizon } = await readEvents(sql, [], 0);
  await sql.rows(OPEN_READER, [teamId, horizon.xid, horizon.seq]);
}

const CLOSE_READER = statement("close_reader", "delete from webhook_readers where team_id = $1");

export async function closeReader(sql: Sql, teamId: number): Promise<void> {
  await sql.rows(CLOSE_READER, [teamId]);
}

interface NewDelivery {
  readonly id: string;
  readonly webhookId: string;
}

/** An event with the same body for every webhook. */
export interface DeliverableEvent {
  readonly event: EventType;
  readonly body: string;
  readonly deliveries: readonly NewDelivery[];
}

const ADVANCE_READER = statement(
  "advance_reader",
  `with moved as (
     update webhook_readers set xid = $5::xid8, seq = $6, index = $7
      where team_id = $1 and xid = $2::xid8 and seq = $3 and index = $4
     returning team_id
   )
   insert into webhook_deliveries (team_id, id, webhook_id, event, body)
   select m.team_id, n.id, n."webhookId", e.event, e.body
     from moved m
    cross join jsonb_to_recordset($8::jsonb) as e(event text, body text, deliveries jsonb)
    cross join jsonb_to_recordset(e.deliveries) as n(id uuid, "webhookId" uuid)
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
  events: readonly DeliverableEvent[],
): Promise<void> {
  await sql.rows(ADVANCE_READER, [
    teamId,
    from.xid,
    from.seq,
    from.index,
    to.xid,
    to.seq,
    to.index,
    JSON.stringify(events),
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

/** Of `webhook_deliveries d` and `redeliveries r`. */
const DELIVERY = `d.id, d.event, d.status, d.attempts, d.response_code as "responseCode", d.last_error as error,
  d.created_at as "createdAt", case when d.status = 'pending' then d.next_at end as "nextAt",
  coalesce(r.message_id, d.id) as "messageId"`;

const LIST_DELIVERIES = statement(
  "list_deliveries",
  `select ${DELIVERY} from webhook_deliveries d
     left join redeliveries r on r.team_id = d.team_id and r.delivery_id = d.id
    where d.team_id = $1 and d.webhook_id = $2 and ($3::uuid is null or d.id < $3)
    order by d.id desc limit $4`,
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

const FIND_DELIVERY = statement(
  "find_delivery",
  `select ${DELIVERY}, d.body from webhook_deliveries d
     left join redeliveries r on r.team_id = d.team_id and r.delivery_id = d.id
    where d.team_id = $1 and d.webhook_id = $2 and d.id = $3`,
);

/** With its message; null if it is unknown. */
export async function findDelivery(
  sql: Sql,
  teamId: number,
  webhookId: string,
  id: string,
): Promise<(WebhookDelivery & { readonly body: string }) | null> {
  const rows = await sql.rows<WebhookDelivery & { body: string }>(FIND_DELIVERY, [teamId, webhookId, id]);
  return rows[0] ?? null;
}

const INSERT_DELIVERY = statement(
  "insert_delivery",
  `with repeated as (
     insert into redeliveries (team_id, delivery_id, message_id) select $1, $2, $6::uuid where $6::uuid <> $2
   )
   insert into webhook_deliveries (team_id, id, webhook_id, event, body) values ($1, $2, $3, $4, $5)`,
);

/** One message for one webhook, due at once. `messageId`: that of an earlier delivery, or its own id. */
export async function insertDelivery(
  sql: Sql,
  teamId: number,
  delivery: NewDelivery & {
    readonly event: DeliveredEvent;
    readonly body: string;
    readonly messageId: string;
  },
): Promise<void> {
  const { id, webhookId, event, body, messageId } = delivery;
  await sql.rows(INSERT_DELIVERY, [teamId, id, webhookId, event, body, messageId]);
}

const REMOVE_OLD_DELIVERIES = statement(
  "remove_old_deliveries",
  `with removed as (
     delete from webhook_deliveries d using (
       select team_id, id from webhook_deliveries where created_at < now() - make_interval(days => $1)
        order by created_at limit $2) old
      where d.team_id = old.team_id and d.id = old.id and d.created_at < now() - make_interval(days => $1)
     returning d.team_id, d.id
   ), forgotten as (
     delete from redeliveries r using removed o where r.team_id = o.team_id and r.delivery_id = o.id
   )
   select 1 from removed`,
  { patience: "chore" },
);

/** Removes a batch of those that were made so long ago. Returns how many. */
export async function removeOldDeliveries(sql: Sql, days: number, batch: number): Promise<number> {
  const rows = await sql.rows(REMOVE_OLD_DELIVERIES, [days, batch]);
  return rows.length;
}
