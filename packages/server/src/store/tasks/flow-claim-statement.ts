import { columns } from "../columns.ts";
import { EVENT_COLUMNS, eventCte, hotStatement } from "./event-writes.ts";
import { movingPermits } from "./flow-places.ts";
import { MAY_BEGIN } from "./held-hosts.ts";
import { tally } from "./tallies.ts";
import { FOLLOW_NAMES } from "./task-columns.ts";
import { holding } from "./task-state.ts";

/*
 * Joins may only go by an index here, because the server's planner settings leave it nothing else (planner.ts): two
 * CTEs joined by their keys would be compared row by row, and that was most of a claim of 100 flows. So the state of a flow
 * is carried along in one row, and what needs it again asks a hashed subquery.
 */

/*
 * The time of a permit is that of the statement: in a queue with a rate it runs in a transaction, which began before the worker
 * measured.
 */

/** A call of a flow with a rate begins within this time after its claim was sent, or not at all. */
export const PERMIT_MS = 100;

const CLAIMED = `id, flow, shape, priority, fence, attempt_count, attempt_started_at, failures, method, url, headers, body,
  body_is_json, max_retries, backoff, retry_delay_seconds, retry_max_delay_seconds, no_retry_statuses, timeout_seconds, sign, message, scheduled_for, ${FOLLOW_NAMES}`;

/** Whether a hold `h` still has a place, by the row of its task `t`. */
const isLive = (hold: string) =>
  `case when ${hold} = 'task' then t.completed_at is null else t.status = 'active' and t.fence = h.fence end`;

/** More than this is never taken at once. */
const UNLIMITED = 1_000_000;

/** The due and waiting tasks of the flow `g` in the queue of `slots`. */
const LANE =
  "t.team_id = $1 and t.flow = g.key and t.queue_id = slots.queue_id and t.flow_due_at is not null";

const HOLDS = "h.team_id = $1 and not h.sandbox and h.flow = g.key";

