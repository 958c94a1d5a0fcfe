/** What the rollups of a range tell: rates, shares, and how they changed. */
import type { AnswerOf } from "@bellhop/sdk";

export type FailureGroup = AnswerOf<"getFailureStats">["failures"][number];

export interface QueueSeries {
  /** Null for the whole team. */
  readonly queue: string | null;
  readonly created: readonly number[];
  readonly completed: readonly number[];
  readonly failed: readonly number[];
  readonly cancelled: readonly number[];
  readonly retried: readonly number[];
  /** Null where nobody counted. */
  readonly pending: readonly (number | null)[];
  readonly waitMs: Quantiles;
  readonly durationMs: Quantiles;
  readonly oldestPendingAt: string | null;
  readonly now: {
    readonly pending: number;
    readonly active: number;
    readonly waiting: number;
    readonly polling: number;
  };
}

export interface Quantiles {
  readonly p50: readonly (number | null)[];
  readonly p95: readonly (number | null)[];
}

export interface Stats {
  readonly range: string;
  readonly from: string;
  readonly to: string;
  readonly stepSeconds: number;
  /** When each step begins. */
  readonly at: readonly string[];
  readonly queues: readonly QueueSeries[];
  readonly total: QueueSeries;
}

/** The last five minutes, or the last step where steps are longer. */
const RECENT_SECONDS = 300;

/** Fewer tasks than this in either part say nothing about a change: one task more or less would be a large one. */
const FEWEST_TASKS = 20;

export interface Changed {
  /** Null where there is nothing to tell from. */
  readonly now: number | null;
  readonly before: number | null;
  /** Both parts have enough tasks for a change to mean something. */
  readonly isComparable: boolean;
}

export interface Summary {
  /** How long the recent part is that `now` stands for. */
  readonly recentSeconds: number;
  readonly createdPerMinute: Changed;
  readonly completedPerMinute: Changed;
  readonly failureShare: Changed;
  readonly waitP95: Changed;
  readonly durationP95: Changed;
}

/** Which steps are the recent ones and which came before; a step that is not over counts for neither. */
function split(
  stats: Stats,
  series: QueueSeries,
): {
  readonly recent: readonly [number, number];
  readonly before: readonly [number, number];
} {
  const endsAt = new Date(stats.to).getTime();
  const isOver = (at: string) => new Date(at).getTime() + stats.stepSeconds * 1000 <= endsAt;
  const over = stats.at.filter(isOver).length;
  // A range that has only begun has nothing but its one step.
  const end = Math.max(over, Math.min(1, stats.at.length));
  const first = Math.max(0, Math.min(firstStep(series), end - 1));
  const start = Math.max(first, end - Math.max(1, Math.round(RECENT_SECONDS / stats.stepSeconds)));
  return { recent: [start, end], before: [first, start] };
}

export function summarize(stats: Stats, series: QueueSeries): Summary {
  const { recent, before } = split(stats, series);
  const ended = series.completed.map((count, step) => count + (series.failed[step] ?? 0));
  const both = (read: (part: Part) => number | null) => ({ now: read(recent), before: read(before) });
  const perMinute = (values: readonly number[]): Changed => ({
    ...both(([from, to]) =>
      to > from ? (sum(values, from, to) / (to - from) / stats.stepSeconds) * 60 : null,
    ),
    isComparable: isRateComparable(values, recent, before),
  });
  // A share or a quantile of few tasks tells nothing, on either side.
  const hasEnough = [recent, before].every((part) => sum(ended, ...part) >= FEWEST_TASKS);
  const ofEnded = (read: (part: Part) => number | null): Changed => ({
    ...both(read),
    isComparable: hasEnough,
  });
  return {
    recentSeconds: (recent[1] - recent[0]) * stats.stepSeconds,
    createdPerMinute: perMinute(series.created),
    completedPerMinute: perMinute(series.completed),
    failureShare: ofEnded(([from, to]) => share(series, from, to)),
    waitP95: ofEnded(([from, to]) => mean(series.waitMs.p95, from, to)),
    durationP95: ofEnded(([from, to]) => mean(series.durationMs.p95, from, to)),
  };
}

type Part = readonly [number, number];

/** Whether one of the parts, brought to the length of the recent one, has tasks enough: a fall to nothing is a change as well. */
function isRateComparable(counts: readonly number[], recent: Part, before: Part): boolean {
  const [recentSteps, beforeSteps] = [recent[1] - recent[0], before[1] - before[0]];
  if (recentSteps === 0 || beforeSteps === 0) return false;
  const usual = (sum(counts, ...before) / beforeSteps) * recentSteps;
  return Math.max(usual, sum(counts, ...recent)) >= FEWEST_TASKS;
}

/** The first step of which something is known: before it there was no server, and its zeros tell nothing. */
function firstStep(series: QueueSeries): number {
  const at = series.created.findIndex((_, step) => isKnown(series, step));
  return at < 0 ? 0 : at;
}

function isKnown({ pending, created, completed, failed }: QueueSeries, step: number): boolean {
  return (
    (pending[step] ?? null) !== null || [created, completed, failed].some((counts) => (counts[step] ?? 0) > 0)
  );
}

/** A step that has only begun tells nothing yet. */
const SHORTEST_SECONDS = 10;

/** Counts as rates; null where no node was there, so that a gap is seen as one. */
export function perMinute(stats: Stats, series: QueueSeries, counts: readonly number[]): (number | null)[] {
  const endsAt = new Date(stats.to).getTime();
  return counts.map((count, step) => {
    const begunAt = new Date(stats.at[step] ?? stats.to).getTime();
    const seconds = Math.min(stats.stepSeconds, (endsAt - begunAt) / 1000);
    if (seconds < Math.min(SHORTEST_SECONDS, stats.stepSeconds) || !isKnown(series, step)) return null;
    return (count / seconds) * 60;
  });
}

/** Failed of all that ended by themselves; null where none did. */
export function failureShare(series: QueueSeries): number | null {
  return share(series, 0, series.failed.length);
}

function share(series: QueueSeries, from: number, to: number): number | null {
  const failed = sum(series.failed, from, to);
  const ended = failed + sum(series.completed, from, to);
  return ended === 0 ? null : failed / ended;
}

function sum(values: readonly number[], from: number, to: number): number {
  return values.slice(from, to).reduce((total, value) => total + value, 0);
}

function mean(values: readonly (number | null)[], from: number, to: number): number | null {
  const known = values.slice(from, to).filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((total, value) => total + value, 0) / known.length;
}
