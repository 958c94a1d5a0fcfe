import { POLL_DEFAULTS } from "../../domain/poll/poll-config.ts";
import type { Settlement } from "../../domain/settlement.ts";
import type { Attempt, FollowUp, TaskResult, TaskStatus } from "../../domain/task.ts";
import type { Verdict } from "../../domain/verdict.ts";
import { type Sql, statement } from "../sql.ts";
import { afterChange, ENDING_COLUMNS, endColumns, IS_NOTIFIED, keepingQueues } from "./endings.ts";
import {
  askHot,
  createSubscriberMemory,
  EVENT_COLUMNS,
  hotStatement,
  type SubscriberMemory,
} from "./event-writes.ts";
import { NO_WORKER, one, workerOrNone } from "./tallies.ts";
import { attemptToJson, HAS_DERIVED_ATTEMPT, type StoredResult } from "./task-attempts.ts";

export interface Settled {
  readonly status: TaskStatus;
  /** When it runs or is polled next; null if never. */
  readonly runAt: Date | null;
  /** The task has ended and has a notification. */
  readonly notify: boolean;
  /** The statement gave back the task's place in its flow. */
  readonly hasLeftFlow?: boolean;
}

/**
 * Each counts only while its claim is valid: a worker that was paused past its lease finds no row with its fence. The
 * condition has only the key and the fence, so that the planner can only use the primary key: with stale statistics it
 * walked an index of active rows instead, 500 times slower.
 */
const CLAIM_STANDS = "t.team_id = j.team_id and t.id = j.id and t.fence = j.fence";

const CLOSED = "attempt_started_at = null, attempts = t.attempts || j.attempt";

/**
 * Closes attempts. A retry in a deleted queue is impossible and ends the task. The queue's row is locked, so that it is
 * not deleted between that check and our commit: such a task would stay pending forever, without a notification.
 */
const SETTLE_ATTEMPTS = hotStatement(
  "settle_attempts",
  (condition, tells) => `with asked as (
     select * from jsonb_to_recordset($1::jsonb) as j(
              team_id integer, id uuid, queue_id bigint, fence integer, kind text, wait_ms integer,
              deadline_ms bigint, poll jsonb, attempt jsonb, result jsonb, error text, reason text)
      where ${condition}
   ), ${keepingQueues("select distinct team_id, queue_id from asked where kind = 'retry'")}, judged as (
     select j.*, kept.deleted_at is not null and j.kind = 'retry' as queue_is_gone,
            now() + make_interval(secs => wait_ms / 1000.0) as next_at
       from asked j left join kept on kept.team_id = j.team_id and kept.id = j.queue_id
   ), settled as (
     update tasks t
        set ${endColumns({
          status: "case when queue_is_gone then 'failed' when kind = 'retry' then 'pending' else kind end",
          when: "kind in ('completed', 'failed') or queue_is_gone",
          completed: "kind = 'completed'",
          runAt: "coalesce(j.next_at, t.run_at)",
          onward: { deadlineAt: "now() + make_interval(secs => deadline_ms / 1000.0)", poll: "j.poll" },
        })},
            ${CLOSED},
            failures = t.failures + (kind in ('retry', 'failed'))::integer,
            result = j.result,
            error = j.error,
            failure_reason = case when queue_is_gone then 'queue_deleted' else j.reason end
       from judged j
      where ${CLAIM_STANDS}
     returning t.team_id, t.queue_id, t.id, t.fence, t.status, ${ENDING_COLUMNS},
               case when t.status in ('pending', 'polling') then t.run_at end as run_at
   ), ${afterChange({
     from: "settled",
     tells,
     worker: workerOrNone("$2::bigint"),
     writer: "settle",
     deltas: {
       active: "-1",
       pending: one("status = 'pending'"),
       waiting: one("status = 'waiting'"),
       polling: one("status = 'polling'"),
     },
   })}
   select id, fence - 1 as fence, status, run_at as "runAt",
          status in ('completed', 'failed') and ${IS_NOTIFIED} as notify
     from settled`,
);

/**
 * A cheaper statement for the usual case, a batch of completed tasks: it changes nothing else, and one row answers for
 * all of them. It changes no indexed column, so the update stays on the row's page (HOT); the first attempt of a task
 * is not stored, see `derivedAttempt`.
 */
