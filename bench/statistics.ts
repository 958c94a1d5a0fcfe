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
