import type { AuditActorKind } from "../../domain/identity/audit-event.ts";
import { insertAuditEvent } from "../../store/identity/audit-events.ts";
import type { Sql } from "../../store/sql.ts";
import { newUuid } from "../new-uuid.ts";

export interface Change {
  /** Resource and past participle: `queue.created`, `api_key.revoked`. */
  readonly action: string;
  /** The public id, or the name, of what was changed. */
  readonly target: string;
  /** What else is worth knowing; never a secret. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** The author of the change: a caller of the API, or the operator at the command line, who has no address. */
export interface ChangeAuthor {
  readonly teamId: number;
  readonly kind: AuditActorKind;
  readonly id: string;
  readonly name: string;
  readonly address: string | null;
  readonly requestId: string | null;
}

/** Records a change. `sql` is the transaction of the change: neither exists without the other. */
export async function recordChange(sql: Sql, author: ChangeAuthor, change: Change): Promise<void> {
  await insertAuditEvent(sql, {
    teamId: author.teamId,
    id: newUuid(),
    actor: { kind: author.kind, id: author.id, name: author.name },
    action: change.action,
    target: change.target,
    detail: change.detail ?? null,
    address: author.address,
    requestId: author.requestId,
  });
}
