import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyServerOptions,
  fastify,
  LogController,
} from "fastify";
import type { RefuseUrl } from "../domain/call.ts";
import { Problem } from "../domain/problem.ts";
import type { ApiKeyService } from "../service/access/api-key-service.ts";
import type { AuthService } from "../service/access/auth-service.ts";
import type { RequestLimits } from "../service/access/request-limits.ts";
import type { SourceLimit } from "../service/access/source-limit.ts";
import type { AuditService } from "../service/audit/audit-service.ts";
import type { HealthService } from "../service/health-service.ts";
import type { GrantedAccessService } from "../service/oauth/granted-access-service.ts";
import type { OAuthApplicationService } from "../service/oauth/oauth-application-service.ts";
import type { OAuthService } from "../service/oauth/oauth-service.ts";
import type { InvitationService } from "../service/people/invitation-service.ts";
import type { MemberService } from "../service/people/member-service.ts";
import type { SessionService } from "../service/people/session-service.ts";
import type { SignInService } from "../service/people/sign-in-service.ts";
import type { TeamService } from "../service/people/team-service.ts";
import type { CallbackService } from "../service/tasks/callback-service.ts";
import type { ProviderService } from "../service/tasks/provider-service.ts";
import type { QueueService } from "../service/tasks/queue-service.ts";
import type { TaskService } from "../service/tasks/task-service.ts";
import type { SigningSecretService } from "../service/vault/signing-secret-service.ts";
import type { VaultService } from "../service/vault/vault-service.ts";
import { createRecheckHook } from "./http/auth-hook.ts";
import { answerClientError } from "./http/client-error.ts";
import { answerError, answerFrameworkError } from "./http/error-answer.ts";
import { CONNECTION_BOUNDS, type ConnectionBounds, createBoundedServer } from "./http/http-server.ts";
import { acceptJson, refuseBody } from "./http/json-body.ts";
import { createNotFoundRefusal } from "./http/not-found.ts";
import { REQUEST_ID_HEADER, requestIdOf } from "./http/request-id.ts";
import { logRequest } from "./http/request-log.ts";
import { guardRoutes } from "./http/route-guard.ts";
import type { Api } from "./http/schema-types.ts";
import { buildSerializer } from "./http/serializers.ts";
import { ajvOptions, toProblem } from "./http/validation.ts";
import { limitVisits } from "./http/visit-limit.ts";
import { serveDocs } from "./openapi/docs-page.ts";
import { describeApi } from "./openapi/openapi.ts";
import { registerAuthorizePages } from "./pages/authorize.ts";
import { registerSignInPages } from "./pages/sign-in.ts";
import { registerApiKeyRoutes } from "./routes/api-keys.ts";
import { registerAuditRoutes } from "./routes/audit.ts";
import { registerSessionRoutes, registerSignInRoutes } from "./routes/auth.ts";
import { registerCallbackRoutes } from "./routes/callbacks.ts";
import { registerHealthRoutes } from "./routes/health.ts";
import { registerInvitationRoutes } from "./routes/invitations.ts";
import { registerMeRoute } from "./routes/me.ts";
import { registerMemberRoutes } from "./routes/members.ts";
import { registerOAuthRoutes } from "./routes/oauth.ts";
import { registerApplicationRoutes } from "./routes/oauth-applications.ts";
import { registerAuthorizationRoutes } from "./routes/oauth-authorizations.ts";
import { registerProviderRoutes } from "./routes/providers.ts";
import { registerQueueRoutes } from "./routes/queues.ts";
import { registerSigningSecretRoutes } from "./routes/signing-secret.ts";
import { registerTaskRoutes } from "./routes/tasks.ts";
import { registerTeamRoutes } from "./routes/teams.ts";
import { registerTokenRoutes } from "./routes/tokens.ts";
import { NoQuery } from "./schemas/field.ts";

export interface ApiDeps {
  readonly tasks: TaskService;
  readonly queues: QueueService;
  readonly auth: AuthService;
  readonly limits: RequestLimits;
  readonly visits: SourceLimit;
  readonly health: HealthService;
  readonly providers: ProviderService;
  readonly vault: VaultService;
  readonly callbacks: CallbackService;
  readonly signingSecrets: SigningSecretService;
  readonly signIn: SignInService;
  readonly sessions: SessionService;
  readonly teams: TeamService;
  readonly members: MemberService;
  readonly invitations: InvitationService;
  readonly apiKeys: ApiKeyService;
  readonly audit: AuditService;
  readonly applications: OAuthApplicationService;
  readonly grantedAccess: GrantedAccessService;
  readonly oauth: OAuthService;
  /** The egress policy, as far as it can be seen from a URL. */
  readonly refuseUrl: RefuseUrl;
  readonly log: FastifyBaseLogger;
  readonly version: string;
  /** Where callers reach this server. */
  readonly publicUrl: string;
  readonly bodyLimitBytes: number;
  readonly trustProxy?: NonNullable<FastifyServerOptions["trustProxy"]>;
  /** Other bounds than the usual. */
  readonly connections?: Partial<ConnectionBounds>;
  /** Told of every route that is registered. */
  readonly onRoute?: (method: string, url: string) => void;
}