const settlingCompleted = (flow: string, letGo: string) => (condition: string, tells: boolean) =>
  `with settled as (
     update tasks t
        set status = 'completed', completed_at = now(), poll = null, callback_sealed = null, fence = t.fence + 1, worker_id = null,
            attempt_started_at = null, attempts = case when j.attempt is null then t.attempts else t.attempts || j.attempt end,
            result = j.result, error = null, failure_reason = null
       from unnest($1::integer[], $3::uuid[], $4::integer[], $5::jsonb[], $6::jsonb[])
              as j(team_id, id, fence, attempt, result)
      where ${CLAIM_STANDS} and ${condition}
     returning t.team_id, t.queue_id, t.id, t.sandbox, t.status, t.on_complete_url${flow}${tells ? `, ${EVENT_COLUMNS}` : ""}
   ), ${letGo}${afterChange({
     from: "settled",
     tells,
     worker: workerOrNone("$2::bigint"),
     writer: "settle",
     deltas: { active: "-1" },
     ends: ["completed"],
   })}
   select count(*)::integer as settled, array_agg(id) filter (where on_complete_url is not null) as notified
     from settled having count(*) > 0`;

const SETTLE_COMPLETED = hotStatement("settle_attempts_completed", settlingCompleted("", ""));

/**
 * For a batch with flows: gives back the places as well. A permit that no report has confirmed yet is left to
 * `release_flow_places`. It never waits for a claim, which deletes only the places of tasks that have ended.
 */
const SETTLE_COMPLETED_OF_FLOWS = hotStatement(
  "settle_attempts_completed_flows",
  settlingCompleted(
    ", t.flow, t.fence - 1 as held_fence",
    `let_go as (
     delete from flow_holds h using settled s
      where h.team_id = s.team_id and not h.sandbox and h.flow = s.flow and h.task_id = s.id and h.fence = s.held_fence
        and h.permit_at is null
   ), `,
  ),
);

/**
 * Answers in the order of the settlements; null if the claim was no longer valid. `workerId` is the worker that counts them: none, if
 * another transaction of the worker must not wait for this one.
 */
export async function settleAttempts(
  sql: Sql,
  settlements: readonly Settlement[],
  workerId: number,
  memory = createSubscriberMemory(),
): Promise<(Settled | null)[]> {
  // The statement for completed attempts does not change the task's list key, which only live tasks share.
  const isOfSandbox = settlements.some(({ claim }) => claim.workerId === NO_WORKER);
  if (isOfSandbox || !settlements.every(isCompleted)) return settleAny(sql, settlements, workerId, memory);
  const [done] = await askHot<{ settled: number; notified: readonly string[] | null }>(
    sql,
    settlements.some(({ claim }) => claim.flow !== null) ? SETTLE_COMPLETED_OF_FLOWS : SETTLE_COMPLETED,
    [
      settlements.map(({ claim }) => claim.teamId),
      workerId,
      settlements.map(({ claim }) => claim.id),
      settlements.map(({ claim }) => claim.fence),
      settlements.map(({ attempt }) =>
        attempt.number === 1 ? null : JSON.stringify(attemptToJson(attempt)),
      ),
      settlements.map(({ attempt, verdict }) => JSON.stringify(resultColumn(verdict.result, attempt))),
    ],
    memory,
  );
  if (done?.settled === settlements.length) {
    const notified = new Set(done.notified);
    return settlements.map(({ claim }) => {
      const hasLeftFlow = claim.flow !== null && claim.startByMs === null;
      return { status: "completed", runAt: null, notify: notified.has(claim.id), hasLeftFlow };
    });
  }
  // Some claims are invalid. The statement does not say which, so the others are looked up.
  const none = settlements.map(() => null);
  return done === undefined ? none : withEarlier(sql, settlements, none);
}

async function settleAny(
  sql: Sql,
  settlements: readonly Settlement[],
  workerId: number,
  memory: SubscriberMemory,
): Promise<(Settled | null)[]> {
  const values = [JSON.stringify(settlements.map(toRow)), workerId];
  const rows = await askHot<Settled & { id: string; fence: number }>(sql, SETTLE_ATTEMPTS, values, memory);
  // At most one row per task, though the settlements may have several claims of it.
  const settled = new Map(rows.map((row) => [row.id, row]));
  return settlements.map(({ claim }) => {
    const row = settled.get(claim.id);
    return row?.fence === claim.fence ? { status: row.status, runAt: row.runAt, notify: row.notify } : null;
  });
}

