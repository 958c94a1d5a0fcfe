import { hotStatement } from "./event-writes.ts";
import {
  answer,
  BEGUN,
  HOLDS,
  IS_PAUSED,
  LINING_UP,
  locked,
  STATE,
  slots,
  taking,
  UNLIMITED,
} from "./flow-claim-parts.ts";
import { movingPermits } from "./flow-places.ts";
import { MAY_BEGIN } from "./held-hosts.ts";
import { firstDue as firstPlainDue } from "./task-claims.ts";
import { turnSql } from "./turns.ts";

/*
 * $8 has the queues of each key, $9 the last turn of each queue, $10 the tasks without a flow that the claim looks for in each queue: a
 * claim that finds both kinds takes them in the order of their turns.
 */

/** Whether a hold `h` still has a place, by the row of its task `t`. */
const isLive = (hold: string) =>
  `case when ${hold} = 'task' then t.completed_at is null else t.status = 'active' and t.fence = h.fence end`;

/** The due and waiting tasks of the flow `g` in the queue of `slots`. */
const LANE =
  "t.team_id = $1 and t.flow = g.key and t.queue_id = slots.queue_id and t.flow_due_at is not null";

const LIMITS = `f.hold, ($8::text[])[array_position($6::text[], f.key)]::bigint[] as queue_ids,
            coalesce(f.concurrency, f.task_concurrency) as concurrency`;

const CAN_START = "(t.deadline_at is null or t.deadline_at > now())";
/** Where tasks keep their places, those that have one need none of the free ones. */
const MOST = `least(case when g.hold = 'task' and g.places > 0 then g.places + g.held else g.places end,
                g.permits, slots.free, $7)`;

/** The due tasks of the flow `g` in the queue of `slots`, the first of each priority. */
const firstDue = (filter: string) => `
        select due.* from (
          -- Most flows have tasks of one priority: a probe for each of the ten would be most of the search.
          select (select t.priority from tasks t where ${LANE} order by t.priority desc limit 1)::integer as highest,
                 (select t.priority from tasks t where ${LANE} order by t.priority limit 1)::integer as lowest
          offset 0) ends
         cross join lateral generate_series(ends.highest, ends.lowest, -1) as p(priority) cross join lateral (
          select t.ctid as place, t.id, t.queue_id, t.priority, t.flow_due_at from tasks t
           where ${LANE} and t.priority = p.priority and t.flow_due_at <= now()
             and ${CAN_START}${filter}
           order by t.flow_due_at, t.id
           limit ${MOST}
             for update skip locked) due
         limit ${MOST}`;

/** The one task at the head of an ordered queue. From this form the planner cannot infer that flow_due_at is not null. */
const THE_HEAD = `
        select t.ctid as place, t.id, t.queue_id, t.priority, t.flow_due_at from tasks t
         where t.team_id = $1 and t.id = $11 and t.flow = g.key and t.queue_id = slots.queue_id
           and (t.flow_due_at <= now()) is true and ${CAN_START}
         limit ${MOST}
           for update skip locked`;

/** The due tasks without a flow in the queues of `slots`, the first of each priority. */
const plainDue = (filter: string) => `
      union all
     select null, due.place, due.id, slots.queue_id, due.priority, due.due_at, false, true, least(slots.free, slots.plain)
       from slots cross join lateral (
         select first.* from ${firstPlainDue({ team: "$1", queue: "slots.queue_id", limit: "least(slots.free, slots.plain)", filter })}
          limit least(slots.free, slots.plain)) due
      where slots.plain > 0`;

/** What is left in each lane of a flow, and of tasks without a flow. */
const LANES = `select json_agg(json_build_object('flow', l.key, 'queueId', l.queue_id, 'found', l.found, 'next', l.next))
         from (select w.key, w.queue_id, count(*) as found,
                      coalesce(min(w.turn) filter (where w.id not in (select id from chosen)),
                               -- The search ended before the end of the lane.
                               case when count(*) >= min(w.most) then max(w.turn) end) as next
                 from waiting w join slots on slots.queue_id = w.queue_id
                group by w.key, w.queue_id) l`;

