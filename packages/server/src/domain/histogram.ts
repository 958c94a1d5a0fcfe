/** Histograms of durations with fixed buckets, so that those of any node and minute can be added. */

/** Each bucket ends at 1.6 times the one before, from 1 ms on: a quantile is off by a quarter at most. */
const GROWTH = 1.6;
const LOG_GROWTH = Math.log(GROWTH);
/** The last bucket holds durations above an hour. */
export const BUCKETS = 34;

/** The bucket of a duration. */
export function bucketOf(ms: number): number {
  if (!(ms > 1)) return 0;
  return Math.min(BUCKETS - 1, Math.ceil(Math.log(ms) / LOG_GROWTH));
}

/** The quantile in milliseconds; null if nothing was counted. */
export function quantile(counts: ArrayLike<number>, part: number): number | null {
  let total = 0;
  for (let bucket = 0; bucket < counts.length; bucket += 1) total += counts[bucket] ?? 0;
  if (total === 0) return null;
  const wanted = total * part;
  let before = 0;
  for (let bucket = 0; bucket < counts.length; bucket += 1) {
    const count = counts[bucket] ?? 0;
    if (count > 0 && before + count >= wanted) return within(bucket, (wanted - before) / count);
    before += count;
  }
  return within(counts.length - 1, 1);
}

/** Interpolates in the bucket on its logarithmic scale. */
function within(bucket: number, part: number): number {
  const ms = bucket === 0 ? part : GROWTH ** (bucket - 1 + part);
  return ms < 10 ? Math.round(ms * 10) / 10 : Math.round(ms);
}
