import type { Backoff } from "./backoff.ts";

/** The settings a task copies when it is created (all but concurrency, which stays the queue's own). */
export interface QueueSettings {
  readonly concurrency: number;
  readonly maxRetries: number;
  readonly backoff: Backoff;
  readonly retryDelaySeconds: number;
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
  timeoutSeconds: 30,
};

/** Every team has this queue from its first moment; it cannot be deleted. */
export const DEFAULT_QUEUE = "default";

export type QueueStats = Readonly<
  Record<"pending" | "active" | "waiting" | "polling" | "completed" | "failed", number>
>;

export interface QueueWithStats extends Queue {
  readonly stats: QueueStats;
}
