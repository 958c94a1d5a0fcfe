import type { Reach } from "../../domain/reach.ts";
import type { Task, TaskSummary } from "../../domain/task.ts";
import { createGroupCommit, type GroupCommit } from "../../store/group-commit.ts";
import type { Sql } from "../../store/sql.ts";
import { findTasks, readSummaries } from "../../store/tasks/task-reads.ts";

/** Tasks per statement: each record may have a body and a result of a megabyte, a summary some kilobytes. */
const MOST_RECORDS = 20;
const MOST_SUMMARIES = 100;

export interface TaskReader<Found> {
  find(reach: Reach, id: string): Promise<Found | null>;
}

interface Reads<Found> {
  readonly group: GroupCommit<string, Found | null>;
  users: number;
}

/** Whole tasks, for the answers to single requests. */
export function createRecordReader(sql: Sql): TaskReader<Task> {
  return createTaskReader(MOST_RECORDS, (reach, ids) => findTasks(sql, reach, ids));
}

/** Tasks without their bodies, attempts and the bodies of their results, for the answers to batches. */
export function createSummaryReader(sql: Sql): TaskReader<TaskSummary> {
  return createTaskReader(MOST_SUMMARIES, async ({ teamId, environment }, ids) => {
    const found = await readSummaries(sql, teamId, ids);
    return found.filter(({ sandbox }) => environment === "live" || sandbox);
  });
}

/**
 * Reads tasks for requests that repeat earlier ones. Of a team one statement runs at a time, for all tasks that were
 * asked for during the one before: a batch of a thousand repeats must not take every connection.
 */
function createTaskReader<Found extends { readonly id: string }>(
  mostTogether: number,
  read: (reach: Reach, ids: readonly string[]) => Promise<readonly Found[]>,
): TaskReader<Found> {
  const teams = new Map<string, Reads<Found>>();

  function open(reach: Reach): Reads<Found> {
    const flush = async (ids: readonly string[]) => {
      const found = new Map((await read(reach, [...new Set(ids)])).map((task) => [task.id, task]));
      return ids.map((id) => found.get(id) ?? null);
    };
    return {
      group: createGroupCommit({ flush, maxItems: mostTogether, soon: setImmediate }),
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
