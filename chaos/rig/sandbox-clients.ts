import { setTimeout as sleep } from "node:timers/promises";
import type { SandboxTask } from "../checker/outside/wishes.ts";
import type { Api } from "./api.ts";
import { type Asking, RETRY_MS } from "./asking.ts";
import { resultValue } from "./nonces.ts";
import { QUEUES } from "./queue-clients.ts";
import type { Random } from "./random.ts";
import { isRecord, readTaskId } from "./task-requests.ts";

/** Waits before retries and simulated calls take minutes by the clock of the sandbox, which passes by hours. */
const RETRY_DELAY_SECONDS = 60;
const LAST_SECONDS = 7 * 86_400;

interface Created {
  readonly taskId: string;
  readonly expected: SandboxTask["expected"];
}

export interface SandboxClients {
  /** Makes the test key. */
  prepare(): Promise<void>;
  /** Creates simulated tasks and lets the time of the sandbox pass, until it is told to stop. */
  work(signal: AbortSignal): Promise<void>;
  /** Lets a week pass, and asks what became of each task. */
  settle(): Promise<readonly SandboxTask[]>;
}

/** Programs that test themselves with a test key, beside the live ones. */
export function createSandboxClients(deps: {
  readonly api: Api;
  readonly asking: Asking;
  readonly random: Random;
  readonly target: string;
}): SandboxClients {
  const { api, asking, random, target } = deps;
  const { retryRequest, anyNode } = asking;
  const created: Created[] = [];
  let key = "";
  let count = 0;

  /** What it is to come to, by its own rules: so many attempts, and the body that was simulated. */
  function draw(nonce: string) {
    const attempts = random.between(1, 3);
    const simulate = { after: random.between(0, 90), body: { value: nonce } };
    return random.pick([
      {
        fields: { max_retries: 3, simulate: { ...simulate, outcome: "complete", attempts } },
        expected: { status: "completed", attempts, value: nonce },
      },
      {
        fields: { max_retries: attempts, simulate: { ...simulate, outcome: "fail" } },
        expected: { status: "failed", attempts: attempts + 1, value: nonce },
      },
      {
        fields: { max_retries: 0, simulate: { outcome: "timeout" } },
        expected: { status: "failed", attempts: 1, value: null },
      },
      {
        fields: { wait_for_callback: true, simulate: { ...simulate, outcome: "callback" } },
        expected: { status: "completed", attempts: 1, value: nonce },
      },
    ]);
  }

  async function create(): Promise<void> {
    count += 1;
    const nonce = `sandbox-${count}`;
    const { fields, expected } = draw(nonce);
    const body = {
      queue: QUEUES.steady.name,
      webhook_url: `${target}/call/ok?nonce=${nonce}`,
      payload: { nonce },
      retry_backoff: "fixed",
      retry_delay: RETRY_DELAY_SECONDS,
      ...(random.chance(0.3) && { delay: random.between(1, 7_200) }),
      ...fields,
    };
    const asked = { action: "sandbox", method: "POST", path: "/v1/tasks", body, key } as const;
    const told = await api.ask({ ...asked, node: anyNode() });
    const taskId = told.status === 201 ? readTaskId(told.body) : null;
    if (taskId !== null) created.push({ taskId, expected });
  }

  async function advance(seconds: number, forMs?: number): Promise<number> {
    const asked = { action: "advance", method: "POST", path: "/v1/sandbox/advance", key } as const;
    const { body } = await retryRequest((node) => api.ask({ ...asked, node, body: { seconds } }), forMs);
    return isRecord(body) && typeof body.advanced === "number" ? body.advanced : 0;
  }

  async function find(taskId: string): Promise<SandboxTask["found"]> {
    const asked = { action: "read", method: "GET", path: `/v1/tasks/${taskId}`, key } as const;
    const { body } = await retryRequest((node) => api.ask({ ...asked, node }), RETRY_MS.calm);
    if (!isRecord(body) || typeof body.status !== "string") return null;
    const attempts = Array.isArray(body.attempts) ? body.attempts.length : -1;
    return { status: body.status, attempts, value: resultValue(body) };
  }

  return {
    async prepare() {
      const body = { name: "Tests of chaos", environment: "test" };
      const asked = { action: "sandbox", method: "POST", path: "/v1/apikeys", body } as const;
      const told = await retryRequest((node) => api.ask({ ...asked, node }), RETRY_MS.calm);
      const made = isRecord(told.body) && isRecord(told.body.apiKey) ? told.body.apiKey : told.body;
      if (!isRecord(made) || typeof made.key !== "string") throw new Error("There is no test key");
      key = made.key;
    },
    async work(signal) {
      while (!signal.aborted) {
        await create();
        if (random.chance(0.4)) await advance(random.between(30, 7_200));
        await sleep(random.between(300, 1_500));
      }
    },
    async settle() {
      for (let left = LAST_SECONDS, tries = 100; left > 0 && tries > 0; tries -= 1)
        left -= await advance(left, RETRY_MS.calm);
      const tasks: SandboxTask[] = [];
      for (const { taskId, expected } of created) tasks.push({ taskId, expected, found: await find(taskId) });
      return tasks;
    },
  };
}
