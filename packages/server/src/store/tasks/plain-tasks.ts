import type { TaskSettings } from "../../domain/task.ts";
import { columns } from "../columns.ts";
import type { Sql } from "../sql.ts";
import {
  CREATED,
  EVENT_COLUMNS,
  eventCte,
  hotStatement,
  plainEntries,
  plainEventCte,
  type SubscriberMemory,
  tryHot,
} from "./event-writes.ts";
import type { Accepted, Submission } from "./submission.ts";
import { NO_WORKER, one, tally } from "./tallies.ts";
import { hasOwnKeys, isPlain } from "./task-columns.ts";
import { holding } from "./task-state.ts";

/*
 * Most tasks have only their call, run at once, and arrive in batches for one queue. They have their own statement,
 * which costs a third less than the general one: it has a third of the columns, knows the count in advance, and answers
 * with one row for the whole batch.
 */

/** The columns of a plain task besides its id, with their types. Each column is passed as an array. */
export const PLAIN = {
  /** A slot was reserved for it. */
  held: "boolean",
  shape: "text",
  priority: "smallint",
  method: "text",
  url: "text",
  headers: "jsonb",
  body: "text",
  body_is_json: "boolean",
  sign: "boolean",
  on_complete_url: "text",
} as const;

export const SETTINGS =
  "max_retries, backoff, retry_delay_seconds, retry_max_delay_seconds, no_retry_statuses, timeout_seconds";

/** Plain messages of the QStash-compatible API. */
const MESSAGES = { ...PLAIN, message: "jsonb" } as const;

/** Plain tasks with an idempotency key. */
const KEYED = { ...PLAIN, idempotency_key: "text", request_hash: "text" } as const;

/**
 * No row is written or returned unless the queue and the worker exist and, if slots were reserved, the queue's epoch is
 * unchanged.
 */
export const queueIf = (condition: string) => `q as materialized (
     select team_id, id as queue_id, now() as asked_at, max_retries, backoff, retry_delay_seconds,
            nullif(retry_max_delay_seconds, 3600) as retry_max_delay_seconds, no_retry_statuses, timeout_seconds,
            false as sandbox, $6::integer as active, $7::integer as pending, now() - interval '24 hours' as free_before
       from queues
      where team_id = $3 and name = $4 and deleted_at is null and ($6 = 0 or (id = $5 and epoch = $8))
        and exists (select 1 from workers where id = $2) and ${condition}
   )`;

/** $1 has the ids, and from $9 on there is an array for each column. */
export const FIRST_ARRAY = 9;
/** What nearly always differs between the tasks of a batch. */
const OWN = new Set(["id", "url", "body", "message", "idempotency_key", "request_hash"]);

/**
 * Where the rows come from. PostgreSQL reads each array element by element, and `unnest` copies it into a store of its own. Tasks that
 * are alike in everything but `OWN` share the other values: those arrays have one element each. A task alone is always alike.
 */
type Form = "alike" | "mixed";
const asked = (record: object, form: Form) => {
  const columns = Object.entries({ id: "uuid", ...record }).map(([name, type], index) => ({
    name,
    array: `${index === 0 ? "$1" : `$${FIRST_ARRAY + index - 1}`}::${type}[]`,
    isShared: form === "alike" && !OWN.has(name),
  }));
  const own = columns.filter(({ isShared }) => !isShared);
  const shared = columns.filter(({ isShared }) => isShared);
  const each = `unnest(${own.map(({ array }) => array).join(", ")}) as a(${own.map(({ name }) => name).join(", ")})`;
  return form === "mixed"
    ? `q cross join ${each}`
    : `q cross join (select ${shared.map(({ array, name }) => `(${array})[1] as ${name}`).join(", ")}) s cross join ${each}`;
};

const inserting = (
  more: string,
) => `insert into tasks as t (team_id, queue_id, ${SETTINGS}, sandbox, run_at, created_at, due_at, list_key,
                        status, started_at, attempt_started_at, attempt_count, fence, worker_id,
                        id, shape, priority, method, url, headers, body, body_is_json, sign, on_complete_url${more})
     select team_id, queue_id, ${SETTINGS}, sandbox, asked_at, asked_at, case when held then null else asked_at end,
            case when held then 'begun' else 'pending' end,
            case when held then 'active' else 'pending' end, case when held then asked_at end,
            case when held then asked_at end, case when held then 1 else 0 end, case when held then 1 else 0 end,
            case when held then $2::bigint end,
            id, shape, priority, method, url, headers, body, body_is_json, sign, on_complete_url${more}`;

