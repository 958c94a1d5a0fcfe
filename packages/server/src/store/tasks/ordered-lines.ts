import type { Queue } from "../../domain/queue.ts";
import { type Sql, statement } from "../sql.ts";
import { HAS_DUE_TASKS } from "./due-queues.ts";

/**
 * For a row `l` of line_tasks. A callback of a message is an exception: it holds the line of the message's queue, but is itself in another
 * queue.
 */
export const IS_IN_QUEUE = "t.queue_id = l.queue_id";

/**
 * Whether the task `t` of the row `l` of line_tasks, which has begun, holds the line of the queue. It does until it has ended, and
 * as long as it blocks the line after a failure. A task that expired or was dismissed never blocks. A task that a user retried joins
 * the line like any other, unless it blocked the line: then the line waits until the task has completed. A callback of a message holds
 * the line until the callback has ended.
 */
export function holdsLine(blocks: string, isMember = IS_IN_QUEUE): string {
  return `(t.status in ('active', 'polling', 'waiting')
        or (t.status = 'pending' and (t.retries = l.retries or (${blocks} and ${isMember})))
        or (t.status = 'failed' and ${blocks} and ${isMember} and t.failure_reason is distinct from 'expired'
            and t.dismissed_at is null))`;
}

/** The same for a row `l` of flow_line_tasks. A retry with a corrected call may give a task another flow: it has left the line of the former. */
export function holdsFlowLine(blocks: string): string {
  return `(t.flow = l.flow and ${holdsLine(blocks, "true")})`;
}

/** For a task `t` that may be deleted: it does not block the line of its queue or flow. */
export const BLOCKS_NO_LINE = `not exists (
         select 1 from line_tasks l join queues b on b.team_id = l.team_id and b.id = l.queue_id
          where l.team_id = t.team_id and l.task_id = t.id and l.begun and b.ordered and b.deleted_at is null
            and ${holdsLine("b.on_failure = 'block'")})
         and not exists (
         select 1 from flow_line_tasks l join flows f on f.team_id = l.team_id and f.sandbox = l.sandbox and f.key = l.flow
          where l.team_id = t.team_id and l.task_id = t.id and (f.sandbox or f.line_at is not null) and f.on_failure = 'block'
            and ${holdsFlowLine("true")})`;

/*
 * A task with a flow waits in the index of its flow, where the line of its queue cannot look. So the task has a row of line_tasks from
 * the time it is stored or retried by hand. The row's created_at is the time of the task's creation. Until the task is due, it is the
 * due time instead, and `retries` is -1.
 */

/** The created_at of the line's row, for the task `t` and a row `clock`. */
const PLACE = "case when t.run_at > clock.at then t.run_at else t.created_at end";
const CLOCK = "cross join (select now() as at) clock";

/**
 * The CTE that puts pending tasks with a flow into the lines of their queues. `from` yields their team_id, queue_id, id, flow, sandbox,
 * created_at and run_at. `blocked`: `t` failed, and blocked its line if its row says that it had begun. Then it continues to hold the line.
 */
export const joiningLines = (from: string, blocked = "false") => `lined as (
     insert into line_tasks as l (team_id, queue_id, created_at, task_id, begun, retries)
     select t.team_id, t.queue_id, ${PLACE}, t.id, false,
            case when t.run_at > clock.at then -1 when ${blocked} and q.on_failure = 'block' then 1 else 0 end
       from ${from} t join queues q on q.team_id = t.team_id and q.id = t.queue_id ${CLOCK}
      where t.flow is not null and not t.sandbox and q.ordered
     -- A claim that would remove the row at this moment finds that its retries have changed, and does not remove it.
     on conflict (team_id, queue_id, created_at, task_id) do update
        set begun = l.begun and excluded.retries = 1,
            retries = case when excluded.retries < 0 then -1 when l.begun and excluded.retries = 1 then l.retries
                           else greatest(l.retries, 0) + 1 end
   )`;

const CLEAR_LINE = statement(
  "clear_line",
  `with cleared as (delete from line_tasks where team_id = $1 and queue_id = $2)
   delete from queue_lines where team_id = $1 and queue_id = $2`,
);

/** The tasks of a queue that are under way, as rows of line_tasks. */
export const UNDER_WAY = `select t.team_id, t.queue_id, t.created_at, t.id, true, t.retries
       from claim_batches b cross join lateral (
              select * from tasks held
               where held.team_id = b.team_id and held.id = any(b.task_ids) and held.worker_id = b.worker_id
              offset 0) t
      where b.team_id = $1 and t.queue_id = $2 and t.status = 'active'
      union
     select t.team_id, t.queue_id, t.created_at, t.id, true, t.retries from tasks t
      where t.team_id = $1 and t.queue_id = $2 and not t.sandbox and t.list_key in ('waiting', 'polling')`;

/** For a pending task `t`: the task has begun, and waits for its next attempt. */
export const HAS_BEGUN = "((t.attempt_count > 0 and t.retries = 0) or t.failures > 0 or t.interruptions > 0)";

