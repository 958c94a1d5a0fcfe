import type { FastifyRequest } from "fastify";
import { access, accessForTestKeys } from "../../api/http/access.ts";
import { callerOf, requesterOf } from "../../api/http/auth-hook.ts";
import { costs, MIB, SMALL } from "../../api/http/cost.ts";
import type { Api } from "../../api/http/schema-types.ts";
import { echo, invalid, mustBe } from "../../domain/complaint.ts";
import { FLOW_LIMITS, isFlowKey } from "../../domain/flow.ts";
import { Problem } from "../../domain/problem.ts";
import type { Flow } from "../flow-control/index.ts";
import { HIDDEN, parameterIn, queryIn, wholeList } from "./routes-http.ts";
import type { FlowControlService } from "./service-flows.ts";

export function registerFlowControlRoutes(
  app: Api,
  { flowControl, now }: { readonly flowControl: FlowControlService; readonly now: () => Date },
): void {
  const read = {
    ...HIDDEN,
    config: { ...access("queues:read"), ...costs("scan", { rows: 20_000, bytes: SMALL }) },
  };
  const write = {
    ...HIDDEN,
    config: { ...accessForTestKeys("queues:write"), ...costs("write", { rows: 1, bytes: SMALL }) },
  };

  const list = { ...read, config: { ...read.config, ...costs("scan", { rows: 1_000_000, bytes: MIB }) } };
  app.get("/flowControl", list, async (request) => {
    const [search = null] = queryIn(request).get("search") ?? [];
    const flows = await flowControl.list(callerOf(request), search);
    return wholeList(flows, (flow) => flowView(flow, now()), "/v1/flows");
  });
  app.get("/flowControl/:flowControlKey", read, async (request) =>
    flowView(await flowControl.get(callerOf(request), keyIn(request)), now()),
  );
  for (const action of ["pause", "resume"] as const)
    app.post(`/flowControl/:flowControlKey/${action}`, write, async (request) => {
      await flowControl.setPaused(requesterOf(request), keyIn(request), action === "pause");
      return {};
    });
  app.post("/flowControl/:flowControlKey/resetRate", write, async (request) => {
    await flowControl.resetRate(requesterOf(request), keyIn(request));
    return {};
  });
  app.post("/flowControl/:flowControlKey/pin", write, async (request) => {
    const query = onlyKnown(request, ["parallelism", "rate", "period"]);
    const parallelism = figureIn(query, "parallelism", FLOW_LIMITS.concurrency);
    const rate = figureIn(query, "rate", FLOW_LIMITS.rate);
    const periodSeconds = figureIn(query, "period", FLOW_LIMITS.periodSeconds);
    if (parallelism === undefined && rate === undefined)
      throw invalid([mustBe("parallelism", "given, or rate")]);
    if (periodSeconds !== undefined && rate === undefined)
      throw invalid([mustBe("rate", "given beside period")]);
    await flowControl.pin(requesterOf(request), keyIn(request), {
      ...(parallelism !== undefined && { parallelism }),
      ...(rate !== undefined && { rate }),
      ...(periodSeconds !== undefined && { periodSeconds }),
    });
    return {};
  });
  app.post("/flowControl/:flowControlKey/unpin", write, async (request) => {
    const query = onlyKnown(request, ["parallelism", "rate"]);
    const which = { parallelism: isTrue(query, "parallelism"), rate: isTrue(query, "rate") };
    if (!which.parallelism && !which.rate) throw invalid([mustBe("parallelism", "true, or rate")]);
    await flowControl.unpin(requesterOf(request), keyIn(request), which);
    return {};
  });
}

type Query = ReturnType<typeof queryIn>;

function keyIn(request: FastifyRequest): string {
  const key = parameterIn(request, "flowControlKey");
  if (!isFlowKey(key)) throw new Problem("flow_not_found", { key: echo(key) });
  return key;
}

function onlyKnown(request: FastifyRequest, known: readonly string[]): Query {
  const query = queryIn(request);
  const unknown = [...query.keys()].find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw invalid([{ field: echo(unknown), error: `Unknown field "${echo(unknown)}"` }]);
  return query;
}

function figureIn(query: Query, name: string, most: number): number | undefined {
  const [text] = query.get(name) ?? [];
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text) && Number(text) >= 1 && Number(text) <= most) return Number(text);
  throw invalid([mustBe(name, `a whole number from 1 to ${most}`)]);
}

function isTrue(query: Query, name: string): boolean {
  return query.get(name)?.[0] === "true";
}

/** 0 where there is no limit. */
function flowView(flow: Flow, now: Date): object {
  const { period, begunInPeriod } = flow;
  const nowSeconds = Math.floor(now.getTime() / 1000);
  return {
    flowControlKey: flow.key,
    waitListSize: flow.waiting,
    parallelismMax: flow.concurrency ?? 0,
    parallelismCount: flow.active,
    rateMax: flow.rate ?? 0,
    rateCount: begunInPeriod,
    ratePeriod: period ?? 0,
    ratePeriodStart: begunInPeriod === 0 ? 0 : nowSeconds - (period ?? 0),
    isPaused: flow.paused,
    isPinnedParallelism: flow.concurrencySource === "stored",
    isPinnedRate: flow.rateSource === "stored",
  };
}
