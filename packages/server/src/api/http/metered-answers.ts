import type { FastifyRequest, RouteOptions } from "fastify";
import type { LoopShare } from "../../service/access/loop-share.ts";
import type { Api } from "./schema-types.ts";

/**
 * Counts the time it takes to write the answers of GET routes into the team's share of the event loop: a page of the largest tasks
 * takes longer to write than a request takes to read. Answers to other methods are small.
 */
export function meterAnswers(app: Api, loop: Pick<LoopShare, "spent">): void {
  const beganMs = new WeakMap<FastifyRequest, number>();
  app.addHook("onRoute", (route: RouteOptions) => {
    if (route.method !== "GET") return;
    route.preSerialization = [
      ...[route.preSerialization ?? []].flat(),
      (request, _reply, payload, done) => {
        beganMs.set(request, performance.now());
        done(null, payload);
      },
    ];
    route.onSend = [
      (request, _reply, payload, done) => {
        const began = beganMs.get(request);
        const { principal } = request;
        if (began !== undefined && principal !== null)
          loop.spent(principal.teamId, "request", performance.now() - began);
        done(null, payload);
      },
      ...[route.onSend ?? []].flat(),
    ];
  });
}
