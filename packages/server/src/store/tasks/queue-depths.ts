import { type Sql, statement } from "../sql.ts";

/** All queues of one name, over all teams. */
export interface QueueDepth {
  /** Null for the queues of all other names together. */
  readonly queue: string | null;
  readonly pending: number;
  readonly active: number;
  readonly waiting: number;
  readonly polling: number;
  /** Seconds since the oldest pending task became due; 0 if none is due. */
  readonly oldestPendingSeconds: number;
}

/** Of the tasks that a circuit breaker holds back, so many are read. */
const HELD = `(select min(k.due_at) from (
         select k.due_at from breaker_tasks k where k.team_id = c.team_id and k.queue_id = c.id and k.passed_at is null
          order by k.host, k.priority desc, k.due_at limit 1000) k)`;

/** The first task of each priority in the index of claimable tasks, and the first of those that are held back. */
export const FIRST_RUN_AT = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
  .map(
    (priority) =>
      `(select t.due_at from tasks t where t.team_id = c.team_id and t.queue_id = c.id
         and t.priority = ${priority} and t.due_at is not null order by t.due_at limit 1)`,
  )
  .concat(HELD);

const READ_QUEUE_DEPTHS = statement(
  "read_queue_depths",
  `with counted as materialized (
     select q.team_id, q.id, q.name, coalesce(sum(t.pending), 0) as pending, coalesce(sum(t.active), 0) as active,
            coalesce(sum(t.waiting), 0) as waiting, coalesce(sum(t.polling), 0) as polling
       from queues q left join queue_tallies t on t.team_id = q.team_id and t.queue_id = q.id and not t.sandbox
      where q.deleted_at is null
      group by q.team_id, q.id, q.name
   ), named as (
     select c.name, row_number() over (order by min(c.id)) as place, sum(c.pending) as pending,
            sum(c.active) as active, sum(c.waiting) as waiting, sum(c.polling) as polling,
            min(case when c.pending > 0 then least(${FIRST_RUN_AT.join(", ")}) end) as first_run_at
       from counted c group by c.name
   )
   select case when place <= $1 then name end as queue, sum(pending)::float8 as pending,
          sum(active)::float8 as active, sum(waiting)::float8 as waiting, sum(polling)::float8 as polling,
          greatest(0, extract(epoch from now() - min(first_run_at)))::float8 as "oldestPendingSeconds"
     from named group by 1`,
);

/**
 * Queue depths over all teams, for the operator. Counts come from the tallies, and only queues with pending tasks are
 * probed for their oldest: the cost depends on the number of queues, never of tasks. The oldest `mostNames` names are
 * listed separately, so that a name keeps its place when others are added.
 */
export async function readQueueDepths(sql: Sql, mostNames: number): Promise<QueueDepth[]> {
  return sql.rows<QueueDepth>(READ_QUEUE_DEPTHS, [mostNames]);
}
