import { type ClientOptions, readClientOptions } from "./client-options.ts";
import type { RateLimit } from "./errors.ts";
import { createEvents } from "./events.ts";
import { type BodyOf, createOperation, createSend, pathOf, type QueryOf } from "./operation.ts";
import type { RequestOptions } from "./options.ts";
import { createWhole, walkPages } from "./pages.ts";
import { ROUTES } from "./routes.ts";
import { createQueues, createTasks } from "./tasks.ts";
import { createTransport } from "./transport.ts";

/**
 * A client of one server. It holds no connection and needs no cleanup. Every operation of openapi.json has a method: a
 * new one is one line here, `name: operation("operationId")`, with `"field"` if the answer wraps its object, or `whole`
 * for a list.
 */
export function createBellhop(options: ClientOptions = {}) {
  const transport = createTransport(readClientOptions(options));
  const send = createSend(transport);
  const operation = createOperation(send);
  const whole = createWhole(send);
  const auditPage = operation("listAuditEvents");
  const deliveryPage = operation("listWebhookDeliveries");

  return {
    /** The rate limit state of the last answer; null without a limit. */
    get rateLimit(): RateLimit | null {
      return transport.rateLimit;
    },

    tasks: createTasks(send, operation),
    queues: createQueues(operation, whole),
    /** Limits that span queues: concurrency and rate by key. */
    flows: {
      list: whole("listFlows", "flows"),
      get: operation("getFlow", "flow"),
      /** Stores the limits of a key; replaces those that were stored. */
      put: operation("putFlow", "flow"),
      delete: operation("deleteFlow"),
      pause: operation("pauseFlow", "flow"),
      resume: operation("resumeFlow", "flow"),
      /** Restarts the window of its rate. */
      reset: operation("resetFlow", "flow"),
    },
    /** Named lists of URLs: what is published to one becomes a task for each URL. */
    urlGroups: {
      list: whole("listUrlGroups", "urlGroups"),
      get: operation("getUrlGroup", "urlGroup"),
      /** Stores the endpoints of a group; replaces those that were stored. */
      put: operation("putUrlGroup", "urlGroup"),
      delete: operation("deleteUrlGroup"),
    },
    /** Open circuit breakers of queues. */
    breakers: {
      list: whole("listBreakers", "breakers"),
      /** Closes those of a host: in one queue, or in all. */
      close: async (host: string, body: BodyOf<"closeBreaker"> = {}, request?: RequestOptions) =>
        (await send("closeBreaker", { id: host, body }, request)).answer,
    },
    /** The event stream: `for await (const event of bellhop.events())`. Resumes after a broken connection. */
    events: createEvents(transport),
    /** Webhooks that receive events. */
    webhooks: {
      create: operation("createWebhook", "webhook"),
      list: whole("listWebhooks", "webhooks"),
      get: operation("getWebhook", "webhook"),
      update: operation("updateWebhook", "webhook"),
      delete: operation("deleteWebhook", "webhook"),
      /** Sends an event `webhook.test` to this webhook alone. */
      test: operation("testWebhook", "delivery"),
      /** Sends the message of a delivery once more, under the same `webhook-id`. */
      redeliver: async (id: string, deliveryId: string, request?: RequestOptions) =>
        (await send("redeliverWebhook", { id: [id, deliveryId] }, request)).answer.delivery,
      /** Its deliveries, newest first. */
      deliveries: (id: string, query: QueryOf<"listWebhookDeliveries"> = {}, request?: RequestOptions) =>
        walkPages(
          query,
          async (next) => {
            const page = await deliveryPage(id, next, request);
            return { ...page, pagination: page.pagination ?? { nextCursor: null } };
          },
          (fetched) => fetched.deliveries,
        ),
    },
    /** Conditions that notify people when they hold. */
    alerts: {
      create: operation("createAlert", "alert"),
      list: whole("listAlerts", "alerts"),
      get: operation("getAlert", "alert"),
      update: operation("updateAlert", "alert"),
      delete: operation("deleteAlert", "alert"),
      /** Sends a test message to every channel. */
      test: operation("testAlert", "alert"),
    },
    providers: { list: whole("listProviders", "providers") },
    callbacks: { resolve: operation("resolveCallback", "task") },

    /** Recurring tasks. All methods but `create` and `list` take a schedule's id or name. */
    schedules: {
      create: operation("createSchedule", "schedule"),
      /** Creates the schedule, or replaces the one with this name. */
      put: operation("putSchedule", "schedule"),
      list: whole("listSchedules", "schedules"),
      get: operation("getSchedule", "schedule"),
      update: operation("updateSchedule", "schedule"),
      delete: operation("deleteSchedule"),
      pause: operation("pauseSchedule", "schedule"),
      resume: operation("resumeSchedule", "schedule"),
      /** Creates a task of it now. */
      run: operation("runSchedule"),
    },

    /** For test keys: the clock of their tasks and schedules. */
    sandbox: {
      get: operation("getSandbox", "sandbox"),
      /** Advances the clock. */
      advance: operation("advanceSandbox"),
    },

    /** Stored credentials of third parties, `tok_…`. */
    tokens: {
      create: operation("createToken", "token"),
      list: whole("listTokens", "tokens"),
      /** Includes the number of open tasks that name it. */
      get: operation("getToken", "token"),
      revoke: operation("revokeToken", "token"),
    },
    signingSecret: {
      get: operation("getSigningSecret", "signingSecret"),
      rotate: operation("rotateSigningSecret", "signingSecret"),
    },
    apiKeys: {
      create: operation("createApiKey", "apiKey"),
      list: whole("listApiKeys", "apiKeys"),
      revoke: operation("revokeApiKey", "apiKey"),
    },

    /** The current credential and its rights. */
    me: operation("getMe"),
    team: {
      get: operation("getTeam", "team"),
      rename: operation("renameTeam", "team"),
      leave: operation("leaveTeam", "member"),
    },
    members: {
      list: whole("listMembers", "members"),
      changeRole: operation("changeMemberRole", "member"),
      remove: operation("removeMember", "member"),
    },
    invitations: {
      create: operation("createInvitation", "invitation"),
      list: whole("listInvitations", "invitations"),
      revoke: operation("revokeInvitation", "invitation"),
    },
    audit: {
      /** One page. */
      page: auditPage,
      /** All matching entries, newest first. */
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
    /** Sessions of the signed-in person. */
    sessions: {
      list: whole("listSessions", "sessions"),
      end: operation("endOneSession", "session"),
    },
    teams: {
      create: operation("createTeam", "team"),
      list: whole("listTeams", "teams"),
    },

    applications: {
      create: operation("createApplication", "application"),
      list: whole("listApplications", "applications"),
      delete: operation("deleteApplication", "application"),
      rotateSecret: operation("rotateApplicationSecret", "application"),
    },
    authorizations: {
      list: whole("listAuthorizations", "authorizations"),
      end: operation("endAuthorization", "authorization"),
    },
    oauth: {
      /** The URL to which an application redirects a person for consent. */
      authorizeUrl: (query: QueryOf<"authorize">) => transport.url + pathOf(ROUTES.authorize, { query }),
      issueToken: operation("issueAccessToken"),
      revokeToken: operation("revokeAccessToken"),
      metadata: operation("getAuthorizationServer"),
    },

    /** Queue statistics, for charts. */
    stats: {
      queues: operation("getQueueStats", "stats"),
      failures: operation("getFailureStats", "failures"),
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
