import type { OnFailure } from "../../domain/queue.ts";
import { columns } from "../columns.ts";
import { type Database, type Sql, statement } from "../sql.ts";
import { createSubscriberMemory, EVENT_COLUMNS, eventCte, type SubscriberMemory } from "./event-writes.ts";
import { claimFlowTasks, type FlowState } from "./flow-claims.ts";
import { openFlowLines } from "./flow-lines.ts";
import { openFlow } from "./flow-places.ts";
import { LINE_MAY_BEGIN } from "./held-hosts.ts";
import { HAS_BEGUN, holdsLine, IS_IN_QUEUE, UNDER_WAY } from "./ordered-lines.ts";
import { tally } from "./tallies.ts";
import { CLAIMED, type Claimed, type ClaimedRow, type ClaimRequest, claimedFrom } from "./task-claims.ts";
import { holding } from "./task-state.ts";

/*
 * The claim of an ordered queue: its tasks start in the order of creation, one at a time, each when the one before has
 * ended. The queue's row is locked first, and the later statements see what the holder of the lock before has committed:
 * two workers can never both find the line free, whatever slots they believe to have. Nothing is skipped because another
 * transaction has locked it: that would let a younger task pass.
 */

const LOCK_LINE = statement(
  "lock_line",
  `select q.on_failure as "onFailure" from queues q
    where q.team_id = $1 and q.id = $2 and q.epoch = $3 and q.ordered and q.deleted_at is null
      and exists (select 1 from workers where id = $4)
      for no key update of q`,
  { prepared: true },
);

/**
 * The tasks that had begun before the queue became ordered hold the line, so that all of them end first. So do tasks that were claimed
 * while the queue changed, and tasks that wait for their next attempt. By now no worker starts a task of the queue without this lock:
 * the slots of the earlier epoch are gone.
 */
const OPEN_LINE = statement(
  "open_line",
  `with held as (
     insert into line_tasks (team_id, queue_id, created_at, task_id, begun, retries)
     ${UNDER_WAY}
      union
     select t.team_id, t.queue_id, t.created_at, t.id, true, t.retries from tasks t
      where t.team_id = $1 and t.queue_id = $2 and t.due_at is not null
        and ${HAS_BEGUN}
      union
     select t.team_id, t.queue_id, t.created_at, t.id, true, t.retries
       from line_tasks l join tasks t on t.team_id = l.team_id and t.id = l.task_id
      where l.team_id = $1 and l.queue_id = $2 and not l.begun and ${IS_IN_QUEUE} and t.status = 'pending' and ${HAS_BEGUN}
     on conflict (team_id, queue_id, created_at, task_id) do update set begun = true, retries = excluded.retries
   )
   insert into queue_lines (team_id, queue_id, looked_at) values ($1, $2, '-infinity')`,
  { patience: "chore" },
);

/** A statement that made a task due commits within this time of its `now()`. */
const OVERLAP = "interval '5 seconds'";
/** The most rows without a reason that one look removes, from the start of the line. */
const MOST_STALE = 100;
/** The most tasks with a flow that came due which one look moves, and the most looks of one claim. */
const MOST_MOVED = 1_000;
const MOST_LOOKS = 20;

/** For a row of line_tasks that has not begun: its task is due and may start. */
const CAN_START = `t.due_at is not null and t.due_at <= now() and (t.deadline_at is null or t.deadline_at > now())`;

/**
 * The same where the task is found by its id. In this form the planner cannot infer that due_at is not null: otherwise a plan
 * made for an empty table walks through all due tasks of the team.
 */
const CAN_START_BY_ID = `(t.due_at <= now()) is true and (t.deadline_at is null or t.deadline_at > now())`;

/** The same for a task with a flow, whose claim decides the rest. */
const FLOW_CAN_START_BY_ID = `(t.flow_due_at <= now()) is true and (t.deadline_at is null or t.deadline_at > now())`;

/** The same for a task with or without a flow. */
const ANY_CAN_START_BY_ID = `(coalesce(t.due_at, t.flow_due_at) <= now()) is true and (t.deadline_at is null or t.deadline_at > now())`;