const HOLD_LINE = statement(
  "hold_line",
  `insert into line_tasks (team_id, queue_id, created_at, task_id, begun, retries) ${UNDER_WAY}`,
);

/**
 * Starts the line of a queue again, or forgets it. The caller has locked the queue's row. Tasks that are under way when a queue becomes
 * ordered hold the line from then on: one that fails before the first claim may block the line. False: too many tasks with a flow wait.
 */
export async function resetLine(
  sql: Sql,
  { teamId, id: queueId, ordered }: Pick<Queue, "teamId" | "id" | "ordered">,
): Promise<boolean> {
  await sql.rows(CLEAR_LINE, [teamId, queueId]);
  if (!ordered) return true;
  await sql.rows(HOLD_LINE, [teamId, queueId]);
  return (await joinFlowTasks(sql, { teamId, queueId })) <= MOST_JOINING;
}

const HOLD_LINE_FOR_CALLBACKS = statement(
  "hold_line_for_callbacks",
  `insert into line_tasks (team_id, queue_id, created_at, task_id, begun, retries)
   select t.team_id, q.id, t.created_at, t.id, true, t.retries
     from queues q join tasks t on t.team_id = q.team_id and t.id = any($3::uuid[])
    where q.team_id = $1 and q.id = $2 and q.ordered and q.deleted_at is null
   on conflict (team_id, queue_id, created_at, task_id) do nothing`,
);

/** The next task of the queue, if the queue is ordered, waits for these callbacks. Must run in the transaction that stores them. */
export async function holdLineForCallbacks(
  sql: Sql,
  { teamId, queueId }: { readonly teamId: number; readonly queueId: number },
  ids: readonly string[],
): Promise<void> {
  await sql.rows(HOLD_LINE_FOR_CALLBACKS, [teamId, queueId, ids]);
}

/** The most tasks with a flow that may wait in a queue when it becomes ordered: each gets a row in that transaction. */
export const MOST_JOINING = 10_000;

/**
 * Tasks that have begun, and wait for their next attempt, hold the line.
 *
 * Every node runs this statement every five seconds, for a minute after a change of the queue. The order by flow leaves the planner only
 * the index of waiting tasks with a flow, of which it reads the team's part: 2 ms beside 50,000 such tasks of one flow in other queues,
 * 7 to 19 ms if they have as many flows. Without the order it may read all tasks of the queue: 60 ms for 50,000 that have ended.
 */
const JOIN_FLOW_TASKS = statement(
  "join_flow_tasks",
  `with waiting as materialized (
     select t.*, ${HAS_BEGUN} as has_begun from tasks t
      where t.team_id = $1 and t.queue_id = $2 and t.flow_due_at is not null
        and not exists (select 1 from line_tasks l where l.team_id = t.team_id and l.task_id = t.id and l.queue_id = t.queue_id)
      order by t.flow limit ${MOST_JOINING + 1}
   ), joined as (
     insert into line_tasks (team_id, queue_id, created_at, task_id, begun, retries)
     select t.team_id, t.queue_id, case when has_begun then t.created_at else ${PLACE} end, t.id, has_begun,
            case when has_begun then t.retries when t.run_at > clock.at then -1 else 0 end
       from waiting t ${CLOCK}
     on conflict (team_id, queue_id, created_at, task_id) do nothing
   )
   select count(*)::integer as count from waiting`,
  { patience: "chore" },
);

/** Puts the tasks with a flow that wait in an ordered queue, and have no row in its line, into the line. Returns how many there were. */
export async function joinFlowTasks(
  sql: Sql,
  { teamId, queueId }: { readonly teamId: number; readonly queueId: number },
): Promise<number> {
  const [row] = await sql.rows<{ count: number }>(JOIN_FLOW_TASKS, [teamId, queueId]);
  return row?.count ?? 0;
}

export interface OrderedQueue {
  readonly teamId: number;
  readonly queueId: number;
  readonly queue: string;
  /** The queue has due tasks and is not paused. */
  readonly hasDue: boolean;
  /** The queue was created or changed in the last minute: it may have become ordered while tasks with a flow were stored. */
  readonly isNew: boolean;
}

/** Whether tasks with a flow are due in the ordered queue `q`. */
const HAS_DUE_FLOW_TASKS = `not q.paused and exists (
      select 1 from line_tasks l join tasks t on t.team_id = l.team_id and t.id = l.task_id
       where l.team_id = q.team_id and l.queue_id = q.id and l.created_at <= now() and (t.flow_due_at <= now()) is true)`;

const ORDERED_QUEUES = statement(
  "ordered_queues",
  `select q.team_id as "teamId", q.id::float8 as "queueId", q.name as queue, (${HAS_DUE_TASKS}) or (${HAS_DUE_FLOW_TASKS}) as "hasDue",
          q.updated_at > now() - interval '1 minute' as "isNew"
     from queues q where q.ordered and q.deleted_at is null`,
  { patience: "chore" },
);

/** Every ordered queue. */
export async function orderedQueues(sql: Sql): Promise<OrderedQueue[]> {
  return sql.rows<OrderedQueue>(ORDERED_QUEUES);
}
