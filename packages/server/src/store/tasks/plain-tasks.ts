import type { NewTask, TaskSettings } from "../../domain/task.ts";
import { columns } from "../columns.ts";
import { prepare, type Sql } from "../sql.ts";
import { isHeard, UNHEARD } from "./event-writes.ts";
import type { Accepted, Submission } from "./submission.ts";
import { NO_WORKER, tally } from "./tallies.ts";
import { hasOwnKeys } from "./task-columns.ts";

/*
 * Most tasks say nothing but their call, are to run at once, and come in batches for one queue. Those have a statement of their
 * own, which costs half as much as the one for all: it knows a third of the columns, counts what it was told the number of,
 * and answers with one row for the whole batch.
 */

/** What a plain task says, column by column, with its type. What is false or null is left out of the JSON. */
const PLAIN = {
  id: "uuid",
  /** A slot was set aside for it. */
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

const SETTINGS =
  "max_retries, backoff, retry_delay_seconds, retry_max_delay_seconds, no_retry_statuses, timeout_seconds";

/**
 * All of the batch, or nothing and no row. Nothing is done unless the queue and the worker are there, no team is listened
 * to, and, if slots were set aside, the queue's epoch is unchanged.
 */
const INSERT_PLAIN_TASKS = prepare(
  "insert_tasks_plain",
  `with q as materialized (
     select team_id, id as queue_id, now() as asked_at, max_retries, backoff, retry_delay_seconds,
            nullif(retry_max_delay_seconds, 3600) as retry_max_delay_seconds, no_retry_statuses, timeout_seconds,
            false as sandbox,
            $6::integer as active, $7::integer as pending
       from queues
      where team_id = $3 and name = $4 and deleted_at is null and ($6 = 0 or (id = $5 and epoch = $8))
        and exists (select 1 from workers where id = $2) and ${UNHEARD}
   ), inserted as (
     insert into tasks (team_id, queue_id, ${SETTINGS}, sandbox, run_at, created_at,
                        status, started_at, attempt_started_at, attempt_count, fence, worker_id,
                        id, shape, priority, method, url, headers, body, body_is_json, sign, on_complete_url)
     select team_id, queue_id, ${SETTINGS}, sandbox, asked_at, asked_at,
            case when held then 'active' else 'pending' end, case when held then asked_at end,
            case when held then asked_at end, case when held then 1 else 0 end, case when held then 1 else 0 end,
            case when held then $2::bigint end,
            id, shape, priority, method, url, headers, body, coalesce(body_is_json, false), coalesce(sign, false),
            on_complete_url
       from q cross join jsonb_to_recordset($1::jsonb) as a(${Object.entries(PLAIN)
         .map(([name, type]) => `${name} ${type}`)
         .join(", ")})
   ), tallied as (
     ${tally({
       from: "q",
       isSummed: true,
       worker: "$2::bigint",
       writer: "intake",
       deltas: { pending: "pending", active: "active" },
     })}
   )
   select queue_id::float8 as "queueId", (extract(epoch from asked_at) * 1000)::float8 as "createdMs",
          ${columns("q", SETTINGS)}
     from q`,
);

type PlainAnswer = TaskSettings & { readonly queueId: number; readonly createdMs: number };

/** Null: nothing was done. Otherwise every task was stored; answers in the order of the submissions. */
export async function insertPlainTasks(
  sql: Sql,
  submissions: readonly Submission[],
  workerId: number,
): Promise<Accepted[] | null> {
  const [first] = submissions;
  if (first === undefined || workerId === NO_WORKER || isHeard(sql)) return null;
  const { teamId, queue } = first.task;
  let slot: Submission["reservation"] = null;
  let held = 0;
  for (const { task, reservation } of submissions) {
    if (task.teamId !== teamId || task.queue !== queue || !isPlain(task)) return null;
    if (reservation === null) continue;
    if (slot !== null && (slot.queueId !== reservation.queueId || slot.epoch !== reservation.epoch))
      return null;
    slot = reservation;
    held += 1;
  }
  const [stored] = await sql.rows<PlainAnswer>(INSERT_PLAIN_TASKS, [
    JSON.stringify(submissions.map(plainRow)),
    workerId,
    teamId,
    queue,
    slot?.queueId ?? null,
    held,
    submissions.length - held,
    slot?.epoch ?? null,
  ]);
  if (stored === undefined) return null;
  const createdAt = new Date(stored.createdMs);
  return submissions.map(({ task, reservation }) => ({
    id: task.id,
    queueId: stored.queueId,
    handedOff: reservation !== null,
    createdAt,
    runAt: createdAt,
    maxRetries: stored.maxRetries,
    backoff: stored.backoff,
    retryDelaySeconds: stored.retryDelaySeconds,
    retryMaxDelaySeconds: stored.retryMaxDelaySeconds,
    noRetryStatuses: stored.noRetryStatuses,
    timeoutSeconds: stored.timeoutSeconds,
  }));
}

/** Whether there is a column in PLAIN for everything that it says. */
function isPlain(task: NewTask): boolean {
  return (
    task.delaySeconds === 0 &&
    task.runAt === null &&
    task.idempotency === null &&
    task.tags === null &&
    task.metadata === null &&
    task.callback === null &&
    task.simulate === null &&
    !task.sandbox &&
    task.follow.pollConfig === null &&
    !task.follow.waitForCallback &&
    task.expiresInSeconds === null &&
    task.maxRetries === null &&
    task.backoff === null &&
    task.retryDelaySeconds === null &&
    task.retryMaxDelaySeconds === null &&
    task.noRetryStatuses === null &&
    task.timeoutSeconds === null
  );
}

function plainRow({ task, reservation }: Submission): Record<keyof typeof PLAIN, unknown> {
  const { call } = task;
  return {
    id: task.id,
    held: reservation === null ? undefined : true,
    shape: task.shape,
    priority: task.priority,
    method: call.method,
    url: call.url,
    headers: hasOwnKeys(call.headers) ? call.headers : undefined,
    body: call.body ?? undefined,
    body_is_json: task.bodyIsJson || undefined,
    sign: task.sign || undefined,
    on_complete_url: task.onCompleteUrl ?? undefined,
  };
}