/** Each in a subquery: from a constant the planner would infer that the index of the alarm fits, and walk all queues' tasks. */
const PRIORITIES = [10, 9, 8, 7, 6, 5, 4, 3, 2, 1];

/**
 * Removes tasks that no longer hold the line, and adds tasks that came due since the last look and later than their creation: delayed
 * tasks and tasks retried by hand. The statement reads each task once or twice, whatever the backlog. A task with a flow has a row from
 * the start: when it has come due, its row moves to the place of its creation.
 * No row: the line has not begun. The statement that locks the line cannot say so: what it reads beside the locked row may be older.
 */
const REFRESH_LINE = statement(
  "refresh_line",
  `with freed as (
     delete from line_tasks l
      where l.team_id = $1 and l.queue_id = $2 and l.begun
        and not exists (select 1 from tasks t where t.team_id = l.team_id and t.id = l.task_id and ${holdsLine("$3::boolean")})
        and not exists (select 1 from tasks t where t.team_id = l.team_id and t.id = l.task_id and t.status = 'pending' and ${IS_IN_QUEUE})
   ), rejoined as (
     update line_tasks l set begun = false
       from tasks t
      where l.team_id = $1 and l.queue_id = $2 and l.begun
        and t.team_id = l.team_id and t.id = l.task_id and t.status = 'pending' and ${IS_IN_QUEUE} and not ${holdsLine("$3::boolean")}
   ), stale as (
     delete from line_tasks l
      using (select f.created_at, f.task_id, f.retries from line_tasks f
              where f.team_id = $1 and f.queue_id = $2 and not f.begun and f.created_at <= now()
                and exists (select 1 from queue_lines where team_id = $1 and queue_id = $2)
              order by f.created_at, f.task_id limit ${MOST_STALE}) f
      -- A statement that has a task join the line again at this moment changes its retries.
      where l.team_id = $1 and l.queue_id = $2 and l.created_at = f.created_at and l.task_id = f.task_id and l.retries = f.retries
        and not exists (select 1 from tasks t where t.team_id = l.team_id and t.id = l.task_id and ${ANY_CAN_START_BY_ID})
   ), last as materialized (
     select looked_at - ${OVERLAP} as since from queue_lines where team_id = $1 and queue_id = $2
   ), came as (
     delete from line_tasks l
      using (select f.created_at, f.task_id from line_tasks f
              where f.team_id = $1 and f.queue_id = $2 and not f.begun and f.retries < 0
                and f.created_at > (select since from last) and f.created_at <= now()
              order by f.created_at, f.task_id limit ${MOST_MOVED}) f
      where l.team_id = $1 and l.queue_id = $2 and l.created_at = f.created_at and l.task_id = f.task_id and l.retries < 0
     returning l.task_id
   ), joined as (
     insert into line_tasks (team_id, queue_id, created_at, task_id, begun)
     select $1::integer, $2::bigint, t.created_at, t.id, false
       from came c join tasks t on t.team_id = $1 and t.id = c.task_id and (t.flow_due_at <= now()) is true
      union all
     ${PRIORITIES.map(
       (priority) => `select $1::integer, $2::bigint, t.created_at, t.id, false from tasks t
      where t.team_id = $1 and t.queue_id = $2 and t.priority = (select ${priority}) and t.due_at is not null
        and t.due_at > (select since from last) and t.due_at <= now() and t.due_at > t.created_at`,
     ).join("\n      union all\n     ")}
     on conflict (team_id, queue_id, created_at, task_id) do nothing
   )
   update queue_lines l set looked_at = case when moved.is_partial then l.looked_at else moved.at end
     from (select count(*) = ${MOST_MOVED} as is_partial, now() as at from came) moved
    where l.team_id = $1 and l.queue_id = $2
   returning moved.is_partial as "isPartial"`,
  { prepared: true },
);

