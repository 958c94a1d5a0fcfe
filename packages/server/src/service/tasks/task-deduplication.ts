import { Problem } from "../../domain/problem.ts";
import type { NewTask } from "../../domain/task.ts";
import type { AcceptanceDeps } from "../../domain/task-acceptance.ts";
import type { TaskChanges } from "../../domain/task-changes.ts";
import { createGroupCommit } from "../../store/group-commit.ts";
import { type Database, Unstorable } from "../../store/sql.ts";
import { INSERT_WEIGHT } from "../../store/tasks/submission.ts";
import { type Joined, joinTasks } from "./task-joins.ts";

/** Tasks per transaction. */
const MOST_TOGETHER = 200;
/** Beyond this many waiting requests a 503 is better than a longer queue, for a team that has its share of them. */
const MOST_WAITING = 5_000;

export interface Deduplication {
  /** Creates the task or joins it with an earlier one. Tasks that are submitted one after another are handled in that order. */
  submit(task: NewTask): Promise<Joined>;
}

/**
 * One transaction at a time on each node, for all requests that arrived during the one before: requests with the same key
 * would otherwise each hold a connection while they wait for the key's lock. Teams share a transaction equally.
 */
export function createDeduplication(deps: {
  readonly database: Database;
  readonly newCallback: AcceptanceDeps["newCallback"];
  readonly changes: Pick<TaskChanges, "created" | "replaced">;
  /** After the current turn of the event loop. */
  readonly soon: (work: () => void) => void;
}): Deduplication {
  const group = createGroupCommit<NewTask, Joined>({
    flush: store,
    maxItems: MOST_TOGETHER,
    weight: INSERT_WEIGHT,
    teamOf: ({ teamId }) => teamId,
    soon: deps.soon,
  });

  async function store(tasks: readonly NewTask[]): Promise<readonly Joined[]> {
    try {
      const joined = await deps.database.transaction((sql) => joinTasks(sql, tasks, deps.newCallback));
      joined.report(deps.changes);
      return joined.results;
    } catch (error) {
      if (!(error instanceof Unstorable)) throw error;
      return storeSeparately(tasks);
    }
  }

  /** Refuses only the task that the database cannot store. */
  async function storeSeparately(tasks: readonly NewTask[]): Promise<readonly Joined[]> {
    if (tasks.length === 1)
      return [new Problem("invalid", { reason: "The task holds characters that cannot be stored" })];
    const results: Joined[] = [];
    for (const task of tasks) results.push(...(await store([task])));
    return results;
  }

  return {
    submit(task) {
      return group.isFull(task, MOST_WAITING) ? Promise.reject(new Problem("overloaded")) : group.add(task);
    },
  };
}
