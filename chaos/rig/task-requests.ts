import { parseTaskId } from "../../packages/server/src/domain/task-id.ts";
import { flowKey } from "../checker/flows.ts";
import { orderedKey } from "../checker/lines.ts";
import { NO_WISH, type Wish } from "../checker/outside/wishes.ts";
import type { Behaviour } from "./behaviours.ts";
import type { Random } from "./random.ts";

/** Of what kind tasks are, by chance. */
export interface Mix {
  readonly behaviours: Readonly<Partial<Record<Behaviour, number>>>;
  readonly delayed: number;
  readonly keyed: number;
  readonly told: number;
  readonly waiting: number;
  readonly polling: number;
  readonly flows: number;
}

export const MIX: Mix = {
  behaviours: {
    ok: 40,
    slow: 24,
    error: 8,
    hang: 4,
    drip: 3,
    reset: 6,
    short: 4,
    long: 3,
    garbage: 3,
    redirect: 2,
  },
  delayed: 0.25,
  keyed: 0.25,
  told: 0.25,
  waiting: 0.08,
  polling: 0.08,
  flows: 0.3,
};

/** Concurrency, rate and period: met now and then, and enough for what comes at the usual rate. Without a rate, a task may start with its creation. */
const FLOWS = [
  [3, null, null],
  [2, 4, 2],
  [3, 10, 4],
  [4, 6, 2],
] as const;

export interface TaskRequest {
  readonly body: Readonly<Record<string, unknown>>;
  readonly queue: string;
  readonly nonce: string;
  readonly idempotencyKey: string | null;
  readonly waits: boolean;
  readonly delaySeconds: number;
  readonly wish: Wish;
}

/** One task of either dialect. Everything in it ends within half a minute of being due. */
export function drawTask(
  random: Random,
  mix: Mix,
  queue: string,
  target: string,
  nonce: string,
): TaskRequest {
  const behaviour = random.weighted(mix.behaviours);
  const ms = behaviour === "slow" ? random.between(300, 2_200) : random.between(5, 300);
  const until = random.chance(0.8) ? random.between(1, 2) : 9;
  const url = `${target}/call/${behaviour}?ms=${ms}&until=${behaviour === "slow" ? 9 : until}&nonce=${nonce}`;
  const isDirect = random.chance(0.4);
  const delaySeconds = random.chance(mix.delayed) ? random.between(1, 5) : 0;
  const follow = random.next();
  const waits = follow < mix.waiting;
  const polls = !waits && follow < mix.waiting + mix.polling;
  const told = random.chance(mix.told) ? `${target}/told` : undefined;
  // With the settings of its queue alone, a task is stored by a statement of its own.
  const isPlain = random.chance(0.4);
  const shared = {
    queue,
    priority: random.between(1, 10),
    timeout: isPlain ? undefined : random.between(3, 4),
    ...(delaySeconds > 0 && { delay: delaySeconds }),
  };
  const maxRetries = isPlain ? undefined : random.between(1, 3);
  const pollConfig = polls
    ? {
        urlTemplate: `${target}/poll/{startResult.body.id}?nonce=${nonce}&polls=${random.between(0, 2)}&end=${random.chance(0.8) ? "done" : "failed"}`,
        interval: 1,
        statusPath: "status",
        doneValues: ["done"],
        failValues: ["failed"],
        maxDuration: 40,
      }
    : undefined;
  const [concurrency, rate, period] = random.pick(FLOWS);
  // A line of tasks that wait for others would not end in time.
  const isInLine = !waits && !polls && random.chance(0.08);
  const flow = isInLine
    ? { key: orderedKey(random.between(0, 3)), ordered: true }
    : random.chance(mix.flows)
      ? { key: flowKey(concurrency, rate, period), concurrency, ...(rate !== null && { rate, period }) }
      : undefined;
  const body = isDirect
    ? {
        ...shared,
        flow,
        targetUrl: url,
        body: nonce,
        maxRetries,
        pollConfig,
        onCompleteUrl: told,
        ...(waits && { waitForCallback: true, maxWait: 20 }),
      }
    : {
        ...shared,
        flow,
        webhook_url: url,
        payload: { nonce },
        max_retries: maxRetries,
        poll_config: pollConfig,
        on_complete_url: told,
        ...(waits && { wait_for_callback: true, max_wait: 20 }),
      };
  const idempotencyKey = random.chance(mix.keyed) ? `key-${nonce}` : null;
  const wish = {
    ...NO_WISH,
    priority: shared.priority,
    delayMs: delaySeconds * 1_000,
    flow: flow?.key ?? null,
  };
  return { body, queue, nonce, idempotencyKey, waits, delaySeconds, wish };
}

/** The UUID of the task in the answer to a creation, of either dialect. */
export function readTaskId(body: unknown): string | null {
  const record = isRecord(body) && isRecord(body.task) ? body.task : body;
  return isRecord(record) && typeof record.id === "string" ? parseTaskId(record.id) : null;
}

export function readCallbackId(body: unknown): string | null {
  if (!isRecord(body)) return null;
  const id = body.callbackId ?? body.callback_id;
  return typeof id === "string" ? id : null;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
