/** Work that rests now and then, and comes to a text. */
type Portions = Generator<undefined, string, undefined>;

interface Job {
  readonly portions: Portions;
  readonly resolve: (text: string | null) => void;
  spentMs: number;
}

/** Of the process's time in one turn of its loop; then whatever else waits comes first. */
const TURN_MS = 4;
/** Of the process's time for one text. A megabyte takes a tenth of this. */
const BUDGET_MS = 2_000;

export interface Wiping {
  /** Does the work beside everything else. Null: it took too long, and its text must not be used. */
  run(teamId: number, portions: Portions): Promise<string | null>;
}

/**
 * Long texts from strangers are searched for secrets here: a little in each turn of the loop, one text at a time, the
 * teams in turn. So another team's calls wait for milliseconds, however much a team has sent back to it.
 */
export function createWiping(budgetMs = BUDGET_MS): Wiping {
  const jobs = new Map<number, Job[]>();

  function turn(): void {
    const [next] = jobs;
    if (next === undefined) return;
    const [teamId, [job, ...others]] = next;
    // To the end of the line, behind the other teams.
    jobs.delete(teamId);
    if (job !== undefined) {
      const left = workOn(job, budgetMs) ? [job, ...others] : others;
      if (left.length > 0) jobs.set(teamId, left);
    }
    if (jobs.size > 0) setImmediate(turn);
  }

  return {
    run(teamId, portions) {
      return new Promise((resolve) => {
        if (jobs.size === 0) setImmediate(turn);
        jobs.set(teamId, [...(jobs.get(teamId) ?? []), { portions, resolve, spentMs: 0 }]);
      });
    },
  };
}

/** Returns whether there is more to do. */
function workOn(job: Job, budgetMs: number): boolean {
  const startedAt = performance.now();
  while (true) {
    const { done, value } = job.portions.next();
    const elapsedMs = performance.now() - startedAt;
    if (done === true) {
      job.resolve(value);
      return false;
    }
    if (job.spentMs + elapsedMs > budgetMs) {
      job.resolve(null);
      return false;
    }
    if (elapsedMs >= TURN_MS) {
      job.spentMs += elapsedMs;
      return true;
    }
  }
}
