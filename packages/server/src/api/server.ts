import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyServerOptions,
  fastify,
  LogController,
} from "fastify";
import { Problem } from "../domain/problem.ts";
import type { AuthService } from "../service/auth-service.ts";
import type { CallbackService } from "../service/callback-service.ts";
import type { HealthService } from "../service/health-service.ts";
import type { ProviderService } from "../service/provider-service.ts";
import type { QueueService } from "../service/queue-service.ts";
import type { RequestLimits } from "../service/request-limits.ts";
import type { SigningSecretService } from "../service/signing-secret-service.ts";
import type { TaskService } from "../service/task-service.ts";
import type { VaultService } from "../service/vault-service.ts";
import { createAuthHook } from "./auth-hook.ts";
import { answerClientError } from "./client-error.ts";
import { serveDocs } from "./docs-page.ts";
import { answerError, answerFrameworkError } from "./error-answer.ts";
import { acceptJson, refuseBody } from "./json-body.ts";
import { createNotFoundRefusal } from "./not-found.ts";
import { describeApi } from "./openapi.ts";
import { REQUEST_ID_HEADER, requestIdOf } from "./request-id.ts";
import { logRequest } from "./request-log.ts";
import { registerCallbackRoutes } from "./routes/callbacks.ts";
import { registerHealthRoutes } from "./routes/health.ts";
import { registerProviderRoutes } from "./routes/providers.ts";
import { registerQueueRoutes } from "./routes/queues.ts";
import { registerSigningSecretRoutes } from "./routes/signing-secret.ts";
import { registerTaskRoutes } from "./routes/tasks.ts";
import { registerTokenRoutes } from "./routes/tokens.ts";
import type { Api } from "./schema-types.ts";
import { NoQuery } from "./schemas/field.ts";
import type { RefuseUrl } from "./task-request.ts";
import { ajvOptions, toProblem } from "./validation.ts";

export interface ApiDeps {
  readonly tasks: TaskService;
  readonly queues: QueueService;
  readonly auth: AuthService;
  readonly limits: RequestLimits;
  readonly health: HealthService;
  readonly providers: ProviderService;
  readonly vault: VaultService;
  readonly callbacks: CallbackService;
  readonly signingSecrets: SigningSecretService;
  /** The egress policy, as far as it can be seen from a URL. */
  readonly refuseUrl: RefuseUrl;
  readonly log: FastifyBaseLogger;
  readonly version: string;
  /** Where callers reach this server. */
  readonly publicUrl: string;
  readonly bodyLimitBytes: number;
  readonly trustProxy?: NonNullable<FastifyServerOptions["trustProxy"]>;
}

/** The largest body must fit through a slow line, and nobody may hold a connection open by sending a byte a minute. */
const REQUEST_TIMEOUT_MS = 60_000;

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
    requestTimeout: REQUEST_TIMEOUT_MS,
    // We answer that ourselves, in our own shape.
    return503OnClosing: false,
    ...(deps.trustProxy !== undefined && { trustProxy: deps.trustProxy }),
    routerOptions: { maxParamLength: LONGEST_PARAMETER },
    ajv: ajvOptions,
    schemaErrorFormatter: toProblem,
    frameworkErrors: answerFrameworkError,
    clientErrorHandler: answerClientError,
  });
  app.decorateRequest("principal", null);
  acceptJson(app);
  app.setErrorHandler(answerError);
  refuseEarly(app);
  app.addHook("onResponse", (request, reply, done) => {
    logRequest(request, reply);
    done();
  });

  await describeApi(app, deps.version, deps.publicUrl);
  await serveDocs(app);
  registerHealthRoutes(app, deps.health);
  // Public: no credential is asked for here.
  await app.register(
    async (open) => {
      closeRoutes(open);
      registerProviderRoutes(open, deps.providers);
      await open.register(async (scope) => registerCallbackRoutes(scope, deps.callbacks));
    },
    { prefix: "/v1" },
  );
  await app.register(
    async (v1) => {
      closeRoutes(v1);
      refuseUndeclared(v1);
      v1.addHook("onRequest", createAuthHook(deps.auth, deps.limits));
      registerTaskRoutes(v1, deps);
      registerQueueRoutes(v1, deps.queues);
      registerTokenRoutes(v1, deps.vault);
      registerSigningSecretRoutes(v1, deps.signingSecrets);
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

/** Deny by default: a route that does not say who may use it stops the start. */
function refuseUndeclared(app: Api): void {
  app.addHook("onRoute", ({ method, url, config }) => {
    if (config?.access === undefined) throw new Error(`${method} ${url} does not declare its access`);
  });
}
