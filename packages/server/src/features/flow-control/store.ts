import { isPaused, pauseOf } from "../../domain/gate/gate.ts";
import type { Reach } from "../../domain/reach.ts";
import { type Sql, statement } from "../../store/sql.ts";
import { IS_ORDERED } from "../../store/tasks/flow-claim-parts.ts";
import { openFlowLines } from "../../store/tasks/flow-lines.ts";
import { LIMITS, TAKEN, windowAt } from "../../store/tasks/flow-state.ts";
import { beginSandboxLine } from "../../store/tasks/sandbox-flows.ts";
import type { Flow, StoredLimits } from "./domain.ts";

/** Waiting tasks are counted to this number. */
const MOST_WAITING = 10_000;
/** Due tasks that are read to put the flows of a list in order. */
const MOST_READ = 200_000;

const ORDERED_SOURCE =
  "case when f.ordered is not null then 'stored' when f.task_ordered is not null then 'task' end";

const FIGURES = `f.key, ${LIMITS}, now() as now,
   case when ${IS_ORDERED} then ${ORDERED_SOURCE}
        when f.concurrency is not null then 'stored' when f.task_concurrency is not null then 'task' end as "concurrencySource",
   ${ORDERED_SOURCE} as "orderedSource",
   case when f.rate is not null then 'stored' when f.task_rate is not null then 'task' end as "rateSource",
   coalesce(f.pause_on_retry_after, f.key like 'host:%' or f.key like 'token:%') as "pauseOnRetryAfter",
   f.max_waiting as "maxWaiting"`;

/** By the clock of the flow's environment. */
const NOW = `(now() + make_interval(secs => coalesce(
       (select c.ahead_seconds from sandbox_clocks c where c.team_id = f.team_id and f.sandbox), 0)))`;

const WAITING = `(select count(*)::integer from (
       select 1 from tasks t where t.team_id = f.team_id and t.flow = f.key and not f.sandbox
          and t.flow_due_at is not null and t.flow_due_at <= now() limit ${MOST_WAITING}) w)`;

const WAITING_IN_SANDBOX = `(select count(*)::integer from (
       select 1 from tasks t join simulations s on s.team_id = t.team_id and s.task_id = t.id and s.said is not null
        where f.sandbox and t.team_id = f.team_id and t.sandbox and t.list_key = 'pending' and t.flow = f.key
          and t.run_at <= ${NOW} limit ${MOST_WAITING}) w)`;

/** The calls begun in the period. */
const BEGUN = `(select w.begun from ${windowAt(NOW)} w)`;

const FIND_FLOW = statement(
  "find_flow",
  `select ${FIGURES}, ${TAKEN} as active, ${WAITING} + ${WAITING_IN_SANDBOX} as waiting, ${BEGUN} as "begunInPeriod" from flows f
    where f.team_id = $1 and f.sandbox = ($2 = 'test') and f.key = $3 and ${isShown()}`,
  { patience: "list" },
);

/** Something is stored, it is paused, or it has or had an open task in the last day. used_at is up to an hour too early. */
function isShown(): string {
  return `(f.is_stored or f.paused or f.paused_until > now() or f.used_at > now() - interval '25 hours'
       or exists (select 1 from tasks t where t.team_id = f.team_id and t.flow = f.key and t.flow_due_at is not null))`;
}

export async function findFlow(sql: Sql, { teamId, environment }: Reach, key: string): Promise<Flow | null> {
  const [row] = await sql.rows<FlowRow>(FIND_FLOW, [teamId, environment, key]);
  return row === undefined ? null : flowOf(row);
}

interface FlowRow extends Flow {
  readonly now: Date;
}

function flowOf({ now, ...flow }: FlowRow): Flow {
  const pause = pauseOf(flow);
  const isNow = isPaused({ pause }, now);
  return {
    ...flow,
    concurrency: flow.ordered ? 1 : flow.concurrency,
    paused: isNow,
    pausedUntil: isNow ? (pause?.until ?? null) : null,
  };
}

/**
 * The busiest first: an order that changes, so a page is found by its offset. Putting them in order counts their tasks and
 * calls: flows without any are looked up no more, and the tasks are counted again only if there were too many to read.
 */
