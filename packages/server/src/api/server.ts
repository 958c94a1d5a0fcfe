import type { IncomingHttpHeaders } from "node:http";
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  fastify,
  LogController,
  type RouteOptions,
} from "fastify";
import { Problem } from "../domain/problem.ts";
import type { JsonGate } from "../json/gate.ts";
import type { AuthService } from "../service/access/auth-service.ts";
import type { LoopShare } from "../service/access/loop-share.ts";
import type { RequestLimits } from "../service/access/request-limits.ts";
import type { SourceLimit } from "../service/access/source-limit.ts";
import type { ScanLine } from "../service/scan-line.ts";
import { nullsDropped } from "./http/absent-fields.ts";
import { answerInTime, type Deadlines } from "./http/answer-deadline.ts";
import { decodeBody } from "./http/body-encoding.ts";
import { BODY_BOUNDS, type BodyBounds, boundBodies } from "./http/body-memory.ts";
import { answerClientError } from "./http/client-error.ts";
import { compilersFactory } from "./http/compilers.ts";
import { requireCosts } from "./http/cost.ts";
import { answerError, answerFrameworkError, NO_SNIFF } from "./http/error-answer.ts";
import { CONNECTION_BOUNDS, type ConnectionBounds, createBoundedServer } from "./http/http-server.ts";
import { acceptJson, refuseBody, refuseManyFields } from "./http/json-body.ts";
import { meterAnswers } from "./http/metered-answers.ts";
import { createNotFoundRefusal } from "./http/not-found.ts";
import { createProxyCheck } from "./http/proxies.ts";
import { REQUEST_ID_HEADER, requestIdOf } from "./http/request-id.ts";
import { logRequest } from "./http/request-log.ts";
import { guardRoutes } from "./http/route-guard.ts";
import { takeScanTurns } from "./http/scan-turns.ts";
import type { Api } from "./http/schema-types.ts";
import type { SessionCookies } from "./http/session-cookie.ts";
import { ajvOptions, toProblem } from "./http/validation.ts";
import { limitVisits } from "./http/visit-limit.ts";
import { serveReference } from "./openapi/reference.ts";
import type { Dashboard } from "./pages/dashboard.ts";
import { allModels, fieldsWithoutNull, NoQuery } from "./schemas/field.ts";

/** Adds routes in a separate scope with their own body parsers and error pages. */
export type RegisterRoutes = (scope: Api) => void | Promise<void>;

export interface OtherApi {
  readonly prefix: string;
  readonly routes: readonly RegisterRoutes[];
}

export interface ApiDeps {
  readonly auth: AuthService;
  /** Reads the bodies of requests. */
  readonly json: JsonGate;
  /** Receives the event loop time of requests. */
  readonly loop?: Pick<LoopShare, "spent">;
  readonly limits: RequestLimits;
  readonly visits: SourceLimit;
  /** The line of requests that look at many rows. */
  readonly scans: ScanLine;
  /** The browser's session cookies. */
  readonly cookies: SessionCookies;
  /** Null if it is not built; undefined if it is not served here. */
  readonly dashboard?: Dashboard | null;
  readonly routes: {
    /** With their whole path. */
    readonly root: readonly RegisterRoutes[];
    /** Under /v1, without a credential. */
    readonly open: readonly RegisterRoutes[];
    /** Under /v1; each declares who may use it, and all what they cost. */
    readonly guarded: readonly RegisterRoutes[];
    /** Interfaces beside /v1, with their own prefix, body parsers and errors; each route declares who may use it. */
    readonly others?: readonly OtherApi[];
  };
  /** Default: no deadline. */
  readonly deadlines?: Deadlines;
  readonly log: FastifyBaseLogger;
  readonly version: string;
  /** Directory of the built API reference, if it is served here. */
  readonly reference?: string | null;
  /** Called before any route is registered. */
  readonly describe?: (app: Api) => Promise<void>;
  /** Where callers reach this server. */
  readonly publicUrl: string;
  readonly bodyLimitBytes: number;
  /** Addresses and CIDRs of trusted proxies. */
  readonly trustProxy?: string[];
  /** Other bounds than the usual. */
  readonly connections?: Partial<ConnectionBounds>;
  readonly bodies?: BodyBounds;
  /** Called for every answered request with the route's pattern, or null. */
  readonly onAnswer?: (method: string, route: string | null, status: number, ms: number) => void;
  /** Wraps the handler of every request. */
  readonly onHandle?: ((headers: IncomingHttpHeaders, next: () => void) => void) | undefined;
  /** Called for every registered route, which it may add to. */
  readonly onRoute?: (route: RouteOptions) => void;
}

/** The maximum length of a URL, so that an overlong id or name is answered as not found. */
const LONGEST_PARAMETER = 16 * 1024;

