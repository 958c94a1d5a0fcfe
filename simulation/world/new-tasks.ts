import { flowKey } from "../../chaos/checker/flows.ts";
import { orderedKey } from "../../chaos/checker/lines.ts";
import type { Random } from "../../chaos/rig/random.ts";
import { type NewTask, NO_FOLLOW_UP } from "../../packages/server/src/domain/task.ts";

export const TEAM = 1;
export const QUEUES = ["one", "two"] as const;
/** Of schedules: it is never deleted, so that every firing makes a task. */
export const SCHEDULED = "scheduled";
export type QueueName = (typeof QUEUES)[number];

export function taskId(number: number): string {
  return `00000000-0000-7000-8000-${String(number).padStart(12, "0")}`;
}

/** The same request, under the id that the server gives it this time. */
export function retold(task: NewTask, id: string): NewTask {
  const text = JSON.stringify(task).replaceAll(task.id, id).replaceAll(digitsOf(task.id), digitsOf(id));
  return JSON.parse(text);
}

function digitsOf(id: string): string {
  return id.replaceAll("-", "");
}

/** Every other one is plain: there is a statement of its own for batches of those. */
export function newTask(number: number, random: Random, hasFlows: boolean): NewTask {
  const isPlain = random.chance(0.5);
  const task = { ...anyTask(number, random), flow: hasFlows ? flowOf(number) : null };
  // Plain tasks of a flow without a rate are handed off.
  if (task.flow !== null && task.flow.rate === null && task.flow.ordered === null)
    return { ...task, ...PLAIN, idempotency: null };
  return isPlain ? { ...task, ...PLAIN } : task;
}

/** The task of a firing. */
export function scheduledTask(number: number): NewTask {
  return plainTask(taskId(50_000 + number), SCHEDULED);
}

/** As plain as can be. */
export function plainTask(id: string, queue: string): NewTask {
  return {
    ...PLAIN,
    teamId: TEAM,
    id,
    shape: "direct",
    queue,
    call: { method: "POST", url: `https://target.example/call/${id}`, headers: {}, body: null },
    priority: 5,
    onCompleteUrl: null,
    onFailureUrl: null,
    dedupe: null,
    bodyIsJson: false,
    message: null,
    sign: false,
    tags: null,
    metadata: null,
    flow: null,
    retryDelaySeconds: null,
    runAt: null,
    simulate: null,
    sandbox: false,
    idempotency: null,
  };
}

/** What such a task leaves to its queue, or does without. */
const PLAIN = {
  maxRetries: null,
  backoff: null,
  timeoutSeconds: null,
  retryMaxDelaySeconds: null,
  noRetryStatuses: null,
  expiresInSeconds: null,
  delaySeconds: 0,
  follow: NO_FOLLOW_UP,
  callback: null,
} as const;

function anyTask(number: number, random: Random): NewTask {
  const id = taskId(number);
  const follow = random.weighted({ none: 6, callback: 1, poll: 1 });
  return {
    teamId: TEAM,
    id,
    shape: "direct",
    queue: random.pick(QUEUES),
    call: { method: "POST", url: `https://target.example/call/${id}`, headers: {}, body: null },
    priority: random.between(1, 10),
    onCompleteUrl: random.chance(0.3) ? `https://caller.example/notification/${id}` : null,
    onFailureUrl: null,
    dedupe: null,
    bodyIsJson: false,
    message: null,
    sign: false,
    tags: null,
    metadata: null,
    flow: null,
    expiresInSeconds: random.chance(0.15) ? random.between(1, 6) : null,
    retryDelaySeconds: null,
    retryMaxDelaySeconds: random.chance(0.1) ? 1 : null,
    noRetryStatuses: random.chance(0.1) ? [500] : null,
    maxRetries: random.between(0, 3),
    backoff: random.pick(["fixed", "exponential"] as const),
    timeoutSeconds: random.between(1, 4),
    delaySeconds: random.weighted({ none: 3, some: 1 }) === "some" ? random.between(1, 4) : 0,
    runAt: null,
    simulate: null,
    follow:
      follow === "none"
        ? NO_FOLLOW_UP
        : {
            ...NO_FOLLOW_UP,
            waitForCallback: follow === "callback",
            maxWaitSeconds: random.between(2, 12),
            pollConfig: follow === "poll" ? pollConfig(id, random.between(3, 15)) : null,
          },
    sandbox: false,
    callback: follow === "callback" ? { hash: digitsOf(id), sealed: null } : null,
    idempotency: random.chance(0.15)
      ? { key: `key ${number}`, requestHash: "00", callbackSealed: null }
      : null,
  };
}

/** One task in three has one of two flows whose limits are reached, one in six a flow without a rate, and one in six an ordered flow. */
function flowOf(number: number): NewTask["flow"] {
  if (number % 6 === 4)
    return { key: orderedKey(number), concurrency: null, rate: null, period: null, ordered: true };
  if (number % 6 === 1)
    return { key: flowKey(2, null, null), concurrency: 2, rate: null, period: null, ordered: null };
  if (number % 3 !== 2) return null;
  const [concurrency, rate, period] = number % 2 === 0 ? [1, 4, 3] : [3, 2, 6];
  return { key: flowKey(concurrency, rate, period), concurrency, rate, period, ordered: null };
}

function pollConfig(id: string, maxDuration: number) {
  return {
    urlTemplate: `https://target.example/poll/${id}`,
    interval: 1,
    statusPath: "status",
    doneValues: ["done"],
    failValues: ["failed"],
    resultPath: "",
    forwardAuth: false,
    maxDuration,
  };
}
