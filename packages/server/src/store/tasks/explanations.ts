import type { Circumstances } from "../../domain/circumstances.ts";
import type { Reach } from "../../domain/reach.ts";
import { type Sql, statement } from "../sql.ts";
import { IS_ORDERED } from "./flow-claim-parts.ts";
import { HAS_PLACE, HOLDERS, LIMITS, MOST_HOLDERS, TAKEN, windowAt } from "./flow-state.ts";
import { HAS_PASS, HOST_AND_PORT } from "./held-hosts.ts";
import { holdsLine, IS_IN_QUEUE } from "./ordered-lines.ts";
import { aheadSeconds, withClock } from "./sandbox-clocks.ts";

/** Tasks that go first are counted up to this number. */
const MOST_BEHIND = 1000;

/** Due tasks of its flow are looked at up to this number. */
const MOST_OF_FLOW = 2000;

/** The starts of the queue of `t`, by full minutes. */
const RECENT = `(select json_build_object('starts', coalesce(sum(m.starts), 0), 'minutes', count(*)) from (
            select sum((select sum(w) from unnest(s.waits) w)) as starts from queue_stats s
             where s.team_id = t.team_id and s.seconds = 60 and s.at >= date_trunc('minute', now()) - interval '3 minutes'
               and s.at < date_trunc('minute', now()) and s.queue_id = t.queue_id and not s.sandbox and s.waits is not null
             group by s.at) m)`;

/** Due tasks of the queue of `t` with this priority: one index probe, limited to the count. */
const due = (priority: string, more = "") => `select 1 from tasks p
          where p.team_id = t.team_id and p.queue_id = t.queue_id and p.priority = ${priority}
            and p.due_at is not null and p.due_at <= now() ${more}
          order by p.due_at, p.id limit ${MOST_BEHIND}`;

/** The due tasks of the flow of `t` that go before it; null if there are too many to count, or nobody asks. */
const AHEAD_IN_FLOW = `case when coalesce(f.rate, f.task_rate) is not null or ${IS_ORDERED} then (
                   select case when count(*) < ${MOST_OF_FLOW} then count(*) filter (
                            where case when ${IS_ORDERED} then (d.created_at, d.id) < (t.created_at, t.id)
                                       else d.priority > t.priority or (d.priority = t.priority and (d.flow_due_at, d.id) < (t.run_at, t.id)) end) end
                     from (select d.priority, d.flow_due_at, d.created_at, d.id from tasks d
                            where d.team_id = t.team_id and d.sandbox = t.sandbox and d.flow = t.flow and d.flow_due_at is not null and d.flow_due_at <= now()
                            limit ${MOST_OF_FLOW}) d) end`;

const FLOW_STATE = `(select to_json(s) from (
            select f.key, ${LIMITS}, ${TAKEN} as taken, w.*, ${HOLDERS} as holders, ${HAS_PLACE} as "hasPlace", ${AHEAD_IN_FLOW} as ahead
              from flows f cross join lateral ${windowAt(`(now() + make_interval(secs => ${aheadSeconds()}))`)} w
             where f.team_id = t.team_id and f.sandbox = t.sandbox and f.key = t.flow and t.status = 'pending') s)`;

/** The window of the queue `q`, if it has a rate. */
const RATE_STATE = `(select json_build_object('rate', q.rate, 'period', q.rate_period, 'begun', coalesce(sum(p.count), 0),
                              'nextAt', min(p.at) + make_interval(secs => q.rate_period))
             from (select now() - make_interval(secs => q.rate_period) as since) w
             left join queue_permits p on p.team_id = q.team_id and p.queue_id = q.id and p.at > w.since and p.count > 0
           having q.rate is not null and t.status = 'pending' and not t.sandbox)`;

/** The due tasks with a flow in the ordered queue of `t` that were created before it and have not begun. */
function olderOfFlows(columns: string): string {
  return `select ${columns} from line_tasks l join tasks p on p.team_id = l.team_id and p.id = l.task_id
             where l.team_id = t.team_id and l.queue_id = t.queue_id and not l.begun and l.created_at <= t.created_at
               and (p.flow_due_at <= now()) is true and (p.created_at, p.id) < (t.created_at, t.id)`;
}

/** The number of due tasks of the queue of `t` that were created before it. */
const OLDER = `select count(*)::integer from (
            (select 1 from tasks p
              where p.team_id = t.team_id and p.queue_id = t.queue_id and p.due_at is not null and p.due_at <= now()
                and (p.created_at, p.id) < (t.created_at, t.id)
              limit ${MOST_BEHIND})
            union all
            (select 1 from (${olderOfFlows("p.id")}) p limit ${MOST_BEHIND})) older`;

