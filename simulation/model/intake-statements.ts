import { arrayAt, type Effects, numberAt, recordsAt, textAt } from "./effect.ts";
import { type Session, takeLock, takeTally, waitForTask, write } from "./session.ts";
import type { FlowColumns, QueueColumns, TaskColumns } from "./tables.ts";
import { deleteTask, insertTask, keepOwn, pickColumns } from "./task-rows.ts";

/** Of a queue that says nothing else; such a row of a task has none of its own. */
const USUAL_MAX_DELAY_SECONDS = 3_600;
const DAY_MS = 86_400_000;
const SETTINGS = [
  "max_retries",
  "backoff",
  "retry_delay_seconds",
  "retry_max_delay_seconds",
  "no_retry_statuses",
  "timeout_seconds",
] as const;

/** An object of the insert: what is false or null is left out. */
export type AskedRow = Partial<Omit<TaskColumns, "run_at">> & {
  readonly team_id: number;
  readonly id: string;
  readonly queue: string;
  readonly delay_seconds: number;
  readonly run_at?: string;
  readonly slot_queue_id?: number;
  readonly slot_epoch?: number;
  readonly request_hash?: string;
};

/** An object of the insert of plain tasks. */
type PlainRow = Partial<Omit<TaskColumns, "run_at">> & { readonly id: string; readonly held?: boolean };

export const intakeStatements: Effects = {
  insert_tasks_plain(session, values) {
    const queue = plainQueue(session, values);
    if (queue === null) return [];
    insertPlain(session, values, queue);
    return [plainAnswer(session, queue)];
  },

  insert_tasks_keyed(session, values) {
    const queue = plainQueue(session, values);
    if (queue === null) return [];
    const ids = insertPlain(session, values, queue);
    const isAll = ids.length === numberAt(values, 6) + numberAt(values, 7);
    return [{ ...plainAnswer(session, queue), storedIds: isAll ? null : ids }];
  },

  insert_tasks: insertAny,

  insert_flow_tasks(session, values) {
    const stored = insertAny(session, values);
    const ids = new Set(stored.map((row) => ("id" in row ? row.id : null)));
    const flows = new Map(recordsAt<AskedRow>(values, 1).map(({ id, flow }) => [id, flow]));
    const carried = recordsAt<Omit<FlowColumns, "key"> & { readonly id: string }>(values, 3)
      .filter(({ id }) => ids.has(id))
      .sort((one, other) => (one.id < other.id ? -1 : 1));
    for (const { id, concurrency, rate, period, ordered } of carried) {
      const key = flows.get(id) ?? "";
      const before = session.tables.flows.get(key);
      session.tables.flows.set(key, {
        key,
        concurrency: concurrency ?? before?.concurrency ?? null,
        rate: rate ?? before?.rate ?? null,
        period: rate === null ? (before?.period ?? null) : period,
        ordered: ordered ?? before?.ordered ?? null,
      });
    }
    return stored;
  },

  find_accepted({ tables }, values) {
    const workerId = numberAt(values, 2);
    return recordsAt<{ id: string }>(values, 1).flatMap(({ id }) => {
      const row = tables.tasks.get(id);
      if (row === undefined) return [];
      const { worker_id, attempt_started_at } = row;
      const parts = [
        worker_id === null ? null : worker_id === workerId,
        row.fence === 1,
        attempt_started_at === null ? null : attempt_started_at === row.created_at,
      ];
      // As SQL has it: false, unless a null leaves it open.
      const ours = parts.includes(false) ? false : parts.includes(null) ? null : true;
      return [{ ...acceptedRow(row), ours }];
    });
  },

  remove_pending_task(session, values) {
    const id = textAt(values, 2);
    const row = session.tables.tasks.get(id);
    if (row === undefined) return [];
    takeLock(session, `task ${id}`);
    if (row.status !== "pending") return [];
    takeTally(session, row.queue_id);
    write(session, () => deleteTask(session, row));
    return [{ queueId: row.queue_id, flow: row.flow, sandbox: row.sandbox }];
  },

  task_status({ tables }, values) {
    const row = tables.tasks.get(textAt(values, 2));
    return row === undefined ? [] : [{ status: row.status }];
  },

  remove_pending_of_deleted_queues(session, values) {
    const only = values[2] ?? null;
    const doomed = [...session.tables.tasks.values()].filter(({ queue_id, status }) => {
      const isGone = session.tables.queues.get(queue_id)?.deleted_at !== null;
      return status === "pending" && isGone && (only === null || only === queue_id);
    });
    const removed = doomed.slice(0, numberAt(values, 1));
    for (const { id, queue_id } of removed) {
      waitForTask(session, id);
      takeTally(session, queue_id);
    }
    for (const row of removed) deleteTask(session, row);
    return [{ removed: removed.length, live: removed.length }];
  },
};

