import type { RateLimit } from "./errors.ts";
import { createOperation, createSend, pathOf, type QueryOf } from "./operation.ts";
import { walkPages } from "./pages.ts";
import { ROUTES } from "./routes.ts";
import { createQueues, createTasks } from "./tasks.ts";
import { type ClientOptions, createTransport, type RequestOptions } from "./transport.ts";

/**
 * A client of one server. Holds no connection and needs no end. Every operation of openapi.json has a method: a new one
 * is one line here, `name: operation("operationId")`, or with `"field"` where the answer wraps what it is about.
 */
export function createBellhop(options: ClientOptions) {
  const transport = createTransport(options);
  const send = createSend(transport);
  const operation = createOperation(send);
  const auditPage = operation("listAuditEvents");

  return {
    /** Where the team stood at the last answer; null where it has no limit. */
    get rateLimit(): RateLimit | null {
      return transport.rateLimit;
    },

    tasks: createTasks(send, operation),
    queues: createQueues(operation),
    providers: { list: operation("listProviders", "providers") },
    callbacks: { resolve: operation("resolveCallback", "task") },

    /** Stored credentials of third parties, `tok_…`. */
    tokens: {
      create: operation("createToken", "token"),
      list: operation("listTokens", "tokens"),
      revoke: operation("revokeToken", "token"),
    },
    signingSecret: {
      get: operation("getSigningSecret", "signingSecret"),
      rotate: operation("rotateSigningSecret", "signingSecret"),
    },
    apiKeys: {
      create: operation("createApiKey", "apiKey"),
      list: operation("listApiKeys", "apiKeys"),
      revoke: operation("revokeApiKey", "apiKey"),
    },

    /** Who is calling, and what they may do. */
    me: operation("getMe"),
    team: {
      get: operation("getTeam", "team"),
      rename: operation("renameTeam", "team"),
      leave: operation("leaveTeam", "member"),
    },
    members: {
      list: operation("listMembers", "members"),
      changeRole: operation("changeMemberRole", "member"),
      remove: operation("removeMember", "member"),
    },
    invitations: {
      create: operation("createInvitation", "invitation"),
      list: operation("listInvitations", "invitations"),
      revoke: operation("revokeInvitation", "invitation"),
    },
    audit: {
      /** One page. */
      page: auditPage,
      /** All that match, newest first. */
      list: (query: QueryOf<"listAuditEvents"> = {}, request?: RequestOptions) =>
        walkPages(
          query,
          (next) => auditPage(next, request),
          (fetched) => fetched.events,
        ),
    },

    /** For a person's session. */
    auth: {
      requestMagicLink: operation("requestMagicLink"),
      openSession: operation("openSession"),
      endSession: operation("endSession", "session"),
      switchTeam: operation("switchTeam"),
    },
    teams: {
      create: operation("createTeam", "team"),
      list: operation("listTeams", "teams"),
    },

    applications: {
      create: operation("createApplication", "application"),
      list: operation("listApplications", "applications"),
      delete: operation("deleteApplication", "application"),
      rotateSecret: operation("rotateApplicationSecret", "application"),
    },
    authorizations: {
      list: operation("listAuthorizations", "authorizations"),
      end: operation("endAuthorization", "authorization"),
    },
    oauth: {
      /** Where an application sends a person, to be let in. */
      authorizeUrl: (query: QueryOf<"authorize">) => transport.url + pathOf(ROUTES.authorize, { query }),
      issueToken: operation("issueAccessToken"),
      revokeToken: operation("revokeAccessToken"),
      metadata: operation("getAuthorizationServer"),
    },

    /** The nodes and the database, for the operator's own team. */
    system: operation("getSystem"),
    health: {
      live: operation("getLiveness"),
      ready: operation("getReadiness"),
      check: operation("getHealth"),
    },
  };
}

export type Bellhop = ReturnType<typeof createBellhop>;