/** The tasks that hold the line of the queue `q`, the oldest first. */
const LINE_HOLDERS = `array(
           select json_build_object('id', t.id, 'shape', t.shape, 'status', t.status, 'isElsewhere', not ${IS_IN_QUEUE},
                                    'runAtMs', (extract(epoch from t.run_at) * 1000)::float8)
             from line_tasks l join tasks t on t.team_id = l.team_id and t.id = l.task_id
            where l.team_id = q.team_id and l.queue_id = q.id and l.begun
              and ${holdsLine("q.on_failure = 'block'")}
            order by l.created_at, l.task_id limit ${MOST_HOLDERS})`;

/** The first task of the line of the queue of `t`, if that is another one, and has a flow: the line waits for the flow. */
const FLOW_HEAD = `select json_build_object('id', h.id, 'shape', h.shape, 'status', h.status, 'flow', h.flow,
                                     'runAtMs', (extract(epoch from h.run_at) * 1000)::float8)
             from (${olderOfFlows("p.*")} order by p.created_at, p.id limit 1) h
            where not exists (
              select 1 from tasks d
               where d.team_id = h.team_id and d.queue_id = h.queue_id and d.due_at is not null and d.due_at <= now()
                 and (d.created_at, d.id) < (h.created_at, h.id))`;

const FIND_CIRCUMSTANCES = statement(
  "find_circumstances",
  `select t.id, t.shape, t.status, t.sandbox, t.run_at as "runAt", t.deadline_at as "deadlineAt",
        t.sandbox and exists (select 1 from simulations s
                               where s.team_id = t.team_id and s.task_id = t.id and s.said is not null) as "isSimulated",
        t.attempt_count as "attemptCount", t.failures, t.retries,
        coalesce((t.attempts -> -1 -> 'asked')::boolean, false) as "isAskedToWait",
        t.attempt_started_at as "attemptStartedAt", t.poll -> 'seen' as polls, w.name as node,
        t.timeout_seconds as "timeoutSeconds", q.name as queue, q.paused, q.concurrency,
        now() + make_interval(secs => ${aheadSeconds()}) as now,
        exists (select 1 from workers where expires_at > now()) as "hasWorkers",
        case when t.status = 'pending' then (
          select coalesce(json_agg(json_build_object('node', h.name, 'calls', h.calls) order by h.calls desc, h.name), '[]')
            from (select coalesce(hw.name, 'a node that is gone') as name, count(distinct a.id)::integer as calls
                    from claim_batches b cross join lateral (
                           select held.id, held.worker_id from tasks held
                            where held.team_id = b.team_id and held.id = any(b.task_ids)
                              and held.worker_id = b.worker_id and held.queue_id = t.queue_id
                              and held.status = 'active') a
                    left join workers hw on hw.id = a.worker_id
                   where b.team_id = t.team_id
                   group by 1) h) end as holders,
        case when t.status = 'pending' and not q.ordered then (
          select count(*)::integer from (
            (select 1 from generate_series(t.priority + 1, 10) as higher(priority)
              cross join lateral (${due("higher.priority")}) first limit ${MOST_BEHIND})
            union all
            (${due("t.priority", "and (p.due_at, p.id) < (t.run_at, t.id)")})) ahead)
             when t.status = 'pending' then (${OLDER}) end as ahead,
        q.ordered and not t.sandbox as ordered,
        case when q.ordered and t.status = 'pending' and not t.sandbox then ${LINE_HOLDERS} end as "lineHolders",
        case when q.ordered and t.status = 'pending' and not t.sandbox then (${FLOW_HEAD}) end as "lineHead",
        case when t.status = 'pending' and not t.sandbox then ${RECENT} end as recent,
        case when q.holds_hosts and t.status = 'pending' and not t.sandbox then (
          select json_build_object('host', b.host, 'phase', b.phase, 'until', b.until, 'hasPass', ${HAS_PASS}) from breakers b
           where b.team_id = t.team_id and b.queue_id = t.queue_id and b.phase <> 'draining'
             and b.host = ${HOST_AND_PORT}) end as breaker,
        ${RATE_STATE} as "rateState",
        ${FLOW_STATE} as "flowState"
   from tasks t
   join queues q on q.team_id = t.team_id and q.id = t.queue_id
   left join workers w on w.id = t.worker_id ${withClock("t")}
  where t.team_id = $1 and t.id = $2 and ($3 = 'live' or t.sandbox)`,
  { patience: "list" },
);

/** All data about why a task runs or does not. Null if the task does not exist. */
export async function findCircumstances(sql: Sql, reach: Reach, id: string): Promise<Circumstances | null> {
  const rows = await sql.rows<Circumstances>(FIND_CIRCUMSTANCES, [reach.teamId, id, reach.environment]);
  return rows[0] ?? null;
}
