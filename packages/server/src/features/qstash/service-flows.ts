import type { Principal, Requester } from "../../domain/identity/principal.ts";
import { type Page, WHOLE_LIST } from "../../domain/page.ts";
import { Problem } from "../../domain/problem.ts";
import { type Flow, type FlowService, NOTHING_STORED, type StoredLimits } from "../flow-control/index.ts";

export interface FlowControlService {
  get(principal: Principal, key: string): Promise<Flow>;
  list(principal: Principal, search: string | null): Promise<Page<Flow>>;
  setPaused(requester: Requester, key: string, paused: boolean): Promise<unknown>;
  resetRate(requester: Requester, key: string): Promise<unknown>;
  /** Stores the given figures; the others stay as they are stored. */
  pin(requester: Requester, key: string, figures: Partial<PinnedFigures>): Promise<void>;
  unpin(
    requester: Requester,
    key: string,
    which: { readonly parallelism: boolean; readonly rate: boolean },
  ): Promise<void>;
}

interface PinnedFigures {
  readonly parallelism: number;
  readonly rate: number;
  readonly periodSeconds: number;
}

export function createFlowControlService(flows: FlowService): FlowControlService {
  async function storedOf(principal: Principal, key: string): Promise<StoredLimits> {
    const flow = await flows.get(principal, key).catch((error) => {
      if (error instanceof Problem && error.code === "flow_not_found") return null;
      throw error;
    });
    return flow === null ? NOTHING_STORED : storedIn(flow);
  }

  async function store(requester: Requester, key: string, limits: StoredLimits): Promise<void> {
    const isNothing = Object.values(limits).every((figure) => figure === null);
    if (!isNothing) await flows.put(requester, key, limits);
    else await flows.remove(requester, key);
  }

  return {
    get: (principal, key) => flows.get(principal, key),
    list: (principal, search) => flows.list(principal, WHOLE_LIST, search),
    setPaused: (requester, key, paused) => flows.setPaused(requester, key, paused),
    resetRate: (requester, key) => flows.reset(requester, key),
    async pin(requester, key, { parallelism, rate, periodSeconds }) {
      const stored = await storedOf(requester, key);
      await store(requester, key, {
        ...stored,
        ...(parallelism !== undefined && { concurrency: parallelism }),
        ...(rate !== undefined && { rate, period: periodSeconds ?? 1 }),
      });
    },
    async unpin(requester, key, which) {
      const stored = await storedOf(requester, key);
      await store(requester, key, {
        ...stored,
        ...(which.parallelism && { concurrency: null }),
        ...(which.rate && { rate: null, period: null }),
      });
    },
  };
}

/** What is stored of a flow: what holds by default need not be. */
function storedIn(flow: Flow): StoredLimits {
  const pausesByDefault = /^(?:host|token):/.test(flow.key);
  const isOrdered = flow.orderedSource === "stored";
  const isPinned = flow.concurrencySource === "stored" && !isOrdered;
  const isRatePinned = flow.rateSource === "stored";
  return {
    concurrency: isPinned ? flow.concurrency : null,
    rate: isRatePinned ? flow.rate : null,
    period: isRatePinned ? flow.period : null,
    ordered: isOrdered ? flow.ordered : null,
    onFailure: isOrdered && flow.onFailure === "block" ? flow.onFailure : null,
    pauseOnRetryAfter: flow.pauseOnRetryAfter === pausesByDefault ? null : flow.pauseOnRetryAfter,
    hold: flow.hold === "call" ? null : flow.hold,
    maxWaiting: flow.maxWaiting,
  };
}