/** Takes no task of an ordered flow: another statement claims those tasks. */
const claiming =
  (search: string, filter: string, { plain = "", further = "" }) =>
  (condition: string, tells: boolean) =>
    `with ${slots(condition, "$9", { names: ", plain", arrays: ", $10::integer[]" })}, ${locked(condition, LIMITS)}, counted as materialized (
     select g.*, case when concurrency is null then 0 else (select count(*) from flow_holds h where ${HOLDS}) end as held,
            ${BEGUN}
       from (select l.*, asked_at - make_interval(secs => period) as since, is_ordered or ${IS_PAUSED} as is_paused
               from locked l where is_current) g
   ), gates as materialized (
     select g.*, case when concurrency is null then ${UNLIMITED} when held < concurrency then concurrency - held
                      else greatest(0, concurrency - (
                        select count(distinct h.task_id) from flow_holds h
                          join tasks t on t.team_id = h.team_id and t.id = h.task_id
                         where ${HOLDS} and ${isLive("g.hold")})) end as places,
            case when rate is null then ${UNLIMITED} else greatest(0, rate - begun) end as permits
       from counted g
   ), picked as materialized (
     select g.key, g.places, g.permits, ${MOST} as most, due.*, case when g.hold = 'task' then exists (
              select 1 from flow_holds h where ${HOLDS} and h.task_id = due.id) else false end as has_place
       from gates g join slots on slots.queue_id = any (g.queue_ids)
      cross join lateral (${search}) due
      where not g.is_paused
   ), resumed as materialized (
     -- A task that kept its place needs none, even if the flow is full.
     select g.key, g.places, g.permits, ${MOST} as most, due.*, true as has_place
       from gates g join slots on slots.queue_id = any (g.queue_ids) and slots.free > 0
      cross join lateral (
        select t.ctid as place, t.id, t.queue_id, t.priority, t.flow_due_at
          from (select distinct h.task_id from flow_holds h where ${HOLDS}) h
          join tasks t on t.team_id = $1 and t.id = h.task_id
         where t.queue_id = slots.queue_id and t.flow_due_at <= now()
           and ${CAN_START}${filter}) due
      where g.hold = 'task' and not g.is_paused
   ), ranked as (
     select p.*, count(*) filter (where may_have_place) over (partition by key order by priority desc, flow_due_at, id) as flow_rank
       from (
         select c.*, has_place or places >= count(*) filter (where not has_place)
                  over (partition by key order by priority desc, flow_due_at, id) as may_have_place
           from (select * from picked union select * from resumed) c) p
   ), waiting as materialized (
     select w.*, ${turnSql("w.priority", "w.due_at")} as turn
       from (
         select key, place, id, queue_id, priority, flow_due_at as due_at, has_place,
                may_have_place and flow_rank <= permits as may_start, most
           from ranked${plain}) w
   ), chosen as materialized (
     select r.place, r.id, r.key, r.has_place from (
       select w.*, row_number() over (partition by queue_id order by priority desc, due_at, id) as queue_rank
         from waiting w where may_start) r
       join slots on slots.queue_id = r.queue_id
      where r.queue_rank <= slots.free and r.turn <= slots.last
      order by r.priority desc, r.due_at, r.id
      limit $7
   ), ${taking(tells)}, marked as (
     -- used_at is indexed: it changes once in an hour, so that the other updates are HOT.
     update flows f set version = f.version + 1, used_at = greatest(f.used_at, date_trunc('hour', now()))
      where f.team_id = $1 and not f.sandbox and f.key = any (array(select distinct flow from claimed))
   ), stale as (
     -- Only of a flow that seemed full: the others need no exact count.
     delete from flow_holds h
      where h.team_id = $1 and not h.sandbox and h.flow = any (array(select key from gates where held >= concurrency))
        and not exists (
          select 1 from tasks t
           where t.team_id = h.team_id and t.id = h.task_id and ${isLive("(select g.hold from gates g where g.key = h.flow)")})
     returning h.team_id, h.sandbox, h.flow, h.permit_at
   ), lapsed as (
     select s.*, (select g.period from gates g where g.key = s.flow) as period from stale s
   ), ${movingPermits("lapsed", "permit_at")}${further}
   ${answer(
     condition,
     `select json_agg(json_build_object(${STATE}, 'isOrdered', is_ordered, 'places', places, 'hold', hold,
               'kept', case when hold = 'task' then (select count(*) from chosen c where c.key = g.key and c.has_place) else 0 end)) from gates g`,
     LANES,
   )}`;

export const CLAIM_FLOW_TASKS = hotStatement(
  "claim_flow_tasks",
  claiming(firstDue(""), "", { plain: plainDue("") }),
);

/** For queues whose circuit breakers hold hosts. */
export const CLAIM_UNHELD_FLOW_TASKS = hotStatement(
  "claim_unheld_flow_tasks",
  claiming(firstDue(` and ${MAY_BEGIN}`), ` and ${MAY_BEGIN}`, { plain: plainDue(` and ${MAY_BEGIN}`) }),
);

/** For an ordered queue: takes its first task, $11, or nothing. */
export const CLAIM_FLOW_HEAD = hotStatement(
  "claim_flow_head",
  claiming(THE_HEAD, " and t.id = $11", { further: LINING_UP }),
);