/**
 * The head of the line is the oldest task that holds it. The head starts again only when no other task of the queue is under way; the
 * callbacks of its earlier attempts do not delay it. If no task holds the line, the head is the oldest due task: of each priority the
 * first in the index of due tasks, unless a task that came due later than it was created is older still. The update waits for a
 * transaction that changes the task now, and then checks the task again.
 */
const claiming = (filter: string) => `with holders as materialized (
     select l.created_at, l.task_id, t.status, ${IS_IN_QUEUE} as is_in_queue
       from line_tasks l join tasks t on t.team_id = l.team_id and t.id = l.task_id
      where l.team_id = $1 and l.queue_id = $2 and l.begun and ${holdsLine("$4::boolean")}
   ), due as (
     ${PRIORITIES.map(
       (priority) => `(select t.created_at, t.id as task_id from tasks t
       where t.team_id = $1 and t.queue_id = $2 and t.priority = (select ${priority}) and ${CAN_START}
       order by t.due_at, t.id limit 1)`,
     ).join("\n      union all\n     ")}
      union all
     (select l.created_at, l.task_id from line_tasks l
       where l.team_id = $1 and l.queue_id = $2 and not l.begun and l.created_at <= now()
         and exists (select 1 from tasks t where t.team_id = l.team_id and t.id = l.task_id and ${ANY_CAN_START_BY_ID})
       order by l.created_at, l.task_id limit 1)
   ), head as materialized (
     select task_id from (
       select created_at, task_id from holders
        where is_in_queue and not exists (select 1 from holders where is_in_queue and status <> 'pending')
        union all
       select created_at, task_id from due where not exists (select 1 from holders)) first
      order by created_at, task_id limit 1
   ), claimed as (
     update tasks t
        set status = 'active', due_at = null, list_key = 'begun', worker_id = $3, fence = fence + 1, attempt_count = attempt_count + 1,
            attempt_started_at = now(), started_at = case when started_at is null then at else started_at end, deadline_at = null
       from (select now() as at) clock
      where t.team_id = $1 and t.id = (select task_id from head) and ${CAN_START_BY_ID}${filter}
     returning t.team_id, t.queue_id, t.sandbox, t.status, t.created_at, t.run_at, t.retries,
               encode(callback_sealed, 'hex') as callback_sealed, ${columnsOf("t", CLAIMED)}, ${EVENT_COLUMNS}
   ), begun as (
     insert into line_tasks as l (team_id, queue_id, created_at, task_id, begun, retries)
     select team_id, queue_id, created_at, id, true, retries from claimed
     on conflict (team_id, queue_id, created_at, task_id) do update set begun = true, retries = excluded.retries
   ), ${holding("claimed", "$3::bigint")}, tallied as (
     ${tally({
       from: "claimed",
       worker: "$3::bigint",
       writer: "claim",
       deltas: { pending: "-1", active: "1" },
     })}
   ), ${eventCte({ from: "claimed", type: "'task.started'" })}
   select exists (select 1 from tasks t where t.team_id = $1 and t.id = (select task_id from head) and ${CAN_START_BY_ID}${filter}) as "isDue",
          (select json_build_object('id', t.id, 'flow', t.flow) from tasks t
            where t.team_id = $1 and t.id = (select task_id from head) and ${FLOW_CAN_START_BY_ID}${filter}) as head,
          ${columns("c", `callback_sealed, run_at, ${CLAIMED}`)}
     from (select 1) one left join claimed c on true`;

const CLAIM_ORDERED_TASK = statement("claim_ordered_task", claiming(""), { prepared: true });

/** For a queue whose circuit breaker holds hosts: if the head may not begin, no task may. */
const CLAIM_UNHELD_ORDERED_TASK = statement("claim_unheld_ordered_task", claiming(` and ${LINE_MAY_BEGIN}`), {
  prepared: true,
});

type OrderedRow = ClaimedRow & {
  /** There was a task to start: if none was claimed, another transaction changed it at this moment. */
  readonly isDue: boolean;
  /** The first task, if the line lets it start and it has a flow. The statement claimed nothing then. */
  readonly head: Head | null;
};

interface Head {
  readonly id: string;
  readonly flow: string;
}

