import { type Backoff, RETRY_MAX_DELAY_SECONDS } from "./backoff.ts";
import type { BreakerSettings } from "./breaker.ts";
import { echo, invalid } from "./complaint.ts";
import { Problem } from "./problem.ts";
import type { TaskStatus } from "./task.ts";

/** What becomes of an ordered queue's line when a task fails. */
export const ON_FAILURE = ["continue", "block"] as const;
export type OnFailure = (typeof ON_FAILURE)[number];

/** The settings that a task copies at creation (except concurrency and order, which stay the queue's own). */
export interface QueueSettings {
  readonly concurrency: number;
  readonly maxRetries: number;
  readonly backoff: Backoff;
  readonly retryDelaySeconds: number;
  readonly retryMaxDelaySeconds: number;
  readonly noRetryStatuses: readonly number[];
  readonly timeoutSeconds: number;
  /** Tasks start one at a time, in the order of creation; each ends before the next starts. */
  readonly ordered: boolean;
  readonly onFailure: OnFailure;
  /** At most so many calls begin in any `ratePeriod` seconds. Both are null without a rate. */
  readonly rate: number | null;
  readonly ratePeriod: number | null;
  /** Null: it has no circuit breaker. */
  readonly breaker: BreakerSettings | null;
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
  ordered: false,
  onFailure: "continue",
  rate: null,
  ratePeriod: null,
  breaker: null,
};

/**
 * The changes with what follows from strict order: an ordered queue has a concurrency of 1, and only its line can be
 * blocked.
 */
export function withOrder(
  changes: Partial<QueueSettings>,
  current: Pick<QueueSettings, "ordered">,
): Partial<QueueSettings> {
  const ordered = changes.ordered ?? current.ordered;
  const { concurrency, onFailure } = changes;
  if (ordered && concurrency !== undefined && concurrency !== 1)
    throw invalid([{ field: "concurrency", error: "concurrency must be 1 in an ordered queue" }]);
  if (!ordered && onFailure === "block")
    throw invalid([{ field: "on_failure", error: 'on_failure "block" needs ordered: true' }]);
  if (changes.ordered === undefined) return changes;
  return ordered ? { ...changes, concurrency: 1 } : { ...changes, onFailure: "continue" };
}

/** The changes with what follows from the rate: a period needs one, and is a second unless it is said. */
export function withRate(
  changes: Partial<QueueSettings>,
  current: Pick<QueueSettings, "rate" | "ratePeriod">,
): Partial<QueueSettings> {
  const { rate = current.rate, ratePeriod } = changes;
  if (rate === null && ratePeriod !== undefined && ratePeriod !== null)
    throw invalid([{ field: "rate_period", error: "rate_period needs rate" }]);
  if (changes.rate === undefined && ratePeriod === undefined) return changes;
  return { ...changes, rate, ratePeriod: rate === null ? null : (ratePeriod ?? current.ratePeriod ?? 1) };
}

/** Every team has this queue from the start; it cannot be deleted. */
export const DEFAULT_QUEUE = "default";

export const QUEUE_NAME_PATTERN = "^[A-Za-z0-9-]{1,64}$";

/** Reads also find queues of the QStash-compatible API, whose names may have dots and underscores. */
export const QUEUE_READ_PATTERN = "^[A-Za-z0-9._-]{1,64}$";

const QUEUE_NAME = new RegExp(QUEUE_READ_PATTERN);

/** Rejects invalid names before a lookup: PostgreSQL fails on a NUL. */
export function readQueueName(text: string): string {
  if (!QUEUE_NAME.test(text)) throw new Problem("queue_not_found", { name: echo(text) });
  return text;
}

export type QueueStats = Readonly<Record<TaskStatus, number>>;

export interface QueueWithStats extends Queue {
  readonly stats: QueueStats;
}
