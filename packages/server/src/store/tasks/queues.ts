import type { BreakerSettings } from "../../domain/breaker.ts";
import { type PageRequest, WHOLE_LIST } from "../../domain/page.ts";
import type { Queue, QueueSettings, QueueWithStats } from "../../domain/queue.ts";
import type { Reach } from "../../domain/reach.ts";
import { TASK_STATUSES } from "../../domain/task.ts";
import { columns } from "../columns.ts";
import { type Sql, statement } from "../sql.ts";

const COLUMNS = `q.id::float8 as id, ${columns(
  "q",
  "team_id, name, concurrency, max_retries, backoff, retry_delay_seconds, retry_max_delay_seconds, timeout_seconds, paused, ordered, on_failure, rate, rate_period, breaker, created_at, updated_at",
)}, coalesce(q.no_retry_statuses, '{}') as "noRetryStatuses"`;

const INSERT_QUEUE = statement(
  "insert_queue",
  `insert into queues as q (team_id, name, concurrency, max_retries, backoff, retry_delay_seconds, timeout_seconds,
                            retry_max_delay_seconds, no_retry_statuses, ordered, on_failure)
   values ($1, $2, $3, $4, $5, $6, $7, $8, nullif($9::smallint[], '{}'), $10, $11)
   on conflict (team_id, name) where deleted_at is null do nothing
   returning ${COLUMNS}`,
);

/** Null if the name is taken. */
export async function insertQueue(
  sql: Sql,
  teamId: number,
  name: string,
  settings: QueueSettings,
): Promise<Queue | null> {
  const rows = await sql.rows<Queue>(INSERT_QUEUE, [teamId, name, ...inOrder(settings)]);
  return rows[0] ?? null;
}

/** `$3` to `$11`. */
function inOrder(settings: Partial<QueueSettings>): unknown[] {
  const { concurrency, maxRetries, backoff, retryDelaySeconds, timeoutSeconds } = settings;
  const { retryMaxDelaySeconds, noRetryStatuses, ordered, onFailure } = settings;
  return [
    concurrency,
    maxRetries,
    backoff,
    retryDelaySeconds,
    timeoutSeconds,
    retryMaxDelaySeconds,
    noRetryStatuses,
    ordered,
    onFailure,
  ].map((value) => value ?? null);
}

const LOCK_QUEUE_ORDER = statement(
  "lock_queue_order",
  `select ordered, rate, rate_period as "ratePeriod" from queues
    where team_id = $1 and name = $2 and deleted_at is null for no key update`,
);

type LockedSettings = Pick<QueueSettings, "ordered" | "rate" | "ratePeriod">;

/** Until the end of the transaction no other one changes the queue, nor claims a task of an ordered one. */
export async function lockQueueOrder(sql: Sql, teamId: number, name: string): Promise<LockedSettings | null> {
  const rows = await sql.rows<LockedSettings>(LOCK_QUEUE_ORDER, [teamId, name]);
  return rows[0] ?? null;
}

const UPDATE_QUEUE = statement(
  "update_queue",
  `update queues q
      set concurrency = coalesce($3, concurrency), max_retries = coalesce($4, max_retries),
          backoff = coalesce($5, backoff), retry_delay_seconds = coalesce($6, retry_delay_seconds),
          timeout_seconds = coalesce($7, timeout_seconds),
          retry_max_delay_seconds = coalesce($8, retry_max_delay_seconds),
          no_retry_statuses = nullif(coalesce($9::smallint[], no_retry_statuses), '{}'),
          ordered = coalesce($10, ordered), on_failure = coalesce($11, on_failure),
          epoch = epoch + ((coalesce($3, concurrency), coalesce($10, ordered), coalesce($11, on_failure))
                           <> (concurrency, ordered, on_failure))::integer,
          updated_at = now()
    where team_id = $1 and name = $2 and deleted_at is null
   returning ${COLUMNS}`,
);

/** A change of concurrency or order starts a new epoch: claims decided under the old one find no rows. */
export async function updateQueue(
  sql: Sql,
  teamId: number,
  name: string,
  changes: Partial<QueueSettings>,
): Promise<Queue | null> {
  const rows = await sql.rows<Queue>(UPDATE_QUEUE, [teamId, name, ...inOrder(changes)]);
  return rows[0] ?? null;
}

const SET_QUEUE_BREAKER = statement(
  "set_queue_breaker",
  `update queues q set breaker = $3::jsonb, epoch = epoch + 1, updated_at = now()
    where team_id = $1 and id = $2 and deleted_at is null
   returning ${COLUMNS}`,
);

/** Starts a new epoch: every worker knows from its next claim on whether attempts are counted. */
export async function setQueueBreaker(
  sql: Sql,
  { teamId, id }: Pick<Queue, "teamId" | "id">,
  breaker: BreakerSettings | null,
): Promise<Queue | null> {
  const stored = breaker === null ? null : JSON.stringify(breaker);
  const rows = await sql.rows<Queue>(SET_QUEUE_BREAKER, [teamId, id, stored]);
  return rows[0] ?? null;
}

