import type { AuditActorKind, AuditEvent } from "../../domain/identity/audit-event.ts";
import { type Sql, statement } from "../sql.ts";

export interface NewAuditEvent extends Omit<AuditEvent, "at"> {
  readonly teamId: number;
}

const INSERT_AUDIT_EVENT = statement(
  "insert_audit_event",
  `insert into audit_events
     (team_id, id, actor_kind, actor_id, actor_name, action, target, detail, address, request_id)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
);

/** Must run in the transaction of the change: neither exists without the other. */
export async function insertAuditEvent(sql: Sql, event: NewAuditEvent): Promise<void> {
  await sql.rows(INSERT_AUDIT_EVENT, [
    event.teamId,
    event.id,
    event.actor.kind,
    event.actor.id,
    event.actor.name,
    event.action,
    event.target,
    event.detail === null ? null : JSON.stringify(event.detail),
    event.address,
    event.requestId,
  ]);
}

interface StoredEvent extends Omit<AuditEvent, "actor"> {
  readonly kind: AuditActorKind;
  readonly actorId: string;
  readonly name: string;
}

const LIST_AUDIT_EVENTS = statement(
  "list_audit_events",
  `select id, at, actor_kind as kind, actor_id as "actorId", actor_name as name, action, target, detail, address,
        request_id as "requestId"
   from audit_events
  where team_id = $1 and ($2::text is null or action = $2) and ($3::uuid is null or id < $3)
  order by id desc limit $4`,
  { patience: "list" },
);

/** Newest first. Every page costs the same, and a filter by a rare action is not slower. */
export async function listAuditEvents(
  sql: Sql,
  teamId: number,
  page: { readonly action: string | null; readonly before: string | null; readonly limit: number },
): Promise<AuditEvent[]> {
  const rows = await sql.rows<StoredEvent>(LIST_AUDIT_EVENTS, [teamId, page.action, page.before, page.limit]);
  return rows.map(({ kind, actorId, name, ...event }) => ({ ...event, actor: { kind, id: actorId, name } }));
}

const REMOVE_OLD_AUDIT_EVENTS = statement(
  "remove_old_audit_events",
  `delete from audit_events e using (
   select team_id, id from audit_events where at < now() - make_interval(days => $1) order by at limit $2) old
  where e.team_id = old.team_id and e.id = old.id and e.at < now() - make_interval(days => $1) returning 1`,
  { patience: "chore" },
);

/** Removes a batch of the events of all teams that are older than this. Returns how many. */
export async function removeOldAuditEvents(sql: Sql, days: number, batch: number): Promise<number> {
  const rows = await sql.rows(REMOVE_OLD_AUDIT_EVENTS, [days, batch]);
  return rows.length;
}
