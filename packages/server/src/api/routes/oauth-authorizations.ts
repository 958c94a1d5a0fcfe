import type { Authorization } from "../../domain/identity/oauth-application.ts";
import type { AuthorizationService } from "../../service/oauth/authorization-service.ts";
import { access } from "../http/access.ts";
import { callerOf, requesterOf } from "../http/auth-hook.ts";
import { costs, MIB, SMALL } from "../http/cost.ts";
import { readIntegers } from "../http/query-integers.ts";
import type { Api } from "../http/schema-types.ts";
import { refusals } from "../schemas/error.ts";
import { ref } from "../schemas/field.ts";
import * as record from "../schemas/oauth-authorization.ts";
import { fitPage, PageQuery, readPage, showPage } from "../schemas/page.ts";

const tags = ["OAuth"];

export function registerAuthorizationRoutes(app: Api, authorizations: AuthorizationService): void {
  app.get(
    "/oauth/authorizations",
    {
      preValidation: readIntegers("limit"),
      config: { ...access("team:read"), ...costs("page", { rows: 1_001, bytes: MIB }) },
      schema: {
        operationId: "listAuthorizations",
        tags,
        summary: "List the grants of applications",
        description:
          "Valid grants, newest first. An admin sees those of every member of the team, other members their own.",
        querystring: PageQuery,
        response: { 200: ref(record.AuthorizationList), ...refusals() },
      },
    },
    async (request) => {
      const page = fitPage(
        await authorizations.list(callerOf(request), readPage(request.query)),
        authorizationView,
      );
      return { authorizations: page.items, ...showPage(page, request.query) };
    },
  );

  app.delete(
    "/oauth/authorizations/:authorization_id",
    {
      // A person needs no role to take back their own consent; for that of another the service asks for one.
      config: { ...access("team:write", "viewer"), ...costs("write", { rows: 100, bytes: SMALL }) },
      schema: {
        operationId: "endAuthorization",
        tags,
        summary: "Revoke a grant of an application",
        description:
          "Its access tokens are refused within a second, its refresh token at once. Every person can revoke their " +
          "own grants, an admin those of all members.",
        params: record.AuthorizationPath,
        response: { 200: ref(record.EndedAuthorization), ...refusals("authorization_not_found") },
      },
    },
    async (request) => {
      const { id, endedAt } = await authorizations.end(requesterOf(request), request.params.authorization_id);
      return { authorization: { id, endedAt: endedAt.toISOString() } };
    },
  );
}

function authorizationView(granted: Authorization): record.Authorization {
  return {
    id: granted.id,
    application: { ...granted.application },
    user: { ...granted.user },
    scopes: [...granted.scopes],
    createdAt: granted.createdAt.toISOString(),
    expiresAt: granted.expiresAt.toISOString(),
  };
}
