import type { Circumstances } from "../../domain/explanation.ts";
import type { Reach } from "../../domain/reach.ts";
import { type Sql, statement } from "../sql.ts";
import { aheadSeconds, withClock } from "./sandbox-clocks.ts";

/** Tasks that go first are counted up to this number. */
const MOST_BEHIND = 1000;

/** Due tasks of the queue of `t` with this priority: one index probe, limited to the count. */
const due = (priority: string, more = "") => `select 1 from tasks p
          where p.team_id = t.team_id and p.queue_id = t.queue_id and p.priority = ${priority}
            and p.due_at is not null and p.due_at <= now() ${more}
          order by p.due_at, p.id limit ${MOST_BEHIND}`;

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
        case when t.status = 'pending' then (
          select count(*)::integer from (
            (select 1 from generate_series(t.priority + 1, 10) as higher(priority)
              cross join lateral (${due("higher.priority")}) first limit ${MOST_BEHIND})
            union all
            (${due("t.priority", "and (p.due_at, p.id) < (t.run_at, t.id)")})) ahead) end as ahead
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
