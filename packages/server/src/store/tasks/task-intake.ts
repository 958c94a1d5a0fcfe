import type { Backoff } from "../../domain/backoff.ts";
import type { FollowUp, NewTask } from "../../domain/task.ts";
import { prepare, type Sql } from "../sql.ts";
import type { SlotGrant } from "./queue-slots.ts";
import { one, tally } from "./tallies.ts";

export interface Submission {
  readonly task: NewTask;
  /** The grant under which a slot was set aside for the task, if one was. */
  readonly reservation: Pick<SlotGrant, "queueId" | "epoch"> | null;
}

/** What became of a submission; null instead of one: its queue does not exist, or its idempotency key is taken. */
export interface Accepted {
  readonly id: string;
  readonly queueId: number;
  /** Inserted already active under the reservation: the call may start now. */
  readonly handedOff: boolean;
  readonly createdAt: Date;
  readonly runAt: Date;
  readonly maxRetries: number;
  readonly backoff: Backoff;
  readonly retryDelaySeconds: number;
  readonly timeoutSeconds: number;
}

/** Instants as milliseconds: the driver is slow at reading dates, and these come with every task. */
const ACCEPTED = `id, queue_id, status, max_retries, backoff, retry_delay_seconds, timeout_seconds,
  extract(epoch from created_at)::float8 * 1000 as created_ms, extract(epoch from run_at)::float8 * 1000 as run_ms`;

/**
 * A task whose reservation still holds is inserted active, as its first attempt, in the same commit: no claim is
 * needed. The reservation holds while the queue's epoch is unchanged and the worker's row is there.
 */
const INSERT_TASKS = prepare(
  "insert_tasks",
  `with asked as materialized (
     select a.*, q.id as queue_id, now() as asked_at,
            coalesce(a.slot_queue_id = q.id and a.slot_epoch = q.epoch
                     and exists (select 1 from workers where id = $2), false) as handed_off,
            coalesce(a.max_retries, q.max_retries) as own_max_retries,
            coalesce(a.backoff, q.backoff) as own_backoff,
            q.retry_delay_seconds,
            coalesce(a.timeout_seconds, q.timeout_seconds) as own_timeout_seconds
       from jsonb_to_recordset($1::jsonb) as a(
              team_id integer, id uuid, queue text, shape text, priority smallint, sandbox boolean,
              method text, url text, headers jsonb, body text, delay_seconds integer, run_at timestamptz,
              max_retries smallint, backoff text, timeout_seconds integer, slot_queue_id bigint, slot_epoch integer,
              provider text, poll_config jsonb, wait_for_callback boolean, max_wait_seconds integer,
              callback_hash text, callback_sealed text, on_complete_url text, sign boolean,
              idempotency_key text, request_hash text)
       join queues q on q.team_id = a.team_id and q.name = a.queue and q.deleted_at is null
   ), keyed as (
     -- Of all that come with one key, the first stores its task; a key older than a day is free again.
     insert into idempotency_keys as k (team_id, key, sandbox, request_hash, task_id)
     select team_id, idempotency_key, sandbox, decode(request_hash, 'hex'), id from asked
      where idempotency_key is not null
     on conflict (team_id, key, sandbox) do update
        set request_hash = excluded.request_hash, task_id = excluded.task_id, created_at = now()
      where k.created_at < now() - interval '24 hours'
     returning task_id
   ), inserted as (
     insert into tasks (team_id, id, queue_id, shape, status, priority, sandbox, method, url, headers, body,
                        max_retries, backoff, retry_delay_seconds, timeout_seconds, run_at, created_at,
                        started_at, attempt_started_at, attempt_count, fence, worker_id,
                        provider, poll_config, wait_for_callback, max_wait_seconds, callback_hash, callback_sealed,
                        on_complete_url, sign, idempotency_key)
     select team_id, id, queue_id, shape, case when handed_off then 'active' else 'pending' end, priority, sandbox,
            method, url, headers, body, own_max_retries, own_backoff, retry_delay_seconds, own_timeout_seconds,
            coalesce(run_at, asked_at + make_interval(secs => delay_seconds)), asked_at,
            case when handed_off then asked_at end, case when handed_off then asked_at end,
            handed_off::integer, handed_off::integer, case when handed_off then $2::bigint end,
            provider, poll_config, coalesce(wait_for_callback, false), max_wait_seconds, decode(callback_hash, 'hex'),
            decode(callback_sealed, 'hex'), on_complete_url, coalesce(sign, false), idempotency_key
       from asked
      where idempotency_key is null or id in (select task_id from keyed)
     returning team_id, id, queue_id, status, created_at, run_at, max_retries, backoff, retry_delay_seconds, timeout_seconds
   ), tallied as (
     ${tally({
       from: "inserted",
       worker: "$2::bigint",
       writer: "intake",
       deltas: { pending: one("status = 'pending'"), active: one("status = 'active'") },
     })}
   )
   select ${ACCEPTED} from inserted`,
);

