import type { MintedApplication, OAuthApplication } from "../../domain/identity/oauth-application.ts";
import type { OAuthApplicationService } from "../../service/oauth/oauth-application-service.ts";
import { access } from "../http/access.ts";
import { callerOf, requesterOf } from "../http/auth-hook.ts";
import type { Api } from "../http/schema-types.ts";
import { readApplication, refuseLists } from "../oauth/application-request.ts";
import { BODY_REFUSALS, refusals } from "../schemas/error.ts";
import { ref } from "../schemas/field.ts";
import * as record from "../schemas/oauth-application.ts";

const tags = ["OAuth"];

export function registerApplicationRoutes(app: Api, applications: OAuthApplicationService): void {
  app.post(
    "/oauth/applications",
    {
      preValidation: async (request) => refuseLists(request.body),
      config: access("team:write", "admin"),
      schema: {
        operationId: "createApplication",
        tags,
        summary: "Register an application",
        description:
          "The secret is only in this answer. An application that registers another can give it no scope that it does " +
          "not have itself.",
        body: ref(record.CreateApplication),
        response: {
          201: ref(record.MintedApplication),
          ...refusals("applications_full", ...BODY_REFUSALS),
        },
      },
    },
    async (request, reply) => {
      const minted = await applications.create(requesterOf(request), readApplication(request.body));
      reply.code(201);
      return { application: mintedView(minted) };
    },
  );

  app.get(
    "/oauth/applications",
    {
      config: access("team:read"),
      schema: {
        operationId: "listApplications",
        tags,
        summary: "List the applications",
        description: "Newest first, all of them. Secrets are never shown again.",
        response: { 200: ref(record.ApplicationList), ...refusals() },
      },
    },
    async (request) => ({
      applications: (await applications.list(callerOf(request))).map(applicationView),
    }),
  );

  app.delete(
    "/oauth/applications/:clientId",
    {
      config: access("team:write", "admin"),
      schema: {
        operationId: "deleteApplication",
        tags,
        summary: "Delete an application",
        description: "Its tokens go with it, in every team that let it in; they are refused within a second.",
        params: record.ApplicationPath,
        response: { 200: ref(record.DeletedApplication), ...refusals("application_not_found") },
      },
    },
    async (request) => {
      const { clientId, name, deletedAt } = await applications.remove(
        requesterOf(request),
        request.params.clientId,
      );
      return { application: { clientId, name, deletedAt: deletedAt.toISOString() } };
    },
  );

  app.post(
    "/oauth/applications/:clientId/rotate",
    {
      config: access("team:write", "admin"),
      schema: {
        operationId: "rotateApplicationSecret",
        tags,
        summary: "Replace an application's secret",
        description: "The old one is refused from then on. Tokens that were issued stay valid.",
        params: record.ApplicationPath,
        response: { 200: ref(record.MintedApplication), ...refusals("application_not_found") },
      },
    },
    async (request) => ({
      application: mintedView(await applications.rotate(requesterOf(request), request.params.clientId)),
    }),
  );
}

function applicationView(application: OAuthApplication): record.Application {
  return {
    clientId: application.clientId,
    name: application.name,
    redirectUris: [...application.redirectUris],
    scopes: [...application.scopes],
    grantTypes: [...application.grantTypes],
    createdAt: application.createdAt.toISOString(),
  };
}

function mintedView(minted: MintedApplication) {
  return { ...applicationView(minted), clientSecret: minted.clientSecret };
}
