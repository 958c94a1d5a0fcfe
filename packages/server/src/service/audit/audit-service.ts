import type { AuditEvent } from "../../domain/identity/audit-event.ts";
import type { Principal } from "../../domain/identity/principal.ts";
import { cutPage, type Page } from "../../domain/page.ts";
import { formatId } from "../../domain/public-id.ts";
import { listAuditEvents } from "../../store/identity/audit-events.ts";
import type { Sql } from "../../store/sql.ts";

export interface AuditQuery {
  /** Null is every action. */
  readonly action: string | null;
  readonly limit: number;
  /** The UUID of an event: only older ones are listed. */
  readonly cursor: string | null;
}

export interface AuditService {
  /** Newest first. */
  list(principal: Principal, query: AuditQuery): Promise<Page<AuditEvent>>;
}

export function createAuditService({ sql }: { readonly sql: Sql }): AuditService {
  return {
    async list({ teamId }, { action, limit, cursor }) {
      // One more than requested shows whether there is a next page.
      const found = await listAuditEvents(sql, teamId, { action, before: cursor, limit: limit + 1 });
      const events = found.map((event) => ({ ...event, id: formatId("evt", event.id) }));
      return cutPage(events, limit, ({ id }) => id);
    },
  };
}
