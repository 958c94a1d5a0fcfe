import { echo, invalid } from "../../domain/complaint.ts";
import { isFlowKey } from "../../domain/flow.ts";
import type { HOLDS, Limits } from "../../domain/gate/gate.ts";
import { Problem } from "../../domain/problem.ts";
import type { OnFailure } from "../../domain/queue.ts";

/** What a team stores for a key. Null: not stored. */
export interface StoredLimits {
  readonly concurrency: number | null;
  readonly rate: number | null;
  /** Seconds; set if the rate is. */
  readonly period: number | null;
  /** Its tasks start one at a time, in the order of creation. */
  readonly ordered: boolean | null;
  readonly onFailure: OnFailure | null;
  readonly pauseOnRetryAfter: boolean | null;
  readonly hold: (typeof HOLDS)[number] | null;
  readonly maxWaiting: number | null;
}

export const NOTHING_STORED: StoredLimits = {
  concurrency: null,
  rate: null,
  period: null,
  ordered: null,
  onFailure: null,
  pauseOnRetryAfter: null,
  hold: null,
  maxWaiting: null,
};

export type Source = "stored" | "task" | null;

/** A flow with the limits that hold, and what it is doing. */
export interface Flow extends Limits {
  readonly key: string;
  readonly concurrencySource: Source;
  readonly rateSource: Source;
  readonly orderedSource: Source;
  readonly pauseOnRetryAfter: boolean;
  readonly maxWaiting: number | null;
  readonly paused: boolean;
  readonly pausedUntil: Date | null;
  /** Calls under way, or tasks that have not ended if the flow holds those. */
  readonly active: number;
  /** Due and held back, counted to 10,000. */
  readonly waiting: number;
  readonly begunInPeriod: number;
}

/** Keys of other forms have no flow. */
export function readFlowKey(text: string): string {
  if (!isFlowKey(text)) throw new Problem("flow_not_found", { key: echo(text) });
  return text;
}

/** For a key that a request may create. */
export function requireFlowKey(text: string): string {
  if (isFlowKey(text)) return text;
  throw invalid([{ field: "key", error: "key must be 1 to 128 characters of A-Z a-z 0-9 . _ : @ -" }]);
}

export function requireLimits(limits: StoredLimits): void {
  if (limits.period !== null && limits.rate === null)
    throw invalid([{ field: "period", error: "period needs rate" }]);
  if (limits.ordered && limits.concurrency !== null && limits.concurrency !== 1)
    throw invalid([{ field: "concurrency", error: "concurrency must be 1 in an ordered flow" }]);
  if (limits.onFailure !== null && limits.ordered !== true)
    throw invalid([{ field: "on_failure", error: "on_failure needs ordered: true" }]);
  if (Object.values(limits).every((figure) => figure === null))
    throw invalid([
      {
        field: "concurrency",
        error:
          "At least one of concurrency, rate, ordered, pause_on_retry_after, hold and max_waiting is required; to remove all, DELETE the flow",
      },
    ]);
}
