import type { PollConfig } from "../../domain/poll/poll-config.ts";
import type { PollPlan } from "../../domain/poll/poll-plan.ts";
import type { Reach } from "../../domain/reach.ts";
import type { Shape } from "../../domain/task.ts";
import { type Sql, statement } from "../sql.ts";
import { afterChange, ENDING_COLUMNS, endColumns, IS_NOTIFIED } from "./endings.ts";
import type { HeldClaim } from "./hints.ts";
import { aheadSeconds, withClock } from "./sandbox-clocks.ts";
import { NO_WORKER, one } from "./tallies.ts";

export interface Cancelled {
  readonly teamId: number;
  readonly id: string;
  readonly shape: Shape;
  readonly queueId: number;
  readonly flow: string | null;
  readonly sandbox: boolean;
  /** A completion notification is due. */
  readonly notify: boolean;
  /** The claim of a call or a poll that may be in flight; null if there was none. */
  readonly held: HeldClaim | null;
  /** For a polled task: how to notify its third party. */
  readonly job: PolledJob | null;
}

export interface PolledJob {
  readonly config: PollConfig;
  readonly plan: PollPlan;
  readonly timeoutSeconds: number;
  /** Headers of the first call: their secrets must not appear in an answer. */
  readonly firstHeaders: Readonly<Record<string, string>>;
  readonly callbackSealed: string | null;
}

/** The third party can be notified, and another node must do it. */
const LEFT = "$4 and not t.sandbox and t.poll -> 'cancel' is not null";

const CANCEL_TASK = statement(
  "cancel_task",
  `with found as (
     select f.team_id, f.id, f.status as was, f.worker_id as holder, f.poll as plan,
            now() + make_interval(secs => ${aheadSeconds()}) as at
       from tasks f ${withClock("f")}
      where f.team_id = $1 and f.id = $2 and ($3 = 'live' or f.sandbox)
        and f.status in ('pending', 'active', 'waiting', 'polling') for update of f
   ), cancelled as (
     update tasks t
        set ${endColumns({ status: "'cancelled'", completed: "false", keepsPoll: LEFT, at: "found.at" })},
            error = null,
            attempt_started_at = null,
            attempts = case when was <> 'active' then t.attempts else t.attempts || jsonb_build_object(
              'number', t.attempt_count, 'status', 'aborted', 'code', null,
              'at', to_char(t.attempt_started_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
              'ms', greatest(0, round(extract(epoch from found.at - t.attempt_started_at) * 1000)), 'phase', 'sent',
              'error', 'The task was cancelled while the call was under way') end
       from found where t.team_id = found.team_id and t.id = found.id
     returning t.team_id, t.queue_id, t.id, t.shape, t.status, t.flow, was, holder, t.fence - 1 as fence, t.poll_config, plan,
               t.timeout_seconds, t.headers, t.callback_sealed, ${ENDING_COLUMNS}
   ), ${afterChange({
     from: "cancelled",
     worker: NO_WORKER,
     writer: "other",
     deltas: {
       pending: `-${one("was = 'pending'")}`,
       active: `-${one("was = 'active'")}`,
       waiting: `-${one("was = 'waiting'")}`,
       polling: `-${one("was = 'polling'")}`,
     },
     ends: ["cancelled"],
   })}
   select shape, queue_id::float8 as "queueId", flow, sandbox, ${IS_NOTIFIED} as notify, holder::float8 as "workerId", fence, poll_config as config,
          -- What the sandbox only pretends to have begun, no third party need be told of.
          case when not sandbox then plan end as plan, timeout_seconds as "timeoutSeconds",
          coalesce(headers, '{}') as "firstHeaders", encode(callback_sealed, 'hex') as "callbackSealed"
     from cancelled`,
  { prepared: true },
);

type CancelledRow = Omit<PolledJob, "config" | "plan"> & {
  readonly shape: Shape;
  readonly queueId: number;
  readonly flow: string | null;
  readonly sandbox: boolean;
  readonly notify: boolean;
  readonly workerId: number | null;
  readonly fence: number;
  readonly config: PollConfig | null;
  readonly plan: PollPlan | null;
};

/**
 * Cancels a task once, in any state. Null if it had ended or is unknown. The fence rises, so the verdict of a call or
 * poll in flight no longer matches, nor does any other ending.
 *
 * `leavesJob`: the data for the cancel request stays in the row, for the worker that takes it.
 */
export async function cancelTask(
  sql: Sql,
  { teamId, environment }: Reach,
  id: string,
  leavesJob = false,
): Promise<Cancelled | null> {
  const [row] = await sql.rows<CancelledRow>(CANCEL_TASK, [teamId, id, environment, leavesJob]);
  return row === undefined ? null : cancelledOf(teamId, id, row);
}

const TAKE_CANCELLED_JOB = statement(
  "take_cancelled_job",
  `with found as (
     select team_id, id, poll as plan from tasks
      where team_id = $1 and id = $2 and status = 'cancelled' and poll is not null for update
   )
   update tasks t set poll = null
     from found where t.team_id = found.team_id and t.id = found.id
   returning t.shape, t.queue_id::float8 as "queueId", t.flow, t.sandbox, false as notify, null as "workerId", t.fence, t.poll_config as config, plan,
             t.timeout_seconds as "timeoutSeconds", coalesce(t.headers, '{}') as "firstHeaders",
             encode(t.callback_sealed, 'hex') as "callbackSealed"`,
  { prepared: true },
);

/** The job that a cancel left for a worker: returned to the first that asks, null to all others. */
export async function takeCancelledJob(sql: Sql, teamId: number, id: string): Promise<Cancelled | null> {
  const [row] = await sql.rows<CancelledRow>(TAKE_CANCELLED_JOB, [teamId, id]);
  return row === undefined ? null : cancelledOf(teamId, id, row);
}

function cancelledOf(teamId: number, id: string, row: CancelledRow): Cancelled {
  const { shape, queueId, flow, sandbox, notify, workerId, fence, config, plan, ...rest } = row;
  return {
    teamId,
    id,
    shape,
    queueId,
    flow,
    sandbox,
    notify,
    held: workerId === null ? null : { taskId: id, fence, workerId },
    job: config === null || plan === null ? null : { config, plan, ...rest },
  };
}