/** The HTTP server, not listening yet. */
export async function createApi(deps: ApiDeps): Promise<FastifyInstance> {
  const isProxy = createProxyCheck(deps.trustProxy ?? []);
  const app: Api = fastify({
    loggerInstance: deps.log,
    logController: new LogController({ disableRequestLogging: true }),
    // A logger per request costs more than its one line, which names the request itself.
    childLoggerFactory: (logger) => logger,
    genReqId: requestIdOf,
    bodyLimit: deps.bodyLimitBytes,
    serverFactory: (handler) =>
      createBoundedServer(handler, { ...CONNECTION_BOUNDS, isProxy, ...deps.connections }, (open) =>
        deps.log.warn({ open }, "connections.crowded"),
      ),
    // We send our own answer.
    return503OnClosing: false,
    ...(deps.trustProxy !== undefined && { trustProxy: deps.trustProxy }),
    routerOptions: { maxParamLength: LONGEST_PARAMETER, ignoreTrailingSlash: true },
    ajv: ajvOptions,
    schemaController: { compilersFactory },
    schemaErrorFormatter: toProblem,
    frameworkErrors: answerFrameworkError,
    clientErrorHandler: answerClientError,
  });
  if (deps.onRoute !== undefined) app.addHook("onRoute", deps.onRoute);
  requireCosts(app);
  app.decorateRequest("principal", null);
  app.decorateRequest("credential", null);
  acceptJson(app, deps.json, deps.loop);
  app.setErrorHandler(answerError);
  refuseEarly(app, securityHeaders(deps.publicUrl), deps.dashboard ?? null);
  warnOfUnknownProxy(app, deps.log);
  boundBodies(app, deps.bodies ?? BODY_BOUNDS);
  app.addHook("preParsing", decodeBody);
  limitVisits(app, deps.visits);
  const { onHandle } = deps;
  if (onHandle !== undefined)
    app.addHook("preHandler", (request, _reply, done) => onHandle(request.headers, done));
  app.addHook("onResponse", (request, reply, done) => {
    // Read once: fastify rebuilds the route options on each access.
    const route = request.routeOptions.url ?? null;
    logRequest(request, reply, route);
    deps.onAnswer?.(request.method, route, reply.statusCode, reply.elapsedTime);
    done();
  });

  for (const schema of allModels()) app.addSchema(schema);
  await deps.describe?.(app);
  if (deps.reference) await serveReference(app, deps.reference, deps.publicUrl);
  const { root, open, guarded } = deps.routes;
  await registerAll(app, root);
  await app.register(
    async (v1) => {
      closeRoutes(v1);
      await registerAll(v1, open);
    },
    { prefix: "/v1" },
  );
  await app.register(
    async (v1) => {
      closeRoutes(v1);
      guardRoutes(v1, deps);
      takeScanTurns(v1, deps.scans);
      if (deps.deadlines !== undefined) answerInTime(v1, deps.deadlines);
      if (deps.loop !== undefined) meterAnswers(v1, deps.loop);
      await registerAll(v1, guarded);
    },
    { prefix: "/v1" },
  );
  for (const { prefix, routes } of deps.routes.others ?? []) {
    await app.register(
      async (other) => {
        // Not for browsers: a page elsewhere must not act with the cookie of a session.
        guardRoutes(other, { ...deps, cookies: { readPage: () => undefined } });
        takeScanTurns(other, deps.scans);
        if (deps.deadlines !== undefined) answerInTime(other, deps.deadlines);
        if (deps.loop !== undefined) meterAnswers(other, deps.loop);
        await registerAll(other, routes);
      },
      { prefix },
    );
  }
  return app;
}

async function registerAll(app: Api, routes: readonly RegisterRoutes[]): Promise<void> {
  for (const register of routes) await app.register(async (scope) => register(scope));
}

/** A year: a browser that used https once does not connect without it. */
const HSTS = { "strict-transport-security": "max-age=31536000" };

/** On every answer: a browser must not guess the content type. */
function securityHeaders(publicUrl: string): Readonly<Record<string, string>> {
  return { ...NO_SNIFF, ...(publicUrl.startsWith("https:") && HSTS) };
}

/** Refuses what it can before the body is read. */
function refuseEarly(app: Api, headers: Readonly<Record<string, string>>, dashboard: Dashboard | null): void {
  let stopping = false;
  app.addHook("preClose", async () => {
    stopping = true;
  });
  const refuseUnknownRoute = createNotFoundRefusal(app);
  app.addHook("onRequest", (request, reply, done) => {
    reply.header(REQUEST_ID_HEADER, request.id).headers(headers);
    if (stopping) done(new Problem("stopping"));
    else if (!request.is404) done();
    else if (!dashboard?.answer(request, reply)) done(refuseUnknownRoute(request, reply));
  });
  // Without our own handler, unknown routes would bypass the hook.
  app.setNotFoundHandler((request, reply) => answerError(refuseUnknownRoute(request, reply), request, reply));
}

/**
 * Warns once about an untrusted proxy: behind it all callers share the limits of one source, and an otherwise
 * unconfigured server acts as a developer's own.
 */
function warnOfUnknownProxy(app: Api, log: FastifyBaseLogger): void {
  let isSaid = false;
  app.addHook("onRequest", (request, _reply, done) => {
    if (
      !isSaid &&
      request.headers["x-forwarded-for"] !== undefined &&
      request.ip === request.socket.remoteAddress
    ) {
      isSaid = true;
      log.warn({ peer: request.ip, setting: "BELLHOP_TRUST_PROXY" }, "proxy.not_trusted");
    }
    done();
  });
}

/** A route accepts only the parameters and body of its schema. */
function closeRoutes(app: Api): void {
  app.addHook("onRoute", (route) => {
    route.schema = { querystring: NoQuery, ...route.schema };
    const { body } = route.schema;
    if (body === undefined) {
      if (route.method !== "GET" && route.method !== "HEAD") route.preValidation = refuseBody;
      return;
    }
    const fields = fieldsWithoutNull(body);
    const dropping = fields.length === 0 ? [] : [nullsDropped(fields)];
    route.preValidation = [refuseManyFields, ...dropping, ...[route.preValidation ?? []].flat()];
  });
}
