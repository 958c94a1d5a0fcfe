import type { FastifyContextConfig, onRequestHookHandler } from "fastify";
import type { SourceLimit } from "../../service/access/source-limit.ts";
import type { Api } from "./schema-types.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    uncounted?: true;
  }
}

/** For a public route with frequent requests or its own limit. */
export const UNCOUNTED: FastifyContextConfig = { uncounted: true };

/** Limits unauthenticated requests per address: on every later route without a credential, unless it opts out. */
export function limitVisits(app: Api, visits: SourceLimit): void {
  const admit: onRequestHookHandler = (request, _reply, done) => {
    try {
      visits.refuse(request.ip);
    } catch (error) {
      done(error instanceof Error ? error : new Error("Refused"));
      return;
    }
    visits.count(request.ip);
    done();
  };
  app.addHook("onRoute", (route) => {
    if (route.config?.access !== undefined || route.config?.uncounted) return;
    route.onRequest = [admit, ...[route.onRequest ?? []].flat()];
  });
}