const INSERTED = "t.team_id, t.queue_id, t.sandbox, t.status, t.id";

export const ANSWER = `queue_id::float8 as "queueId", (extract(epoch from asked_at) * 1000)::float8 as "createdMs",
          ${columns("q", SETTINGS)}`;

const writes = { worker: "$2::bigint", writer: "intake" } as const;

/** Inserts the whole batch or nothing. */
const insertPlain = (form: Form, record: object, more: string) => (condition: string, tells: boolean) =>
  `with ${queueIf(condition)}, inserted as (
     ${inserting(more)}
       from ${asked(record, form)}
   ), held as (
     insert into claim_batches (worker_id, team_id, task_ids) select $2, team_id, $1 from q where active > 0
   ), tallied as (
     ${tally({ ...writes, from: "q", isSummed: true, deltas: { pending: "pending", active: "active" } })}
   )${tells ? `, ${plainEventCte({ from: "q", queue: "$4", entries: `$${FIRST_ARRAY + Object.keys(record).length}` })}` : ""}
   select ${ANSWER} from q`;

/** Inserts all tasks whose key is free, see `insertTasks`; their ids are returned only if some are missing. */
const insertKeyed = (form: Form) => (condition: string, tells: boolean) =>
  `with ${queueIf(condition)}, asked as materialized (
     select * from ${asked(KEYED, form)}
   ), keyed as (
     insert into idempotency_keys as k (team_id, key, sandbox, request_hash, task_id, created_at)
     select team_id, idempotency_key, sandbox, decode(request_hash, 'hex'), id, asked_at from asked
      where idempotency_key is not null
     on conflict (team_id, key, sandbox) do update
        set request_hash = excluded.request_hash, task_id = excluded.task_id, callback_sealed = null,
            created_at = excluded.created_at
      where k.created_at < (select free_before from q)
     returning task_id
   ), inserted as (
     ${inserting(", idempotency_key")}
       from asked
      where idempotency_key is null or id in (select task_id from keyed)
     returning ${INSERTED}${tells ? `, ${EVENT_COLUMNS}` : ""}
   ), tallied as (
     ${tally({
       ...writes,
       from: "inserted",
       deltas: { pending: one("status = 'pending'"), active: one("status = 'active'") },
     })}
   ), ${holding("inserted", "$2::bigint", "status = 'active'")}${tells ? `, ${eventCte({ ...CREATED, isHot: true })}` : ""}, counted as (
     select count(*) as stored, array_agg(id) as ids from inserted
   )
   select ${ANSWER}, case when stored < active + pending then coalesce(ids, '{}') end as "storedIds" from q cross join counted`;

const INSERT_PLAIN = {
  alike: hotStatement("insert_tasks_plain_alike", insertPlain("alike", PLAIN, "")),
  mixed: hotStatement("insert_tasks_plain", insertPlain("mixed", PLAIN, "")),
};
const INSERT_MESSAGES = {
  alike: hotStatement("insert_messages_plain_alike", insertPlain("alike", MESSAGES, ", message")),
  mixed: hotStatement("insert_messages_plain", insertPlain("mixed", MESSAGES, ", message")),
};
const INSERT_KEYED = {
  alike: hotStatement("insert_tasks_keyed_alike", insertKeyed("alike")),
  mixed: hotStatement("insert_tasks_keyed", insertKeyed("mixed")),
};

export type PlainAnswer = TaskSettings & {
  readonly queueId: number;
  readonly createdMs: number;
  /** Undefined or null means all. */
  readonly storedIds?: readonly string[] | null;
};

