import type { NewTask } from "../../domain/task.ts";
import { columns } from "../columns.ts";
import { type Sql, statement } from "../sql.ts";
import {
  askHot,
  askWithEvents,
  CREATED,
  createSubscriberMemory,
  EVENT_COLUMNS,
  eventCte,
  hotStatement,
  type SubscriberMemory,
} from "./event-writes.ts";
import { carriedFigures, keepingFigures, NOT_REFUSED, REFUSED } from "./flow-intake.ts";
import { joiningLines } from "./ordered-lines.ts";
import { insertPlainFlowTasks } from "./plain-flow-tasks.ts";
import { insertPlainTasks } from "./plain-tasks.ts";
import { aheadSeconds, withClock } from "./sandbox-clocks.ts";
import type { Accepted, Submission } from "./submission.ts";
import { one, tally, workerOrNone } from "./tallies.ts";
import { INSERTED, insertedRow } from "./task-columns.ts";
import { holding } from "./task-state.ts";

export type { Accepted, Submission } from "./submission.ts";

/**
 * Times as milliseconds, because the driver parses dates slowly and every task has these. Multiplied before the
 * conversion to floating point: the other way round loses a millisecond now and then.
 */
const ACCEPTED = `${columns("t", "id, max_retries, backoff, retry_delay_seconds, retry_max_delay_seconds, no_retry_statuses, timeout_seconds")},
  t.queue_id::float8 as "queueId", t.status = 'active' as "isActive",
  (extract(epoch from t.created_at) * 1000)::float8 as "createdMs",
  (extract(epoch from t.run_at) * 1000)::float8 as "runMs"`;

const REAL_CLOCK = { columns: "now() as asked_at", join: "" };

/** For a batch with sandbox tasks: their times use the clock of their team, which may be further ahead by $4. */
const SANDBOX_CLOCK = {
  columns: `now() + make_interval(secs => ${aheadSeconds()} + $4::float8 / 1000) as asked_at,
            make_interval(secs => ${aheadSeconds()}) as ahead`,
  join: withClock("a"),
};

/**
 * A task with a valid reservation is inserted as active, as its first attempt, in the same commit: no claim is needed.
 * The reservation is valid while the queue's epoch is unchanged and the worker's row exists.
 */
