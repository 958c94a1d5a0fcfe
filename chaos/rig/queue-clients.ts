import { setTimeout as sleep } from "node:timers/promises";
import type { Limits } from "../checker/outside/wishes.ts";
import { FLEETING } from "../checker/retention.ts";
import type { Api } from "./api.ts";
import { type Asking, RETRY_MS } from "./asking.ts";
import { FRAGILE } from "./fragile.ts";
import type { Random } from "./random.ts";

/** A queue as the API takes it. */
export interface NewQueue {
  readonly name: string;
  readonly concurrency: number;
  readonly rate?: number;
  readonly rate_period?: number;
  readonly ordered?: boolean;
  readonly breaker?: { failures: number; ratio: number; within: number; cooldown: number };
  readonly max_retries?: number;
}

/** Both are met now and then, and enough for what comes at the usual rate. */
export const GUARDED = {
  rated: { name: "rated", concurrency: 4, rate: 6, rate_period: 2 },
  // So many retries that what waits for the target to be healthy again has some left.
  fragile: {
    name: FRAGILE,
    concurrency: 4,
    breaker: { failures: 3, ratio: 0.5, within: 20, cooldown: 3 },
    max_retries: 20,
  },
} as const satisfies Record<string, NewQueue>;

/** Its tasks do not live long. */
export const SHORT_LIVED = { name: FLEETING.queue, concurrency: 3 } as const satisfies NewQueue;

/** One that is never touched, a narrow one, one that is paused and resized, one that comes and goes. */
export const QUEUES = {
  steady: { name: "steady", concurrency: 8 },
  narrow: { name: "narrow", concurrency: 1 },
  moody: { name: "moody", concurrency: 4 },
  brief: { name: "brief", concurrency: 3 },
} as const satisfies Record<string, NewQueue>;

export interface QueueClients {
  create(queue: NewQueue, forMs?: number, key?: string): Promise<void>;
  set(action: "pause" | "resume", queue: string, forMs?: number): Promise<void>;
  /** Changes queues until it is told to stop. */
  manage(signal: AbortSignal): Promise<void>;
  /** Leaves every queue running. */
  settle(): Promise<void>;
}

export function createQueueClients(api: Api, { retryRequest }: Asking, random: Random): QueueClients {
  async function set(action: "pause" | "resume", queue: string, forMs?: number): Promise<void> {
    const path = `/v1/queues/${queue}/${action}`;
    await retryRequest((node) => api.ask({ action, node, method: "POST", path, queue }), forMs);
  }

  async function changeLimit(queue: string, concurrency: number, forMs?: number): Promise<void> {
    const path = `/v1/queues/${queue}`;
    const limits = readLimits({ name: queue, concurrency });
    const asked = { action: "limit", method: "PATCH", path, queue, body: { concurrency }, limits } as const;
    await retryRequest((node) => api.ask({ ...asked, node }), forMs);
  }

  async function create(queue: NewQueue, forMs?: number, key?: string): Promise<void> {
    const body = { max_retries: 2, ...queue, retry_backoff: "fixed", retry_delay: 1, timeout: 3 };
    const path = "/v1/queues";
    const limits = readLimits(queue);
    const asked = { action: "create-queue", method: "POST", path, queue: queue.name, limits } as const;
    await retryRequest((node) => api.ask({ ...asked, node, body, ...(key !== undefined && { key }) }), forMs);
  }

  async function renew(): Promise<void> {
    const { name } = QUEUES.brief;
    await retryRequest((node) =>
      api.ask({ action: "delete-queue", node, method: "DELETE", path: `/v1/queues/${name}`, queue: name }),
    );
    await sleep(random.between(0, 500));
    await create(QUEUES.brief);
  }

  async function pauseForAWhile(): Promise<void> {
    const { name } = QUEUES.moody;
    await set("pause", name);
    await sleep(random.between(300, 3_000));
    await set("resume", name);
  }

  return {
    create,
    set,
    /** One after the other: two that pause and resume the same queue would not know what to expect of each other. */
    async manage(signal) {
      while (!signal.aborted) {
        const what = random.weighted({ limit: 4, pause: 3, renew: 2 });
        if (what === "limit") await changeLimit(QUEUES.moody.name, random.between(1, 5));
        else if (what === "pause") await pauseForAWhile();
        else await renew();
        await sleep(random.between(500, 2_500));
      }
    },
    async settle() {
      // A pause whose resume got no answer must not be taken for a task that is stuck.
      await set("resume", QUEUES.moody.name, RETRY_MS.calm);
      await changeLimit(QUEUES.moody.name, 8, RETRY_MS.calm);
      await create(QUEUES.brief, RETRY_MS.calm);
    },
  };
}

function readLimits({ concurrency, rate, rate_period, ordered = false, breaker }: NewQueue): Limits {
  return {
    concurrency,
    rate: rate === undefined ? null : { calls: rate, periodMs: (rate_period ?? 1) * 1_000 },
    ordered,
    breaker:
      breaker === undefined ? null : { failures: breaker.failures, cooldownMs: breaker.cooldown * 1_000 },
  };
}
