import { invalid, mustBe } from "../../domain/complaint.ts";
import type { AuditEvent } from "../../domain/identity/audit-event.ts";
import { parseId } from "../../domain/public-id.ts";
import type { AuditQuery, AuditService } from "../../service/audit/audit-service.ts";
import { access } from "../http/access.ts";
import { callerOf } from "../http/auth-hook.ts";
import { costs, MIB } from "../http/cost.ts";
import { readIntegers } from "../http/query-integers.ts";
import type { Api } from "../http/schema-types.ts";
import * as record from "../schemas/audit.ts";
import { refusals } from "../schemas/error.ts";
import { ref } from "../schemas/field.ts";
import { fitPage } from "../schemas/page.ts";

export function registerAuditRoutes(app: Api, audit: AuditService): void {
  app.get(
    "/audit",
    {
      preValidation: readIntegers("limit"),
      config: {
        ...access("team:read", "admin"),
        isPatient: true,
        ...costs("page", { rows: 101, bytes: MIB }),
      },
      schema: {
        operationId: "listAuditEvents",
        tags: ["Audit log"],
        summary: "List changes",
        description:
          "Changes with author, origin and time, newest first. Creating tasks is not recorded: each task is its own " +
          "record. Events are kept for 400 days.",
        querystring: record.AuditListQuery,
        response: { 200: ref(record.AuditList), ...refusals() },
      },
    },
    async (request) => {
      const query = readListQuery(request.query);
      const page = fitPage(await audit.list(callerOf(request), query), eventView);
      const { items, limit, hasMore, nextCursor } = page;
      return { events: items, pagination: { limit, hasMore, nextCursor } };
    },
  );
}

function readListQuery(query: record.AuditListQuery): AuditQuery {
  const { action = null, limit = 20 } = query;
  if (query.cursor === undefined) return { action, limit, cursor: null };
  const cursor = parseId("evt", query.cursor);
  if (cursor === null) throw invalid([mustBe("cursor", "the nextCursor of a page")]);
  return { action, limit, cursor };
}

function eventView({ at, ...event }: AuditEvent): record.AuditEvent {
  return { ...event, at: at.toISOString() };
}
