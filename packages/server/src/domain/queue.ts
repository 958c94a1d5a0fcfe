import { type Backoff, RETRY_MAX_DELAY_SECONDS } from "./backoff.ts";
import { echo } from "./complaint.ts";
import { Problem } from "./problem.ts";
import type { TaskStatus } from "./task.ts";

/** The settings that a task copies at creation (except concurrency, which stays the queue's own). */
export interface QueueSettings {
  readonly concurrency: number;
  readonly maxRetries: number;
  readonly backoff: Backoff;
  readonly retryDelaySeconds: number;
  readonly retryMaxDelaySeconds: number;
  readonly noRetryStatuses: readonly number[];
  readonly timeoutSeconds: number;
}

export interface Queue extends QueueSettings {
  readonly teamId: number;
  readonly id: number;
  readonly name: string;
  readonly paused: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export const QUEUE_DEFAULTS: QueueSettings = {
  concurrency: 5,
  maxRetries: 3,
  backoff: "exponential",
  retryDelaySeconds: 1,
  retryMaxDelaySeconds: RETRY_MAX_DELAY_SECONDS,
  noRetryStatuses: [],
  timeoutSeconds: 30,
};

/** Every team has this queue from the start; it cannot be deleted. */
export const DEFAULT_QUEUE = "default";

export const QUEUE_NAME_PATTERN = "^[A-Za-z0-9-]{1,64}$";

const QUEUE_NAME = new RegExp(QUEUE_NAME_PATTERN);

/** Rejects invalid names before a lookup: PostgreSQL fails on a NUL. */
export function readQueueName(text: string): string {
  if (!QUEUE_NAME.test(text)) throw new Problem("queue_not_found", { name: echo(text) });
  return text;
}

export type QueueStats = Readonly<Record<TaskStatus, number>>;

export interface QueueWithStats extends Queue {
  readonly stats: QueueStats;
}
