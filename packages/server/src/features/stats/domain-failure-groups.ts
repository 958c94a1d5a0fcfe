import type { FailureReason } from "../../domain/task.ts";

/** Failed tasks of a queue with the same host, the same failure, and the same error apart from ids and numbers. */
export interface FailureGroup {
  readonly queueId: number;
  readonly host: string;
  readonly failureReason: FailureReason | null;
  readonly answer: string | null;
  readonly fingerprint: string;
  readonly count: number;
  /** How many failed in each step of the range. */
  readonly course: readonly number[];
  readonly firstAt: Date;
  readonly lastAt: Date;
  /** The most frequent of them, at most `MOST_TOPS`. */
  readonly topTags: readonly { readonly tag: string; readonly count: number }[];
  readonly topMetadata: readonly { readonly key: string; readonly value: string; readonly count: number }[];
  /** The newest of them. */
  readonly id: string;
  readonly shape: "queue" | "direct";
}

/** What is grouped. */
export interface Failure
  extends Omit<FailureGroup, "count" | "course" | "firstAt" | "lastAt" | `top${string}`> {
  readonly completedAt: Date;
  readonly tags: readonly string[] | null;
  readonly metadata: Readonly<Record<string, string>> | null;
}

/** Tags and entries of the metadata that a group names. */
const MOST_TOPS = 3;

interface OpenGroup {
  readonly newest: Failure;
  count: number;
  readonly course: number[];
  firstAt: Date;
  lastAt: Date;
  readonly tags: Map<string, number>;
  readonly entries: Map<string, number>;
}

/** Groups the failures of a range, which come in slices: of a queue, the newest first. */
export function createFailureGroups(range: {
  readonly from: Date;
  readonly until: Date;
  readonly steps: number;
}) {
  const groups = new Map<string, OpenGroup>();
  const fromMs = range.from.getTime();
  const stepMs = (range.until.getTime() - fromMs) / range.steps;

  function open(newest: Failure): OpenGroup {
    const { completedAt } = newest;
    const course = Array.from({ length: range.steps }, () => 0);
    const counts = { tags: new Map<string, number>(), entries: new Map<string, number>() };
    return { newest, count: 0, course, firstAt: completedAt, lastAt: completedAt, ...counts };
  }

  return {
    add(failure: Failure): void {
      const { queueId, host, failureReason, answer, fingerprint, completedAt } = failure;
      const name = JSON.stringify([queueId, host, failureReason, answer, fingerprint]);
      const group = groups.get(name) ?? open(failure);
      groups.set(name, group);
      group.count += 1;
      const step = Math.floor((completedAt.getTime() - fromMs) / stepMs);
      const place = Math.min(Math.max(step, 0), range.steps - 1);
      group.course[place] = (group.course[place] ?? 0) + 1;
      if (completedAt < group.firstAt) group.firstAt = completedAt;
      if (completedAt > group.lastAt) group.lastAt = completedAt;
      for (const tag of failure.tags ?? []) countIn(group.tags, tag);
      for (const entry of Object.entries(failure.metadata ?? {}))
        countIn(group.entries, JSON.stringify(entry));
    },
    /** The largest first, then those that failed last. */
    largest(most: number): FailureGroup[] {
      const inOrder = [...groups.values()].sort(
        (one, other) => other.count - one.count || other.lastAt.getTime() - one.lastAt.getTime(),
      );
      return inOrder.slice(0, most).map(({ newest, count, course, firstAt, lastAt, tags, entries }) => {
        const { completedAt: _completedAt, tags: _tags, metadata: _metadata, ...shared } = newest;
        const topTags = topsOf(tags).map(([tag, times]) => ({ tag, count: times }));
        const topMetadata = topsOf(entries).map(([entry, times]) => {
          const [key, value]: [string, string] = JSON.parse(entry);
          return { key, value, count: times };
        });
        return { ...shared, count, course, firstAt, lastAt, topTags, topMetadata };
      });
    },
  };
}

function countIn(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function topsOf(counts: ReadonlyMap<string, number>): [string, number][] {
  const inOrder = [...counts].sort(([name, count], [other, more]) => more - count || (name < other ? -1 : 1));
  return inOrder.slice(0, MOST_TOPS);
}