/** The state of the flow of a line's first task. */
export type HeadState = FlowState & { readonly isOrdered: boolean };

export interface LineClaimed extends Claimed {
  /** The state of the first task's flow, if it has one. If the claim took nothing, the line waits for the flow. */
  readonly head?: HeadState;
}

/** If a task changes during its claim, the claim tries again, at most this often. Then the task waits for the next claim. */
const TRIES = 3;

/** Takes the first task of an ordered queue, if it is due and nothing holds the line. */
export function claimOrderedTask(
  database: Database,
  request: ClaimRequest,
  nowMs: () => number,
  memory = createSubscriberMemory(),
): Promise<LineClaimed> {
  return database.transaction((sql) => claimFirstOfLine(sql, request, nowMs, memory));
}

/** The same within a transaction. `nowMs` is the worker's monotonic clock. */
export async function claimFirstOfLine(
  sql: Sql,
  request: ClaimRequest,
  nowMs: () => number,
  memory: SubscriberMemory,
): Promise<LineClaimed> {
  const { teamId, queueId, epoch, workerId, holdsHosts } = request;
  const claim = holdsHosts ? CLAIM_UNHELD_ORDERED_TASK : CLAIM_ORDERED_TASK;
  const [line] = await sql.rows<{ onFailure: OnFailure }>(LOCK_LINE, [teamId, queueId, epoch, workerId]);
  if (line === undefined) return { isCurrent: false, claims: [], waitsMs: [] };
  const blocks = line.onFailure === "block";
  await refreshLine(sql, teamId, queueId, blocks);
  for (let tries = 1; ; tries += 1) {
    const [row] = await sql.rows<OrderedRow>(claim, [teamId, queueId, workerId, blocks]);
    const isMissed = row?.id === null && row.isDue;
    if (row !== undefined && row.head !== null) return claimHead(sql, request, row.head, nowMs, memory);
    if (row !== undefined && (!isMissed || tries === TRIES))
      return claimedFrom([{ ...row, isCurrent: true }], request);
  }
}

/** Begins the line, if it has not begun, and brings it up to date. */
async function refreshLine(sql: Sql, teamId: number, queueId: number, blocks: boolean): Promise<void> {
  for (let looks = 1; looks <= MOST_LOOKS; looks += 1) {
    const [look] = await sql.rows<{ isPartial: boolean }>(REFRESH_LINE, [teamId, queueId, blocks]);
    if (look?.isPartial === false) return;
    if (look === undefined) await sql.rows(OPEN_LINE, [teamId, queueId]);
  }
}

/** Takes the first task of a line, if its flow lets it begin. In an ordered flow, the task must be the first of that line too. */
async function claimHead(
  sql: Sql,
  { teamId, queueId, queue, epoch, workerId }: ClaimRequest,
  { id: headId, flow }: Head,
  nowMs: () => number,
  memory: SubscriberMemory,
): Promise<LineClaimed> {
  const asked = {
    teamId,
    workerId,
    queues: [{ queueId, queue, epoch, free: 1 }],
    lanes: [{ flow, queueId }],
    limit: 1,
    headId,
  };
  let isOrdered = false;
  for (let tries = 1; ; tries += 1) {
    const { claims, waitsMs, flows } = await claimFlowTasks(sql, { ...asked, isOrdered }, nowMs(), memory);
    const [state = { flow, kind: "busy", waitMs: null, holdsTasks: false, claimed: 0 }] = flows;
    const isSettled = !["unknown", "ordered", "unordered", "unopened"].includes(state.kind);
    if (isSettled || tries > TRIES)
      return { isCurrent: true, claims, waitsMs, head: { ...state, isOrdered } };
    if (state.kind === "unknown") await openFlow(sql, teamId, flow);
    else if (state.kind === "unopened") await openFlowLines(sql, teamId, [flow]);
    else isOrdered = state.kind === "ordered";
  }
}

/** The columns of a comma-separated list, each with its table. */
function columnsOf(table: string, names: string): string {
  return names
    .split(",")
    .map((name) => `${table}.${name.trim()}`)
    .join(", ");
}
