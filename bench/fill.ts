import pg from "pg";
import { benchQueue } from "./subjects/bellhop.ts";
import { payloadFor } from "./subjects/subject.ts";

export interface Fill {
  count: number;
  status: "pending" | "completed";
  priority: number;
  /** As SQL, over `n`, which counts from 1. */
  runAt: string;
  /** Sequence number of the first, for the target. */
  firstSeq: number;
  targetUrl: string;
  /** The key of their flow. */
  flow?: string;
}

// A statement of a million rows would hold one transaction, and one answer, for minutes.
const portion = 100_000;
const seqMark = 7_403_951;

/**
 * Tasks straight into the tables of Bellhop, because ten million would take an hour by the API; counted in the tallies
 * as its own statements would have. Follows the schema by hand: the one place in the bench that does.
 */
export async function fillTasks(databaseUrl: string, fill: Fill): Promise<void> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  try {
    const [head = "", tail = ""] = JSON.stringify(payloadFor(seqMark)).split(String(seqMark));
    for (let done = 0; done < fill.count; done += portion) {
      const count = Math.min(portion, fill.count - done);
      await client.query(
        `with queue as (
           select team_id, id, max_retries, backoff, retry_delay_seconds, timeout_seconds from queues where name = $1
         ), filled as (
           insert into tasks (team_id, id, queue_id, shape, sandbox, method, url, body, body_is_json, max_retries, backoff,
                              retry_delay_seconds, timeout_seconds, created_at, priority, status, run_at, completed_at,
                              due_at, flow_due_at, flow, list_key)
           -- Ids in the order of their creation, as Bellhop's own are, from some hours ago on.
           select q.team_id, (lpad(to_hex(at.ms), 12, '0') || '7000' || '8000' || substr(md5(n::text), 1, 12))::uuid,
                  q.id, 'queue', false, 'POST', $3, $4 || ($5::bigint + n) || $6, true, q.max_retries, q.backoff,
                  q.retry_delay_seconds, q.timeout_seconds, to_timestamp(at.ms / 1000.0), $7::smallint, $8::text, ${fill.runAt},
                  case when $8::text = 'completed' then now() end,
                  case when $8::text = 'pending' and $10::text is null then ${fill.runAt} end,
                  case when $8::text = 'pending' and $10::text is not null then ${fill.runAt} end, $10::text,
                  case when $8::text in ('active', 'completed') then 'begun' else $8::text end
             from queue q, generate_series(1, $9::integer) n,
                  lateral (select (extract(epoch from now()) * 1000)::bigint - 40000000 + n + $2 as ms) at
         )
         insert into queue_tallies as t (team_id, queue_id, worker_id, statement, sandbox, ${fill.status})
         select team_id, id, 0, 3, false, $9 from queue
         on conflict (team_id, queue_id, worker_id, statement, sandbox)
         do update set ${fill.status} = t.${fill.status} + excluded.${fill.status}`,
        [
          benchQueue,
          done,
          fill.targetUrl,
          head,
          fill.firstSeq + done - 1,
          tail,
          fill.priority,
          fill.status,
          count,
          fill.flow ?? null,
        ],
      );
    }
  } finally {
    await client.end();
  }
}

/** Copies of the one schedule that there is, all due at the same second. */
export async function fillSchedules(
  databaseUrl: string,
  { count, inSeconds }: { count: number; inSeconds: number },
): Promise<void> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  try {
    await client.query(
      `with due as (select date_trunc('second', now()) + make_interval(secs => $2) as at
       ), moved as (update schedules set next_run_at = due.at from due)
       insert into schedules (team_id, sandbox, id, name, cron, timezone, overlap, catch_up, task, request, next_run_at)
       select team_id, sandbox, gen_random_uuid(), 'copy-' || n, cron, timezone, overlap, catch_up, task, request, due.at
         from schedules, due, generate_series(1, $1::integer - 1) n`,
      [count, inSeconds],
    );
  } finally {
    await client.end();
  }
}

export interface Firings {
  /** Tasks, and the schedules that made them. */
  fired: number;
  schedules: number;
  medianSeconds: number;
  latestSeconds: number;
}

export async function readFirings(databaseUrl: string): Promise<Firings> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  try {
    const { rows } = await client.query<Firings>(
      `select count(*)::integer as fired, count(distinct f.schedule_id)::integer as schedules,
              coalesce(percentile_cont(0.5) within group (order by late), 0)::float8 as "medianSeconds",
              coalesce(max(late), 0)::float8 as "latestSeconds"
         from schedule_firings f join tasks t on t.team_id = f.team_id and t.id = f.task_id,
              lateral (select extract(epoch from t.created_at - f.fires_at) as late) l`,
    );
    const [found] = rows;
    if (found === undefined) throw new Error("The database did not answer");
    return found;
  } finally {
    await client.end();
  }
}

/** When the tasks of a flow were first claimed, in milliseconds by the database's clock. */
export async function readStarts(databaseUrl: string, flow: string): Promise<number[]> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  try {
    const { rows } = await client.query<{ ms: number }>(
      "select (extract(epoch from started_at) * 1000)::float8 as ms from tasks where flow = $1 and started_at is not null",
      [flow],
    );
    return rows.map(({ ms }) => ms);
  } finally {
    await client.end();
  }
}