const insertion = (further: string, condition = "true", tells = true, clock = REAL_CLOCK, hasFlows = false) =>
  `with asked as materialized (
     select a.*, q.id as queue_id, ${clock.columns},
            coalesce(a.slot_queue_id = q.id and a.slot_epoch = q.epoch and a.sandbox is not true
                     and exists (select 1 from workers where id = $2), false) as handed_off,
            coalesce(a.max_retries, q.max_retries) as own_max_retries,
            coalesce(a.backoff, q.backoff) as own_backoff,
            coalesce(a.retry_delay_seconds, q.retry_delay_seconds) as own_retry_delay_seconds,
            coalesce(a.retry_max_delay_seconds, nullif(q.retry_max_delay_seconds, 3600)) as own_retry_max_delay_seconds,
            coalesce(a.no_retry_statuses, q.no_retry_statuses) as own_no_retry_statuses,
            coalesce(a.timeout_seconds, q.timeout_seconds) as own_timeout_seconds
       from jsonb_to_recordset($1::jsonb) as a(${INSERTED.record})
       join queues q on q.team_id = a.team_id and q.name = a.queue and q.deleted_at is null ${clock.join}
      where ${condition}
   ), ${hasFlows ? REFUSED : ""}keyed as (
     -- Of all that come with one key, the first stores its task; a key older than a day is free again.
     insert into idempotency_keys as k (team_id, key, sandbox, request_hash, task_id, callback_sealed)
     select team_id, idempotency_key, sandbox, decode(request_hash, 'hex'), id, decode(repeat_callback, 'hex') from asked
      where ${hasFlows ? NOT_REFUSED : ""} idempotency_key is not null
     on conflict (team_id, key, sandbox) do update
        set request_hash = excluded.request_hash, task_id = excluded.task_id,
            callback_sealed = excluded.callback_sealed, created_at = now()
      where k.created_at < now() - interval '24 hours'
     returning task_id
   ), inserted as (
     insert into tasks as t (team_id, id, queue_id, status, max_retries, backoff, retry_delay_seconds,
                        retry_max_delay_seconds, no_retry_statuses, timeout_seconds,
                        run_at, due_at, flow_due_at, list_key, created_at, deadline_at, started_at, attempt_started_at, attempt_count, fence, worker_id,
                        ${INSERTED.columns})
     select team_id, id, queue_id, case when handed_off then 'active' else 'pending' end, own_max_retries, own_backoff,
            own_retry_delay_seconds, own_retry_max_delay_seconds, own_no_retry_statuses, own_timeout_seconds,
            begins_at, case when not handed_off and not coalesce(sandbox, false) and flow is null then begins_at end,
            case when not handed_off and not coalesce(sandbox, false) and flow is not null then begins_at end,
            case when handed_off then 'begun' else 'pending' end, asked_at,
            -- Of a task of the sandbox, simulations says when it expires.
            case when not handed_off and not coalesce(sandbox, false)
                 then asked_at + make_interval(secs => expires_in_seconds) end,
            case when handed_off then asked_at end, case when handed_off then asked_at end,
            handed_off::integer, handed_off::integer, case when handed_off then $2::bigint end,
            ${INSERTED.values}
       from (select *, coalesce(run_at, asked_at + make_interval(secs => delay_seconds)) as begins_at from asked) asked
      where ${hasFlows ? NOT_REFUSED : ""} (idempotency_key is null or id in (select task_id from keyed))
     returning team_id, id, queue_id, sandbox, ${hasFlows ? "flow, " : ""}tags, status, created_at, run_at, max_retries, backoff, retry_delay_seconds,
               retry_max_delay_seconds, no_retry_statuses, timeout_seconds${tells ? `, ${EVENT_COLUMNS}` : ""}
   ), tallied as (
     ${tally({
       from: "inserted",
       worker: workerOrNone("$2::bigint"),
       writer: "intake",
       deltas: { pending: one("status = 'pending'"), active: one("status = 'active'") },
     })}
   ), ${holding("inserted", "$2::bigint", "status = 'active'")}${tells ? `, ${eventCte(CREATED)}` : ""}${further}
   select ${ACCEPTED} from inserted t`;

const INSERT_TASKS = hotStatement("insert_tasks", (condition, tells) => insertion("", condition, tells));

const TAGGED = `, tagged as (
     insert into task_tags (team_id, tag, task_id)
     select team_id, tag, id from inserted cross join unnest(tags) as tag
   )`;

/** A separate statement, so that a batch without tags does not pay for them. */
const INSERT_TAGGED_TASKS = statement("insert_tagged_tasks", insertion(TAGGED), { prepared: true });

/** Likewise, so that a batch without flows does not pay for them. */
const INSERT_FLOW_TASKS = hotStatement("insert_flow_tasks", (condition, tells) =>
  insertion(
    `${TAGGED}${keepingFigures("$3")}, ${joiningLines("inserted")}`,
    condition,
    tells,
    REAL_CLOCK,
    true,
  ),
);

/** Likewise, so that a batch without sandbox tasks does not pay for the clock and the simulations. */
const INSERT_SIMULATED_TASKS = statement(
  "insert_simulated_tasks",
  insertion(
    `${TAGGED}, simulated as (
     insert into simulations (team_id, task_id, said, next_at)
     select i.team_id, i.id, s.said, coalesce(i.created_at + s.expires_in, i.run_at) - a.ahead
       from inserted i join asked a on a.team_id = i.team_id and a.id = i.id
       join jsonb_to_recordset($3::jsonb) as s(id uuid, said jsonb, expires_in interval) on s.id = i.id
   )${keepingFigures("$5")}, ${joiningLines("inserted")}`,
    "true",
    true,
    SANDBOX_CLOCK,
    true,
  ),
  { prepared: true },
);

type InsertedRow = Omit<Accepted, "handedOff" | "createdAt" | "runAt"> & {
  readonly isActive: boolean;
  readonly createdMs: number;
  readonly runMs: number;
};

/**
 * Inserts a batch in one commit. Answers in the order of the submissions. `aheadMs`: all tasks belong to one sandbox,
 * whose time is this much further ahead than its clock.
 */
