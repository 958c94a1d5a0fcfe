import { FairQueue } from "../domain/fair-queue.ts";
import type { Portions } from "../domain/redaction/text-search.ts";

interface Job {
  /** Works for a portion; false: that was the last. */
  readonly work: () => boolean;
  readonly giveUp: () => void;
  spentMs: number;
}

/** Of the process's time in one turn of its loop; then whatever else waits comes first. */
const TURN_MS = 4;
/** Of the process's time for one text. A megabyte takes a tenth of this. */
const BUDGET_MS = 2_000;

export interface Wiping {
  /** Does the work beside everything else. Null: it took too long, and what it was for must not be used. */
  run<T>(teamId: number, portions: Portions<T>): Promise<T | null>;
}

/** Searches that have begun, each with several copies of its text and each of another team: the next one waits. */
const MOST_BEGUN = 2;

/**
 * Long texts from strangers are searched for secrets here: a little in each turn of the loop, few texts at a time, the
 * teams in turn. So another team's calls wait for milliseconds, however much a team has sent back to it.
 */
export function createWiping({
  budgetMs = BUDGET_MS,
  onWork = () => {},
}: {
  readonly budgetMs?: number;
  readonly onWork?: (teamId: number, ms: number) => void;
} = {}): Wiping {
  const waiting = new FairQueue<Job>();
  const begun: { readonly teamId: number; readonly job: Job }[] = [];

  function turn(): void {
    while (begun.length < MOST_BEGUN) {
      const taken = waiting.take((teamId) => begun.some((one) => one.teamId === teamId));
      if (taken === null) break;
      begun.push({ teamId: taken.teamId, job: taken.item });
    }
    const next = begun.shift();
    if (next === undefined) return;
    const { hasMore, ms } = workOn(next.job, budgetMs);
    onWork(next.teamId, ms);
    if (hasMore) begun.push(next);
    if (begun.length + waiting.size > 0) setImmediate(turn);
  }

  return {
    run(teamId, portions) {
      return new Promise((resolve) => {
        if (begun.length + waiting.size === 0) setImmediate(turn);
        const work = () => {
          const { done, value } = portions.next();
          if (done === true) resolve(value);
          return done !== true;
        };
        waiting.add(teamId, { work, giveUp: () => resolve(null), spentMs: 0 });
      });
    },
  };
}

function workOn(job: Job, budgetMs: number): { readonly hasMore: boolean; readonly ms: number } {
  const startedAt = performance.now();
  while (true) {
    const hasMore = job.work();
    const elapsedMs = performance.now() - startedAt;
    if (!hasMore) return { hasMore, ms: elapsedMs };
    if (job.spentMs + elapsedMs > budgetMs) {
      job.giveUp();
      return { hasMore: false, ms: elapsedMs };
    }
    if (elapsedMs >= TURN_MS) {
      job.spentMs += elapsedMs;
      return { hasMore: true, ms: elapsedMs };
    }
  }
}
