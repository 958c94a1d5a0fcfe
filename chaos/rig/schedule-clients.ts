import { setTimeout as sleep } from "node:timers/promises";
import type { Api } from "./api.ts";
import { type Asking, RETRY_MS } from "./asking.ts";
import { QUEUES } from "./queue-clients.ts";
import type { Random } from "./random.ts";
import { isRecord } from "./task-requests.ts";

/** Schedules that fire all the time, and those that come and go, a new one every second. */
const EVERY_SECOND = "* * * * * *";
const STEADY = "steady";
const STEADY_SKIPPING = "steady-skipping";

/** One whose tasks take longer than it has between two times, and leaves those out; and one that makes up for nothing old. */
const KINDS = {
  plain: { call: "ok?ms=5" },
  skipping: { call: "slow?ms=1600&until=9", overlap: "skip" },
  strict: { call: "ok?ms=5", catch_up: "none" },
} as const;

export interface ScheduleClients {
  /** Makes those that fire all the time. */
  prepare(): Promise<void>;
  /** Makes one every second until it is told to stop; each ends by itself, and `later` is given that. */
  work(signal: AbortSignal, later: (work: Promise<void>) => void): Promise<void>;
  /** Ends all there are. */
  settle(): Promise<void>;
}

export function createScheduleClients(
  api: Api,
  { retryRequest }: Asking,
  random: Random,
  target: string,
): ScheduleClients {
  async function put(name: string, kind: keyof typeof KINDS, forMs?: number): Promise<void> {
    const nonce = `schedule-${name}`;
    const { call, ...terms } = KINDS[kind];
    const webhook_url = `${target}/call/${call}&nonce=${nonce}`;
    const task = { queue: QUEUES.steady.name, webhook_url, payload: { nonce } };
    const body = { cron: EVERY_SECOND, task, ...terms };
    const path = `/v1/schedules/${name}`;
    await retryRequest((node) => api.ask({ action: "schedule", node, method: "PUT", path, body }), forMs);
  }

  async function end(name: string, forMs?: number): Promise<void> {
    const path = `/v1/schedules/${name}`;
    await retryRequest((node) => api.ask({ action: "schedule", node, method: "DELETE", path }), forMs);
  }

  async function pass(name: string): Promise<void> {
    await put(name, random.weighted({ plain: 6, skipping: 3, strict: 2 }));
    await sleep(random.between(500, 6_000));
    await end(name);
  }

  return {
    async prepare() {
      await put(STEADY, "plain", RETRY_MS.calm);
      await put(STEADY_SKIPPING, "skipping", RETRY_MS.calm);
    },
    async work(signal, later) {
      for (let made = 1; !signal.aborted; made += 1) {
        later(pass(`brief-${made}`));
        await sleep(1_000);
      }
    },
    /** Also those whose end got no answer. */
    async settle() {
      const path = "/v1/schedules";
      const { body } = await retryRequest(
        (node) => api.ask({ action: "read", node, method: "GET", path }),
        RETRY_MS.calm,
      );
      const schedules = isRecord(body) && Array.isArray(body.schedules) ? body.schedules : [];
      for (const { name } of schedules) await end(name, RETRY_MS.calm);
    },
  };
}