export async function insertTasks(
  sql: Sql,
  submissions: readonly Submission[],
  workerId: number,
  aheadMs = 0,
  memory = createSubscriberMemory(),
): Promise<readonly (Accepted | null)[]> {
  const hasFlows = submissions.some(({ task }) => task.flow !== null);
  const insertPlain = hasFlows ? insertPlainFlowTasks : insertPlainTasks;
  const plain = await insertPlain(sql, submissions, workerId, memory);
  if (plain !== "not plain" && plain !== "nothing done") return plain;
  const values = [
    // Only the statement for plain tasks takes places in flows.
    JSON.stringify(
      submissions.map(({ task, reservation }) => insertedRow(task, task.flow === null ? reservation : null)),
    ),
    workerId,
  ];
  // The reason for an empty answer is not queried: a caller waits, and gets its answer after two statements.
  const rows =
    plain === "nothing done" && !hasFlows
      ? await askWithEvents<InsertedRow>(sql, INSERT_TASKS.withEvents, values, memory)
      : await insertRows(sql, submissions, values, aheadMs, memory);
  const accepted = new Map(rows.map((row) => [row.id, toAccepted(row, row.isActive)]));
  return submissions.map(({ task }) => accepted.get(task.id) ?? null);
}

function insertRows(
  sql: Sql,
  submissions: readonly Submission[],
  values: readonly unknown[],
  aheadMs: number,
  memory: SubscriberMemory,
): Promise<InsertedRow[]> {
  if (submissions.some(({ task }) => task.sandbox)) {
    const simulated = JSON.stringify(submissions.flatMap(({ task }) => simulatedRow(task) ?? []));
    const carried = carriedFigures(submissions.map(({ task }) => task));
    return sql.rows(INSERT_SIMULATED_TASKS, [...values, simulated, aheadMs, carried]);
  }
  if (submissions.some(({ task }) => task.flow !== null)) {
    const carried = carriedFigures(submissions.map(({ task }) => task));
    return askHot(sql, INSERT_FLOW_TASKS, [...values, carried], memory);
  }
  const isTagged = submissions.some(({ task }) => task.tags !== null);
  return isTagged ? sql.rows(INSERT_TAGGED_TASKS, values) : askHot(sql, INSERT_TASKS, values, memory);
}

/** A task without simulation has a row if it expires. */
export function simulatedRow({ id, sandbox, simulate, expiresInSeconds }: NewTask): object | null {
  if (simulate !== null) return { id, said: simulate };
  return sandbox && expiresInSeconds !== null ? { id, expires_in: `${expiresInSeconds} s` } : null;
}

function toAccepted(row: InsertedRow, handedOff: boolean): Accepted {
  return {
    id: row.id,
    queueId: row.queueId,
    handedOff,
    createdAt: new Date(row.createdMs),
    runAt: new Date(row.runMs),
    maxRetries: row.maxRetries,
    backoff: row.backoff,
    retryDelaySeconds: row.retryDelaySeconds,
    retryMaxDelaySeconds: row.retryMaxDelaySeconds,
    noRetryStatuses: row.noRetryStatuses,
    timeoutSeconds: row.timeoutSeconds,
  };
}

const FIND_ACCEPTED = statement(
  "find_accepted",
  `select ${ACCEPTED}, t.worker_id = $2 and t.fence = 1 and t.attempt_started_at = t.created_at as ours from tasks t
    where (t.team_id, t.id) in (select team_id, id from jsonb_to_recordset($1::jsonb) as a(team_id integer, id uuid))`,
);

/** The state of these tasks, queried after the connection was lost during a commit. Null for tasks that were not stored. */
export async function findAccepted(
  sql: Sql,
  tasks: readonly NewTask[],
  workerId: number,
): Promise<(Accepted | null)[]> {
  const rows = await sql.rows<InsertedRow & { ours: boolean | null }>(FIND_ACCEPTED, [
    JSON.stringify(tasks.map((task) => ({ team_id: task.teamId, id: task.id }))),
    workerId,
  ]);
  // An active task may also have been inserted as pending and claimed since, perhaps by us.
  const accepted = new Map(rows.map((row) => [row.id, toAccepted(row, row.isActive && row.ours === true)]));
  return tasks.map((task) => accepted.get(task.id) ?? null);
}
