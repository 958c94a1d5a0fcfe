import { countUnjudged, fairMs } from "./answers.ts";
import { isAnswered } from "./calls.ts";
import { unjudgedReaders } from "./events.ts";
import type { History } from "./history.ts";
import type { Stories } from "./stories.ts";

/** What a run amounted to. */
export interface Figures {
  readonly tasks: number;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly deleted: number;
  readonly calls: number;
  readonly polls: number;
  readonly notifications: number;
  /** Tasks that schedules made. */
  readonly firings: number;
  readonly bulks: number;
  /** Tasks that bulk actions restarted. */
  readonly retried: number;
  readonly requests: number;
  readonly refused: number;
  readonly faults: Readonly<Record<string, number>>;
  /** Of each node, for what part of the faults' time which latency to the database held, in the order of the nodes. */
  readonly latencies: readonly ReadonlyMap<number, number>[];
  /** Tasks that were called again after an answer that was good. */
  readonly duplicates: number;
  /** Of nodes that ran, without callbacks, which may be held. */
  readonly slowestAnswerMs: number;
  /** From the death of a process until what it held was given back, and until it was called again. */
  readonly givenBackP99Ms: number | null;
  readonly rerunP99Ms: number | null;
  readonly slowestMachineMs: number;
  /** How long other work took the machine, and what could not be judged for it. */
  readonly crowdedMs: number;
  readonly unjudged: { readonly answers: number; readonly late: number; readonly readers: number };
  /** What readers and receivers were told. */
  readonly events: number;
  readonly deliveries: number;
}

export function countFigures(history: History, stories: Stories): Figures {
  const rows = stories.all.filter(({ last }) => last !== null);
  const ended = (status: string) =>
    rows.filter(({ last, isDeleted }) => !isDeleted && last?.status === status);
  const faults: Record<string, number> = {};
  for (const { kind } of history.faults) faults[kind] = (faults[kind] ?? 0) + 1;
  const reruns = findReruns(history, stories);
  return {
    tasks: rows.length,
    completed: ended("completed").length,
    failed: ended("failed").length,
    cancelled: ended("cancelled").length,
    deleted: rows.filter(({ isDeleted }) => isDeleted).length,
    calls: history.seen.filter(({ kind }) => kind === "call").length,
    polls: history.seen.filter(({ kind }) => kind === "poll").length,
    notifications: history.seen.filter(({ kind }) => kind === "notification").length,
    firings: history.changes.filter(({ relation }) => relation === "schedule_firings").length,
    bulks: history.changes.filter(({ relation, op }) => relation === "bulks" && op === "insert").length,
    retried: rows.reduce((sum, { last }) => sum + (last?.retries ?? 0), 0),
    requests: history.answers.length,
    refused: history.answers.filter(({ status }) => status === null || status >= 500).length,
    faults,
    latencies: latencyShares(history),
    duplicates: stories.all.filter(({ calls }) => calls.slice(0, -1).some(isAnswered)).length,
    slowestAnswerMs: history.answers.reduce(
      (slowest, answer) => Math.max(slowest, fairMs(answer, history) ?? 0),
      0,
    ),
    givenBackP99Ms: percentile(reruns.map(({ givenBackMs }) => givenBackMs)),
    rerunP99Ms: percentile(reruns.flatMap(({ rerunMs }) => (rerunMs === null ? [] : [rerunMs]))),
    slowestMachineMs: history.lags.reduce((slowest, { ms }) => Math.max(slowest, ms), 0),
    crowdedMs: history.crowded.reduce((sum, { from, to }) => sum + to - from, 0),
    unjudged: { ...countUnjudged(history), readers: unjudgedReaders(history).length },
    events: history.readers.reduce((sum, { told }) => sum + told.length, 0),
    deliveries: history.receivers.reduce((sum, { received }) => sum + received.length, 0),
  };
}

function latencyShares({ latencies, beganAt, calmAt }: History): Map<number, number>[] {
  const nodes = [...new Set(latencies.map(({ node }) => node))].sort((one, other) => one - other);
  return nodes.map((node) => {
    const shares = new Map<number, number>();
    const own = latencies.filter((latency) => latency.node === node);
    for (const [index, { at, ms }] of own.entries()) {
      const heldMs = Math.min(own[index + 1]?.at ?? calmAt, calmAt) - Math.max(at, beganAt);
      if (heldMs > 0) shares.set(ms, (shares.get(ms) ?? 0) + heldMs / (calmAt - beganAt));
    }
    return shares;
  });
}

/** The attempts that were under way in a process when it was killed. */
function findReruns(history: History, stories: Stories): { givenBackMs: number; rerunMs: number | null }[] {
  const deaths = new Map(
    history.lives.flatMap(({ pid, endedAt, killed }) => (killed && endedAt !== null ? [[pid, endedAt]] : [])),
  );
  const pids = new Map(
    history.changes.flatMap((change) =>
      change.relation === "workers" ? [[change.row.id, change.row.pid]] : [],
    ),
  );
  return stories.all.flatMap(({ changes, calls }) =>
    changes.flatMap((change, index) => {
      const next = changes[index + 1];
      const diedAt = deaths.get(pids.get(change.row.workerId ?? -1) ?? -1);
      if (change.row.status !== "active" || next === undefined || diedAt === undefined) return [];
      if (next.committedAt < diedAt || change.committedAt > diedAt) return [];
      const again = calls.find(({ attempt }) => (attempt ?? 0) > change.row.attemptCount);
      return [
        {
          givenBackMs: next.committedAt - diedAt,
          rerunMs: again === undefined ? null : again.begunAt - diedAt,
        },
      ];
    }),
  );
}

function percentile(values: readonly number[]): number | null {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? null;
}
