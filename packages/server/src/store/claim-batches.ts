import { type Sql, statement } from "./sql.ts";

/*
 * The tasks that workers hold, by the batches in which they got them. The statement that gives tasks to a worker also
 * writes the batch, so a reader that sees a batch sees at least that state of its tasks. A batch of which the worker
 * holds no task any more will never matter again.
 */

/**
 * The tasks `t` that the workers of matching batches `b` still hold. A task may be in several batches. `offset 0`
 * forces the planner to go from a batch to its tasks.
 */
export function heldBy(batches: string): string {
  return `from claim_batches b cross join lateral (
            select * from tasks held
             where held.team_id = b.team_id and held.id = any(b.task_ids) and held.worker_id = b.worker_id
            offset 0) t
           where ${batches}`;
}

/** The active tasks `t` of a team outside of the sandbox, each once for each batch that it is in. */
export function activeTasks(team: string): string {
  return `${heldBy(`b.team_id = ${team}`)} and t.status = 'active'`;
}

const OF_DEAD_WORKERS = "not exists (select 1 from workers w where w.id = b.worker_id)";

/** Locks tasks of dead workers in a status, skipping locked rows. */
export function lockingTasksOfTheDead(status: "active" | "polling", columns: string, limit: number): string {
  return `select t.* from claim_batches b cross join lateral (
             select ${columns} from tasks t
              where t.team_id = b.team_id and t.id = any(b.task_ids) and t.worker_id = b.worker_id
                and t.status = '${status}'
                for update skip locked) t
            where ${OF_DEAD_WORKERS} limit ${limit}`;
}

const REMOVE_SETTLED_BATCHES = statement(
  "remove_settled_batches",
  `delete from claim_batches b
    where (b.worker_id = $1 or ${OF_DEAD_WORKERS})
      and not exists (
        select 1 from tasks t
         where t.team_id = b.team_id and t.id = any(b.task_ids) and t.worker_id = b.worker_id)`,
  { patience: "chore" },
);

/** Removes batches without held tasks: those of one worker, and those of dead workers. */
export async function removeSettledBatches(sql: Sql, workerId: number): Promise<void> {
  await sql.rows(REMOVE_SETTLED_BATCHES, [workerId]);
}
