import { type Claim, makeClaim } from "../../domain/claim.ts";
import type { endSimulated } from "../../domain/simulation.ts";
import type { Simulation, TaskStatus } from "../../domain/task.ts";
import { columns } from "../../store/columns.ts";
import { type Sql, statement } from "../../store/sql.ts";
import { afterChange, ENDING_COLUMNS, endColumns, IS_NOTIFIED } from "../../store/tasks/endings.ts";
import { EVENT_COLUMNS, eventCte } from "../../store/tasks/event-writes.ts";
import { aheadSeconds, withClock } from "../../store/tasks/sandbox-clocks.ts";
import { NO_WORKER, one, tally } from "../../store/tasks/tallies.ts";
import { type Flat, FOLLOW_NAMES, followOf } from "../../store/tasks/task-columns.ts";
import { untilNext } from "../../store/tasks/until-next.ts";

/** Selects due steps: of all teams by the real clock, or of one team whose clock is ahead. */
export interface SandboxTime {
  readonly teamId: number | null;
  readonly aheadMs: number;
}

export const NOW: SandboxTime = { teamId: null, aheadMs: 0 };

/** A sandbox task with a due step. For an active task, the claim is that of its attempt. */
export interface Walking {
  readonly status: TaskStatus;
  /** Null if it is not simulated; then the due step is its expiry. */
  readonly simulation: Simulation | null;
  readonly claim: Claim;
  readonly notify: boolean;
  readonly expiresInSeconds: number | null;
  /** The offset of its sandbox clock. */
  readonly aheadMs: number;
  /** The key of its flow. */
  readonly flow: string | null;
}

type WalkingRow = Flat<
  Omit<Claim, "attempt" | "attemptStartedAt" | "callbackSealed" | "scheduledFor" | "workerId">
> & {
  readonly status: TaskStatus;
  readonly simulation: Simulation | null;
  readonly attemptCount: number;
  readonly attemptStartedAt: Date | null;
  readonly now: Date;
  readonly notify: boolean;
  readonly expiresInSeconds: number | null;
  readonly aheadMs: number;
};

/**
 * Locks both rows and skips those that another transaction holds: nodes share the work. As this never waits for a task,
 * a transaction that holds a task and waits for its simulation gets it.
 */
const lockingSteps = (
  condition: string,
) => `select s.said as simulation, t.queue_id::float8 as "queueId", q.name as queue, now() as now,
          ${IS_NOTIFIED} as notify, ${aheadSeconds()}::float8 * 1000 + $2::float8 as "aheadMs", ${columns(
            "t",
            `team_id, id, status, flow, shape, priority, fence, attempt_count, attempt_started_at, failures, method, url,
             headers, body_is_json, max_retries, backoff, retry_delay_seconds, retry_max_delay_seconds,
             no_retry_statuses, timeout_seconds, sign, expires_in_seconds, ${FOLLOW_NAMES}`,
          )}
     from simulations s
     join tasks t on t.team_id = s.team_id and t.id = s.task_id
     join queues q on q.team_id = t.team_id and q.id = t.queue_id
     ${withClock("t")}
    where ${condition}
    order by s.next_at limit $3
      for update of s, t skip locked`;

const LOCK_DUE_STEPS = statement(
  "lock_due_steps",
  lockingSteps(
    "s.next_at <= now() + make_interval(secs => $2::float8 / 1000) and ($1::integer is null or s.team_id = $1)",
  ),
  { prepared: true },
);

/** For tasks that are locked already. */
const READ_STEPS = statement(
  "lock_steps_of",
  lockingSteps("s.team_id = $1 and s.task_id = any ($4::uuid[])"),
);

/** Must run in the transaction that takes the steps. */
export async function lockDueSteps(sql: Sql, time: SandboxTime, limit: number): Promise<Walking[]> {
  const rows = await sql.rows<WalkingRow>(LOCK_DUE_STEPS, [time.teamId, time.aheadMs, limit]);
  return rows.map(toWalking);
}

/** These tasks of a team, which this transaction has locked. */
export async function readSteps(
  sql: Sql,
  teamId: number,
  aheadMs: number,
  ids: readonly string[],
): Promise<Walking[]> {
  const rows = await sql.rows<WalkingRow>(READ_STEPS, [teamId, aheadMs, ids.length, ids]);
  return rows.map(toWalking);
}

function toWalking(row: WalkingRow): Walking {
  const { id, shape, priority, bodyIsJson, sign, method, url, headers, fence, failures } = row;
  const call = { method, url, headers: headers ?? {}, body: null };
  const task = { id, shape, priority, bodyIsJson, sign, message: null, call, follow: followOf(row) };
  const attempt = {
    fence,
    attempt: row.attemptCount,
    attemptStartedAt: row.attemptStartedAt ?? row.now,
    failures,
    callbackSealed: null,
    scheduledFor: null,
  };
  const claim = makeClaim(task, row, { ...row, workerId: NO_WORKER }, attempt);
  const { status, simulation, notify, expiresInSeconds, aheadMs, flow } = row;
  return { status, simulation, claim, notify, expiresInSeconds, aheadMs, flow };
}

