import type { Claim } from "../../domain/claim.ts";
import type { FailureReason } from "../../domain/task.ts";
import { prepare, type Sql } from "../sql.ts";
import { afterChange, ENDING_COLUMNS, endColumns, keepingQueues } from "./endings.ts";
import { one } from "./tallies.ts";

/** After so many workers died with it in their hands, a task is taken to be what kills them. */
const MAX_INTERRUPTIONS = 3;

export interface Returned {
  readonly teamId: number;
  readonly id: string;
  readonly queue: string;
  readonly queueId: number;
  readonly status: "pending" | "failed";
  /** Why it failed; null if it is pending again. */
  readonly failure: FailureReason | null;
}

/** As much of a claim as tells it from every other. */
export type HeldTask = Pick<Claim, "teamId" | "id" | "queueId" | "fence">;

/**
 * Gives tasks back whose attempt will never be settled. The attempt is closed as interrupted and consumes no
 * retry. `lost` must yield team_id, id, fence, counts (whether it counts towards the limit) and phase.
 */
function returning(lost: string): string {
  const tooMany = `t.interruptions + lost.counts >= ${MAX_INTERRUPTIONS}`;
  const ends = `${tooMany} or q.deleted_at is not null`;
  return `with lost as (${lost}
   ), ${keepingQueues("select distinct team_id, queue_id from lost")}, returned as (
     update tasks t
        set ${endColumns({ status: `case when ${ends} then 'failed' else 'pending' end`, when: ends, completed: "false" })},
            failure_reason = case when ${tooMany} then 'worker_lost'
                                  when q.deleted_at is not null then 'queue_deleted' end,
            error = 'The worker was lost while it made the call',
            interruptions = t.interruptions + lost.counts,
            attempt_started_at = null,
            attempts = t.attempts || jsonb_build_object(
              'number', t.attempt_count, 'status', 'interrupted', 'code', null,
              'at', to_char(t.attempt_started_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
              'ms', null, 'phase', lost.phase, 'error', 'The worker was lost while it made the call')
       from lost join kept q on q.team_id = lost.team_id and q.id = lost.queue_id
      where t.team_id = lost.team_id and t.id = lost.id and t.fence = lost.fence and t.attempt_started_at is not null
     returning t.team_id, t.id, t.queue_id, q.name as queue, t.status, t.failure_reason, ${ENDING_COLUMNS}
   ), ${afterChange({
     from: "returned",
     worker: "$1::bigint",
     writer: "other",
     deltas: { active: "-1", pending: one("status = 'pending'") },
   })}
   select team_id as "teamId", id, queue, queue_id::float8 as "queueId", status, failure_reason as failure from returned`;
}

/**
 * In batches, so that a node lost with thousands of calls in flight holds no lock for long. A worker that settles one
 * at this moment, being less dead than it seemed, is not waited for: there is a next round.
 */
const REAP_TASKS = prepare(
  "reap_tasks",
  returning(`
     select t.team_id, t.id, t.queue_id, t.fence, 1 as counts, 'sent' as phase from tasks t
      where t.worker_id is not null and t.status = 'active' and not exists (select 1 from workers w where w.id = t.worker_id)
      limit 500 for update of t skip locked`),
);

/** Takes tasks from workers that are no more. A claim that slipped in as its worker was removed is found too. */
export async function reapTasks(sql: Sql, workerId: number): Promise<Returned[]> {
  return sql.rows<Returned>(REAP_TASKS, [workerId]);
}

const RELEASE_TASKS = prepare(
  "release_tasks",
  returning(`
     select r.team_id, r.id, r.queue_id, r.fence, 0 as counts, r.phase
       from jsonb_to_recordset($2::jsonb) as r(team_id integer, id uuid, queue_id bigint, fence integer, phase text)`),
);

/** Gives back what this worker holds and will not finish. A stop does not count against the task: it is not at fault. */
export async function releaseTasks(
  sql: Sql,
  claims: readonly HeldTask[],
  phase: "not_sent" | "sent",
  workerId: number,
): Promise<Returned[]> {
  const rows = claims.map((claim) => ({
    team_id: claim.teamId,
    id: claim.id,
    queue_id: claim.queueId,
    fence: claim.fence,
    phase,
  }));
  return sql.rows<Returned>(RELEASE_TASKS, [workerId, JSON.stringify(rows)]);
}

/** Lets go of polls whose worker is no more: the next one to look takes them up where they were. */
export async function reapPolls(sql: Sql): Promise<number> {
  const rows = await sql.rows(
    `with lost as (
       select t.team_id, t.id from tasks t
        where t.worker_id is not null and t.status = 'polling'
          and not exists (select 1 from workers w where w.id = t.worker_id)
          for update of t skip locked
     )
     update tasks t set worker_id = null, fence = fence + 1
       from lost where t.team_id = lost.team_id and t.id = lost.id
     returning 1`,
  );
  return rows.length;
}

/** What the database says this worker holds, to compare with what it knows of. */
export async function heldTasks(sql: Sql, workerId: number): Promise<HeldTask[]> {
  return sql.rows<HeldTask>(
    `select team_id as "teamId", id, queue_id::float8 as "queueId", fence from tasks
      where worker_id = $1 and status = 'active'`,
    [workerId],
  );
}