function insertAny(session: Session, values: readonly unknown[]): object[] {
  const workerId = numberAt(values, 2);
  return recordsAt<AskedRow>(values, 1).flatMap((asked) => {
    const queue = liveQueue(session, asked.team_id, asked.queue);
    if (queue === undefined || !takeKey(session, asked)) return [];
    const row = newRow(session, asked, queue, workerId);
    keepOwn(session, row);
    write(session, (place) => insertTask(session, row, place));
    return [acceptedRow(row)];
  });
}

/** Null: the statement does nothing. */
export function plainQueue(session: Session, values: readonly unknown[]): QueueColumns | null {
  const queue = liveQueue(session, numberAt(values, 3), textAt(values, 4));
  if (queue === undefined || !session.tables.workers.has(numberAt(values, 2))) return null;
  const isGranted = queue.id === values[4] && queue.epoch === values[7];
  return numberAt(values, 6) === 0 || isGranted ? queue : null;
}

const FIRST_ARRAY = 9;
export const PLAIN = [
  ...["held", "shape", "priority", "method", "url", "headers", "body", "body_is_json", "sign"],
  "on_complete_url",
];
const KEYED = [...PLAIN, "idempotency_key", "request_hash"];

/** $1 has the ids, and from $9 on there is an array for each column. One element stands for all tasks. */
export function plainRows(values: readonly unknown[], names: readonly string[] = KEYED): PlainRow[] {
  return arrayAt<string>(values, 1).map((id, index) => {
    const columns = names.flatMap((name, at) => {
      const column = values[FIRST_ARRAY - 1 + at];
      // The further parameters of the form with events are not columns.
      const value = Array.isArray(column)
        ? (column[column.length === 1 ? 0 : index] ?? undefined)
        : undefined;
      return [[name, name === "headers" && typeof value === "string" ? JSON.parse(value) : value]];
    });
    return { id, ...Object.fromEntries(columns) };
  });
}

/** Returns which were stored. */
function insertPlain(session: Session, values: readonly unknown[], queue: QueueColumns): string[] {
  return plainRows(values).flatMap(({ held, ...row }) => {
    const slot = held ? { slot_queue_id: queue.id, slot_epoch: queue.epoch } : {};
    const asked = { ...row, team_id: queue.team_id, queue: queue.name, delay_seconds: 0, ...slot };
    if (!takeKey(session, asked)) return [];
    insertTask(session, newRow(session, asked, queue, numberAt(values, 2)));
    return row.id;
  });
}

export function plainAnswer({ nowMs }: Session, queue: QueueColumns): object {
  const settings = { ...queue, retry_max_delay_seconds: ownMaxDelay(queue) };
  return { queueId: queue.id, createdMs: nowMs, ...pickColumns(settings, SETTINGS) };
}

export function liveQueue({ tables }: Session, teamId: number, name: string): QueueColumns | undefined {
  for (const queue of tables.queues.values())
    if (queue.team_id === teamId && queue.name === name && queue.deleted_at === null) return queue;
  return undefined;
}

