import type { AuditActorKind, AuditEvent } from "../../domain/identity/audit-event.ts";
import type { Sql } from "../sql.ts";

export interface NewAuditEvent {
  readonly teamId: number;
  readonly id: string;
  readonly actorKind: AuditActorKind;
  readonly actorId: string;
  readonly actorName: string;
  readonly action: string;
  readonly target: string;
  readonly detail: Readonly<Record<string, unknown>> | null;
  readonly address: string | null;
  readonly requestId: string | null;
}

/** Run it in the transaction of the change: neither exists without the other. */
export async function insertAuditEvent(sql: Sql, event: NewAuditEvent): Promise<void> {
  await sql.rows(
    `insert into audit_events
       (team_id, id, actor_kind, actor_id, actor_name, action, target, detail, address, request_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      event.teamId,
      event.id,
      event.actorKind,
      event.actorId,
      event.actorName,
      event.action,
      event.target,
      event.detail === null ? null : JSON.stringify(event.detail),
      event.address,
      event.requestId,
    ],
  );
}

interface AuditEventRow {
  id: string;
  at: Date;
  actor_kind: AuditActorKind;
  actor_id: string;
  actor_name: string;
  action: string;
  target: string;
  detail: Record<string, unknown> | null;
  address: string | null;
  request_id: string | null;
}

/** Newest first. A page costs the same wherever it begins, and with a filter however rare the action is. */
export async function listAuditEvents(
  sql: Sql,
  teamId: number,
  page: { readonly action: string | null; readonly before: string | null; readonly limit: number },
): Promise<AuditEvent[]> {
  const rows = await sql.rows<AuditEventRow>(
    `select id, at, actor_kind, actor_id, actor_name, action, target, detail, address, request_id
       from audit_events
      where team_id = $1 and ($2::text is null or action = $2) and ($3::uuid is null or id < $3)
      order by id desc limit $4`,
    [teamId, page.action, page.before, page.limit],
  );
  return rows.map((row) => ({
    id: row.id,
    at: row.at,
    actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name },
    action: row.action,
    target: row.target,
    detail: row.detail,
    address: row.address,
    requestId: row.request_id,
  }));
}

/** Removes a batch of the events of all teams that are older than this. Returns how many. */
export async function removeOldAuditEvents(sql: Sql, days: number, batch: number): Promise<number> {
  const rows = await sql.rows(
    `delete from audit_events e using (
       select team_id, id from audit_events where at < now() - make_interval(days => $1) order by at limit $2) old
      where e.team_id = old.team_id and e.id = old.id returning 1`,
    [days, batch],
  );
  return rows.length;
}