const BEGIN_SIMULATED = statement(
  "begin_simulated",
  `with begun as (
     update tasks t
        set status = 'active', list_key = 'active', fence = t.fence + 1, attempt_count = t.attempt_count + 1, attempt_started_at = j.at,
            started_at = coalesce(t.started_at, j.at)
       from (select a.*, now() + make_interval(secs => a.ahead_ms / 1000) as at
               from jsonb_to_recordset($1::jsonb) as a(team_id integer, id uuid, fence integer, ahead_ms float8)) j
      where t.team_id = j.team_id and t.id = j.id and t.fence = j.fence
     returning t.team_id, t.queue_id, t.id, t.status, t.sandbox, ${EVENT_COLUMNS}
   ), tallied as (
     ${tally({ from: "begun", worker: NO_WORKER, writer: "claim", deltas: { pending: "-1", active: "1" } })}
   ), ${eventCte({ from: "begun", type: "'task.started'" })}
   select id from begun`,
  { prepared: true },
);

/** An attempt begins, without a worker and without a slot. */
export async function beginSimulated(sql: Sql, walking: readonly Walking[]): Promise<void> {
  const keys = walking.map(({ claim: { teamId, id, fence }, aheadMs }) => {
    return { team_id: teamId, id, fence, ahead_ms: aheadMs };
  });
  await sql.rows(BEGIN_SIMULATED, [JSON.stringify(keys)]);
}

const END_SIMULATED = statement(
  "end_simulated",
  `with ended as (
     update tasks t
        set ${endColumns({ status: "j.kind", completed: "j.kind = 'completed'" })},
            result = j.result, error = j.error, failure_reason = j.reason
       from jsonb_to_recordset($1::jsonb) as j(
              team_id integer, id uuid, fence integer, was text, kind text, result jsonb, error text, reason text)
      where t.team_id = j.team_id and t.id = j.id and t.fence = j.fence
     returning t.team_id, t.queue_id, t.id, t.status, j.was, ${ENDING_COLUMNS}
   ), ${afterChange({
     from: "ended",
     worker: NO_WORKER,
     writer: "other",
     deltas: {
       pending: `-${one("was = 'pending'")}`,
       polling: `-${one("was = 'polling'")}`,
       waiting: `-${one("was = 'waiting'")}`,
     },
   })}
   select id from ended`,
  { prepared: true },
);

export interface SimulatedEnd {
  readonly walking: Walking;
  readonly end: ReturnType<typeof endSimulated>;
}

/** Ends a wait: the callback arrived, the poll found the job done, neither happened in time, or the task expired. */
export async function endWaiting(sql: Sql, ends: readonly SimulatedEnd[]): Promise<void> {
  const rows = ends.map(({ walking: { claim, status }, end }) => {
    const { teamId: team_id, id, fence } = claim;
    const { kind, result, error, reason } = end;
    return { team_id, id, fence, was: status, kind, error, reason, ...(result !== null && { result }) };
  });
  await sql.rows(END_SIMULATED, [JSON.stringify(rows)]);
}

const SET_TO_SANDBOX_TIME = statement(
  "set_to_sandbox_time",
  `update tasks t
      set completed_at = t.completed_at + make_interval(secs => j.ms / 1000),
          run_at = t.run_at + make_interval(secs => j.ms / 1000 * (t.status in ('pending', 'polling'))::integer)
     from jsonb_to_recordset($1::jsonb) as j(team_id integer, id uuid, ms float8)
    where t.team_id = j.team_id and t.id = j.id`,
);

/**
 * The statements that settle real attempts write real times: this converts the time of the end or of the next run. Must
 * run in the same transaction.
 */
export async function setToSandboxTime(sql: Sql, walking: readonly Walking[]): Promise<void> {
  const rows = walking.map(({ claim: { teamId, id }, aheadMs }) => ({ team_id: teamId, id, ms: aheadMs }));
  await sql.rows(SET_TO_SANDBOX_TIME, [JSON.stringify(rows)]);
}

const PLAN_STEPS = statement(
  "plan_steps",
  `update simulations s set next_at = now() + make_interval(secs => j.ms / 1000)
     from jsonb_to_recordset($1::jsonb) as j(team_id integer, id uuid, ms float8)
    where s.team_id = j.team_id and s.task_id = j.id`,
);

/** Sets the next step of each, by its own clock; null for none, unless it is retried. */
export async function planSteps(
  sql: Sql,
  { aheadMs }: SandboxTime,
  steps: readonly { readonly claim: Pick<Claim, "teamId" | "id">; readonly waitMs: number | null }[],
): Promise<void> {
  const rows = steps.map(({ claim: { teamId, id }, waitMs }) => ({
    team_id: teamId,
    id,
    ms: waitMs === null ? null : waitMs + aheadMs,
  }));
  await sql.rows(PLAN_STEPS, [JSON.stringify(rows)]);
}

export const untilNextStepMs = untilNext(
  "until_next_step",
  "next_at",
  "simulations where next_at is not null",
);

const UNTIL_NEXT_OF_SANDBOX_MS = statement(
  "until_next_of_sandbox_ms",
  `select extract(epoch from least(
     (select min(next_at) from simulations where team_id = $1 and next_at is not null),
     (select min(next_run_at) from schedules where team_id = $1 and sandbox)) - clock_timestamp())::float8 * 1000 as ms`,
);

/**
 * Milliseconds until the next step of a task of this team, or the next firing of a schedule of its sandbox. Null if
 * there is none.
 */
export async function untilNextOfSandboxMs(sql: Sql, teamId: number): Promise<number | null> {
  const [row] = await sql.rows<{ ms: number | null }>(UNTIL_NEXT_OF_SANDBOX_MS, [teamId]);
  return row?.ms ?? null;
}
