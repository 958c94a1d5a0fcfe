import type { FastifyInstance } from "fastify";
import { createRecheckHook } from "../api/http/auth-hook.ts";
import { createCookieRules, createSessionCookies } from "../api/http/session-cookie.ts";
import { registerAuthorizePages } from "../api/pages/authorize.ts";
import { createDashboard, registerDashboardFiles } from "../api/pages/dashboard.ts";
import { registerFrontPage } from "../api/pages/front.ts";
import { registerHelpPages } from "../api/pages/help.ts";
import type { PageFiles } from "../api/pages/page-files.ts";
import { type LinkDelivery, registerSignInPages } from "../api/pages/sign-in.ts";
import { registerApiKeyRoutes } from "../api/routes/api-keys.ts";
import { registerAuditRoutes } from "../api/routes/audit.ts";
import { registerSessionRoutes, registerSignInRoutes } from "../api/routes/auth.ts";
import { registerCallbackRoutes } from "../api/routes/callbacks.ts";
import { registerEventRoutes } from "../api/routes/events.ts";
import { registerHealthRoutes } from "../api/routes/health.ts";
import { registerInvitationRoutes } from "../api/routes/invitations.ts";
import { registerMeRoute } from "../api/routes/me.ts";
import { registerMemberRoutes } from "../api/routes/members.ts";
import { type MetricsAccess, type MetricsPage, registerMetricsRoute } from "../api/routes/metrics.ts";
import { registerOAuthRoutes } from "../api/routes/oauth.ts";
import { registerApplicationRoutes } from "../api/routes/oauth-applications.ts";
import { registerAuthorizationRoutes } from "../api/routes/oauth-authorizations.ts";
import { registerPageSessionRoutes } from "../api/routes/page-session.ts";
import { registerProviderRoutes } from "../api/routes/providers.ts";
import { registerQueueRoutes } from "../api/routes/queues.ts";
import { registerSigningSecretRoutes } from "../api/routes/signing-secret.ts";
import { registerSystemRoute } from "../api/routes/system.ts";
import { registerTaskActionRoutes } from "../api/routes/task-actions.ts";
import { registerBatchRoute } from "../api/routes/task-batch.ts";
import { registerExplanationRoute } from "../api/routes/task-explanation.ts";
import { registerTaskRoutes } from "../api/routes/tasks.ts";
import { registerTeamRoutes } from "../api/routes/teams.ts";
import { registerTokenRoutes } from "../api/routes/tokens.ts";
import { type ApiDeps, createApi } from "../api/server.ts";
import type { RefuseUrl } from "../domain/call.ts";
import { allFeatures } from "../features/features.ts";
import type { Services } from "./compose-node.ts";

type Http = Omit<
  ApiDeps,
  "auth" | "json" | "loop" | "limits" | "visits" | "scans" | "routes" | "onAnswer" | "cookies" | "dashboard"
> & {
  /** Default: by mail. */
  readonly links?: LinkDelivery;
  /** The built dashboard, if any. */
  readonly page?: PageFiles | null;
  /** The built documentation, if any. */
  readonly help?: PageFiles | null;
  /** Default: metrics are refused. */
  readonly metricsAccess?: MetricsAccess;
  /** Default: this process's own metrics. */
  readonly metricsPage?: MetricsPage;
  /** Other than every 15 s: how often a stream of events is kept alive, and its credential looked at. */
  readonly heartbeatMs?: number;
};

const NO_SCRAPER: MetricsAccess = { exposed: true, token: null };

/** The HTTP API of a worker: health and metrics. Every other route does not exist. */
export function composeWorkerApi(services: Services, http: Http): Promise<FastifyInstance> {
  const { auth, limits, visits, scans, json, loop, metrics } = services;
  return createApi({
    ...http,
    auth,
    json,
    loop,
    limits,
    visits,
    scans,
    cookies: createSessionCookies(createCookieRules(http.publicUrl)),
    onAnswer: metrics.request,
    routes: {
      root: [
        (app) => registerHealthRoutes(app, services.health),
        (app) => registerMetricsRoute(app, http.metricsPage ?? metrics, http.metricsAccess ?? NO_SCRAPER),
      ],
      open: [],
      guarded: [],
    },
  });
}

/** The API of one node: every route with only the services that it needs. */
export function composeApi(services: Services, refuseUrl: RefuseUrl, http: Http): Promise<FastifyInstance> {
  const { auth, limits, visits, scans, json, loop, signIn, oauth, metrics } = services;
  const { links = "mail", page = null, help = null, version, publicUrl } = http;
  const cookieRules = createCookieRules(publicUrl);
  const cookies = createSessionCookies(cookieRules);
  const dashboard = page === null ? null : createDashboard(page);
  return createApi({
    ...http,
    auth,
    json,
    loop,
    limits,
    visits,
    scans,
    cookies,
    dashboard,
    onAnswer: metrics.request,
    routes: {
      root: [
        (app) => registerHealthRoutes(app, services.health),
        (app) => registerFrontPage(app, version, dashboard),
        (app) => registerDashboardFiles(app, dashboard),
        (app) => registerHelpPages(app, help),
        (app) => registerPageSessionRoutes(app, { ...services, cookies, links, version }),
        (app) => registerMetricsRoute(app, http.metricsPage ?? metrics, http.metricsAccess ?? NO_SCRAPER),
        (app) => registerSignInPages(app, { signIn, oauth, cookieRules, cookies, links }),
        (app) => registerAuthorizePages(app, { oauth, cookies }),
        (app) => registerOAuthRoutes(app, oauth, createRecheckHook(auth)),
      ],
      open: [
        (app) => registerProviderRoutes(app, services.providers),
        (app) => registerSignInRoutes(app, signIn),
        (app) => registerCallbackRoutes(app, services.callbacks, json),
      ],
      guarded: [
        (app) => registerTaskRoutes(app, { tasks: services.tasks, waiting: services.waiting, refuseUrl }),
        (app) => registerTaskActionRoutes(app, { tasks: services.tasks, refuseUrl }),
        (app) => registerExplanationRoute(app, { explanations: services.explanations }),
        (app) =>
          registerBatchRoute(app, {
            tasks: services.tasks,
            refuseUrl,
            itemLimitBytes: http.bodyLimitBytes,
            loop,
          }),
        ...allFeatures(services.features).flatMap(({ routes = [] }) => routes),
        (app) => registerEventRoutes(app, { events: services.events, auth, heartbeatMs: http.heartbeatMs }),
        (app) => registerQueueRoutes(app, services.queues),
        (app) => registerTokenRoutes(app, services.vault),
        (app) => registerSigningSecretRoutes(app, services.signingSecrets),
        (app) => registerSessionRoutes(app, services.sessions),
        (app) => registerMeRoute(app, services.teams),
        (app) => registerTeamRoutes(app, services.teams),
        (app) => registerMemberRoutes(app, services.members),
        (app) => registerInvitationRoutes(app, services.invitations),
        (app) => registerApiKeyRoutes(app, services.apiKeys),
        (app) => registerAuditRoutes(app, services.audit),
        (app) => registerSystemRoute(app, services.system),
        (app) => registerApplicationRoutes(app, services.applications),
        (app) => registerAuthorizationRoutes(app, services.authorizations),
      ],
      others: allFeatures(services.features).flatMap(({ others = [] }) => others),
    },
  });
}
