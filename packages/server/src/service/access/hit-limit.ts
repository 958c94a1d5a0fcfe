import { createHash } from "node:crypto";
import { sourceOf } from "../../domain/identity/source-address.ts";
import { type Problem, rateLimited } from "../../domain/problem.ts";
import { wholeSeconds } from "../../domain/whole-seconds.ts";
import { type HitLimit, takeHits } from "../../store/identity/source-hits.ts";
import type { Sql } from "../../store/sql.ts";

/** Counts a hit of a source; throws `rate_limited`, or what is given, without counting beyond its limit, over all nodes. */
export async function limitHits(
  sql: Sql,
  source: string,
  limit: HitLimit,
  refusal: (retryAfterSeconds: number) => Problem = rateLimited,
): Promise<void> {
  const { granted, waitMs } = await takeHits(sql, source, 1, limit);
  if (granted === 0) throw refusal(wholeSeconds(waitMs));
}

/** A hashed address for limits: a reader of the table must not learn who signs in or is invited. */
export function hashAddress(email: string): string {
  return createHash("sha256").update(email).digest("hex");
}

const CALLBACKS = { most: 30, seconds: 60 };
/** Cached sources at their limit; a forgotten one is queried again. */
const MAX_FULL = 10_000;

/** Counts a request of a source; throws `rate_limited` beyond its limit, over all nodes. */
export type CallbackLimit = (address: string) => Promise<void>;

/**
 * Callbacks need no credential, so the limit itself must not be expensive in a flood: only time makes room for a source
 * at its limit, and until then it is refused without a database query.
 */
export function createCallbackLimit(deps: {
  readonly sql: Sql;
  readonly monotonicMs: () => number;
}): CallbackLimit {
  const { sql, monotonicMs } = deps;
  /** No request fits before `untilMs`; both values come from the same query. */
  const full = new Map<string, { readonly untilMs: number; readonly freeAtMs: number }>();

  function refuse(freeAtMs: number): never {
    throw rateLimited(wholeSeconds(freeAtMs - monotonicMs()));
  }

  return async (address) => {
    const source = `callback ${sourceOf(address)}`;
    const sentMs = monotonicMs();
    const known = full.get(source);
    if (known !== undefined && sentMs < known.untilMs) refuse(known.freeAtMs);
    full.delete(source);
    const { granted, left, waitMs } = await takeHits(sql, source, 1, CALLBACKS);
    const freeAtMs = monotonicMs() + waitMs;
    if (left === 0) {
      if (full.size >= MAX_FULL) full.clear();
      full.set(source, { untilMs: sentMs + waitMs, freeAtMs });
    }
    if (granted === 0) refuse(freeAtMs);
  };
}
