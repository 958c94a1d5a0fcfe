import type { FastifyRequest } from "fastify";
import { invalid } from "../../domain/complaint.ts";
import type { ApiKey } from "../../domain/identity/api-key.ts";
import type { ApiKeyService } from "../../service/access/api-key-service.ts";
import { access } from "../http/access.ts";
import { callerOf, requesterOf } from "../http/auth-hook.ts";
import { costs, MIB, SMALL } from "../http/cost.ts";
import { blankComplaints, labelComplaints } from "../http/label.ts";
import { readIntegers } from "../http/query-integers.ts";
import type { Api } from "../http/schema-types.ts";
import * as record from "../schemas/api-key.ts";
import { BODY_REFUSALS, refusals } from "../schemas/error.ts";
import { ref } from "../schemas/field.ts";
import { fitPage, PageQuery, readPage, showPage } from "../schemas/page.ts";

const tags = ["API keys"];

export function registerApiKeyRoutes(app: Api, apiKeys: ApiKeyService): void {
  app.post(
    "/apikeys",
    {
      preValidation: refuseBlankName,
      config: { ...access("apikeys:write", "admin"), ...costs("write", { rows: 1, bytes: SMALL }) },
      schema: {
        operationId: "createApiKey",
        tags,
        summary: "Create an API key",
        description:
          "A live key has the rights of an admin, a test key those of a member. Only this answer contains the key.",
        body: ref(record.CreateApiKey),
        response: { 201: ref(record.CreatedApiKey), ...refusals("api_keys_full", ...BODY_REFUSALS) },
      },
    },
    async (request, reply) => {
      const { name, environment = "live" } = request.body;
      const complaints = labelComplaints("name", name);
      if (complaints.length > 0) throw invalid(complaints);
      const { createdAt, ...minted } = await apiKeys.create(requesterOf(request), name, environment);
      reply.code(201);
      return { apiKey: { ...minted, createdAt: createdAt.toISOString() } };
    },
  );

  app.get(
    "/apikeys",
    {
      preValidation: readIntegers("limit"),
      config: { ...access("apikeys:read", "member"), ...costs("page", { rows: 1_001, bytes: MIB }) },
      schema: {
        operationId: "listApiKeys",
        tags,
        summary: "List the active API keys",
        description: "Newest first. The keys themselves are never shown again.",
        querystring: PageQuery,
        response: { 200: ref(record.ApiKeyList), ...refusals() },
      },
    },
    async (request) => {
      const page = fitPage(await apiKeys.list(callerOf(request), readPage(request.query)), keyView);
      return { apiKeys: page.items, ...showPage(page, request.query) };
    },
  );

  app.delete(
    "/apikeys/:key_id",
    {
      config: { ...access("apikeys:write", "admin"), ...costs("write", { rows: 1, bytes: SMALL }) },
      schema: {
        operationId: "revokeApiKey",
        tags,
        summary: "Revoke an API key",
        description: "This node refuses it at once, the others within a second. A key may revoke itself.",
        params: record.ApiKeyPath,
        response: { 200: ref(record.RevokedApiKey), ...refusals("api_key_not_found") },
      },
    },
    async (request) => {
      const { id, name, revokedAt } = await apiKeys.revoke(requesterOf(request), request.params.key_id);
      return { apiKey: { id, name, revokedAt: revokedAt.toISOString() } };
    },
  );
}

async function refuseBlankName({ body }: FastifyRequest): Promise<void> {
  const complaints = blankComplaints(body, "name");
  if (complaints.length > 0) throw invalid(complaints);
}

function keyView({ id, name, environment, prefix, createdAt, lastUsedAt }: ApiKey): record.ApiKey {
  return {
    id,
    name,
    environment,
    prefix,
    createdAt: createdAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
  };
}
