import { patient, type Sql } from "./sql.ts";

/*
 * What workers hold, by the batches in which they got it. A batch is written by the statement that gives its tasks to the
 * worker, so whoever sees a batch sees at least that state of its tasks: one of which the worker holds no task any more will
 * never matter again.
 */

/**
 * Of the batches `b` that fit: the tasks `t` that their worker still holds. A task may be in several batches. `offset 0` leaves
 * the planner no other way than from a batch to its tasks.
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

/** Locks tasks in a status whose worker is no more, as far as nothing else has locked them. */
export function lockingTasksOfTheDead(status: "active" | "polling", columns: string, limit: number): string {
  return `select t.* from claim_batches b cross join lateral (
             select ${columns} from tasks t
              where t.team_id = b.team_id and t.id = any(b.task_ids) and t.worker_id = b.worker_id
                and t.status = '${status}'
                for update skip locked) t
            where ${OF_DEAD_WORKERS} limit ${limit}`;
}

/** Removes batches of which nothing is held any more: those of a worker, and those of workers that are no more. */
export async function removeSettledBatches(sql: Sql, workerId: number): Promise<void> {
  await sql.rows(
    patient(
      "chore",
      `delete from claim_batches b
        where (b.worker_id = $1 or ${OF_DEAD_WORKERS})
          and not exists (
            select 1 from tasks t
             where t.team_id = b.team_id and t.id = any(b.task_ids) and t.worker_id = b.worker_id)`,
    ),
    [workerId],
  );
}
