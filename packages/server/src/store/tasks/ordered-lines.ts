import type { Queue } from "../../domain/queue.ts";
import { type Sql, statement } from "../sql.ts";
import { HAS_DUE_TASKS } from "./due-queues.ts";

/** Not so for a callback of a message: it holds the line of the message's queue, and is in a queue of its own. */
export const IS_IN_QUEUE = "t.queue_id = l.queue_id";

/** For a row `l` of flow_line_tasks. A retry with a corrected call may give a task another flow. */
export const IS_IN_FLOW = "t.flow = l.flow";

/**
 * Whether the task `t` of the row `l` of line_tasks or flow_line_tasks, which has begun, holds its line: until it has ended, and as
 * long as it blocks the line after a failure. A task that expired or was dismissed never does. One that a user retried joins the line
 * like any other, unless it blocked: then the line waits until it has completed. A callback of a message holds it until the callback
 * has ended.
 */
export function holdsLine(blocks: string, isMember = IS_IN_QUEUE): string {
  return `(t.status in ('active', 'polling', 'waiting')
        or (t.status = 'pending' and (t.retries = l.retries or (${blocks} and ${isMember})))
        or (t.status = 'failed' and ${blocks} and ${isMember} and t.failure_reason is distinct from 'expired'
            and t.dismissed_at is null))`;
}

/** For a task `t` that may be deleted: it does not block the line of its queue or flow. */
export const BLOCKS_NO_LINE = `not exists (
         select 1 from line_tasks l join queues b on b.team_id = l.team_id and b.id = l.queue_id
          where l.team_id = t.team_id and l.task_id = t.id and l.begun and b.ordered and b.deleted_at is null
            and ${holdsLine("b.on_failure = 'block'")})
         and not exists (
         select 1 from flow_line_tasks l join flows f on f.team_id = l.team_id and f.sandbox = l.sandbox and f.key = l.flow
          where l.team_id = t.team_id and l.task_id = t.id and (f.sandbox or f.line_at is not null) and f.on_failure = 'block'
            and ${holdsLine("true", IS_IN_FLOW)})`;

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

const HOLD_LINE = statement(
  "hold_line",
  `insert into line_tasks (team_id, queue_id, created_at, task_id, begun, retries) ${UNDER_WAY}`,
);

/**
 * Starts the line of a queue again, or forgets it. The queue's row is locked. What is under way when a queue becomes ordered
 * holds the line from then on: if it fails before the first claim, it may block the line.
 */
export async function resetLine(
  sql: Sql,
  { teamId, id, ordered }: Pick<Queue, "teamId" | "id" | "ordered">,
): Promise<void> {
  await sql.rows(CLEAR_LINE, [teamId, id]);
  if (ordered) await sql.rows(HOLD_LINE, [teamId, id]);
}

const HOLD_LINE_FOR_CALLBACKS = statement(
  "hold_line_for_callbacks",
  `insert into line_tasks (team_id, queue_id, created_at, task_id, begun, retries)
   select t.team_id, q.id, t.created_at, t.id, true, t.retries
     from queues q join tasks t on t.team_id = q.team_id and t.id = any($3::uuid[])
    where q.team_id = $1 and q.id = $2 and q.ordered and q.deleted_at is null
   on conflict (team_id, queue_id, created_at, task_id) do nothing`,
);

/** The next task of the queue, if it is ordered, waits for these callbacks. In the transaction that stores them. */
export async function holdLineForCallbacks(
  sql: Sql,
  { teamId, queueId }: { readonly teamId: number; readonly queueId: number },
  ids: readonly string[],
): Promise<void> {
  await sql.rows(HOLD_LINE_FOR_CALLBACKS, [teamId, queueId, ids]);
}

const HAS_WAITING_FLOW_TASKS = statement(
  "has_waiting_flow_tasks",
  `select exists (
     select 1 from tasks where team_id = $1 and queue_id = $2 and flow_due_at is not null) as "isFound"`,
  { patience: "chore" },
);

/** Whether tasks with a flow wait in the queue: they would start by their flow, not by the line. */
export async function hasWaitingFlowTasks(
  sql: Sql,
  { teamId, id }: Pick<Queue, "teamId" | "id">,
): Promise<boolean> {
  const [row] = await sql.rows<{ isFound: boolean }>(HAS_WAITING_FLOW_TASKS, [teamId, id]);
  return row?.isFound ?? false;
}

export interface OrderedQueue {
  readonly teamId: number;
  readonly queueId: number;
  readonly queue: string;
  /** It has due tasks and is not paused. */
  readonly hasDue: boolean;
}

const ORDERED_QUEUES = statement(
  "ordered_queues",
  `select q.team_id as "teamId", q.id::float8 as "queueId", q.name as queue, (${HAS_DUE_TASKS}) as "hasDue"
     from queues q where q.ordered and q.deleted_at is null`,
  { patience: "chore" },
);

/** Every ordered queue. */
export async function orderedQueues(sql: Sql): Promise<OrderedQueue[]> {
  return sql.rows<OrderedQueue>(ORDERED_QUEUES);
}
