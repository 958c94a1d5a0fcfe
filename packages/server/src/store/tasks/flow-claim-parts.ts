import { columns } from "../columns.ts";
import { EVENT_COLUMNS, eventCte } from "./event-writes.ts";
import { tally } from "./tallies.ts";
import { FOLLOW_NAMES } from "./task-columns.ts";
import { holding } from "./task-state.ts";

/*
 * The parts that the claims of flows with and without strict order share. Their parameters: $1 the team, $2 the worker, $3 to
 * $5 the slots (queue, epoch, free), $6 the keys, $7 the most tasks.
 *
 * A join must use an index here, because the server's planner settings allow nothing else (planner.ts): PostgreSQL would compare
 * two CTEs that are joined by their keys row by row, and that was most of a claim of 100 flows. So one row carries the whole state of
 * a flow, and a later CTE that needs the state reads it through a hashed subquery.
 *
 * The time of a permit is the time of the statement, not of the transaction: the claim of a queue with a rate runs in a transaction
 * that began before the worker read its clock.
 */

/** A call of a flow with a rate begins within this time after its claim was sent, or not at all. */
export const PERMIT_MS = 100;

/** No claim takes more tasks than this. */
export const UNLIMITED = 1_000_000;

const CLAIMED = `id, flow, shape, priority, fence, attempt_count, attempt_started_at, failures, method, url, headers, body,
  body_is_json, max_retries, backoff, retry_delay_seconds, retry_max_delay_seconds, no_retry_statuses, timeout_seconds, sign, message, scheduled_for, ${FOLLOW_NAMES}`;

/** Whether the flow `f` is ordered. */
export const IS_ORDERED = "coalesce(f.ordered, f.task_ordered, false)";

export const HOLDS = "h.team_id = $1 and not h.sandbox and h.flow = g.key";

/** The slots of this worker that are valid, with the last turn that the claim may take in each queue, and `more` of its parameters. */
export const slots = (
  condition: string,
  last: string,
  more = { names: "", arrays: "" },
) => `slots as materialized (
     select s.queue_id, s.free, s.last${more.names}
       from unnest($3::bigint[], $4::integer[], $5::integer[], ${last}::float8[]${more.arrays}) as s(queue_id, epoch, free, last${more.names})
       join queues q on q.team_id = $1 and q.id = s.queue_id and q.epoch = s.epoch
      where exists (select 1 from workers where id = $2) and ${condition}
   )`;

/** The flows of this claim, without those that another claim has locked. */
export const locked = (condition: string, more: string) => `locked as materialized (
     -- is_current: the snapshot has the same version as the locked row.
     select f.key, f.version = (
              select s.version from flows s where s.team_id = $1 and not s.sandbox and s.key = f.key) as is_current,
            f.paused, f.paused_until, statement_timestamp() as asked_at, ${IS_ORDERED} as is_ordered,
            coalesce(f.rate, f.task_rate) as rate, case when f.rate is null then f.task_period else f.period end as period, ${more}
       from flows f
      where f.team_id = $1 and not f.sandbox and f.key = any ($6::text[]) and ${condition}
        for no key update skip locked
   )`;

export const IS_PAUSED = "paused or (paused_until is not null and paused_until > asked_at)";

/** The permits of the flow `g` that count. */
export const BEGUN = `case when rate is null then 0 else (
              select coalesce(sum(p.count), 0) from flow_permits p
               where p.team_id = $1 and not p.sandbox and p.flow = g.key and p.at > g.since) + (
              select count(*) from flow_holds h where ${HOLDS} and h.permit_at > g.since) end as begun`;

/** The CTEs that claim the tasks whose place is in `chosen`, with or without a flow. `gates` has the flows. */
export const taking = (tells: boolean) => `claimed as (
     update tasks t
        set status = 'active', due_at = null, flow_due_at = null, list_key = 'begun', worker_id = $2, fence = fence + 1, attempt_count = attempt_count + 1,
            attempt_started_at = clock.at, started_at = coalesce(started_at, clock.at), deadline_at = null
       from (select now() as at) clock
      where t.ctid = any (array(select place from chosen)) and coalesce(t.due_at, t.flow_due_at) is not null
     returning team_id, queue_id, sandbox, run_at, retries, encode(callback_sealed, 'hex') as callback_sealed, ${CLAIMED}${
       tells ? `, status, ${EVENT_COLUMNS}` : ""
     }
   ), ${holding("claimed", "$2::bigint")}, placed as (
     insert into flow_holds (team_id, sandbox, flow, task_id, fence, permit_at)
     select c.team_id, false, c.flow, c.id, c.fence,
            case when c.flow in (select key from gates where rate is not null) then clock.void_at end
       from claimed c, (select statement_timestamp() + interval '${PERMIT_MS} milliseconds' as void_at) clock
      where c.flow is not null
   ), past as (
     delete from flow_permits
      where ctid = any (array(
        select p.place from gates g cross join lateral (
          select p.ctid as place from flow_permits p
           where p.team_id = $1 and not p.sandbox and p.flow = g.key and p.at <= g.since offset 0) p
         where g.rate is not null))
   ), tallied as (
     ${tally({ from: "claimed", worker: "$2::bigint", writer: "claim", deltas: { pending: "-1", active: "1" } })}
   )${tells ? `, ${eventCte({ from: "claimed", type: "'task.started'", isHot: true })}` : ""}`;

/** The CTE with which a claimed task of an ordered queue holds the line of the queue. The transaction has locked the line. */
export const LINING_UP = `, lined as (
     insert into line_tasks as l (team_id, queue_id, created_at, task_id, begun, retries)
     select c.team_id, c.queue_id, t.created_at, c.id, true, c.retries from claimed c join tasks t on t.team_id = c.team_id and t.id = c.id
     on conflict (team_id, queue_id, created_at, task_id) do update set begun = true, retries = excluded.retries
   )`;

/** The figures of the flow `g` for the worker. */
export const STATE = `'key', key, 'isPaused', is_paused, 'isPausedForGood', paused,
           'pausedMs', extract(epoch from paused_until - asked_at) * 1000, 'permits', permits, 'period', period,
           'permitMs', case when rate is not null then (
             select extract(epoch from min(at) - g.since) * 1000 from (
               select min(p.at) as at from flow_permits p
                where p.team_id = $1 and not p.sandbox and p.flow = g.key and p.at > g.since
               union all
               select min(h.permit_at) from flow_holds h where ${HOLDS} and h.permit_at > g.since) first) end`;

/** The tasks, and one row with the states of the flows and of their lanes. */
export const answer = (
  condition: string,
  states: string,
  lanes = "null::json",
) => `select found.*, c.queue_id::float8 as "queueId", ${columns("c", `callback_sealed, run_at, ${CLAIMED}`)}
     from (
       select true as "isTask", null::json as flows, null::json as lanes, null::json as unknown, null::float8[] as "currentQueueIds"
        union all
       select false, (${states}), (${lanes}),
         case when (select count(*) from locked) < cardinality($6::text[]) then (
           select json_agg(k.key) from unnest($6::text[]) as k(key)
            where not exists (select 1 from flows f where f.team_id = $1 and not f.sandbox and f.key = k.key)) end,
         array(select queue_id::float8 from slots)) found
     left join claimed c on found."isTask"
    where ${condition}
    order by c.priority desc, c.run_at, c.id`;