const LIST_FLOWS = statement(
  "list_flows",
  `with due as (
     select flow, count(*) as tasks from (
       select t.flow from tasks t where t.team_id = $1 and $2 = 'live' and t.flow_due_at is not null and t.flow_due_at <= now()
        limit ${MOST_READ}) d
      group by flow
   ), held as (
     select flow, count(*) as calls from flow_holds where team_id = $1 and sandbox = ($2 = 'test') group by flow
   ), page as (
     select f.*, coalesce(due.tasks, 0) as due, coalesce(held.calls, 0) as held, coalesce(due.tasks, 0) + coalesce(held.calls, 0) as busy
       from flows f left join due on due.flow = f.key left join held on held.flow = f.key
      where f.team_id = $1 and f.sandbox = ($2 = 'test') and ($3::text is null or position(lower($3) in lower(f.key)) > 0)
        and (due.tasks is not null or held.calls is not null or ${isShown()})
      order by busy desc, f.key
      limit $4 offset $5
   ), counted as (select coalesce(sum(tasks), 0) < ${MOST_READ} as is_whole from due)
   select ${FIGURES}, case when f.held > 0 then ${TAKEN} else 0 end as active,
          case when f.sandbox then ${WAITING_IN_SANDBOX}
               when (select is_whole from counted) then least(f.due, ${MOST_WAITING})::integer else ${WAITING} end as waiting,
          case when coalesce(f.rate, f.task_rate) is not null then ${BEGUN} else 0 end as "begunInPeriod"
     from page f order by f.busy desc, f.key`,
  { patience: "list" },
);

export async function listFlows(
  sql: Sql,
  { teamId, environment }: Reach,
  page: { readonly search: string | null; readonly limit: number; readonly offset: number },
): Promise<Flow[]> {
  const values = [teamId, environment, page.search, page.limit, page.offset];
  return (await sql.rows<FlowRow>(LIST_FLOWS, values)).map(flowOf);
}

const COUNT_STORED = statement(
  "count_stored_flows",
  "select count(*)::integer as count from flows where team_id = $1 and sandbox = ($2 = 'test') and (is_stored or paused) and key <> $3",
);

/** The keys with something stored, a pause too, without this one. */
export async function countStored(sql: Sql, { teamId, environment }: Reach, key: string): Promise<number> {
  const [row] = await sql.rows<{ count: number }>(COUNT_STORED, [teamId, environment, key]);
  return row?.count ?? 0;
}

const LOCK_FLOW = statement(
  "lock_flow",
  `select f.is_stored as "isStored", ${IS_ORDERED} as "isOrdered" from flows f
    where f.team_id = $1 and f.sandbox = ($2 = 'test') and f.key = $3 for update`,
);

const PUT_FLOW = statement(
  "put_flow",
  `insert into flows as f (team_id, sandbox, key, is_stored, concurrency, rate, period, ordered, on_failure, pause_on_retry_after, hold, max_waiting)
   values ($1, $2 = 'test', $3, true, $4, $5, $6, $7, $8, $9, $10, $11)
   on conflict (team_id, sandbox, key) do update
      set is_stored = true, concurrency = excluded.concurrency, rate = excluded.rate, period = excluded.period,
          ordered = excluded.ordered, on_failure = excluded.on_failure,
          line_at = case when coalesce(excluded.ordered, f.task_ordered, false) then f.line_at end,
          pause_on_retry_after = excluded.pause_on_retry_after, hold = excluded.hold, max_waiting = excluded.max_waiting`,
);

/** Replaces what was stored. Resolves with whether nothing was. */
export async function putFlow(
  sql: Sql,
  { teamId, environment }: Reach,
  key: string,
  limits: StoredLimits,
): Promise<boolean> {
  const [before] = await sql.rows<{ isStored: boolean; isOrdered: boolean }>(LOCK_FLOW, [
    teamId,
    environment,
    key,
  ]);
  const { concurrency, rate, period, ordered, onFailure, pauseOnRetryAfter, hold, maxWaiting } = limits;
  const figures = [concurrency, rate, period, ordered, onFailure, pauseOnRetryAfter, hold, maxWaiting];
  await sql.rows(PUT_FLOW, [teamId, environment, key, ...figures]);
  // What is under way from this commit on may block the line.
  if (ordered && environment === "live") await openFlowLines(sql, teamId, [key]);
  if (ordered && environment === "test" && before?.isOrdered === false)
    await beginSandboxLine(sql, teamId, key);
  return before?.isStored !== true;
}

const FORGET_STORED = statement(
  "forget_stored_flow",
  `update flows set is_stored = false, concurrency = null, rate = null, period = null, ordered = null, on_failure = null,
          pause_on_retry_after = null, hold = null, max_waiting = null,
          line_at = case when task_ordered then line_at end
    where team_id = $1 and sandbox = ($2 = 'test') and key = $3 and is_stored returning 1`,
);

