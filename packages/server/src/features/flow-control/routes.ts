import { nullsDropped } from "../../api/http/absent-fields.ts";
import { access, accessForTestKeys } from "../../api/http/access.ts";
import { callerOf, requesterOf } from "../../api/http/auth-hook.ts";
import { costs, MIB, SMALL } from "../../api/http/cost.ts";
import { readIntegers } from "../../api/http/query-integers.ts";
import type { Api } from "../../api/http/schema-types.ts";
import { BODY_REFUSALS, refusals } from "../../api/schemas/error.ts";
import { ref } from "../../api/schemas/field.ts";
import { fitPage, readPage, showPage } from "../../api/schemas/page.ts";
import { invalid, mustBe } from "../../domain/complaint.ts";
import { isStorable, STORABLE_RULE } from "../../domain/storable-text.ts";
import { type Flow as FlowRecord, readFlowKey, requireFlowKey, type StoredLimits } from "./domain.ts";
import { DeletedFlow, FlowAnswer, FlowList, FlowListQuery, FlowPath, PutFlow } from "./schemas.ts";
import type { FlowService } from "./service.ts";

const tags = ["Flows"];

export function registerFlowRoutes(app: Api, flows: FlowService): void {
  app.get(
    "/flows",
    {
      preValidation: readIntegers("limit"),
      config: { ...access("queues:read"), ...costs("scan", { rows: 1_000_000, bytes: MIB }) },
      schema: {
        operationId: "listFlows",
        tags,
        summary: "List flows",
        description:
          "The keys with stored limits, paused ones, and those with an open task in the last 24 hours; the busiest first. " +
          "Test keys have flows of their own.",
        querystring: FlowListQuery,
        response: { 200: ref(FlowList), ...refusals("too_many_scans") },
      },
    },
    async (request) => {
      const { search, ...asked } = request.query;
      if (search !== undefined && !isStorable(search)) throw invalid([mustBe("search", STORABLE_RULE)]);
      const page = fitPage(await flows.list(callerOf(request), readPage(asked), search ?? null), flowView);
      return { flows: page.items, ...showPage(page, asked) };
    },
  );

  app.get(
    "/flows/:key",
    {
      config: { ...access("queues:read"), ...costs("scan", { rows: 20_000, bytes: SMALL }) },
      schema: {
        operationId: "getFlow",
        tags,
        summary: "Get a flow",
        description: "The limits that hold for the key, and what its tasks are doing.",
        params: FlowPath,
        response: { 200: ref(FlowAnswer), ...refusals("flow_not_found", "too_many_scans") },
      },
    },
    async (request) => ({
      flow: flowView(await flows.get(callerOf(request), readFlowKey(request.params.key))),
    }),
  );

  app.put(
    "/flows/:key",
    {
      preValidation: nullsDropped(Object.keys(PutFlow.properties)),
      config: { ...accessForTestKeys("queues:write"), ...costs("write", { rows: 1, bytes: SMALL }) },
      schema: {
        operationId: "putFlow",
        tags,
        summary: "Store the limits of a flow",
        description:
          "Replaces what was stored for the key. Applies at once, on all nodes; calls under way finish. 201 if nothing was stored.",
        params: FlowPath,
        body: ref(PutFlow),
        response: {
          200: ref(FlowAnswer),
          201: ref(FlowAnswer),
          ...refusals("limit_reached", ...BODY_REFUSALS),
        },
      },
    },
    async (request, reply) => {
      const key = requireFlowKey(request.params.key);
      const { flow, isNew } = await flows.put(requesterOf(request), key, readLimits(request.body));
      reply.code(isNew ? 201 : 200);
      return { flow: flowView(flow) };
    },
  );

  app.delete(
    "/flows/:key",
    {
      config: { ...accessForTestKeys("queues:write"), ...costs("write", { rows: 1, bytes: SMALL }) },
      schema: {
        operationId: "deleteFlow",
        tags,
        summary: "Remove the stored limits of a flow",
        description: "What its tasks carry holds again. A pause stays.",
        params: FlowPath,
        response: { 200: ref(DeletedFlow), ...refusals("flow_not_found") },
      },
    },
    async (request) => {
      const key = readFlowKey(request.params.key);
      await flows.remove(requesterOf(request), key);
      return { key, deleted: true };
    },
  );

  for (const [action, summary, description, act] of ACTIONS)
    app.post(
      `/flows/:key/${action}`,
      {
        config: { ...accessForTestKeys("queues:write"), ...costs("write", { rows: 1, bytes: SMALL }) },
        schema: {
          operationId: `${action}Flow`,
          tags,
          summary,
          description,
          params: FlowPath,
          response: { 200: ref(FlowAnswer), ...refusals("flow_not_found", "limit_reached", "invalid") },
        },
      },
      async (request) => {
        const key = requireFlowKey(request.params.key);
        return { flow: flowView(await act(flows, requesterOf(request), key)) };
      },
    );
}

type Act = (
  flows: FlowService,
  requester: ReturnType<typeof requesterOf>,
  key: string,
) => Promise<FlowRecord>;

const ACTIONS: readonly (readonly [action: string, summary: string, description: string, act: Act])[] = [
  [
    "pause",
    "Pause a flow",
    "No call of it begins; calls under way finish. The key may be one that no task has had yet.",
    (flows, requester, key) => flows.setPaused(requester, key, true),
  ],
  [
    "resume",
    "Resume a flow",
    "Also ends a pause by `Retry-After`.",
    (flows, requester, key) => flows.setPaused(requester, key, false),
  ],
  [
    "reset",
    "Restart the window of a flow",
    "Calls that began before no longer count towards the rate.",
    (flows, requester, key) => flows.reset(requester, key),
  ],
];

function readLimits(body: PutFlow): StoredLimits {
  const { concurrency = null, rate = null, hold = null } = body;
  return {
    concurrency,
    rate,
    period: body.period ?? (rate === null ? null : 1),
    ordered: body.ordered ?? null,
    onFailure: body.on_failure ?? null,
    pauseOnRetryAfter: body.pause_on_retry_after ?? null,
    hold,
    maxWaiting: body.max_waiting ?? null,
  };
}

function flowView(flow: FlowRecord) {
  return {
    key: flow.key,
    concurrency: flow.concurrency,
    rate: flow.rate,
    period: flow.period,
    ordered: flow.ordered,
    on_failure: flow.onFailure,
    pause_on_retry_after: flow.pauseOnRetryAfter,
    hold: flow.hold,
    max_waiting: flow.maxWaiting,
    source: { concurrency: flow.concurrencySource, rate: flow.rateSource, ordered: flow.orderedSource },
    paused: flow.paused,
    paused_until: flow.pausedUntil?.toISOString() ?? null,
    active: flow.active,
    waiting: flow.waiting,
    begun_in_period: flow.begunInPeriod,
  };
}