/** False if another task has it. */
function takeKey({ tables, nowMs }: Session, asked: AskedRow): boolean {
  const { team_id, id, idempotency_key, sandbox, request_hash = "" } = asked;
  if (idempotency_key === undefined || idempotency_key === null) return true;
  const name = `${team_id} ${sandbox === true} ${idempotency_key}`;
  const taken = tables.keys.get(name);
  if (taken !== undefined && taken.created_at >= nowMs - DAY_MS) return false;
  const key = { team_id, key: idempotency_key, sandbox: sandbox === true, task_id: id };
  tables.keys.set(name, { ...key, request_hash, created_at: nowMs });
  return true;
}

export function newRow(
  { tables, nowMs }: Session,
  asked: AskedRow,
  queue: QueueColumns,
  workerId: number,
): TaskColumns {
  const handedOff =
    asked.slot_queue_id === queue.id && asked.slot_epoch === queue.epoch && tables.workers.has(workerId);
  return {
    team_id: asked.team_id,
    id: asked.id,
    queue_id: queue.id,
    shape: asked.shape ?? "queue",
    priority: asked.priority ?? 0,
    sandbox: asked.sandbox ?? false,
    method: asked.method ?? "",
    url: asked.url ?? "",
    headers: asked.headers ?? null,
    body: asked.body ?? null,
    body_is_json: asked.body_is_json ?? false,
    message: asked.message ?? null,
    sign: asked.sign ?? false,
    timeout_seconds: asked.timeout_seconds ?? queue.timeout_seconds,
    max_retries: asked.max_retries ?? queue.max_retries,
    backoff: asked.backoff ?? queue.backoff,
    retry_delay_seconds: asked.retry_delay_seconds ?? queue.retry_delay_seconds,
    retry_max_delay_seconds: asked.retry_max_delay_seconds ?? ownMaxDelay(queue),
    no_retry_statuses: asked.no_retry_statuses ?? queue.no_retry_statuses,
    expires_in_seconds: asked.expires_in_seconds ?? null,
    provider: asked.provider ?? null,
    poll_config: asked.poll_config ?? null,
    wait_for_callback: asked.wait_for_callback ?? false,
    max_wait_seconds: asked.max_wait_seconds ?? null,
    on_complete_url: asked.on_complete_url ?? null,
    on_failure_url: asked.on_failure_url ?? null,
    scheduled_for: null,
    idempotency_key: asked.idempotency_key ?? null,
    created_at: nowMs,
    callback_hash: asked.callback_hash ?? null,
    callback_sealed: asked.callback_sealed ?? null,
    status: handedOff ? "active" : "pending",
    run_at: asked.run_at === undefined ? nowMs + asked.delay_seconds * 1000 : Date.parse(asked.run_at),
    started_at: handedOff ? nowMs : null,
    deadline_at: handedOff || asked.sandbox === true ? null : expiry(asked.expires_in_seconds ?? null, nowMs),
    completed_at: null,
    fence: handedOff ? 1 : 0,
    worker_id: handedOff ? workerId : null,
    attempt_count: handedOff ? 1 : 0,
    attempt_started_at: handedOff ? nowMs : null,
    failures: 0,
    interruptions: 0,
    attempts: [],
    poll: null,
    result: null,
    error: null,
    failure_reason: null,
    retries: 0,
    flow: asked.flow ?? null,
    dedupe: asked.dedupe ?? null,
    is_held: false,
  };
}

function ownMaxDelay({ retry_max_delay_seconds: seconds }: QueueColumns): number | null {
  return seconds === USUAL_MAX_DELAY_SECONDS ? null : seconds;
}

/** Until when the first attempt is waited for; null: for ever. */
function expiry(seconds: number | null, nowMs: number): number | null {
  return seconds === null ? null : nowMs + seconds * 1000;
}

function acceptedRow(row: TaskColumns): object {
  return {
    ...pickColumns(row, ["id", ...SETTINGS]),
    queueId: row.queue_id,
    isActive: row.status === "active",
    createdMs: row.created_at,
    runMs: row.run_at,
  };
}
