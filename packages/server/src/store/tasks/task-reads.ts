import type { Reach } from "../../domain/reach.ts";
import {
  type PollsSeen,
  type RetriedWith,
  TASK_STATUSES,
  type Task,
  type TaskResult,
  type TaskSummary,
  type ToldSummary,
} from "../../domain/task.ts";
import { FIRST_ID, idRange, LAST_ID, type Order, type TaskFilter } from "../../domain/task-filter.ts";
import { activeTasks } from "../claim-batches.ts";
import { columns } from "../columns.ts";
import { inState, listOrder } from "../list-index.ts";
import { type Sql, type Statement, statement } from "../sql.ts";
import { shownBody, shownHeaders } from "./message-redaction.ts";
import { NOTIFICATIONS_OF_TASK, type NotificationJson, toNotification } from "./notifications.ts";
import { type AttemptColumns, attemptsOf, type StoredResult } from "./task-attempts.ts";
import { type Flat, followOf, REQUEST_COLUMN_NAMES } from "./task-columns.ts";

type SummaryRow = Flat<TaskSummary>;
type RecordRow = Omit<SummaryRow, "result"> & HistoryRow;

interface HistoryRow extends Pick<AttemptColumns, "closed" | "attemptStartedAt"> {
  readonly body: string | null;
  readonly result: StoredResult | null;
  readonly polls: PollsSeen | null;
  readonly retriedWith: readonly RetriedWith[] | null;
  readonly notifications: readonly NotificationJson[] | null;
}

const TOLD = `${REQUEST_COLUMN_NAMES}, id, max_retries, backoff, retry_delay_seconds, retry_max_delay_seconds,
   no_retry_statuses, timeout_seconds, created_at, started_at, completed_at, schedule_id, scheduled_for, dismissed_at, retries`;

const SUMMARY = `q.name as queue, ${columns(
  "t",
  `${TOLD}, team_id, status, run_at, error, failure_reason, attempt_count`,
)}`;

/** With null columns for the values that `toSummary` adds: growing a row costs more than all other work on it. */
const MADE = "t.result - 'body' as result, null as call, null as follow";
const LISTED = `${SUMMARY}, ${MADE}`;

const HISTORY = `${columns("t", "body, result, attempt_started_at, retried_with")}, t.attempts as closed,
  t.poll -> 'seen' as polls, ${NOTIFICATIONS_OF_TASK}`;

const finding = (ids: string) => `select ${SUMMARY}, ${HISTORY}
     from tasks t join queues q on q.team_id = t.team_id and q.id = t.queue_id
    where t.team_id = $1 and t.id = ${ids} and ($3 = 'live' or t.sandbox)`;

const FIND_TASK = statement("find_task", finding("$2"), { prepared: true });

export async function findTask(sql: Sql, reach: Reach, id: string): Promise<Task | null> {
  const [row] = await sql.rows<RecordRow>(FIND_TASK, [reach.teamId, id, reach.environment]);
  return row === undefined ? null : toTask(row);
}

const FIND_TASKS = statement("find_tasks", finding("any ($2::uuid[])"));

/** Those that exist, in any order. */
export async function findTasks(sql: Sql, reach: Reach, ids: readonly string[]): Promise<Task[]> {
  const rows = await sql.rows<RecordRow>(FIND_TASKS, [reach.teamId, ids, reach.environment]);
  return rows.map(toTask);
}

function toTask(row: RecordRow): Task {
  const { body, result, closed, attemptCount, attemptStartedAt, ...said } = row;
  const { method, url, headers, provider, pollConfig, waitForCallback, maxWaitSeconds, ...task } = said;
  const attempts = attemptsOf(row);
  const call = { ...callOf(said), body: shownBody(body, said.message) };
  const notifications = said.notifications?.map(toNotification) ?? null;
  return {
    ...task,
    attempts,
    notifications,
    call,
    follow: followOf(said),
    result: result && inOrder(result),
  };
}

interface Page {
  readonly limit: number;
  readonly offset: number;
  /** Only tasks behind this one. */
  readonly after: string | null;
  readonly order: Order;
}

/**
 * In the order of their ids. A filtered page is merged from one index range per queue and state, each read only as far as
 * the page reaches; an unfiltered one is a walk along the primary key, past what the team has in its sandbox. The sandbox
 * is always merged: on that walk it would be found behind every live task. Neither depends on how many tasks there are.
 * Of a filter only queue, states and times are looked at: the rest is for `searchTasks`.
 */
export async function listTasks(
  sql: Sql,
  teamId: number,
  filter: TaskFilter,
  page: Page,
): Promise<TaskSummary[]> {
  const { text, values } = listedIds(teamId, filter, page);
  const rows = await sql.rows<SummaryRow>(summaries("list_tasks", text, page.order), values);
  return rows.map(toSummary);
}

/** How many `listTasks` would list, counted one by one; none beyond `most`. */
export async function countListed(
  sql: Sql,
  teamId: number,
  filter: TaskFilter,
  most: number,
): Promise<number> {
  const all = { limit: most, offset: 0, after: null, order: "desc" } as const;
  const { text, values } = listedIds(teamId, filter, all, "unordered");
  const rows = await sql.rows<{ total: number }>(
    statement("count_listed", `select count(*)::integer as total from (${text}) listed`, {
      patience: "list",
    }),
    values,
  );
  return rows[0]?.total ?? 0;
}

