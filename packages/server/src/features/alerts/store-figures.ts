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
 * Tasks with a flow wait in another index, by time over all teams: this many of them are read. Beyond that, a delayed
 * task counts as due, and an old one is not seen.
 */
const FLOW_BOUND = 10_000;
const ofFlows = (when: string) =>
  `select t.team_id, t.queue_id, t.flow_due_at from tasks t where t.flow_due_at ${when} and t.priority > 0
      order by t.flow_due_at limit ${FLOW_BOUND}`;

const READ_DELAYED = statement(
  "read_alert_delayed",
  `with counted as materialized (
     select q.id, coalesce(sum(t.pending), 0)::float8 as pending
       from queues q left join queue_tallies t on t.team_id = q.team_id and t.queue_id = q.id and not t.sandbox
      where q.team_id = $1 and q.deleted_at is null and ($2::text is null or q.name = $2)
      group by q.id
   ), delayed_flows as materialized (
     ${ofFlows("> now()")}
   )
   select c.id::float8 as "queueId", c.pending, ${counted(">", "$3")} as delayed,
          (select count(*) from delayed_flows f where f.team_id = $1 and f.queue_id = c.id)::float8 as "delayedOfFlows"
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
  `with counted as materialized (
     select q.team_id, q.id, coalesce(sum(t.pending), 0) as pending
       from queues q left join queue_tallies t on t.team_id = q.team_id and t.queue_id = q.id and not t.sandbox
      where q.team_id = $1 and q.deleted_at is null and ($2::text is null or q.name = $2)
      group by q.team_id, q.id
   ), due_flows as materialized (
     ${ofFlows("<= now()")}
   ), firsts as (
     select least(${FIRST_RUN_AT.join(", ")}) as at from counted c where c.pending > 0
      union all
     select min(f.flow_due_at) from due_flows f join counted c on c.id = f.queue_id where f.team_id = $1
   )
   select greatest(0, extract(epoch from now() - min(at)))::float8 as seconds from firsts`,
  { patience: "list" },
);

/** Seconds since the oldest due task became due; 0 if none is due. Probes the first task of each priority. */
export async function readOldestDue(sql: Sql, teamId: number, queue: string | null): Promise<number> {
  const [row] = await sql.rows<{ seconds: number | null }>(READ_OLDEST_DUE, [teamId, queue]);
  return Math.round(row?.seconds ?? 0);
}
