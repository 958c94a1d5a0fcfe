/** The value below which the share `q` of the (unsorted) values lies; NaN of nothing. */
export function quantile(values: ArrayLike<number>, q: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
  return (lower + upper) / 2;
}

/** Arrivals per second between the first tenth and the last fifth of all that arrived; 0 stands for none. */
export function steadyRate(arrivalsMs: ArrayLike<number>): number {
  const sorted = Float64Array.from(arrivalsMs)
    .filter((at) => at > 0)
    .sort();
  const first = Math.floor(sorted.length * 0.1);
  const last = Math.floor(sorted.length * 0.8);
  return ((last - first) * 1000) / ((sorted[last] ?? Number.NaN) - (sorted[first] ?? Number.NaN));
}

/** The most arrivals in any window of this length, half-open; 0 stands for none. */
export function mostInWindow(arrivalsMs: ArrayLike<number>, windowMs: number): number {
  const sorted = Float64Array.from(arrivalsMs)
    .filter((at) => at > 0)
    .sort();
  let most = 0;
  let first = 0;
  for (const [index, at] of sorted.entries()) {
    while (at - (sorted[first] ?? 0) >= windowMs) first += 1;
    most = Math.max(most, index - first + 1);
  }
  return most;
}
