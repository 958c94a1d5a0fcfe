import { echo, invalid, mustBe } from "../../domain/complaint.ts";
import {
  DEFAULT_GRANT_TYPES,
  GRANT_TYPES,
  isGrantType,
  type MintedApplication,
  type OAuthApplication,
} from "../../domain/identity/oauth-application.ts";
import { isRedirectUri, MOST_REDIRECT_URIS } from "../../domain/identity/redirect-uri.ts";
import { isScope, SCOPES } from "../../domain/identity/scope.ts";
import type { ProblemDetail } from "../../domain/problem.ts";
import { closestName } from "../../domain/spelling.ts";
import type {
  ApplicationRequest,
  OAuthApplicationService,
} from "../../service/oauth/oauth-application-service.ts";
import { access } from "../http/access.ts";
import { callerOf, requesterOf } from "../http/auth-hook.ts";
import { costs, MIB, SMALL } from "../http/cost.ts";
import { blankComplaints, labelComplaints } from "../http/label.ts";
import { readIntegers } from "../http/query-integers.ts";
import type { Api } from "../http/schema-types.ts";
import { BODY_REFUSALS, refusals } from "../schemas/error.ts";
import { ref } from "../schemas/field.ts";
import * as record from "../schemas/oauth-application.ts";
import { fitPage, PageQuery, readPage, showPage } from "../schemas/page.ts";

const tags = ["OAuth"];

export function registerApplicationRoutes(app: Api, applications: OAuthApplicationService): void {
  app.post(
    "/oauth/applications",
    {
      preValidation: async (request) => refuseLists(request.body),
      config: { ...access("team:write", "admin"), ...costs("write", { rows: 1, bytes: SMALL }) },
      schema: {
        operationId: "createApplication",
        tags,
        summary: "Register an application",
        description:
          "Only this answer contains the secret. An application that registers another can only grant scopes that it" +
          " has itself.",
        body: ref(record.CreateApplication),
        response: {
          201: ref(record.MintedApplication),
          ...refusals("applications_full", "limit_reached", ...BODY_REFUSALS),
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
      preValidation: readIntegers("limit"),
      config: { ...access("team:read"), ...costs("page", { rows: 1_001, bytes: MIB }) },
      schema: {
        operationId: "listApplications",
        tags,
        summary: "List the applications",
        description: "Newest first. Secrets are never shown again.",
        querystring: PageQuery,
        response: { 200: ref(record.ApplicationList), ...refusals() },
      },
    },
    async (request) => {
      const page = fitPage(
        await applications.list(callerOf(request), readPage(request.query)),
        applicationView,
      );
      return { applications: page.items, ...showPage(page, request.query) };
    },
  );

  app.delete(
    "/oauth/applications/:clientId",
    {
      config: { ...access("team:write", "admin"), ...costs("write", { rows: 100, bytes: SMALL }) },
      schema: {
        operationId: "deleteApplication",
        tags,
        summary: "Delete an application",
        description: "Also revokes its tokens in every team, within a second.",
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
      config: { ...access("team:write", "admin"), ...costs("write", { rows: 1, bytes: SMALL }) },
      schema: {
        operationId: "rotateApplicationSecret",
        tags,
        summary: "Replace an application's secret",
        description: "The old secret is refused from then on. Issued tokens stay valid.",
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

const URI_RULE =
  "hold absolute https URIs, http ones on 127.0.0.1, [::1] or localhost, or ones with a scheme of your own such as " +
  "com.example.app:/callback, without fragment, user name or password";

/** Text from right to left can make one name look like another. No program is called that. */
const DIRECTION = /[\u202a-\u202e\u2066-\u2069]/;

/** Mistakes that the schema would explain less well: an empty field is a missing one, and a list too long is one mistake. */
function refuseLists(body: unknown): void {
  if (typeof body !== "object" || body === null) return;
  const fields: Readonly<Record<string, unknown>> = { ...body };
  const complaints = [
    ...blankComplaints(body, "name"),
    ...listComplaints("redirectUris", fields.redirectUris, 0, MOST_REDIRECT_URIS),
    ...listComplaints("scopes", fields.scopes, 1, SCOPES.length),
    ...listComplaints("grantTypes", fields.grantTypes, 1, GRANT_TYPES.length),
  ];
  if (complaints.length > 0) throw invalid(complaints);
}

function listComplaints(field: string, value: unknown, min: number, max: number): ProblemDetail[] {
  if (!Array.isArray(value)) return [];
  const isGood =
    value.length >= min && value.length <= max && value.every((entry) => typeof entry === "string");
  return isGood ? [] : [mustBe(field, `an array of ${min} to ${max} strings`)];
}

function readApplication(body: record.CreateApplication): ApplicationRequest {
  const { name, redirectUris = [], scopes, grantTypes = [...DEFAULT_GRANT_TYPES] } = body;
  const complaints = [
    ...labelComplaints("name", name),
    ...(DIRECTION.test(name) ? [mustBe("name", "text without marks that change its direction")] : []),
    ...uriComplaints(redirectUris),
    ...wordComplaints("scopes", "scope", scopes, SCOPES),
    ...wordComplaints("grantTypes", "grant type", grantTypes, GRANT_TYPES),
    ...grantComplaints(grantTypes, redirectUris),
  ];
  if (complaints.length > 0) throw invalid(complaints);
  return { name, redirectUris, scopes: scopes.filter(isScope), grantTypes: grantTypes.filter(isGrantType) };
}

function uriComplaints(uris: readonly string[]): ProblemDetail[] {
  const wrong = uris
    .filter((uri) => !isRedirectUri(uri))
    .map((uri) => `redirectUris must ${URI_RULE}, not ${JSON.stringify(echo(uri))}`);
  return [...wrong, ...repeats("redirectUris", uris)].map((error) => ({ field: "redirectUris", error }));
}

function wordComplaints(
  field: string,
  what: string,
  words: readonly string[],
  known: readonly string[],
): ProblemDetail[] {
  const unknown = words
    .filter((word) => !known.includes(word))
    .map((word) => {
      const meant = closestName(word, known);
      return `Unknown ${what} "${echo(word)}"${meant === undefined ? "" : ` (did you mean "${meant}"?)`}`;
    });
  return [...unknown, ...repeats(field, words)].map((error) => ({ field, error }));
}

function repeats(field: string, entries: readonly string[]): string[] {
  const repeated = entries.find((entry, index) => entries.indexOf(entry) !== index);
  return repeated === undefined ? [] : [`${field} must not hold ${JSON.stringify(echo(repeated))} twice`];
}

function grantComplaints(types: readonly string[], redirectUris: readonly string[]): ProblemDetail[] {
  const usesCodes = types.includes("authorization_code");
  if (usesCodes && redirectUris.length === 0)
    return [{ field: "redirectUris", error: "redirectUris is required with authorization_code" }];
  if (types.includes("refresh_token") && !usesCodes)
    return [{ field: "grantTypes", error: "grantTypes must hold authorization_code for refresh_token" }];
  return [];
}
