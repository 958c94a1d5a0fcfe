import type { AuthService } from "../../service/access/auth-service.ts";
import type { RequestLimits } from "../../service/access/request-limits.ts";
import { mayEndCredentials } from "./access.ts";
import { createAuthHook, createRecheckHook } from "./auth-hook.ts";
import type { Api } from "./schema-types.ts";
import type { SessionCookies } from "./session-cookie.ts";

/** Deny by default: a later route without an access rule prevents the start. */
export function guardRoutes(
  app: Api,
  deps: {
    readonly auth: AuthService;
    readonly limits: RequestLimits;
    readonly cookies: Pick<SessionCookies, "readPage">;
  },
): void {
  const { auth, limits, cookies } = deps;
  app.addHook("onRoute", (route) => {
    const access = route.config?.access;
    if (access === undefined) throw new Error(`${route.method} ${route.url} does not declare its access`);
    route.onRequest = [createAuthHook(access, auth, limits, cookies), ...[route.onRequest ?? []].flat()];
    if (route.method === "GET" || route.method === "HEAD" || !mayEndCredentials(access)) return;
    route.onSend = [createRecheckHook(auth), ...[route.onSend ?? []].flat()];
  });
}
