import type { AuditActorKind } from "../domain/audit-event.ts";
import type { Sql } from "./sql.ts";

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
