import { access } from "../../api/http/access.ts";
import { callerOf, requesterOf } from "../../api/http/auth-hook.ts";
import { costs, RECORD, SMALL } from "../../api/http/cost.ts";
import { readIntegers } from "../../api/http/query-integers.ts";
import type { Api } from "../../api/http/schema-types.ts";
import { BODY_REFUSALS, refusals } from "../../api/schemas/error.ts";
import { ref } from "../../api/schemas/field.ts";
import { fitPage, readPage, showPage } from "../../api/schemas/page.ts";
import * as record from "./schemas.ts";
import type { UrlGroupService } from "./service-groups.ts";
import type { UrlGroup } from "./store.ts";

const tags = ["URL groups"];

/** The groups of /v2/topics in the words of /v1. */
export function registerUrlGroupRoutes(app: Api, groups: UrlGroupService): void {
  app.get(
    "/url-groups",
    {
      preValidation: readIntegers("limit"),
      // A group may have 800 kB, and two of them are read for an answer.
      config: { ...access("queues:read"), ...costs("scan", { rows: 1_001, bytes: RECORD }) },
      schema: {
        operationId: "listUrlGroups",
        tags,
        summary: "List URL groups",
        description: "By name.",
        querystring: record.UrlGroupListQuery,
        response: { 200: ref(record.UrlGroupList), ...refusals("too_many_scans") },
      },
    },
    async (request) => {
      const page = fitPage(await groups.page(callerOf(request), readPage(request.query)), groupView);
      return { url_groups: page.items, ...showPage(page, request.query) };
    },
  );

  app.get(
    "/url-groups/:name",
    {
      config: { ...access("queues:read"), ...costs("point", { rows: 1, bytes: RECORD }) },
      schema: {
        operationId: "getUrlGroup",
        tags,
        summary: "Get a URL group",
        description: "With its endpoints.",
        params: record.UrlGroupPath,
        response: { 200: ref(record.UrlGroupAnswer), ...refusals("url_group_not_found") },
      },
    },
    async (request) => ({ url_group: groupView(await groups.get(callerOf(request), request.params.name)) }),
  );

  app.put(
    "/url-groups/:name",
    {
      config: { ...access("queues:write"), ...costs("write", { rows: 1, bytes: RECORD }) },
      schema: {
        operationId: "putUrlGroup",
        tags,
        summary: "Store a URL group",
        description:
          "Replaces its endpoints; 201 if there was none of this name. `POST /v2/publish/{name}` creates one task for each " +
          "endpoint. Tasks that exist keep their URL.",
        params: record.UrlGroupPath,
        body: ref(record.PutUrlGroup),
        response: {
          200: ref(record.UrlGroupAnswer),
          201: ref(record.UrlGroupAnswer),
          ...refusals("limit_reached", ...BODY_REFUSALS),
        },
      },
    },
    async (request, reply) => {
      const { name } = request.params;
      const isNew = await groups.put(requesterOf(request), name, request.body.endpoints);
      reply.code(isNew ? 201 : 200);
      return { url_group: groupView(await groups.get(callerOf(request), name)) };
    },
  );

  app.delete(
    "/url-groups/:name",
    {
      // It looks at the team's schedules.
      config: { ...access("queues:write"), ...costs("scan", { rows: 1_000_000, bytes: SMALL }) },
      schema: {
        operationId: "deleteUrlGroup",
        tags,
        summary: "Delete a URL group",
        description: "Refused while a schedule publishes to it. Tasks that exist stay.",
        params: record.UrlGroupPath,
        response: {
          200: ref(record.DeletedUrlGroup),
          ...refusals("url_group_not_found", "url_group_used", "too_many_scans"),
        },
      },
    },
    async (request) => {
      const { name } = request.params;
      await groups.remove(requesterOf(request), name);
      return { name, deleted: true };
    },
  );
}

function groupView({ name, endpoints, createdAt, updatedAt }: UrlGroup) {
  return {
    name,
    endpoints: endpoints.map((endpoint) => ({ name: endpoint.name ?? null, url: endpoint.url })),
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
  };
}