/** As long as a URL can be at all, so that an overlong id or name is answered as what it is: not found. */
const LONGEST_PARAMETER = 16 * 1024;

/** The HTTP side of the house, not listening yet. */
export async function createApi(deps: ApiDeps): Promise<FastifyInstance> {
  const app: Api = fastify({
    loggerInstance: deps.log,
    logController: new LogController({ disableRequestLogging: true }),
    // A logger per request costs more than its one line; the line names the request itself.
    childLoggerFactory: (logger) => logger,
    genReqId: requestIdOf,
    bodyLimit: deps.bodyLimitBytes,
    serverFactory: (handler) =>
      createBoundedServer(handler, { ...CONNECTION_BOUNDS, ...deps.connections }, (open) =>
        deps.log.warn({ open }, "connections.crowded"),
      ),
    // We answer that ourselves, in our own shape.
    return503OnClosing: false,
    ...(deps.trustProxy !== undefined && { trustProxy: deps.trustProxy }),
    routerOptions: { maxParamLength: LONGEST_PARAMETER },
    ajv: ajvOptions,
    schemaController: { compilersFactory: { buildSerializer } },
    schemaErrorFormatter: toProblem,
    frameworkErrors: answerFrameworkError,
    clientErrorHandler: answerClientError,
  });
  const { onRoute } = deps;
  if (onRoute !== undefined) app.addHook("onRoute", ({ method, url }) => onRoute(String(method), url));
  app.decorateRequest("principal", null);
  acceptJson(app);
  app.setErrorHandler(answerError);
  refuseEarly(app);
  limitVisits(app, deps.visits);
  app.addHook("onResponse", (request, reply, done) => {
    logRequest(request, reply);
    done();
  });

  await describeApi(app, deps.version, deps.publicUrl);
  await serveDocs(app);
  registerHealthRoutes(app, deps.health);
  await app.register(async (pages) => registerSignInPages(pages, deps));
  await app.register(async (pages) => registerAuthorizePages(pages, deps.oauth));
  await app.register(async (scope) => registerOAuthRoutes(scope, deps.oauth, createRecheckHook(deps.auth)));
  // Public: no credential is asked for here.
  await app.register(
    async (open) => {
      closeRoutes(open);
      registerProviderRoutes(open, deps.providers);
      registerSignInRoutes(open, deps.signIn);
      await open.register(async (scope) => registerCallbackRoutes(scope, deps.callbacks));
    },
    { prefix: "/v1" },
  );
  await app.register(
    async (v1) => {
      closeRoutes(v1);
      guardRoutes(v1, deps);
      registerTaskRoutes(v1, deps);
      registerQueueRoutes(v1, deps.queues);
      registerTokenRoutes(v1, deps.vault);
      registerSigningSecretRoutes(v1, deps.signingSecrets);
      registerSessionRoutes(v1, deps.sessions);
      registerMeRoute(v1, deps.teams);
      registerTeamRoutes(v1, deps.teams);
      registerMemberRoutes(v1, deps.members);
      registerInvitationRoutes(v1, deps.invitations);
      registerApiKeyRoutes(v1, deps.apiKeys);
      registerAuditRoutes(v1, deps.audit);
      registerApplicationRoutes(v1, deps.applications);
      registerAuthorizationRoutes(v1, deps.grantedAccess);
    },
    { prefix: "/v1" },
  );
  return app;
}

/** What can be refused without reading the body is refused without reading it. */
function refuseEarly(app: Api): void {
  let stopping = false;
  app.addHook("preClose", async () => {
    stopping = true;
  });
  const refuseUnknownRoute = createNotFoundRefusal(app);
  app.addHook("onRequest", (request, reply, done) => {
    reply.header(REQUEST_ID_HEADER, request.id);
    if (stopping) done(new Problem("stopping"));
    else if (request.is404) done(refuseUnknownRoute(request, reply));
    else done();
  });
  // Without one of our own, unknown routes would pass by the hook.
  app.setNotFoundHandler((request, reply) => answerError(refuseUnknownRoute(request, reply), request, reply));
}

/** A route takes what its schema names and nothing else: no stray parameter, no stray body. */
function closeRoutes(app: Api): void {
  app.addHook("onRoute", (route) => {
    route.schema = { querystring: NoQuery, ...route.schema };
    const takesBody = route.schema.body !== undefined;
    if (!takesBody && route.method !== "GET" && route.method !== "HEAD") route.preValidation = refuseBody;
  });
}