/** Answers in the order of the submissions; null if the idempotency key is taken. */
export async function insertPlainTasks(
  sql: Sql,
  submissions: readonly Submission[],
  workerId: number,
  memory: SubscriberMemory,
): Promise<(Accepted | null)[] | "not plain" | "nothing done"> {
  if (workerId === NO_WORKER || !submissions.every(({ task }) => isPlain(task))) return "not plain";
  const batch = batchValues(submissions, workerId);
  const isKeyed = submissions.some(({ task }) => task.idempotency !== null);
  const hasMessage = submissions.some(({ task }) => task.message !== null);
  if (batch === null || (isKeyed && hasMessage)) return "not plain";
  const record = isKeyed ? KEYED : hasMessage ? MESSAGES : PLAIN;
  const { form, arrays } = shareAlike(Object.keys(record), [
    ...(isKeyed ? keyedColumns(submissions) : plainColumns(submissions)),
    ...(hasMessage ? [messages(submissions)] : []),
  ]);
  const values = [...batch, ...arrays];
  const [stored] = isKeyed
    ? await tryHot<PlainAnswer>(sql, INSERT_KEYED[form], values, memory)
    : await tryHot<PlainAnswer>(
        sql,
        (hasMessage ? INSERT_MESSAGES : INSERT_PLAIN)[form],
        values,
        memory,
        () => [plainEntries(submissions)],
      );
  if (stored === undefined) return "nothing done";
  const { storedIds } = stored;
  const accepted = acceptedBy(stored);
  return submissions.map(({ task: { id }, reservation }) =>
    storedIds?.includes(id) === false ? null : accepted(id, reservation !== null),
  );
}

/**
 * $1 to $8 of the statements above. Null if the tasks are for several queues, or their slots were reserved under
 * several epochs.
 */
export function batchValues(submissions: readonly Submission[], workerId: number): unknown[] | null {
  const [first] = submissions;
  if (first === undefined) return null;
  const { teamId, queue } = first.task;
  let slot: Submission["reservation"] = null;
  let held = 0;
  for (const { task, reservation } of submissions) {
    if (task.teamId !== teamId || task.queue !== queue) return null;
    if (reservation === null) continue;
    if (slot !== null && (slot.queueId !== reservation.queueId || slot.epoch !== reservation.epoch))
      return null;
    slot = reservation;
    held += 1;
  }
  return [
    submissions.map(({ task }) => task.id),
    workerId,
    teamId,
    queue,
    slot?.queueId ?? null,
    held,
    submissions.length - held,
    slot?.epoch ?? null,
  ];
}

/** What callers learn of a stored task, by the answer to its batch. */
export function acceptedBy({
  queueId,
  createdMs,
  maxRetries,
  backoff,
  retryDelaySeconds,
  retryMaxDelaySeconds,
  noRetryStatuses,
  timeoutSeconds,
}: PlainAnswer): (id: string, handedOff: boolean) => Accepted {
  const createdAt = new Date(createdMs);
  return (id, handedOff) => ({
    id,
    queueId,
    handedOff,
    createdAt,
    runAt: createdAt,
    maxRetries,
    backoff,
    retryDelaySeconds,
    retryMaxDelaySeconds,
    noRetryStatuses,
    timeoutSeconds,
  });
}

export function messages(submissions: readonly Submission[]): unknown[] {
  return submissions.map(({ task }) => task.message && JSON.stringify(task.message));
}

export function plainColumns(submissions: readonly Submission[]): unknown[][] {
  const column = (value: (submission: Submission) => unknown) => submissions.map(value);
  const columns: Record<keyof typeof PLAIN, unknown[]> = {
    held: column(({ reservation }) => reservation !== null),
    shape: column(({ task }) => task.shape),
    priority: column(({ task }) => task.priority),
    method: column(({ task }) => task.call.method),
    url: column(({ task }) => task.call.url),
    headers: column(({ task: { call } }) => (hasOwnKeys(call.headers) ? JSON.stringify(call.headers) : null)),
    body: column(({ task }) => task.call.body),
    body_is_json: column(({ task }) => task.bodyIsJson),
    sign: column(({ task }) => task.sign),
    on_complete_url: column(({ task }) => task.onCompleteUrl),
  };
  return Object.values(columns);
}

/** The form for these columns, and the arrays that it takes. */
function shareAlike(names: readonly string[], columns: unknown[][]): { form: Form; arrays: unknown[][] } {
  const isAlike = columns.every(
    (column, index) => OWN.has(names[index] ?? "") || column.every((value) => value === column[0]),
  );
  if (!isAlike) return { form: "mixed", arrays: columns };
  const arrays = columns.map((column, index) => (OWN.has(names[index] ?? "") ? column : column.slice(0, 1)));
  return { form: "alike", arrays };
}

function keyedColumns(submissions: readonly Submission[]): unknown[][] {
  return [
    ...plainColumns(submissions),
    submissions.map(({ task }) => task.idempotency?.key ?? null),
    submissions.map(({ task }) => task.idempotency?.requestHash ?? null),
  ];
}
