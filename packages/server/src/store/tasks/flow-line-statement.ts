import { hotStatement } from "./event-writes.ts";
import {
  answer,
  BEGUN,
  IS_PAUSED,
  LINING_UP,
  locked,
  STATE,
  slots,
  taking,
  UNLIMITED,
} from "./flow-claim-parts.ts";
import { HOST_AND_PORT, keptBreakers, MAY_BEGIN } from "./held-hosts.ts";
import { holdsFlowLine } from "./ordered-lines.ts";
import { turnSql } from "./turns.ts";

/*
 * The claim of ordered flows. It takes the first task of each flow, if no task holds the flow's line. As in other flows, a claim whose
 * snapshot is older than its lock takes nothing. All other statements that change a line can only free it. If the first task is locked,
 * or its queue has no free slot, the claim takes no later task in its place.
 *
 * The head of a line is the oldest task that holds it. The head starts again only when no other task of the line is under way. If no
 * task holds the line, the head is the oldest due task: of each queue and priority the first in the index of waiting tasks, or one that
 * came due later than it was created. The claim finds such late tasks once, among those that came due since the last look, and moves
 * them in the index to the time of their creation.
 */

const LINE = "f.on_failure = 'block' as blocks, f.line_at";

/** A statement that made a task due commits within this time of its `now()`. */
const OVERLAP = "interval '5 seconds'";

/** The most late tasks that one claim moves. */
const MOST_MOVED = 1_000;

/** The tasks of the flow and queue of `lanes`. */
const LANE = "t.team_id = $1 and t.flow = l.key and t.queue_id = l.queue_id and t.flow_due_at is not null";

const CAN_START = "t.flow_due_at <= now() and (t.deadline_at is null or t.deadline_at > now())";

/**
 * The same for a task that the statement finds by its id. From this form the planner cannot infer that flow_due_at is not null, and so
 * it does not walk the index of all waiting tasks.
 */
const CAN_START_BY_ID =
  "(t.flow_due_at <= now()) is true and (t.deadline_at is null or t.deadline_at > now())";

const nextQueue = (key: string, more: string) => `(select t.queue_id from tasks t
              where t.team_id = $1 and t.flow = ${key} and t.flow_due_at is not null ${more} order by t.queue_id limit 1)`;

const headIf = (condition: string) => `(
        select t.ctid as place, t.id, t.queue_id, t.created_at, t.run_at, t.priority, t.fence, t.retries, ${HOST_AND_PORT} as host
          from tasks t
         where t.team_id = $1 and t.id = h.id and t.flow = h.key and ${CAN_START_BY_ID}${condition}
           for update skip locked)`;

/**
 * For queues whose circuit breakers hold hosts. If the head may not begin, it holds the line, and waits for a pass like the tasks of
 * any other flow.
 */
const HOLDING_BACK = `, stopped as materialized (
     select h.key, h.id, t.queue_id, ${HOST_AND_PORT} as host
       from heads h join slots on slots.queue_id = h.queue_id join tasks t on t.team_id = $1 and t.id = h.id
      where not ${MAY_BEGIN}
   ), ${keptBreakers("in (select queue_id from stopped)", "b.host in (select host from stopped)")}, held_back as materialized (
     select h.key, due.* from stopped h join kept_breakers b on b.queue_id = h.queue_id and b.host = h.host
      cross join lateral ${headIf(` and not ${MAY_BEGIN}`)} due
   ), taken_out as (
     update tasks t set flow_due_at = null where t.ctid = any (array(select place from held_back))
   ), kept as (
     insert into breaker_tasks as k (team_id, task_id, queue_id, host, priority, due_at, fence)
     select $1, id, queue_id, host, priority, run_at, fence from held_back
     on conflict (team_id, task_id) do update
        set queue_id = excluded.queue_id, host = excluded.host, priority = excluded.priority, due_at = excluded.due_at,
            fence = excluded.fence, passed_at = null
   )`;

