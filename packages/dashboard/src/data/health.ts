import { formatAge, formatCount, formatPercent } from "./format.ts";
import { type FailureGroup, failureShare, type Stats } from "./stats.ts";
import { wordsOf } from "./task.ts";

export interface Complaint {
  readonly queue: string;
  readonly text: string;
  readonly kind: "failing" | "held" | "slow" | "paused";
  /** What the target says to it, where it does. */
  readonly words: string | null;
  readonly group: FailureGroup | null;
}

/** A group that was seen within this time is still failing. */
const STILL_MS = 5 * 60_000;
/** An oldest task of this age says that the queue does not keep up. */
const LATE_MS = 60_000;
const MANY_FAIL = 0.05;

interface Known {
  readonly queues: readonly {
    readonly name: string;
    readonly paused: boolean;
    readonly stats: { readonly pending: number };
  }[];
  readonly stats: Stats | undefined;
  readonly failures: readonly FailureGroup[];
  /** The open ones. */
  readonly breakers: readonly { readonly queue: string; readonly host: string; readonly openedAt: string }[];
  readonly now: number;
}

/** What needs somebody's attention, worst first. None: all queues are keeping up. */
export function complaintsOf({ queues, stats, failures, breakers, now }: Known): readonly Complaint[] {
  return [
    ...failing(failures, now),
    ...held(breakers, now),
    ...late(queues, stats, now),
    ...paused(queues),
    ...often(stats, failures),
  ];
}

function failing(failures: readonly FailureGroup[], now: number): Complaint[] {
  return failures
    .filter((group) => now - new Date(group.lastSeen).getTime() < STILL_MS)
    .toSorted((one, other) => other.count - one.count)
    .map((group) => ({
      queue: group.queue,
      kind: "failing",
      text: `${formatCount(group.count)}${group.countIsCapped ? "+" : ""} failing at ${group.host} for ${formatAge(now - new Date(group.firstSeen).getTime())}`,
      words: wordsOf(group.error),
      group,
    }));
}

function held(breakers: Known["breakers"], now: number): Complaint[] {
  return breakers.map(({ queue, host, openedAt }) => ({
    queue,
    kind: "held",
    text: `${host} has been failing for ${formatAge(now - new Date(openedAt).getTime())}: its circuit breaker is open, its tasks wait`,
    words: null,
    group: null,
  }));
}

function late(queues: Known["queues"], stats: Stats | undefined, now: number): Complaint[] {
  const isPaused = new Map(queues.map(({ name, paused }) => [name, paused]));
  return (stats?.queues ?? [])
    .filter(({ queue, oldestPendingAt }) => oldestPendingAt !== null && isPaused.get(queue ?? "") === false)
    .map((series) => ({ ...series, age: now - new Date(series.oldestPendingAt ?? now).getTime() }))
    .filter(({ age }) => age > LATE_MS)
    .toSorted((one, other) => other.age - one.age)
    .map(({ queue, age, now: { pending } }) => ({
      queue: queue ?? "",
      kind: "slow",
      text: `${formatCount(pending)} waiting, the oldest for ${formatAge(age)}`,
      words: null,
      group: null,
    }));
}

function paused(queues: Known["queues"]): Complaint[] {
  return queues
    .filter((queue) => queue.paused)
    .map(({ name, stats: { pending } }) => ({
      queue: name,
      kind: "paused",
      text: pending === 0 ? "paused" : `paused, ${formatCount(pending)} waiting`,
      words: null,
      group: null,
    }));
}

/** Queues of which many fail, where no group says so already. */
function often(stats: Stats | undefined, failures: readonly FailureGroup[]): Complaint[] {
  const told = new Set(failures.map(({ queue }) => queue));
  return (stats?.queues ?? []).flatMap((series) => {
    const share = failureShare(series);
    if (share === null || share < MANY_FAIL || series.queue === null || told.has(series.queue)) return [];
    return [
      {
        queue: series.queue,
        kind: "failing" as const,
        text: `${formatPercent(share)} fail`,
        words: null,
        group: null,
      },
    ];
  });
}
