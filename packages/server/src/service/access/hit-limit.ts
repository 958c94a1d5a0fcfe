import { createHash } from "node:crypto";
import { rateLimited } from "../../domain/problem.ts";
import { wholeSeconds } from "../../domain/whole-seconds.ts";
import { type HitLimit, takeHits } from "../../store/identity/source-hits.ts";
import type { Sql } from "../../store/sql.ts";

/** Counts a hit of a source; throws `rate_limited`, and counts nothing, beyond what the source may make, over all nodes. */
export async function limitHits(sql: Sql, source: string, limit: HitLimit): Promise<void> {
  const { granted, waitMs } = await takeHits(sql, source, 1, limit);
  if (granted === 0) throw rateLimited(wholeSeconds(waitMs));
}

/** An address as limits are counted by it: whoever reads their table must not learn who signs in or is invited. */
export function hashAddress(email: string): string {
  return createHash("sha256").update(email).digest("hex");
}