const FIND_SETTLED = statement(
  "find_settled",
  `select t.id, j.attempt, t.status, case when t.status in ('pending', 'polling') then t.run_at end as "runAt",
          t.completed_at is not null and ${IS_NOTIFIED} as notify
     from jsonb_to_recordset($1::jsonb) as j(team_id integer, id uuid, attempt integer)
     join tasks t on t.team_id = j.team_id and t.id = j.id
    where exists (
      select 1 from jsonb_array_elements(t.attempts) a
       where (a.value ->> 'number')::integer = j.attempt and a.value ->> 'status' in ('success', 'failed'))
       or (j.attempt = 1 and ${HAS_DERIVED_ATTEMPT})`,
);

/**
 * For settlements with an invalid claim: the state of those that an earlier try had settled but whose answer was lost.
 * Null for the others: their claim was released.
 */
export async function findSettled(sql: Sql, settlements: readonly Settlement[]): Promise<(Settled | null)[]> {
  const keys = settlements.map(({ claim, attempt }) => ({
    team_id: claim.teamId,
    id: claim.id,
    attempt: attempt.number,
  }));
  const rows = await sql.rows<Settled & { id: string; attempt: number }>(FIND_SETTLED, [
    JSON.stringify(keys),
  ]);
  const found = new Map(rows.map(({ id, attempt, ...each }) => [`${id} ${attempt}`, each]));
  return settlements.map(({ claim, attempt }) => found.get(`${claim.id} ${attempt.number}`) ?? null);
}

/** The settlements with an invalid claim that an earlier statement had settled. */
export async function withEarlier(
  sql: Sql,
  settlements: readonly Settlement[],
  settled: readonly (Settled | null)[],
): Promise<(Settled | null)[]> {
  const gone = settlements.filter((_, index) => settled[index] === null);
  if (gone.length === 0) return [...settled];
  const found = (await findSettled(sql, gone)).values();
  return settled.map((each) => each ?? found.next().value ?? null);
}

interface Completion extends Settlement {
  readonly verdict: Extract<Verdict, { kind: "completed" }>;
}

function isCompleted(settlement: Settlement): settlement is Completion {
  return settlement.verdict.kind === "completed";
}

/** With the further values of a derived attempt. */
function resultColumn(
  { statusCode, headers, body, duration, truncated }: TaskResult,
  { connectMs: connect, firstByteMs: first }: Attempt,
): StoredResult {
  return { statusCode, headers, body, duration, truncated, connect, first };
}

function toRow({ claim, attempt, verdict }: Settlement): object {
  return {
    team_id: claim.teamId,
    id: claim.id,
    queue_id: claim.queueId,
    fence: claim.fence,
    kind: verdict.kind,
    attempt: { ...attemptToJson(attempt), asked: verdict.kind === "retry" ? verdict.isAsked : undefined },
    ...verdictColumns(verdict, claim.follow),
  };
}

function verdictColumns(verdict: Verdict, { pollConfig, maxWaitSeconds }: FollowUp): object {
  switch (verdict.kind) {
    case "completed":
      return { result: verdict.result };
    case "retry":
      return { wait_ms: verdict.waitMs, error: verdict.error };
    case "failed":
      return { result: verdict.result ?? undefined, error: verdict.error, reason: verdict.reason };
    case "waiting":
      return { deadline_ms: maxWaitSeconds * 1000 };
    case "polling": {
      const { interval, maxDuration } = pollConfig ?? POLL_DEFAULTS;
      return { wait_ms: interval * 1000, deadline_ms: maxDuration * 1000, poll: verdict.plan };
    }
  }
}

const MARK_SUPERSEDED = statement(
  "mark_superseded",
  `update tasks t
      set attempts = (
        select jsonb_agg(case when a.value ->> 'number' = $3 and a.value ->> 'status' = 'interrupted'
                              then $4::jsonb else a.value end order by a.ordinality)
          from jsonb_array_elements(t.attempts) with ordinality a)
    where t.team_id = $1 and t.id = $2 and t.attempts <> '[]'`,
);

/**
 * Records that an answer arrived after the claim was released: the attempt that the reaper closed as interrupted
 * becomes superseded, with the target's answer. The task itself does not change.
 */
export async function markSuperseded(sql: Sql, { claim, attempt }: Settlement): Promise<void> {
  await sql.rows(MARK_SUPERSEDED, [
    claim.teamId,
    claim.id,
    String(attempt.number),
    JSON.stringify(attemptToJson({ ...attempt, status: "superseded" })),
  ]);
}
