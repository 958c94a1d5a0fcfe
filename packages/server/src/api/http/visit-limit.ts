import type { FastifyContextConfig, onRequestHookHandler } from "fastify";
import type { SourceLimit } from "../../service/access/source-limit.ts";
import type { Api } from "./schema-types.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    uncounted?: true;
  }
}

/** For a public route that is asked for all the time, or has a limit of its own. */
export const UNCOUNTED: FastifyContextConfig = { uncounted: true };

/**
 * Limits how often an address may come without a credential: every route that is registered after this and neither asks
 * for one nor says otherwise.
 */
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
