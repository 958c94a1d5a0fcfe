import type { preValidationHookHandler } from "fastify";
import { dropNulls } from "../../api/http/absent-fields.ts";
import { access } from "../../api/http/access.ts";
import { callerOf, requesterOf } from "../../api/http/auth-hook.ts";
import { costs, MIB, SMALL } from "../../api/http/cost.ts";
import { readIntegers } from "../../api/http/query-integers.ts";
import type { Api } from "../../api/http/schema-types.ts";
import { BODY_REFUSALS, refusals } from "../../api/schemas/error.ts";
import { ref } from "../../api/schemas/field.ts";
import { fitPage, PageQuery, readPage, showPage } from "../../api/schemas/page.ts";
import { readBreakerHost } from "../../domain/breaker.ts";
import { BreakerList, BreakerPath, CloseBreaker, ClosedBreakers } from "./schemas.ts";
import type { BreakerService } from "./service.ts";
import type { Breaker } from "./store.ts";

const tags = ["Queues"];

export function registerBreakerRoutes(app: Api, breakers: BreakerService): void {
  app.get(
    "/breakers",
    {
      preValidation: readIntegers("limit"),
      config: { ...access("queues:read"), ...costs("scan", { rows: 100_000, bytes: MIB }) },
      schema: {
        operationId: "listBreakers",
        tags,
        summary: "List open circuit breakers",
        description: "Of all queues of the team, by queue and host.",
        querystring: PageQuery,
        response: { 200: ref(BreakerList), ...refusals("too_many_scans") },
      },
    },
    async (request) => {
      const page = fitPage(await breakers.list(callerOf(request), readPage(request.query)), breakerView);
      return { breakers: page.items, ...showPage(page, request.query) };
    },
  );

  app.post(
    "/breakers/:host/close",
    {
      preValidation: readNothingAsEmpty,
      config: { ...access("queues:write"), ...costs("fan-out", { rows: 1_001, bytes: SMALL }) },
      schema: {
        operationId: "closeBreaker",
        tags,
        summary: "Close the circuit breakers of a host",
        description:
          "The tasks that waited follow, a few at first. If the host still fails, the breaker opens again.",
        params: BreakerPath,
        body: ref(CloseBreaker),
        response: {
          200: ref(ClosedBreakers),
          ...refusals("breaker_not_found", "queue_not_found", ...BODY_REFUSALS),
        },
      },
    },
    async (request) => {
      const host = readBreakerHost(request.params.host);
      const closed = await breakers.close(requesterOf(request), host, request.body.queue ?? null);
      return { host, closed };
    },
  );
}

/** A request without a body closes the breakers in all queues. */
const readNothingAsEmpty: preValidationHookHandler = (request, _reply, done) => {
  request.body ??= {};
  dropNulls(request.body, Object.keys(CloseBreaker.properties));
  done();
};

function breakerView({ queue, host, state, failures, openedAt, until }: Breaker) {
  return {
    queue,
    host,
    state,
    failures,
    opened_at: openedAt.toISOString(),
    until: until.toISOString(),
  };
}
