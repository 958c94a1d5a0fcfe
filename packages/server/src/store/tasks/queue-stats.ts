import { QUEUE_COUNTS, type QueueCount } from "../../domain/queue-stats.ts";
import { type Sql, statement } from "../sql.ts";

/** One node's counts of one queue in one minute. */
export interface QueueMinute extends Readonly<Record<QueueCount, number>> {
  readonly teamId: number;
  readonly queueId: number;
  readonly sandbox: boolean;
  readonly waits: ArrayLike<number>;
  readonly durations: ArrayLike<number>;
}

const NAMES = [...QUEUE_COUNTS, "waits", "durations"];

const WRITE_MINUTES = statement(
  "write_minutes",
  `insert into queue_stats (team_id, queue_id, sandbox, seconds, at, node, ${NAMES.join(", ")})
   select r.team_id, r.queue_id, r.sandbox, 60, $2::timestamptz, $3::bigint, ${NAMES.map((name) => `r.${name}`).join(", ")}
     from jsonb_to_recordset($1::jsonb)
          as r(team_id integer, queue_id bigint, sandbox boolean, created integer, completed integer, failed integer,
               cancelled integer, retried integer, waits integer[], durations integer[])
    order by r.team_id, r.queue_id, r.sandbox
   on conflict (team_id, seconds, at, queue_id, sandbox, node)
      do update set ${NAMES.map((name) => `${name} = excluded.${name}`).join(", ")}`,
);

/** Replaces this node's counts of these queues for the minute. */
export async function writeMinutes(
  sql: Sql,
  node: number,
  at: Date,
  minutes: readonly QueueMinute[],
): Promise<void> {
  const rows = minutes.map(({ teamId, queueId, ...counted }) => ({
    ...counted,
    team_id: teamId,
    queue_id: queueId,
    waits: trimmed(counted.waits),
    durations: trimmed(counted.durations),
  }));
  await sql.rows(WRITE_MINUTES, [JSON.stringify(rows), at, node]);
}

/** Without the empty buckets at the end; null where all are. */
function trimmed(counts: ArrayLike<number>): number[] | null {
  const all = Array.from(counts);
  const last = all.findLastIndex((count) => count > 0);
  return last < 0 ? null : all.slice(0, last + 1);
}

const SAMPLE_DEPTHS = statement(
  "sample_depths",
  `insert into queue_stats (team_id, queue_id, sandbox, seconds, at, node, pending)
   select team_id, queue_id, sandbox, 60, $1::timestamptz, 0, sum(pending) from queue_tallies
    group by team_id, queue_id, sandbox having sum(pending) > 0
    union all
   select 0, 0, false, 60, $1, 0, 0
   on conflict do nothing`,
  { patience: "chore" },
);

/** Stores the queue depths of all teams. The first of several nodes does it. */
export async function sampleDepths(sql: Sql, at: Date): Promise<void> {
  await sql.rows(SAMPLE_DEPTHS, [at]);
}

/**
 * Minutes are merged into five minutes after two hours, and into hours after a day and an hour; hours are kept for a
 * month.
 */
const ROLLS = [
  { from: 60, into: 300, afterSeconds: 2 * 3_600 },
  { from: 300, into: 3_600, afterSeconds: 25 * 3_600 },
] as const;
const KEPT_SECONDS = 31 * 86_400;
/** Steps are merged and removed a little later than due. */
const LATE_SECONDS = 2 * 3_600;

/** The length and time of each step of which a queue may have rows. */
export const STEPS_OF_A_QUEUE = `select s.seconds,
          to_timestamp(floor(extract(epoch from now()) / s.seconds) * s.seconds - n * s.seconds) as at
     from (values ${[
       ...ROLLS.map(({ from, afterSeconds }) => [from, afterSeconds] as const),
       [3_600, KEPT_SECONDS] as const,
     ]
       .map(([seconds, kept]) => `(${seconds}, ${(kept + LATE_SECONDS) / seconds})`)
       .join(", ")}) s(seconds, steps), generate_series(-1, s.steps) n`;

/** Small enough that no statement holds locks or writes WAL for long. */
const BATCH = 1_000;
/** Merged by one statement: each with a row for every step and node. */
const QUEUES_TOGETHER = 200;

