import { patient, prepare, type Sql } from "../sql.ts";
import { untilNext } from "./until-next.ts";

export interface DueQueue {
  readonly teamId: number;
  readonly queue: string;
}

const CAME_DUE = prepare(
  "queues_that_came_due",
  `with due as materialized (
     select distinct team_id, queue_id from tasks
      where status = 'pending' and not sandbox and fence >= 0
        and run_at > now() - make_interval(secs => $1 / 1000.0) and run_at <= now()
   )
   select q.team_id as "teamId", q.name as queue
     from due join queues q on q.team_id = due.team_id and q.id = due.queue_id and q.deleted_at is null`,
);

/** Queues with a task whose time came within the last `withinMs`. Reads only those tasks. */
export async function queuesThatCameDue(sql: Sql, withinMs: number): Promise<DueQueue[]> {
  return sql.rows<DueQueue>(CAME_DUE, [withinMs]);
}

/** Milliseconds until the next delayed task of any queue, or null if none waits. */
export const untilNextDueMs = untilNext(
  "until_next_due",
  "run_at",
  "tasks where status = 'pending' and not sandbox and fence >= 0 and run_at > now()",
);

/**
 * Every queue with due work, found by probing each queue once per priority: the cost follows the number of
 * queues, never the number of tasks. Asked at the start and now and then, in case a hint was lost.
 */
export async function queuesWithDueTasks(sql: Sql): Promise<DueQueue[]> {
  return sql.rows<DueQueue>(QUEUES_WITH_DUE_TASKS);
}

const QUEUES_WITH_DUE_TASKS = patient(
  "chore",
  `select q.team_id as "teamId", q.name as queue from queues q
    where q.deleted_at is null and not q.paused and exists (
      select 1 from (values (1), (2), (3), (4), (5), (6), (7), (8), (9), (10)) as p(priority)
       cross join lateral (
         select 1 from tasks t
          where t.team_id = q.team_id and t.queue_id = q.id and t.priority = p.priority
            and t.status = 'pending' and not t.sandbox and t.run_at <= now()
          order by t.run_at limit 1) due)`,
);
