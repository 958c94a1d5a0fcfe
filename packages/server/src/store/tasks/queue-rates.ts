import type { Claim } from "../../domain/claim.ts";
import { type Database, type Sql, statement } from "../sql.ts";
import { PERMIT_MS } from "./flow-claim-parts.ts";

/*
 * The claims of queues with a rate: in no window of the length of the period do more calls begin.
 *
 * A claim locks the row of the queue, counts the permits of the window, claims at most as many tasks as are left, and counts
 * their permits, in one transaction. A permit counts from the time in its row, which is never earlier than the begin
 * of its call: first the latest time at which the call may begin, as for flows (flow-places.ts), then the time that the worker
 * reports with its next claim. A report that is lost costs at most 100 ms.
 */

/** A call that has begun. */
export interface BegunCall {
  /** The time from which its permit counts by now. */
  readonly permitAt: Date;
  /** By the worker's monotonic clock. */
  readonly beganMs: number;
}

export interface RatedQueue {
  readonly queueId: number;
  readonly epoch: number;
  /** The calls that began since the last claim. */
  readonly begun: readonly BegunCall[];
}

export interface RateState {
  readonly queueId: number;
  /** Milliseconds until the next call may begin; null if one may begin now. */
  readonly waitMs: number | null;
}

const LOCK_QUEUE_RATE = statement(
  "lock_queue_rate",
  `select q.rate, q.rate_period as period from queues q
    where q.team_id = $1 and q.id = $2 and q.epoch = $3 and q.rate is not null and q.deleted_at is null
      for no key update of q`,
  { prepared: true },
);

/** The clock is that of the statement, not of the transaction, which may have waited for the lock. */
const MOVE_QUEUE_PERMITS = statement(
  "move_queue_permits",
  `with told as materialized (
     select a.permit_at, least(a.permit_at, date_bin(step, told_at, to_timestamp(0)) + step) as at
       from (select t.permit_at, make_interval(secs => $5::integer / 1000.0) as step,
                    statement_timestamp() - make_interval(secs => t.ago_ms / 1000.0) as told_at
               from unnest($3::timestamptz[], $4::float8[]) as t(permit_at, ago_ms)) a
      where exists (select 1 from queue_permits p where p.team_id = $1 and p.queue_id = $2 and p.at = a.permit_at and p.count > 0)
   )
   insert into queue_permits as p (team_id, queue_id, at, count)
   select $1, $2, at, sum(change)
     from (select at, 1 as change from told union all select permit_at, -1 from told) m
    group by at having sum(change) <> 0
   on conflict (team_id, queue_id, at) do update set count = p.count + excluded.count`,
  { prepared: true },
);

const COUNT_QUEUE_PERMITS = statement(
  "count_queue_permits",
  `select w.since, coalesce(sum(p.count), 0)::float8 as begun,
          (extract(epoch from min(p.at) - w.since) * 1000)::float8 as "waitMs"
     from (select statement_timestamp() - make_interval(secs => $3::integer) as since) w
     left join queue_permits p on p.team_id = $1 and p.queue_id = $2 and p.at > w.since and p.count > 0
    group by w.since`,
  { prepared: true },
);

const TAKE_QUEUE_PERMITS = statement(
  "take_queue_permits",
  `with past as (
     delete from queue_permits where team_id = $1 and queue_id = $2 and at <= $4
   )
   insert into queue_permits as p (team_id, queue_id, at, count)
   select $1, $2, date_bin(step, statement_timestamp() + interval '${PERMIT_MS} milliseconds', to_timestamp(0)) + step, $3::integer
     from (select make_interval(secs => $5::integer / 1000.0) as step) s
   on conflict (team_id, queue_id, at) do update set count = p.count + excluded.count
   returning p.at as "permitAt"`,
  { prepared: true },
);

interface Window {
  readonly queueId: number;
  readonly rate: number;
  readonly period: number;
  readonly since: Date;
  readonly begun: number;
  readonly waitMs: number | null;
}

/**
 * Has `claim` take tasks of queues with a rate, of each at most as many as it has permits. A queue without a number of permits has
 * changed. `nowMs` is the worker's monotonic clock.
 */
export async function claimAtRates<Claimed extends { readonly claims: readonly Claim[] }>(
  database: Database,
  teamId: number,
  queues: readonly RatedQueue[],
  nowMs: () => number,
  claim: (sql: Sql, permits: ReadonlyMap<number, number>) => Promise<Claimed>,
): Promise<Claimed & { readonly rates: readonly RateState[] }> {
  // One order for all, against deadlocks.
  const inOrder = [...queues].sort((a, b) => a.queueId - b.queueId);
  return database.transaction(async (sql) => {
    const windows: Window[] = [];
    for (const queue of inOrder) {
      const window = await lockWindow(sql, teamId, queue, nowMs);
      if (window !== null) windows.push(window);
    }
    const permits = new Map(windows.map(({ queueId, rate, begun }) => [queueId, Math.max(0, rate - begun)]));
    const claimed = await claim(sql, permits);
    const taken = new Map<number, Pick<Claim, "permitAt"> & { readonly startByMs: number }>();
    const rates: RateState[] = [];
    for (const window of windows) {
      const { queueId, period, since, waitMs } = window;
      const count = claimed.claims.filter((each) => each.queueId === queueId).length;
      if (count > 0) {
        const startByMs = nowMs() + PERMIT_MS;
        const [row] = await sql.rows<{ permitAt: Date }>(TAKE_QUEUE_PERMITS, [
          teamId,
          queueId,
          count,
          since,
          period,
        ]);
        taken.set(queueId, { permitAt: row?.permitAt ?? null, startByMs });
      }
      const isOpen = count < (permits.get(queueId) ?? 0);
      rates.push({ queueId, waitMs: isOpen ? null : (waitMs ?? period * 1000) });
    }
    const claims = claimed.claims.map((each) => {
      const permit = taken.get(each.queueId);
      if (permit === undefined) return each;
      return {
        ...each,
        ...permit,
        startByMs: Math.min(permit.startByMs, each.startByMs ?? permit.startByMs),
      };
    });
    return { ...claimed, claims, rates };
  });
}

/** Null if the worker's view of the queue is out of date. */
async function lockWindow(
  sql: Sql,
  teamId: number,
  { queueId, epoch, begun }: RatedQueue,
  nowMs: () => number,
): Promise<Window | null> {
  const [limit] = await sql.rows<Pick<Window, "rate" | "period">>(LOCK_QUEUE_RATE, [teamId, queueId, epoch]);
  if (limit === undefined) return null;
  if (begun.length > 0) {
    const now = nowMs();
    const times = begun.map(({ permitAt }) => permitAt);
    const ages = begun.map(({ beganMs }) => now - beganMs);
    await sql.rows(MOVE_QUEUE_PERMITS, [teamId, queueId, times, ages, limit.period]);
  }
  const [window] = await sql.rows<Omit<Window, "queueId" | "rate" | "period">>(COUNT_QUEUE_PERMITS, [
    teamId,
    queueId,
    limit.period,
  ]);
  return window === undefined ? null : { queueId, ...limit, ...window };
}
