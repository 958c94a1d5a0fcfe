import type { Principal, Requester } from "../../domain/identity/principal.ts";
import { requireRoom } from "../../domain/limits.ts";
import { cutPageAtOffset, offsetOf, type Page, type PageRequest } from "../../domain/page.ts";
import { Problem } from "../../domain/problem.ts";
import type { Reach } from "../../domain/reach.ts";
import { type Change, recordChange } from "../../service/audit/audit.ts";
import type { Database, Sql } from "../../store/sql.ts";
import { hintText, NO_QUEUE, sendHints } from "../../store/tasks/hints.ts";
import { wakeSandboxFlow } from "../../store/tasks/sandbox-flows.ts";
import { holdTeamUsage } from "../../store/team-usage.ts";
import { type Flow, requireLimits, type StoredLimits } from "./domain.ts";
import {
  countStored,
  findFlow,
  forgetStored,
  listFlows,
  putFlow,
  resetFlow,
  setFlowPaused,
} from "./store.ts";

/** Flows belong to the team and the environment of the credential. */
export interface FlowService {
  get(principal: Principal, key: string): Promise<Flow>;
  /** The busiest first. */
  list(principal: Principal, page: PageRequest, search: string | null): Promise<Page<Flow>>;
  /** Replaces what was stored. */
  put(
    requester: Requester,
    key: string,
    limits: StoredLimits,
  ): Promise<{ readonly flow: Flow; readonly isNew: boolean }>;
  /** Removes what was stored. */
  remove(requester: Requester, key: string): Promise<void>;
  setPaused(requester: Requester, key: string, paused: boolean): Promise<Flow>;
  /** Restarts the window of the rate. */
  reset(requester: Requester, key: string): Promise<Flow>;
}

export function createFlowService(deps: { readonly database: Database }): FlowService {
  const { database } = deps;

  async function find(sql: Sql, reach: Reach, key: string): Promise<Flow> {
    const flow = await findFlow(sql, reach, key);
    if (flow === null) throw new Problem("flow_not_found", { key });
    return flow;
  }

  /** Changes a flow, records it, and tells every worker, in one commit. */
  function change<T>(
    requester: Requester,
    key: string,
    recorded: Omit<Change, "target">,
    work: (sql: Sql) => Promise<T>,
  ): Promise<T> {
    return database.transaction(async (sql) => {
      const done = await work(sql);
      await recordChange(sql, requester, { ...recorded, target: key });
      const hint = { kind: "flow", teamId: requester.teamId, queue: NO_QUEUE, flow: key } as const;
      await sendHints(sql, [hintText(hint, 0)]);
      if (requester.environment === "test") await wakeSandboxFlow(sql, requester.teamId, key);
      return done;
    });
  }

  return {
    get: (principal, key) => find(database, principal, key),
    async list(principal, page, search) {
      const asked = { search, limit: page.limit + 1, offset: offsetOf(page) };
      return cutPageAtOffset(await listFlows(database, principal, asked), page);
    },
    put(requester, key, limits) {
      requireLimits(limits);
      return change(requester, key, { action: "flow.stored", detail: namedLimits(limits) }, async (sql) => {
        await requireFlowRoom(sql, requester, key);
        const isNew = await putFlow(sql, requester, key, limits);
        return { flow: await find(sql, requester, key), isNew };
      });
    },
    async remove(requester, key) {
      await change(requester, key, { action: "flow.deleted" }, async (sql) => {
        if (!(await forgetStored(sql, requester, key))) throw new Problem("flow_not_found", { key });
      });
    },
    setPaused: (requester, key, paused) =>
      change(requester, key, { action: paused ? "flow.paused" : "flow.resumed" }, async (sql) => {
        if (paused) await requireFlowRoom(sql, requester, key);
        await setFlowPaused(sql, requester, key, paused);
        return find(sql, requester, key);
      }),
    reset: (requester, key) =>
      change(requester, key, { action: "flow.reset" }, async (sql) => {
        await find(sql, requester, key);
        await resetFlow(sql, requester, key);
        return find(sql, requester, key);
      }),
  };
}

async function requireFlowRoom(sql: Sql, requester: Requester, key: string): Promise<void> {
  if (requester.limits.flows === null) return;
  await holdTeamUsage(sql, requester);
  requireRoom(requester, "flows", await countStored(sql, requester, key));
}

/** With the API's names: the record is for callers. */
function namedLimits(limits: StoredLimits): Record<string, unknown> {
  const { concurrency, rate, period, ordered, onFailure, pauseOnRetryAfter, hold, maxWaiting } = limits;
  const named = {
    concurrency,
    rate,
    period,
    ordered,
    on_failure: onFailure,
    pause_on_retry_after: pauseOnRetryAfter,
    hold,
    max_waiting: maxWaiting,
  };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== null));
}