const claiming = (filter: string) => (condition: string, tells: boolean) =>
  `with slots as materialized (
     select s.queue_id, s.free
       from unnest($3::bigint[], $4::integer[], $5::integer[]) as s(queue_id, epoch, free)
       join queues q on q.team_id = $1 and q.id = s.queue_id and q.epoch = s.epoch
      where exists (select 1 from workers where id = $2) and ${condition}
   ), locked as materialized (
     -- The version in the snapshot is compared with that of the locked row.
     select f.key, ($7::text[])[array_position($6::text[], f.key)]::bigint[] as queue_ids, f.version = (
              select s.version from flows s where s.team_id = $1 and not s.sandbox and s.key = f.key) as is_current,
            f.hold, f.paused, f.paused_until, statement_timestamp() as asked_at,
            coalesce(f.concurrency, f.task_concurrency) as concurrency, coalesce(f.rate, f.task_rate) as rate,
            case when f.rate is null then f.task_period else f.period end as period
       from flows f
      where f.team_id = $1 and not f.sandbox and f.key = any ($6::text[]) and ${condition}
        for no key update skip locked
   ), counted as materialized (
     select g.*, case when concurrency is null then 0 else (select count(*) from flow_holds h where ${HOLDS}) end as held,
            case when rate is null then 0 else (
              select coalesce(sum(p.count), 0) from flow_permits p
               where p.team_id = $1 and not p.sandbox and p.flow = g.key and p.at > g.since) + (
              select count(*) from flow_holds h where ${HOLDS} and h.permit_at > g.since) end as begun
       from (select l.*, asked_at - make_interval(secs => period) as since,
                    paused or (paused_until is not null and paused_until > asked_at) as is_paused
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
     select g.key, g.places, g.permits, due.*, case when g.hold = 'task' then exists (
              select 1 from flow_holds h where ${HOLDS} and h.task_id = due.id) else false end as has_place
       from gates g join slots on slots.queue_id = any (g.queue_ids)
      cross join lateral (
        select due.* from (
          -- Most flows have tasks of one priority: a probe for each of the ten would be most of the search.
          select (select t.priority from tasks t where ${LANE} order by t.priority desc limit 1)::integer as highest,
                 (select t.priority from tasks t where ${LANE} order by t.priority limit 1)::integer as lowest
          offset 0) ends
         cross join lateral generate_series(ends.highest, ends.lowest, -1) as p(priority) cross join lateral (
          select t.ctid as place, t.id, t.queue_id, t.priority, t.flow_due_at from tasks t
           where ${LANE} and t.priority = p.priority and t.flow_due_at <= now()
             and (t.deadline_at is null or t.deadline_at > now())${filter}
           order by t.flow_due_at, t.id
           limit least(g.places, g.permits, slots.free, $8)
             for update skip locked) due
         limit least(g.places, g.permits, slots.free, $8)) due
      where not g.is_paused
   ), resumed as materialized (
     -- A task that kept its place needs none, even if the flow is full.
     select g.key, g.places, g.permits, due.*, true as has_place
       from gates g join slots on slots.queue_id = any (g.queue_ids)
      cross join lateral (
        select t.ctid as place, t.id, t.queue_id, t.priority, t.flow_due_at
          from (select distinct h.task_id from flow_holds h where ${HOLDS}) h
          join tasks t on t.team_id = $1 and t.id = h.task_id
         where t.queue_id = slots.queue_id and t.flow_due_at <= now()
           and (t.deadline_at is null or t.deadline_at > now())${filter}) due
      where g.hold = 'task' and not g.is_paused
   ), ranked as (
     select c.*, count(*) filter (where not has_place) over (partition by key order by priority desc, flow_due_at, id) as new_rank,
            row_number() over (partition by key order by has_place desc, priority desc, flow_due_at, id) as flow_rank
       from (select * from picked union select * from resumed) c
   ), chosen as (
     select place from (
       select r.place, r.priority, r.flow_due_at, r.id, r.queue_id,
              row_number() over (partition by r.queue_id order by r.priority desc, r.flow_due_at, r.id) as queue_rank
         from ranked r where (r.has_place or r.new_rank <= r.places) and r.flow_rank <= r.permits) r
       join slots on slots.queue_id = r.queue_id
      where r.queue_rank <= slots.free
      order by r.priority desc, r.flow_due_at, r.id
      limit $8
   ), claimed as (
     update tasks t
        set status = 'active', flow_due_at = null, list_key = 'begun', worker_id = $2, fence = fence + 1, attempt_count = attempt_count + 1,
            attempt_started_at = clock.at, started_at = coalesce(started_at, clock.at), deadline_at = null
       from (select now() as at) clock
      where t.ctid = any (array(select place from chosen)) and t.flow_due_at is not null
     returning team_id, queue_id, sandbox, run_at, encode(callback_sealed, 'hex') as callback_sealed, ${CLAIMED}${
       tells ? `, status, ${EVENT_COLUMNS}` : ""
     }
   ), ${holding("claimed", "$2::bigint")}, placed as (
     insert into flow_holds (team_id, sandbox, flow, task_id, fence, permit_at)
     select c.team_id, false, c.flow, c.id, c.fence,
            case when c.flow in (select key from gates where rate is not null) then clock.void_at end
       from claimed c, (select statement_timestamp() + interval '${PERMIT_MS} milliseconds' as void_at) clock
   ), marked as (
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
   ), ${movingPermits("lapsed", "permit_at")}, past as (
     delete from flow_permits
      where ctid = any (array(
        select p.place from gates g cross join lateral (
          select p.ctid as place from flow_permits p
           where p.team_id = $1 and not p.sandbox and p.flow = g.key and p.at <= g.since offset 0) p
         where g.rate is not null))
   ), tallied as (
     ${tally({ from: "claimed", worker: "$2::bigint", writer: "claim", deltas: { pending: "-1", active: "1" } })}
   )${tells ? `, ${eventCte({ from: "claimed", type: "'task.started'", isHot: true })}` : ""}
   select found.*, c.queue_id::float8 as "queueId", ${columns("c", `callback_sealed, run_at, ${CLAIMED}`)}
     from (
       select true as "isTask", null::json as flows, null::json as unknown, null::float8[] as "currentQueueIds"
        union all
       select false, (
         select json_agg(json_build_object(
           'key', key, 'isPaused', is_paused, 'isPausedForGood', paused,
           'pausedMs', extract(epoch from paused_until - asked_at) * 1000,
           'places', places, 'permits', permits, 'hold', hold, 'period', period,
           'permitMs', case when rate is not null then (
             select extract(epoch from min(at) - g.since) * 1000 from (
               select min(p.at) as at from flow_permits p
                where p.team_id = $1 and not p.sandbox and p.flow = g.key and p.at > g.since
               union all
               select min(h.permit_at) from flow_holds h where ${HOLDS} and h.permit_at > g.since) first) end))
           from gates g),
         case when (select count(*) from locked) < cardinality($6::text[]) then (
           select json_agg(k.key) from unnest($6::text[]) as k(key)
            where not exists (select 1 from flows f where f.team_id = $1 and not f.sandbox and f.key = k.key)) end,
         array(select queue_id::float8 from slots)) found
     left join claimed c on found."isTask"
    where ${condition}
    order by c.priority desc, c.run_at, c.id`;

export const CLAIM_FLOW_TASKS = hotStatement("claim_flow_tasks", claiming(""));

/** For queues whose circuit breakers hold hosts. */
export const CLAIM_UNHELD_FLOW_TASKS = hotStatement("claim_unheld_flow_tasks", claiming(` and ${MAY_BEGIN}`));