function listedIds(teamId: number, filter: TaskFilter, page: Page, unordered?: "unordered") {
  const { limit, offset, after, order } = page;
  const { low, high } = idRange(filter);
  const inOrder = (id: string) => (unordered ? "" : `order by ${id} ${order}`);
  const within = `t.team_id = $1 and t.sandbox = $5 and ($2::uuid is null or t.id ${order === "desc" ? "<" : ">"} $2)
    and t.id >= $6 and t.id <= $7
    and ($8::timestamptz is null or t.created_at >= $8) and ($9::timestamptz is null or t.created_at < $9)`;
  const values: unknown[] = [teamId, after, limit, offset, filter.sandbox, low ?? FIRST_ID, high ?? LAST_ID];
  values.push(filter.createdAfter, filter.createdBefore);
  if (filter.queue === null && filter.statuses === null && !filter.sandbox)
    return { text: `select t.id from tasks t where ${within} ${inOrder("t.id")} limit $3 offset $4`, values };
  values.push(filter.queue, [...new Set(filter.statuses ?? TASK_STATUSES)]);
  const queues = "select id as queue_id from queues where team_id = $1 and ($10::text is null or name = $10)";
  const text = `select x.id from (
            select listed.id
              from (${queues}) q
             cross join (select status from unnest($11::text[]) as status) s
             cross join lateral (
               select t.id from tasks t
                where ${within} and t.queue_id = q.queue_id and ${inState("s.status", "$5::boolean")}
                order by ${listOrder(order)} limit $3::integer + $4::integer) listed
             union
            select t.id ${activeTasks("$1")} and 'active' = any($11::text[]) and t.queue_id in (${queues}) and ${within}) x
          ${inOrder("x.id")} limit $3 offset $4`;
  return { text, values };
}

const READ_SUMMARIES = summaries("read_summaries", "select id from unnest($2::uuid[]) as id");

/**
 * In the order of the ids; one that is gone meanwhile is left out. They are put in order here: told to do it, the planner
 * walked along the primary key, which has that order, and through a million tasks.
 */
export async function readSummaries(
  sql: Sql,
  teamId: number,
  ids: readonly string[],
): Promise<TaskSummary[]> {
  if (ids.length === 0) return [];
  const rows = await sql.rows<SummaryRow>(READ_SUMMARIES, [teamId, ids]);
  const found = new Map(rows.map((row) => [row.id, toSummary(row)]));
  return ids.flatMap((id) => found.get(id) ?? []);
}

/** `ids` is a query that has them in its order; left out: they have none. */
function summaries(name: string, ids: string, order?: Order): Statement {
  return statement(
    name,
    `select ${LISTED}
       from (${ids}) page
       join tasks t on t.team_id = $1 and t.id = page.id
       join queues q on q.team_id = t.team_id and q.id = t.queue_id
      ${order === undefined ? "" : `order by t.id ${order}`}`,
    { patience: "list" },
  );
}

/**
 * For events, several times a second: planning it would cost more than the rest. By an array, not by a join, which a plan
 * made for an empty table began on the wrong side.
 */
const TOLD_TASKS = statement(
  "told_tasks",
  `select null as queue, null as stays, ${columns("t", TOLD)}, ${MADE} from tasks t where t.team_id = $1 and t.id = any($2::uuid[])`,
  { prepared: true },
);

/** `queues` has the queue of each task. In no order; one that is gone is left out. */
export async function readToldTasks(
  sql: Sql,
  teamId: number,
  queues: ReadonlyMap<string, string>,
): Promise<ToldSummary[]> {
  if (queues.size === 0) return [];
  const rows = await sql.rows<Flat<ToldSummary>>(TOLD_TASKS, [teamId, [...queues.keys()]]);
  return rows.map((row) => toSummary(Object.assign(row, { queue: queues.get(row.id) ?? "" })));
}

/** Read from the tallies: no task is looked at. */
export async function countTasks(
  sql: Sql,
  teamId: number,
  filter: Pick<TaskFilter, "sandbox" | "queue" | "statuses">,
): Promise<number> {
  const states = [...new Set(filter.statuses ?? TASK_STATUSES)];
  const rows = await sql.rows<{ total: number }>(
    statement(
      "count_tasks",
      `select coalesce(sum(${states.map((state) => `t.${state}`).join(" + ")}), 0)::float8 as total
       from queue_tallies t
      where t.team_id = $1 and t.sandbox = $3
        and ($2::text is null or t.queue_id in (select id from queues where team_id = $1 and name = $2))`,
    ),
    [teamId, filter.queue, filter.sandbox],
  );
  return rows[0]?.total ?? 0;
}

/** Made of the row itself, whose columns stay beside what is made of them: to copy it takes longer than to read it. */
function toSummary<Row extends Flat<Pick<TaskSummary, "call" | "follow" | "result" | "message">>>(row: Row) {
  const result = row.result && listedInOrder(row.result);
  return Object.assign(row, { call: callOf(row), follow: followOf(row), result });
}

function callOf({
  method,
  url,
  headers,
  message,
}: Pick<SummaryRow, "method" | "url" | "headers"> & { readonly message?: TaskSummary["message"] }) {
  return { method, url, headers: shownHeaders(headers ?? {}, message ?? null) };
}

/** jsonb keeps members in an order of its own; a reader expects the status first. Each by name: a copy of the rest is slow. */
function inOrder({ statusCode, headers, body, duration, truncated }: StoredResult): TaskResult {
  return { statusCode, headers, body, duration, ...(truncated && { truncated }) };
}

function listedInOrder({ statusCode, headers, duration, truncated }: Omit<TaskResult, "body">) {
  return truncated ? { statusCode, headers, duration, truncated } : { statusCode, headers, duration };
}
