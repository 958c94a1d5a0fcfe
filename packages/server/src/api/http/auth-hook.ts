import type {
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
  onRequestHookHandler,
  onSendHookHandler,
} from "fastify";
import type { Principal, Requester } from "../../domain/identity/principal.ts";
import { Problem, rateLimited } from "../../domain/problem.ts";
import type { AuthService } from "../../service/access/auth-service.ts";
import type { RequestLimits } from "../../service/access/request-limits.ts";
import type { Allowance } from "../../service/access/team-meter.ts";
import { type Access, requireAccess } from "./access.ts";
import type { SessionCookies } from "./session-cookie.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Null before the auth hook, and on routes that have none. */
    principal: Principal | null;
    /** What the auth hook accepted. */
    credential: string | null;
  }
}

const BEARER = /^Bearer +(\S.*)$/i;

/**
 * Authentication, rate limit and access check. Runs before the body is read, so that an unauthenticated caller cannot
 * make us parse anything. Nearly always the credential is cached and the team has no limit: then no promise is created.
 */
export function createAuthHook(
  access: Access,
  auth: AuthService,
  limits: RequestLimits,
  cookies: Pick<SessionCookies, "readPage">,
): onRequestHookHandler {
  /** Every answer from here on has the rate limit headers, also a refusal; without a limit there are none. */
  function admit(
    principal: Principal,
    credential: string,
    request: FastifyRequest,
    reply: FastifyReply,
    done: HookHandlerDoneFunction,
  ): void {
    request.principal = principal;
    request.credential = credential;
    // Team data and sometimes secrets: browsers and proxies must not cache them.
    reply.header("cache-control", "no-store");
    const counted = limits.count(principal);
    if (counted instanceof Promise)
      counted.then((allowance) => decide(principal, access, allowance, reply, done), done);
    else decide(principal, access, counted, reply, done);
  }

  return (request, reply, done) => {
    const credential = headerCredential(request) ?? cookies.readPage(request);
    if (credential === undefined) {
      done(new Problem("api_key_required"));
      return;
    }
    const known = auth.recall(credential);
    if (known !== null) {
      admit(known, credential, request, reply, done);
      return;
    }
    auth
      .authenticate(credential, request.ip)
      .then((principal) => admit(principal, credential, request, reply, done), done);
  };
}

function decide(
  principal: Principal,
  access: Access,
  allowance: Allowance,
  reply: FastifyReply,
  done: HookHandlerDoneFunction,
): void {
  const { retryAfterSeconds } = allowance;
  if (allowance.limit !== null) tellAllowance(reply, allowance);
  try {
    if (retryAfterSeconds !== null) throw rateLimited(retryAfterSeconds);
    requireAccess(principal, access);
  } catch (error) {
    done(error instanceof Error ? error : new Error("Refused"));
    return;
  }
  done();
}

function tellAllowance(reply: FastifyReply, { limit, remaining, resetSeconds }: Allowance): void {
  reply.header("x-ratelimit-limit", limit);
  reply.header("x-ratelimit-remaining", remaining);
  reply.header("x-ratelimit-reset", resetSeconds);
}

/** Clears the cache before the answer to a revocation is sent. */
export function createRecheckHook(auth: Pick<AuthService, "recheck">): onSendHookHandler {
  return (_request, reply, payload, done) => {
    if (reply.statusCode < 400) auth.recheck();
    done(null, payload);
  };
}

/** The caller. Only for routes behind the auth hook; elsewhere it is a bug. */
export function callerOf(request: FastifyRequest): Principal {
  if (request.principal === null) throw new Error("This route has no auth hook");
  return request.principal;
}

/** The author of a change and its origin, for the audit log. */
export function requesterOf(request: FastifyRequest): Requester {
  return { ...callerOf(request), address: request.ip, requestId: request.id };
}

function headerCredential(request: FastifyRequest): string | undefined {
  const { authorization } = request.headers;
  const bearer = authorization === undefined ? null : BEARER.exec(authorization);
  if (bearer !== null) return bearer[1];
  const key = request.headers["x-api-key"];
  return typeof key === "string" && key !== "" ? key : undefined;
}

/** The accepted credential, for the route that revokes it. */
export function acceptedCredential(request: FastifyRequest): string {
  if (request.credential === null) throw new Error("This route has no auth hook");
  return request.credential;
}
