import type { Claim } from "../../domain/claim.ts";
import { prepare, type Sql } from "../sql.ts";
import { FOLLOW_COLUMNS, type FollowRow, toFollowUp } from "./follow-columns.ts";
import { tally } from "./tallies.ts";

export interface ClaimRequest {
  readonly teamId: number;
  readonly queueId: number;
  readonly queue: string;
  /** The claim finds nothing if the queue has changed since: the worker must look at it again first. */
  readonly epoch: number;
  readonly workerId: number;
  readonly limit: number;
}

/**
 * One probe per priority, highest first, each straight to its first due row. Without the probes, delayed tasks of
 * a high priority would be walked over on every claim. The rows are then updated by an array of their ids, not by a
 * join, which a plan made for an empty table began on the wrong side. The slots were granted under the queue's lock before, so
 * nothing is locked or counted here but the rows taken.
 */
const CLAIM_DUE_TASKS = prepare(
  "claim_due_tasks",
  `with picked as (
     select due.id
       from (values (10), (9), (8), (7), (6), (5), (4), (3), (2), (1)) as p(priority)
       cross join lateral (
         select t.id from tasks t
          where t.team_id = $1 and t.queue_id = $2 and t.priority = p.priority
            and t.status = 'pending' and not t.sandbox and t.run_at <= now()
          order by t.run_at, t.id
          limit $5
            for update skip locked
       ) due
      where exists (select 1 from queues where team_id = $1 and id = $2 and epoch = $3)
        and exists (select 1 from workers where id = $4)
      limit $5
   ), claimed as (
     update tasks t
        set status = 'active', worker_id = $4, fence = fence + 1, attempt_count = attempt_count + 1,
            attempt_started_at = now(), started_at = coalesce(started_at, now())
      where t.team_id = $1 and t.id = any (array(select id from picked))
     returning t.team_id, t.queue_id, t.id, t.shape, t.priority, t.run_at, t.fence, t.attempt_count,
               t.attempt_started_at, t.failures, t.method, t.url, t.headers, t.body, t.max_retries, t.backoff,
               t.retry_delay_seconds, t.timeout_seconds, t.sign, encode(t.callback_sealed, 'hex') as callback_sealed,
               ${FOLLOW_COLUMNS}
   ), tallied as (
     ${tally({ from: "claimed", worker: "$4::bigint", writer: "claim", deltas: { pending: "-1", active: "1" } })}
   )
   select exists (select 1 from queues where team_id = $1 and id = $2 and epoch = $3)
          and exists (select 1 from workers where id = $4) as is_current, c.*
     from (select 1) always left join claimed c on true
    order by c.priority desc, c.run_at, c.id`,
);

interface ClaimedRow extends FollowRow {
  is_current: boolean;
  id: string | null;
  shape: Claim["shape"];
  priority: number;
  run_at: Date;
  fence: number;
  attempt_count: number;
  attempt_started_at: Date;
  failures: number;
  method: Claim["call"]["method"];
  url: string;
  headers: Record<string, string> | null;
  body: string | null;
  max_retries: number;
  backoff: Claim["backoff"];
  retry_delay_seconds: number;
  timeout_seconds: number;
  sign: boolean;
  callback_sealed: string | null;
}

export interface Claimed {
  /** False when the worker's view of the queue, or the worker itself, is out of date: nothing was looked for. */
  readonly isCurrent: boolean;
  /** In the order in which they are to start. */
  readonly claims: readonly Claim[];
  /** For how long each of them had been due. */
  readonly waitsMs: readonly number[];
}

/** Takes up to `limit` due tasks of one queue. */
export async function claimDueTasks(sql: Sql, request: ClaimRequest): Promise<Claimed> {
  const { teamId, queueId, epoch, workerId, limit } = request;
  const rows = await sql.rows<ClaimedRow>(CLAIM_DUE_TASKS, [teamId, queueId, epoch, workerId, limit]);
  const claims: Claim[] = [];
  const waitsMs: number[] = [];
  for (const row of rows) {
    if (row.id === null) continue;
    claims.push(toClaim(row, row.id, request));
    waitsMs.push(row.attempt_started_at.getTime() - row.run_at.getTime());
  }
  return { isCurrent: rows[0]?.is_current ?? false, claims, waitsMs };
}

function toClaim(row: ClaimedRow, id: string, { teamId, queueId, queue, workerId }: ClaimRequest): Claim {
  return {
    teamId,
    id,
    queueId,
    workerId,
    queue,
    shape: row.shape,
    priority: row.priority,
    fence: row.fence,
    attempt: row.attempt_count,
    attemptStartedAt: row.attempt_started_at,
    failures: row.failures,
    call: { method: row.method, url: row.url, headers: row.headers ?? {}, body: row.body },
    maxRetries: row.max_retries,
    backoff: row.backoff,
    retryDelaySeconds: row.retry_delay_seconds,
    timeoutSeconds: row.timeout_seconds,
    follow: toFollowUp(row),
    sign: row.sign,
    callbackSealed: row.callback_sealed,
  };
}
