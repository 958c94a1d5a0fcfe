import type { FastifyRequest, onSendHookHandler, preHandlerHookHandler } from "fastify";
import { NO_SCAN, type Scan, type ScanLine } from "../../service/scan-line.ts";
import { callerOf } from "./auth-hook.ts";
import type { Api } from "./schema-types.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Null if the request needs no turn. */
    scan: Scan | null;
  }
}

/**
 * A route that declares the cost `scan` waits for its turn before its handler runs, and has a place until its answer is
 * built. Reading the answer does not count: a slow reader keeps no place. Other routes have no hook. Call it after
 * `guardRoutes`: the line is by team.
 */
export function takeScanTurns(app: Api, line: ScanLine): void {
  app.decorateRequest("scan", null);
  const end: onSendHookHandler = (request, _reply, payload, done) => {
    request.scan?.end();
    done(null, payload);
  };
  app.addHook("onRoute", (route) => {
    const cost = route.config?.cost;
    if (cost?.kind !== "scan") return;
    const take: preHandlerHookHandler = (request, _reply, done) => {
      try {
        if (cost.unless?.(request) === true) {
          done();
          return;
        }
        request.scan = line.admit(callerOf(request).teamId);
        request.scan.take().then(() => done(), done);
      } catch (error) {
        done(error instanceof Error ? error : new Error("Refused"));
      }
    };
    route.preHandler = [...[route.preHandler ?? []].flat(), take];
    route.onSend = [end, ...[route.onSend ?? []].flat()];
  });
}

/** For a handler that gives its place back between portions. */
export function scanOf({ scan }: FastifyRequest): Scan {
  return scan ?? NO_SCAN;
}
