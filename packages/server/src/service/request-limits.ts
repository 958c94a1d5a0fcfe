import type { Principal } from "../domain/principal.ts";

/** What is left of a team's requests after one more. */
export interface Allowance {
  /** Null is no limit. */
  readonly limit: number | null;
  readonly remaining: number;
  /** Unix time in seconds at which the oldest counted request is a minute old. */
  readonly resetSeconds: number;
  /** How long to wait; null if this request was allowed. */
  readonly retryAfterSeconds: number | null;
}

export interface RequestLimits {
  /** Counts one request of the principal's team. No promise where the database need not be asked. */
  count(principal: Principal): Allowance | Promise<Allowance>;
}

export function createRequestLimits(): RequestLimits {
  return { count: () => ({ limit: null, remaining: 0, resetSeconds: 0, retryAfterSeconds: null }) };
}
