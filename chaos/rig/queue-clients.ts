import { setTimeout as sleep } from "node:timers/promises";
import type { Api } from "./api.ts";
import { type Asking, RETRY_MS } from "./asking.ts";
import type { Random } from "./random.ts";

/** One that is never touched, a narrow one, one that is paused and resized, one that comes and goes. */
export const QUEUES = {
  steady: { name: "steady", concurrency: 8 },
  narrow: { name: "narrow", concurrency: 1 },
  moody: { name: "moody", concurrency: 4 },
  brief: { name: "brief", concurrency: 3 },
} as const;

export interface QueueClients {
  create(queue: { name: string; concurrency: number }, forMs?: number, key?: string): Promise<void>;
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
    await retryRequest(
      (node) => api.ask({ action: "limit", node, method: "PATCH", path, queue, body: { concurrency } }),
      forMs,
    );
  }

  async function create(
    queue: { name: string; concurrency: number },
    forMs?: number,
    key?: string,
  ): Promise<void> {
    const body = { ...queue, retry_backoff: "fixed", retry_delay: 1, max_retries: 2, timeout: 3 };
    const asked = { action: "create-queue", method: "POST", path: "/v1/queues", queue: queue.name } as const;
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