interface InsertedRow {
  id: string;
  queue_id: string;
  status: "pending" | "active";
  created_ms: number;
  run_ms: number;
  max_retries: number;
  backoff: Backoff;
  retry_delay_seconds: number;
  timeout_seconds: number;
}

/** Inserts a batch in one commit. Answers in the order of the submissions. */
export async function insertTasks(
  sql: Sql,
  submissions: readonly Submission[],
  workerId: number,
): Promise<(Accepted | null)[]> {
  const rows = await sql.rows<InsertedRow>(INSERT_TASKS, [JSON.stringify(submissions.map(toRow)), workerId]);
  const accepted = new Map(rows.map((row) => [row.id, toAccepted(row)]));
  return submissions.map(({ task }) => accepted.get(task.id) ?? null);
}

function toRow({ task, reservation }: Submission): object {
  const { call } = task;
  return {
    team_id: task.teamId,
    id: task.id,
    queue: task.queue,
    shape: task.shape,
    priority: task.priority,
    sandbox: task.sandbox,
    method: call.method,
    url: call.url,
    headers: hasOwnKeys(call.headers) ? call.headers : undefined,
    body: call.body,
    delay_seconds: task.delaySeconds,
    run_at: task.runAt,
    max_retries: task.maxRetries,
    backoff: task.backoff,
    timeout_seconds: task.timeoutSeconds,
    slot_queue_id: reservation?.queueId,
    slot_epoch: reservation?.epoch,
    on_complete_url: task.onCompleteUrl ?? undefined,
    sign: task.sign || undefined,
    callback_hash: task.callback?.hash,
    callback_sealed: task.callback?.sealed ?? undefined,
    idempotency_key: task.idempotency?.key,
    request_hash: task.idempotency?.requestHash,
    ...followColumns(task.follow),
  };
}

function followColumns({ provider, pollConfig, waitForCallback, maxWaitSeconds }: FollowUp): object {
  if (pollConfig !== null) return { provider: provider ?? undefined, poll_config: pollConfig };
  return waitForCallback ? { wait_for_callback: true, max_wait_seconds: maxWaitSeconds } : {};
}

function hasOwnKeys(value: object): boolean {
  for (const _ in value) return true;
  return false;
}

function toAccepted(row: InsertedRow): Accepted {
  return {
    id: row.id,
    queueId: Number(row.queue_id),
    handedOff: row.status === "active",
    createdAt: new Date(row.created_ms),
    runAt: new Date(row.run_ms),
    maxRetries: row.max_retries,
    backoff: row.backoff,
    retryDelaySeconds: row.retry_delay_seconds,
    timeoutSeconds: row.timeout_seconds,
  };
}

/** What became of these tasks: asked after a connection was lost during a commit. Null for those not stored. */
export async function findAccepted(
  sql: Sql,
  tasks: readonly NewTask[],
  workerId: number,
): Promise<(Accepted | null)[]> {
  const rows = await sql.rows<InsertedRow & { ours: boolean | null }>(
    `select ${ACCEPTED}, worker_id = $2 and fence = 1 and attempt_started_at = created_at as ours from tasks
      where (team_id, id) in (select team_id, id from jsonb_to_recordset($1::jsonb) as a(team_id integer, id uuid))`,
    [JSON.stringify(tasks.map((task) => ({ team_id: task.teamId, id: task.id }))), workerId],
  );
  // Active may also mean that it was inserted pending and someone, perhaps we, has claimed it since.
  const accepted = new Map(
    rows.map((row) => [
      row.id,
      { ...toAccepted(row), handedOff: row.status === "active" && row.ours === true },
    ]),
  );
  return tasks.map((task) => accepted.get(task.id) ?? null);
}
