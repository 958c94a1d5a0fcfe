import { QUEUE_COUNTS, type QueueCount } from "../../domain/queue-stats.ts";
import { type Sql, statement } from "../../store/sql.ts";
import { FIRST_RUN_AT } from "../../store/tasks/queue-depths.ts";

export interface StatsQuery {
  readonly teamId: number;
  readonly sandbox: boolean;
  /** Null for all queues of the team. */
  readonly queueIds: readonly number[] | null;
  readonly from: Date;
  readonly stepSeconds: number;
}

/** The counts of a queue in a step with activity. */
export interface QueueStep extends Readonly<Record<QueueCount, number>> {
  readonly queueId: number;
  /** When the step begins. */
  readonly atSeconds: number;
  /** The maximum number of waiting tasks; null if not sampled, or none. */
  readonly pending: number | null;
}

const STEP = "(floor(extract(epoch from at) / $5) * $5)::float8";
const ASKED = `team_id = $1 and seconds in (60, 300, 3600) and at >= $2 and sandbox = $3
        and ($4::bigint[] is null or queue_id = any($4::bigint[]))`;
const valuesOf = (query: StatsQuery) => [
  query.teamId,
  query.from,
  query.sandbox,
  query.queueIds,
  query.stepSeconds,
];

const READ_STEPS = statement(
  "read_steps",
  `select queue_id::float8 as "queueId", ${STEP} as "atSeconds", max(pending)::float8 as pending,
          ${QUEUE_COUNTS.map((name) => `sum(${name})::float8 as ${name}`).join(", ")}
     from queue_stats where ${ASKED} group by 1, 2`,
  { patience: "list" },
);

export async function readSteps(sql: Sql, query: StatsQuery): Promise<QueueStep[]> {
  return sql.rows<QueueStep>(READ_STEPS, valuesOf(query));
}

const READ_SAMPLED_STEPS = statement(
  "read_sampled_steps",
  `select distinct (floor(extract(epoch from at) / $2) * $2)::float8 as "atSeconds" from queue_stats
    where team_id = 0 and seconds in (60, 300, 3600) and at >= $1`,
);

/** The steps in which a node sampled the queue depths. */
export async function readSampledSteps(sql: Sql, from: Date, stepSeconds: number): Promise<Set<number>> {
  const rows = await sql.rows<{ atSeconds: number }>(READ_SAMPLED_STEPS, [from, stepSeconds]);
  return new Set(rows.map(({ atSeconds }) => atSeconds));
}

export interface StepHistogram {
  readonly queueId: number;
  readonly atSeconds: number;
  /** `bucket:count` of the non-empty buckets, from 1, separated by commas: a text is parsed faster than an array. */
  readonly counts: string;
}

export async function readHistograms(
  sql: Sql,
  query: StatsQuery,
  column: "waits" | "durations",
): Promise<StepHistogram[]> {
  return sql.rows<StepHistogram>(
    statement(
      "read_histograms",
      `select queue_id::float8 as "queueId", step as "atSeconds", string_agg(place || ':' || n, ',') as counts
         from (select queue_id, ${STEP} as step, u.place, sum(u.n) as n
                 from queue_stats cross join unnest(${column}) with ordinality as u(n, place)
                where ${ASKED} and u.n > 0 group by 1, 2, 3) s
        group by queue_id, step`,
      { patience: "list" },
    ),
    valuesOf(query),
  );
}

/** The current state of a queue. */
export interface QueueNow {
  readonly queueId: number;
  readonly queue: string;
  readonly pending: number;
  readonly active: number;
  readonly waiting: number;
  readonly polling: number;
  readonly failed: number;
  /** When its oldest task became due; null if none is due. */
  readonly oldestPendingAt: Date | null;
}

const READ_QUEUES_NOW = statement(
  "read_queues_now",
  `with counted as materialized (
     select q.team_id, q.id, q.name, coalesce(sum(t.pending), 0)::float8 as pending,
            coalesce(sum(t.active), 0)::float8 as active, coalesce(sum(t.waiting), 0)::float8 as waiting,
            coalesce(sum(t.polling), 0)::float8 as polling, coalesce(sum(t.failed), 0)::float8 as failed
       from queues q left join queue_tallies t on t.team_id = q.team_id and t.queue_id = q.id and t.sandbox = $2
      where q.team_id = $1 and q.deleted_at is null and ($3::text is null or q.name = $3)
      group by q.team_id, q.id, q.name
   ), probed as (
     select c.*, case when c.pending > 0 and not $2 then least(${FIRST_RUN_AT.join(", ")}) end as first_run_at
       from counted c
   )
   select id::float8 as "queueId", name as queue, pending, active, waiting, polling, failed,
          case when first_run_at <= now() then first_run_at end as "oldestPendingAt"
     from probed order by name`,
  { patience: "list" },
);

/** For existing queues: counts from the tallies, and a probe of the first task of each priority if some wait. */
export async function readQueuesNow(
  sql: Sql,
  { teamId, sandbox, queue }: { teamId: number; sandbox: boolean; queue: string | null },
): Promise<QueueNow[]> {
  return sql.rows<QueueNow>(READ_QUEUES_NOW, [teamId, sandbox, queue]);
}
