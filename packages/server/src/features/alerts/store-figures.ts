// The figures that alerts compare with their thresholds. Counts come from tallies and statistics; of tasks only bounded
// parts of an index are read.
import { type Sql, statement } from "../../store/sql.ts";
import { FIRST_RUN_AT } from "../../store/tasks/queue-depths.ts";

const READ_ENDED = statement(
  "read_alert_ended",
  `select coalesce(sum(failed), 0)::float8 as failed, coalesce(sum(completed + failed + cancelled), 0)::float8 as ended
     from queue_stats
    where team_id = $1 and seconds = 60 and not sandbox
      and at >= date_trunc('minute', now()) - make_interval(secs => $2)
      and ($3::text is null or queue_id in (
            select id from queues where team_id = $1 and name = $3 and deleted_at is null))`,
  { patience: "list" },
);

/** Statistics have a step of a minute: the steps that the last `within` seconds touch. */
export async function readEnded(
  sql: Sql,
  teamId: number,
  within: number,
  queue: string | null,
): Promise<{ readonly failed: number; readonly ended: number }> {
  const [row] = await sql.rows<{ failed: number; ended: number }>(READ_ENDED, [teamId, within, queue]);
  return row ?? { failed: 0, ended: 0 };
}

/** Tasks of a queue on one side of now, counted up to a bound. */
const counted = (side: string, bound: string) =>
  `(select count(*) from (
      select 1 from generate_series(1, 10) as p(priority) cross join lateral (
        select 1 from tasks t
         where t.team_id = $1 and t.queue_id = c.id and t.priority = p.priority and t.due_at ${side} now()
         limit ${bound}) each_priority
       limit ${bound}) found)::float8`;

/**
 * Tasks with a flow wait in an index of their own, by team and flow. Each step goes to the first task of the next flow, queue
 * or priority of the team, however many wait there; a team has at most this many that are looked at.
 */
export const MOST_LANES = 10_000;
const FIRST_OF_LANE = "select flow, queue_id, priority, flow_due_at as at from tasks";
const LANES = `(
     (${FIRST_OF_LANE} where team_id = $1 and flow_due_at is not null
       order by flow, queue_id, priority desc, flow_due_at limit 1)
      union all
     select n.* from lanes l cross join lateral (
       (${FIRST_OF_LANE} where team_id = $1 and flow = l.flow and queue_id = l.queue_id and priority < l.priority
           and flow_due_at is not null order by priority desc, flow_due_at limit 1)
        union all
       (${FIRST_OF_LANE} where team_id = $1 and (flow, queue_id) > (l.flow, l.queue_id)
           and flow_due_at is not null order by flow, queue_id, priority desc, flow_due_at limit 1)
       limit 1) n
   )`;

const READ_DELAYED = statement(
  "read_alert_delayed",
  `with recursive lanes as ${LANES}, counted as materialized (
     select q.id, coalesce(sum(t.pending), 0)::float8 as pending
       from queues q left join queue_tallies t on t.team_id = q.team_id and t.queue_id = q.id and not t.sandbox
      where q.team_id = $1 and q.deleted_at is null and ($2::text is null or q.name = $2)
      group by q.id
   ), delayed_flows as materialized (
     select d.queue_id from (select * from lanes limit ${MOST_LANES}) l cross join lateral (
       select t.queue_id from tasks t
        where t.team_id = $1 and t.flow = l.flow and t.queue_id = l.queue_id and t.priority = l.priority
          and t.flow_due_at > now() limit $3) d
      limit $3
   )
   select c.id::float8 as "queueId", c.pending, ${counted(">", "$3")} as delayed,
          (select count(*) from delayed_flows f where f.queue_id = c.id)::float8 as "delayedOfFlows"
     from counted c where c.pending > 0`,
  { patience: "chore" },
);

const READ_DUE = statement(
  "read_alert_due",
  `select ${counted("<=", "$3")} as due from (select $2::bigint as id) c`,
  { patience: "chore" },
);

interface DelayedRow {
  readonly queueId: number;
  readonly pending: number;
  readonly delayed: number;
  readonly delayedOfFlows: number;
}

/** Tasks that are read of a queue whose delayed tasks are not few. */
const DELAYED_BOUND = 10_000;

/**
 * Due and pending tasks: the tallies, less those that are delayed. A queue with many delayed tasks has its due ones
 * counted instead, up to the threshold.
 */
export async function readDepth(
  sql: Sql,
  teamId: number,
  queue: string | null,
  threshold: number,
): Promise<number> {
  const queues = await sql.rows<DelayedRow>(READ_DELAYED, [teamId, queue, DELAYED_BOUND]);
  let depth = 0;
  for (const { queueId, pending, delayed, delayedOfFlows } of queues) {
    if (delayed < DELAYED_BOUND) depth += Math.max(0, pending - delayed - delayedOfFlows);
    else {
      const bound = Math.max(threshold, DELAYED_BOUND);
      const [row] = await sql.rows<{ due: number }>(READ_DUE, [teamId, queueId, bound]);
      depth += row?.due ?? 0;
    }
  }
  return depth;
}

const READ_OLDEST_DUE = statement(
  "read_alert_oldest_due",
  `with recursive lanes as ${LANES}, counted as materialized (
     select q.team_id, q.id, coalesce(sum(t.pending), 0) as pending
       from queues q left join queue_tallies t on t.team_id = q.team_id and t.queue_id = q.id and not t.sandbox
      where q.team_id = $1 and q.deleted_at is null and ($2::text is null or q.name = $2)
      group by q.team_id, q.id
   ), firsts as (
     select least(${FIRST_RUN_AT.join(", ")}) as at from counted c where c.pending > 0
      union all
     select min(l.at) from (select * from lanes limit ${MOST_LANES}) l join counted c on c.id = l.queue_id where l.at <= now()
   )
   select greatest(0, extract(epoch from now() - min(at)))::float8 as seconds from firsts`,
  { patience: "list" },
);

/** Seconds since the oldest due task became due; 0 if none is due. Probes the first task of each priority. */
export async function readOldestDue(sql: Sql, teamId: number, queue: string | null): Promise<number> {
  const [row] = await sql.rows<{ seconds: number | null }>(READ_OLDEST_DUE, [teamId, queue]);
  return Math.round(row?.seconds ?? 0);
}