const OLDEST_STEP_TO_ROLL = statement(
  "oldest_step_to_roll",
  `select to_timestamp(floor(extract(epoch from min(at)) / $2) * $2) as at from queue_stats
    where seconds = $1 and at < to_timestamp(floor(extract(epoch from now() - make_interval(secs => $3)) / $2) * $2)`,
);

const REMOVE_OLD_QUEUE_STATS = statement(
  "remove_old_queue_stats",
  `delete from queue_stats s using (
     select team_id, seconds, at, queue_id, sandbox, node from queue_stats
      where seconds = 3600 and at < now() - make_interval(secs => $1) order by at limit $2) old
    where (s.team_id, s.seconds, s.at, s.queue_id, s.sandbox, s.node)
        = (old.team_id, old.seconds, old.at, old.queue_id, old.sandbox, old.node)
      and s.seconds = 3600 and s.at < now() - make_interval(secs => $1)
   returning 1`,
  { patience: "chore" },
);

/**
 * Merges a batch of old steps and deletes expired ones. Returns whether there is more. Shorter steps come first: an
 * hour is merged once, when it is complete.
 */
export async function rollQueueStats(sql: Sql): Promise<boolean> {
  for (const { from, into, afterSeconds } of ROLLS) {
    const rows = await sql.rows<{ at: Date | null }>(OLDEST_STEP_TO_ROLL, [from, into, afterSeconds]);
    const at = rows[0]?.at ?? null;
    if (at === null) continue;
    await rollStep(sql, from, into, at);
    return true;
  }
  return (await sql.rows(REMOVE_OLD_QUEUE_STATS, [KEPT_SECONDS, BATCH])).length === BATCH;
}

const added = (
  column: "waits" | "durations",
) => `select team_id, queue_id, sandbox, array_agg(n order by place) as ${column}
     from (select o.team_id, o.queue_id, o.sandbox, u.place, sum(u.n)::integer as n
             from old o cross join unnest(o.${column}) with ordinality as u(n, place)
            group by 1, 2, 3, 4) s
    group by team_id, queue_id, sandbox`;

const ROLL_STEP = statement(
  "roll_step",
  `with picked as (
     select distinct team_id, queue_id, sandbox from (
       select team_id, queue_id, sandbox from queue_stats where seconds = $1 and at >= $3 and at < $4 limit $5) found
   ), old as (
     delete from queue_stats s using picked p
      where s.seconds = $1 and s.at >= $3 and s.at < $4
        and s.team_id = p.team_id and s.queue_id = p.queue_id and s.sandbox = p.sandbox
     returning s.*
   ), counted as (
     select team_id, queue_id, sandbox, ${QUEUE_COUNTS.map((name) => `sum(${name})::integer as ${name}`).join(", ")},
            max(pending) as pending
       from old group by team_id, queue_id, sandbox
   ), waited as (${added("waits")}), lasted as (${added("durations")})
   insert into queue_stats as s (team_id, queue_id, sandbox, seconds, at, node, pending, ${NAMES.join(", ")})
   select c.team_id, c.queue_id, c.sandbox, $2::integer, $3::timestamptz, 0, c.pending, ${QUEUE_COUNTS.map((name) => `c.${name}`).join(", ")},
          w.waits, l.durations
     from counted c
     left join waited w on w.team_id = c.team_id and w.queue_id = c.queue_id and w.sandbox = c.sandbox
     left join lasted l on l.team_id = c.team_id and l.queue_id = c.queue_id and l.sandbox = c.sandbox
   on conflict (team_id, seconds, at, queue_id, sandbox, node)
      do update set ${QUEUE_COUNTS.map((name) => `${name} = s.${name} + excluded.${name}`).join(", ")}`,
  { patience: "chore" },
);

/**
 * Merges the rows of some queues in one step into one row per queue, in one statement: of two nodes that try, one finds nothing.
 * A node that writes a minute hours late finds its step merged already: its counts are added, its histograms are not.
 */
async function rollStep(sql: Sql, from: number, into: number, at: Date): Promise<void> {
  await sql.rows(ROLL_STEP, [from, into, at, new Date(at.getTime() + into * 1000), QUEUES_TOGETHER]);
}
