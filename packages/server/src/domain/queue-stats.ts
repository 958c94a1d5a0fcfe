/** The ranges of statistics and the length of their steps. */
export const STATS_RANGES = {
  "15m": { seconds: 900, stepSeconds: 60 },
  "1h": { seconds: 3_600, stepSeconds: 60 },
  "6h": { seconds: 21_600, stepSeconds: 300 },
  "24h": { seconds: 86_400, stepSeconds: 900 },
  "7d": { seconds: 604_800, stepSeconds: 7_200 },
  "30d": { seconds: 2_592_000, stepSeconds: 21_600 },
} as const;

export type StatsRange = keyof typeof STATS_RANGES;

/** The counters of a queue. */
export const QUEUE_COUNTS = ["created", "completed", "failed", "cancelled", "retried"] as const;
export type QueueCount = (typeof QUEUE_COUNTS)[number];

/** The starts of all steps in seconds, the current one last. Steps start at multiples of their length. */
export function stepsOf(range: StatsRange, nowMs: number): readonly number[] {
  const { seconds, stepSeconds } = STATS_RANGES[range];
  const last = Math.floor(nowMs / 1000 / stepSeconds) * stepSeconds;
  const count = seconds / stepSeconds;
  return Array.from({ length: count }, (_, index) => last - (count - 1 - index) * stepSeconds);
}
