import type { FastifyRequest, onRequestHookHandler } from "fastify";
import type { Principal } from "../domain/principal.ts";
import { Problem } from "../domain/problem.ts";
import type { AuthService } from "../service/auth-service.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Null before the auth hook, and on routes that have none. */
    principal: Principal | null;
  }
}

const BEARER = /^Bearer +(\S.*)$/i;

/** Runs before the body is read: a stranger cannot make us parse anything. */
export function createAuthHook(auth: AuthService): onRequestHookHandler {
  return (request, _reply, done) => {
    const credential = credentialOf(request);
    if (credential === undefined) {
      done(new Problem("api_key_required"));
      return;
    }
    // Nearly always known: no promise is made then.
    request.principal = auth.recall(credential);
    if (request.principal !== null) {
      done();
      return;
    }
    auth.authenticate(credential).then((principal) => {
      request.principal = principal;
      done();
    }, done);
  };
}

/** Who is calling. Only for routes behind the auth hook; anywhere else it is a bug. */
export function callerOf(request: FastifyRequest): Principal {
  if (request.principal === null) throw new Error("This route has no auth hook");
  return request.principal;
}

function credentialOf(request: FastifyRequest): string | undefined {
  const { authorization } = request.headers;
  const bearer = authorization === undefined ? null : BEARER.exec(authorization);
  if (bearer !== null) return bearer[1];
  const key = request.headers["x-api-key"];
  return typeof key === "string" && key !== "" ? key : undefined;
}
