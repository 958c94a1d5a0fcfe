import type { Reach } from "../../domain/reach.ts";
import type { Task } from "../../domain/task.ts";
import { createGroupCommit, type GroupCommit } from "../../store/group-commit.ts";
import type { Sql } from "../../store/sql.ts";
import { findTasks } from "../../store/tasks/task-reads.ts";

/** Tasks per statement: each may have a body and a result of a megabyte. */
const MOST_TOGETHER = 20;

export interface TaskReader {
  find(reach: Reach, id: string): Promise<Task | null>;
}

interface Reads {
  readonly group: GroupCommit<string, Task | null>;
  users: number;
}

/**
 * Reads whole tasks, for requests that repeat earlier ones. Of a team one statement runs at a time, for all tasks that were
 * asked for during the one before: a batch of a thousand repeats must not take every connection.
 */
export function createTaskReader(sql: Sql): TaskReader {
  const teams = new Map<string, Reads>();

  function open(reach: Reach): Reads {
    const flush = async (ids: readonly string[]) => {
      const found = new Map((await findTasks(sql, reach, ids)).map((task) => [task.id, task]));
      return ids.map((id) => found.get(id) ?? null);
    };
    return {
      group: createGroupCommit({ flush, maxItems: MOST_TOGETHER, soon: setImmediate }),
      users: 0,
    };
  }

  return {
    async find(reach, id) {
      const name = `${reach.teamId} ${reach.environment}`;
      const reads = teams.get(name) ?? open(reach);
      teams.set(name, reads);
      reads.users += 1;
      try {
        return await reads.group.add(id);
      } finally {
        reads.users -= 1;
        if (reads.users === 0) teams.delete(name);
      }
    },
  };
}