/** Resolves with whether anything was stored. */
export async function forgetStored(sql: Sql, { teamId, environment }: Reach, key: string): Promise<boolean> {
  return (await sql.rows(FORGET_STORED, [teamId, environment, key])).length > 0;
}

const SET_FLOW_PAUSED = statement(
  "set_flow_paused",
  `insert into flows as f (team_id, sandbox, key, paused) values ($1, $2 = 'test', $3, $4)
   on conflict (team_id, sandbox, key) do update set paused = excluded.paused, paused_until = null`,
);

/** Ends a pause by Retry-After too. A key that no task had yet may be paused. */
export async function setFlowPaused(
  sql: Sql,
  { teamId, environment }: Reach,
  key: string,
  paused: boolean,
): Promise<void> {
  await sql.rows(SET_FLOW_PAUSED, [teamId, environment, key, paused]);
}

const RESET_FLOW = statement(
  "reset_flow",
  `with unconfirmed as (
     update flow_holds set permit_at = null
      where team_id = $1 and sandbox = ($2 = 'test') and flow = $3 and permit_at is not null
   )
   delete from flow_permits where team_id = $1 and sandbox = ($2 = 'test') and flow = $3`,
);

/** Restarts the window: no call that began before counts. */
export async function resetFlow(sql: Sql, { teamId, environment }: Reach, key: string): Promise<void> {
  await sql.rows(LOCK_FLOW, [teamId, environment, key]);
  await sql.rows(RESET_FLOW, [teamId, environment, key]);
}

const FORGET_FLOWS = statement(
  "forget_flows",
  `delete from flows f using (
     select f.team_id, f.sandbox, f.key from flows f
      where f.used_at < now() - interval '26 hours' and not f.is_stored and not f.paused
        and (f.paused_until is null or f.paused_until < now())
        and not exists (select 1 from flow_holds h where h.team_id = f.team_id and h.sandbox = f.sandbox and h.flow = f.key)
        and not exists (select 1 from tasks t where t.team_id = f.team_id and t.flow = f.key and t.flow_due_at is not null)
      order by f.used_at limit $1 for update skip locked) old
    where f.team_id = old.team_id and f.sandbox = old.sandbox and f.key = old.key
   returning 1`,
  { patience: "chore" },
);

const SWEEP_HOLDS = statement(
  "sweep_flow_holds",
  `delete from flow_holds h
    where not exists (select 1 from tasks t where t.team_id = h.team_id and t.id = h.task_id and t.completed_at is null)
      and (h.permit_at is null or h.permit_at < now() - interval '7 days')`,
  { patience: "chore" },
);

const SWEEP_LINES = statement(
  "sweep_flow_lines",
  `with of_no_line as (
     -- The lock: a flow that becomes ordered at this moment keeps the rows that it begins its line with.
     delete from flow_line_tasks l using (
       select l.* from flow_line_tasks l join flows f on f.team_id = l.team_id and f.sandbox = l.sandbox and f.key = l.flow
        where not f.sandbox and f.line_at is null
          for no key update of f skip locked) old
      where l.team_id = old.team_id and l.sandbox = old.sandbox and l.flow = old.flow and l.task_id = old.task_id and l.retries = old.retries
   )
   -- A task that was retried and begins again at this moment has another number of retries.
   delete from flow_line_tasks l using (
     select * from flow_line_tasks l
      where not exists (
              select 1 from tasks t where t.team_id = l.team_id and t.id = l.task_id and (t.completed_at is null or t.status = 'failed'))
         or not exists (
              select 1 from flows f where f.team_id = l.team_id and f.sandbox = l.sandbox and f.key = l.flow)) old
    where l.team_id = old.team_id and l.sandbox = old.sandbox and l.flow = old.flow and l.task_id = old.task_id and l.retries = old.retries`,
  { patience: "chore" },
);

const SWEEP_PERMITS = statement(
  "sweep_flow_permits",
  "delete from flow_permits where at < now() - interval '7 days'",
  { patience: "chore" },
);

/** Forgets keys a day after their last task, and places that no claim has looked at. Resolves with whether there may be more. */
export async function forgetFlows(sql: Sql, batch: number): Promise<boolean> {
  await sql.rows(SWEEP_HOLDS);
  await sql.rows(SWEEP_PERMITS);
  await sql.rows(SWEEP_LINES);
  return (await sql.rows(FORGET_FLOWS, [batch])).length === batch;
}