const SET_QUEUE_RATE = statement(
  "set_queue_rate",
  `update queues q set rate = $3, rate_period = $4, epoch = epoch + 1, updated_at = now()
    where team_id = $1 and id = $2 and deleted_at is null
   returning ${COLUMNS}`,
);

/** Starts a new epoch: no worker claims or hands off a task of the queue before it knows the rate. */
export async function setQueueRate(
  sql: Sql,
  { teamId, id }: Pick<Queue, "teamId" | "id">,
  { rate, ratePeriod }: Pick<QueueSettings, "rate" | "ratePeriod">,
): Promise<Queue | null> {
  const rows = await sql.rows<Queue>(SET_QUEUE_RATE, [teamId, id, rate, ratePeriod]);
  return rows[0] ?? null;
}

const SET_QUEUE_PAUSED = statement(
  "set_queue_paused",
  `update queues q
      set paused = $3, epoch = epoch + 1, updated_at = now()
    where team_id = $1 and name = $2 and deleted_at is null and paused <> $3
   returning ${COLUMNS}`,
);

/** Null if the state is the same already, or the queue does not exist. */
export async function setQueuePaused(
  sql: Sql,
  teamId: number,
  name: string,
  paused: boolean,
): Promise<Queue | null> {
  const rows = await sql.rows<Queue>(SET_QUEUE_PAUSED, [teamId, name, paused]);
  return rows[0] ?? null;
}

const MARK_QUEUE_DELETED = statement(
  "mark_queue_deleted",
  `with doomed as (
     select team_id, id from queues where team_id = $1 and name = $2 and deleted_at is null for update
   )
   update queues q set deleted_at = now(), updated_at = now(), epoch = epoch + 1
     from doomed where q.team_id = doomed.team_id and q.id = doomed.id
   returning ${COLUMNS}`,
);

/**
 * From here on no task of the queue is claimed; its pending tasks are deleted next. Null if it does not exist. Waits
 * for statements that are returning tasks to it: the deletion sees what they make pending.
 */
export async function markQueueDeleted(sql: Sql, teamId: number, name: string): Promise<Queue | null> {
  const rows = await sql.rows<Queue>(MARK_QUEUE_DELETED, [teamId, name]);
  return rows[0] ?? null;
}

export async function findQueue(sql: Sql, reach: Reach, name: string): Promise<QueueWithStats | null> {
  const rows = await queuesWithStats(sql, reach, "and q.name = $3", [name]);
  return rows[0] ?? null;
}

/** By name, after the given one. */
export async function listQueues(
  sql: Sql,
  reach: Reach,
  { limit, cursor }: PageRequest = WHOLE_LIST,
): Promise<QueueWithStats[]> {
  return queuesWithStats(sql, reach, "and ($3::text is null or q.name > $3)", [cursor, limit], "limit $4");
}

/** Queues belong to the team; their stats are those of the sandbox or of live tasks. */
function queuesWithStats(
  sql: Sql,
  { teamId, environment }: Reach,
  filter: string,
  values: unknown[],
  limit = "",
): Promise<QueueWithStats[]> {
  return sql.rows<QueueWithStats>(
    statement(
      "queues_with_stats",
      `select ${COLUMNS}, to_json(s) as stats
       from queues q cross join lateral (
         select ${TASK_STATUSES.map((state) => `coalesce(sum(t.${state}), 0)::float8 as ${state}`).join(", ")}
           from queue_tallies t where t.team_id = q.team_id and t.queue_id = q.id and t.sandbox = ($2 = 'test')) s
      where q.team_id = $1 ${filter} and q.deleted_at is null
      order by q.name ${limit}`,
    ),
    [teamId, environment, ...values],
  );
}

const EXISTING_QUEUES = statement(
  "existing_queues",
  `select q.team_id as "teamId", q.name from jsonb_to_recordset($1::jsonb) as a(team_id integer, name text)
     join queues q on q.team_id = a.team_id and q.name = a.name and q.deleted_at is null`,
);

/** Whether the queue of each of these tasks exists. */
export async function existingQueues(
  sql: Sql,
  tasks: readonly { readonly teamId: number; readonly queue: string }[],
): Promise<(task: { readonly teamId: number; readonly queue: string }) => boolean> {
  const name = (teamId: number, queue: string) => `${teamId} ${queue}`;
  const asked = new Map(
    tasks.map(({ teamId, queue }) => [name(teamId, queue), { team_id: teamId, name: queue }]),
  );
  const rows = await sql.rows<{ teamId: number; name: string }>(EXISTING_QUEUES, [
    JSON.stringify([...asked.values()]),
  ]);
  const found = new Set(rows.map((row) => name(row.teamId, row.name)));
  return ({ teamId, queue }) => found.has(name(teamId, queue));
}
