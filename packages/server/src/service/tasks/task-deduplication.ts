import { Problem } from "../../domain/problem.ts";
import type { NewTask } from "../../domain/task.ts";
import type { AcceptanceDeps } from "../../domain/task-acceptance.ts";
import type { TaskChanges } from "../../domain/task-changes.ts";
import { type Database, Unstorable } from "../../store/sql.ts";
import { type Joined, joinTasks } from "./task-joins.ts";

/** Tasks, and characters of bodies, per transaction. */
const MOST_TOGETHER = 200;
const MOST_CHARACTERS = 2 ** 20;
/** Beyond this many waiting requests of a team a 503 is better than a longer queue. */
const MOST_WAITING = 5_000;

export interface Deduplication {
  /** Creates the task or joins it with an earlier one. Tasks that are submitted one after another are handled in that order. */
  submit(task: NewTask): Promise<Joined>;
}

interface Waiting {
  readonly task: NewTask;
  readonly resolve: (joined: Joined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * One transaction at a time on each node, for all requests that arrived during the one before: requests with the same key
 * would otherwise each hold a connection while they wait for the key's lock. Teams share a transaction equally.
 */
export function createDeduplication(deps: {
  readonly database: Database;
  readonly newCallback: AcceptanceDeps["newCallback"];
  readonly changes: Pick<TaskChanges, "created" | "replaced">;
}): Deduplication {
  /** By team, in the order of their turns. */
  const lines = new Map<number, Waiting[]>();
  let isRunning = false;

  async function store(batch: readonly Waiting[]): Promise<void> {
    try {
      const joined = await deps.database.transaction((sql) =>
        joinTasks(
          sql,
          batch.map(({ task }) => task),
          deps.newCallback,
        ),
      );
      joined.report(deps.changes);
      for (const [index, { resolve }] of batch.entries()) resolve(joined.results[index] ?? null);
    } catch (error) {
      if (!(error instanceof Unstorable)) for (const { reject } of batch) reject(error);
      else if (batch.length > 1) for (const each of batch) await store([each]);
      else
        batch[0]?.resolve(
          new Problem("invalid", { reason: "The task holds characters that cannot be stored" }),
        );
    }
  }

  async function run(): Promise<void> {
    isRunning = true;
    // Requests that arrive in this turn of the event loop share the transaction.
    await Promise.resolve();
    while (lines.size > 0) await store(takeBatch(lines));
    isRunning = false;
  }

  return {
    submit(task) {
      const line = lines.get(task.teamId) ?? [];
      if (line.length >= MOST_WAITING) return Promise.reject(new Problem("overloaded"));
      return new Promise((resolve, reject) => {
        line.push({ task, resolve, reject });
        lines.set(task.teamId, line);
        if (!isRunning) void run();
      });
    },
  };
}

/** The next requests of each team, as far as they fit. A team with more of them is the last in the next turn. */
function takeBatch(lines: Map<number, Waiting[]>): Waiting[] {
  const share = Math.ceil(MOST_TOGETHER / lines.size);
  const batch: Waiting[] = [];
  let characters = 0;
  for (const [teamId, line] of [...lines]) {
    const tooMany = line.findIndex(({ task }, index) => {
      if (index === share) return true;
      characters += task.call.body?.length ?? 0;
      return batch.length + index > 0 && characters > MOST_CHARACTERS;
    });
    const count = tooMany === -1 ? line.length : tooMany;
    if (count === 0) break;
    batch.push(...line.splice(0, count));
    lines.delete(teamId);
    if (line.length > 0) lines.set(teamId, line);
    if (batch.length >= MOST_TOGETHER) break;
  }
  return batch;
}
