import type { Claim } from "../../domain/claim.ts";
import type { FailureReason } from "../../domain/task.ts";
import { heldBy, lockingTasksOfTheDead } from "../claim-batches.ts";
import { type Sql, statement } from "../sql.ts";
import { afterChange, ENDING_COLUMNS, endColumns, IS_NOTIFIED, keepingQueues } from "./endings.ts";
import { one } from "./tallies.ts";

/** After so many workers died with it in their hands, a task is taken to be what kills them. */
const MAX_INTERRUPTIONS = 3;
/**
 * So that a node lost with thousands of calls in flight holds no lock for long.
 */
export const REAP_BATCH = 500;

export interface Returned {
  readonly teamId: number;
  readonly id: string;
  readonly queue: string;
  readonly queueId: number;
  /** The key of its flow. */
  readonly flow: string | null;
  readonly status: "pending" | "failed";
  /** Why it failed; null if it is pending again. */
  readonly failure: FailureReason | null;
  /** It failed, and a completion notification is due. */
  readonly notify: boolean;
  /** It is a message with a failure callback. */
  readonly hasFailureCallback: boolean;
}

/** As much of a claim as tells it from every other. */
export type HeldTask = Pick<Claim, "teamId" | "id" | "queueId" | "fence">;

/**
 * Gives tasks back whose attempt will never be settled. The attempt is closed as interrupted and consumes no
 * retry. The CTE `lost` must yield team_id and queue_id; `from` and `where` say how its tasks are found in `tasks t`.
 */
function returning(options: {
  readonly lost: string;
  /** With the CTE `kept` as q. */
  readonly from: string;
  readonly where: string;
  /** Whether each counts towards the limit, as 0 or 1. */
  readonly counts: string;
  readonly phase: string;
}): string {
  const { lost, from, where, counts, phase } = options;
  const tooMany = `t.interruptions + ${counts} >= ${MAX_INTERRUPTIONS}`;
  const ends = `${tooMany} or q.deleted_at is not null`;
  return `with lost as (${lost}
   ), ${keepingQueues("select distinct team_id, queue_id from lost")}, returned as (
     update tasks t
        set ${endColumns({ status: `case when ${ends} then 'failed' else 'pending' end`, when: ends, completed: "false" })},
            failure_reason = case when ${tooMany} then 'worker_lost'
                                  when q.deleted_at is not null then 'queue_deleted' end,
            error = 'The worker was lost while it made the call',
            interruptions = t.interruptions + ${counts},
            attempt_started_at = null,
            attempts = t.attempts || jsonb_build_object(
              'number', t.attempt_count, 'status', 'interrupted', 'code', null,
              'at', to_char(t.attempt_started_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
              'ms', null, 'phase', ${phase}, 'error', 'The worker was lost while it made the call')
       from ${from}
      where ${where} and q.team_id = t.team_id and q.id = t.queue_id and t.attempt_started_at is not null
     returning t.team_id, t.id, t.queue_id, q.name as queue, t.flow, t.status, t.failure_reason,
               t.message -> 'failureCallback' is not null as has_failure_callback, ${ENDING_COLUMNS}
   ), ${afterChange({
     from: "returned",
     worker: "$1::bigint",
     writer: "other",
     deltas: { active: "-1", pending: one("status = 'pending'") },
   })}
   select team_id as "teamId", id, queue, flow, queue_id::float8 as "queueId", status, failure_reason as failure,
          status = 'failed' and ${IS_NOTIFIED} as notify, has_failure_callback as "hasFailureCallback"
     from returned`;
}

/**
 * A worker that settles one at this moment, being less dead than it seemed, is not waited for: there is a next round.
 */
const REAP_TASKS = statement(
  "reap_tasks",
  returning({
    lost: lockingTasksOfTheDead("active", "t.ctid as place, t.team_id, t.queue_id", REAP_BATCH),
    // Where they were locked: by their keys a plan made for a small table began with the tasks.
    from: "kept q",
    where: "t.ctid = any (array(select place from lost))",
    counts: "1",
    phase: "'sent'",
  }),
  { prepared: true },
);

/** Takes a batch of tasks from workers that are no more. A claim that slipped in as its worker was removed is found too. */
export async function reapTasks(sql: Sql, workerId: number): Promise<Returned[]> {
  return sql.rows<Returned>(REAP_TASKS, [workerId]);
}

const RELEASE_TASKS = statement(
  "release_tasks",
  returning({
    lost: `select r.team_id, r.id, r.queue_id, r.fence, r.phase
             from jsonb_to_recordset($2::jsonb) as r(team_id integer, id uuid, queue_id bigint, fence integer, phase text)`,
    from: "lost join kept q on q.team_id = lost.team_id and q.id = lost.queue_id",
    where: "t.team_id = lost.team_id and t.id = lost.id and t.fence = lost.fence",
    counts: "0",
    phase: "lost.phase",
  }),
  { prepared: true },
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

const REAP_POLLS = statement(
  "reap_polls",
  `with lost as (
     ${lockingTasksOfTheDead("polling", "t.team_id, t.id", REAP_BATCH)}
   )
   update tasks t set worker_id = null, fence = fence + 1, poll_at = t.run_at
     from lost where t.team_id = lost.team_id and t.id = lost.id
   returning 1`,
);

/** Lets go of polls whose worker is no more: the next one to look takes them up where they were. */
export async function reapPolls(sql: Sql): Promise<number> {
  const rows = await sql.rows(REAP_POLLS);
  return rows.length;
}

const HELD_TASKS = statement(
  "held_tasks",
  `select distinct t.team_id as "teamId", t.id, t.queue_id::float8 as "queueId", t.fence
     ${heldBy("b.worker_id = $1")} and t.status = 'active'`,
);

/** What the database says this worker holds, to compare with what it knows of. */
export async function heldTasks(sql: Sql, workerId: number): Promise<HeldTask[]> {
  return sql.rows<HeldTask>(HELD_TASKS, [workerId]);
}