const claiming =
  (holdsHosts: boolean, filter = "", further = "") =>
  (condition: string, tells: boolean) =>
    `with recursive ${slots(condition, "$8")}, ${locked(condition, LINE)}, gates as materialized (
     select g.*, case when rate is null then ${UNLIMITED} else greatest(0, rate - begun) end as permits
       from (select g.*, ${BEGUN}
               from (select l.*, asked_at - make_interval(secs => period) as since, line_at - ${OVERLAP} as late_since,
                            ${IS_PAUSED} as is_paused
                       from locked l where is_current and is_ordered and line_at is not null) g) g
   ), holders as materialized (
     select g.key, l.task_id as id, t.created_at, t.status, t.queue_id, ${CAN_START_BY_ID} as can_start
       from gates g join flow_line_tasks l on l.team_id = $1 and not l.sandbox and l.flow = g.key
       join tasks t on t.team_id = l.team_id and t.id = l.task_id
      where ${holdsFlowLine("g.blocks")}
   ), lanes as (
     select g.key, g.late_since, ${nextQueue("g.key", "")} as queue_id
       from gates g where not is_paused and permits > 0 and key not in (select key from holders)
      union all
     select l.key, l.late_since, ${nextQueue("l.key", "and t.queue_id > l.queue_id")} from lanes l where l.queue_id is not null
   ), probes as materialized (
     select l.*, p.priority
       from lanes l cross join lateral (
         select (select t.priority from tasks t where ${LANE} order by t.priority desc limit 1)::integer as highest,
                (select t.priority from tasks t where ${LANE} order by t.priority limit 1)::integer as lowest
         offset 0) ends
      cross join lateral generate_series(ends.highest, ends.lowest, -1) as p(priority)
      where l.queue_id is not null
   ), late as materialized (
     select l.key, due.* from probes l cross join lateral (
       select t.id, t.created_at, t.queue_id from tasks t
        where ${LANE} and t.priority = l.priority and t.flow_due_at > l.late_since and ${CAN_START} and t.flow_due_at > t.created_at
       offset 0) due
   ), heads as materialized (
     select key, id, queue_id from (select distinct on (key) * from (
       select key, id, created_at, queue_id, can_start from holders
        where key not in (select key from holders where status <> 'pending')
          and key in (select key from gates where not is_paused and permits > 0)
        union all
       select l.key, due.*, true from probes l cross join lateral (
         select t.id, t.created_at, t.queue_id from tasks t
          where ${LANE} and t.priority = l.priority and ${CAN_START} order by t.flow_due_at, t.id limit 1) due
        union all
       select key, id, created_at, queue_id, true from late) c
      order by key, created_at, id) first where can_start
   ), picked as materialized (
     select h.key, slots.free, slots.last, due.* from heads h join slots on slots.queue_id = h.queue_id
      cross join lateral ${headIf(holdsHosts ? ` and ${MAY_BEGIN}` : filter)} due
   ), chosen as materialized (
     select place, id from (
       -- The order of creation is that of a line. Among the lines, the priority of the first task decides, as between other tasks.
       select *, row_number() over (partition by queue_id order by priority desc, run_at, id) as queue_rank from picked) r
      where queue_rank <= free and ${turnSql("priority", "run_at")} <= last
      order by priority desc, run_at, id
      limit $7
   )${holdsHosts ? HOLDING_BACK : ""}, moved as (
     update tasks t set flow_due_at = t.created_at
      where t.ctid = any (array(
        -- Only a subquery of its own keeps the planner from walking all tasks of the team, if the plan was made for an empty table.
        select w.place from late l cross join lateral (
          select w.ctid as place from tasks w
           where w.team_id = $1 and w.id = l.id and (w.flow_due_at <= now()) is true
             for update skip locked) w
         where l.id not in (select id from chosen)${
           holdsHosts ? " and l.id not in (select id from held_back)" : ""
         }
         limit ${MOST_MOVED}))
     returning t.id
   ), ${taking(tells)}, begun as (
     insert into flow_line_tasks as l (team_id, sandbox, flow, task_id, retries)
     select team_id, false, flow, id, retries from claimed
     ${holdsHosts ? "union all select $1, false, key, id, retries from held_back" : ""}
     on conflict (team_id, sandbox, flow, task_id) do update set retries = excluded.retries
   ), freed as (
     delete from flow_line_tasks l
      where l.team_id = $1 and not l.sandbox and l.flow = any (array(select key from gates))
        and l.task_id not in (select id from holders) and l.task_id not in (select id from chosen)${
          holdsHosts ? " and l.task_id not in (select id from held_back)" : ""
        }
   ), marked as (
     update flows f
        set version = f.version + case when f.key in (select flow from claimed) then 1 else 0 end,
            line_at = case when f.key in (
                select key from late where id not in (select id from moved) and id not in (select id from claimed)) then f.line_at
              else clock.at end,
            used_at = greatest(f.used_at, clock.hour)
       from (select now() as at, date_trunc('hour', now()) as hour, now() - interval '1 second' as earlier) clock
      where f.team_id = $1 and not f.sandbox
        and (f.key = any (array(select flow from claimed))
             or (f.key = any (array(select distinct key from lanes)) and f.line_at < clock.earlier))
   )${further}
   ${answer(
     condition,
     `select json_agg(s.state) from (
         select json_build_object(${STATE}, 'isHeld', key in (select key from holders)) as state from gates g
          union all
         select json_build_object('key', key, 'kind', case when not is_current then 'busy' when not is_ordered then 'unordered' else 'unopened' end)
           from locked where not (is_current and is_ordered and line_at is not null)
          union all
         select json_build_object('key', h.key, 'headId', h.id, 'headQueueId', q.id, 'headQueue', q.name, 'headTurn', ${turnSql("t.priority", "t.run_at")})
           from heads h join queues q on q.team_id = $1 and q.id = h.queue_id
          cross join lateral (select t.priority, t.run_at from tasks t where t.team_id = $1 and t.id = h.id offset 0) t) s`,
   )}`;

export const CLAIM_FLOW_LINES = hotStatement("claim_flow_lines", claiming(false));

/** For queues whose circuit breakers hold hosts. */
export const CLAIM_UNHELD_FLOW_LINES = hotStatement("claim_unheld_flow_lines", claiming(true));

/** For an ordered queue: takes its first task, $9, if that task is the head of its flow's line too. */
export const CLAIM_FLOW_LINE_HEAD = hotStatement(
  "claim_flow_line_head",
  claiming(false, " and t.id = $9", LINING_UP),
);
