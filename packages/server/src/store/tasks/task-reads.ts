import type { Attempt, Task, TaskResult, TaskStatus, TaskSummary } from "../../domain/task.ts";
import { patient, prepare, type Sql } from "../sql.ts";
import { FOLLOW_COLUMNS, type FollowRow, toFollowUp } from "./follow-columns.ts";
import type { AttemptJson } from "./task-settlements.ts";

interface SummaryRow extends FollowRow {
  team_id: number;
  id: string;
  shape: Task["shape"];
  queue: string;
  status: TaskStatus;
  priority: number;
  sandbox: boolean;
  method: Task["call"]["method"];
  url: string;
  headers: Record<string, string> | null;
  max_retries: number;
  backoff: Task["backoff"];
  timeout_seconds: number;
  run_at: Date;
  created_at: Date;
  started_at: Date | null;
  completed_at: Date | null;
  result: TaskResult | null;
  error: string | null;
  failure_reason: Task["failureReason"];
  on_complete_url: string | null;
  sign: boolean;
}

interface TaskRow extends SummaryRow {
  body: string | null;
  attempt_count: number;
  attempt_started_at: Date | null;
  attempts: AttemptJson[];
}

const SUMMARY = `t.team_id, t.id, t.shape, q.name as queue, t.status, t.priority, t.sandbox, t.method, t.url, t.headers,
  t.max_retries, t.backoff, t.timeout_seconds, t.run_at, t.created_at, t.started_at, t.completed_at, t.result,
  t.error, t.failure_reason, t.on_complete_url, t.sign, ${FOLLOW_COLUMNS}`;

const FIND_TASK = prepare(
  "find_task",
  `select ${SUMMARY}, t.body, t.attempt_count, t.attempt_started_at, t.attempts
     from tasks t join queues q on q.team_id = t.team_id and q.id = t.queue_id
    where t.team_id = $1 and t.id = $2`,
);

export async function findTask(sql: Sql, teamId: number, id: string): Promise<Task | null> {
  const [row] = await sql.rows<TaskRow>(FIND_TASK, [teamId, id]);
  if (row === undefined) return null;
  const { call, ...summary } = toSummary(row);
  return { ...summary, call: { ...call, body: row.body }, attempts: attemptsOf(row) };
}

/** The closed attempts, and the open one if there is one: it lies in the row itself. */
function attemptsOf(row: TaskRow): Attempt[] {
  const closed = row.attempts.map(
    (attempt): Attempt => ({
      number: attempt.number,
      status: attempt.status,
      responseCode: attempt.code,
      executedAt: new Date(attempt.at),
      durationMs: attempt.ms,
      phase: attempt.phase,
      error: attempt.error,
    }),
  );
  if (row.attempt_started_at === null) return closed;
  const open: Attempt = {
    number: row.attempt_count,
    status: "active",
    responseCode: null,
    executedAt: row.attempt_started_at,
    durationMs: null,
    phase: "sent",
    error: null,
  };
  return [...closed, open];
}

export interface TaskFilter {
  readonly teamId: number;
  readonly queue: string | null;
  readonly status: TaskStatus | null;
}

/**
 * Newest first. A filtered page is merged from one index range per queue and state, each read only as far as the
 * page reaches; an unfiltered one is a walk along the primary key. Neither depends on how many tasks there are.
 */
export async function listTasks(
  sql: Sql,
  filter: TaskFilter,
  page: { limit: number; offset: number; before: string | null },
): Promise<TaskSummary[]> {
  const { limit, offset, before } = page;
  const values = [filter.teamId, before, limit, offset];
  const ids =
    filter.queue === null && filter.status === null
      ? `select id from tasks where team_id = $1 and ($2::uuid is null or id < $2) order by id desc limit $3 offset $4`
      : `select x.id
           from (select id as queue_id from queues where team_id = $1 and ($5::text is null or name = $5)) q
          cross join (select status from unnest($6::text[]) as status) s
          cross join lateral (
            select t.id from tasks t
             where t.team_id = $1 and t.queue_id = q.queue_id and t.status = s.status
               and ($2::uuid is null or t.id < $2)
             order by t.id desc limit $3::integer + $4::integer) x
          order by x.id desc limit $3 offset $4`;
  const filters =
    filter.queue === null && filter.status === null
      ? []
      : [filter.queue, filter.status === null ? ALL_STATUSES : [filter.status]];
  const rows = await sql.rows<SummaryRow>(
    patient(
      "list",
      `select ${SUMMARY}
       from (${ids}) page
       join tasks t on t.team_id = $1 and t.id = page.id
       join queues q on q.team_id = t.team_id and q.id = t.queue_id
      order by t.id desc`,
    ),
    [...values, ...filters],
  );
  return rows.map(toSummary);
}

const ALL_STATUSES: readonly TaskStatus[] = [
  "pending",
  "active",
  "waiting",
  "polling",
  "completed",
  "failed",
];

/** Read from the tallies: no task is looked at. */
export async function countTasks(sql: Sql, filter: TaskFilter): Promise<number> {
  const states = filter.status === null ? ALL_STATUSES : [filter.status];
  const rows = await sql.rows<{ total: number }>(
    `select coalesce(sum(${states.map((state) => `t.${state}`).join(" + ")}), 0)::float8 as total
       from queue_tallies t
      where t.team_id = $1
        and ($2::text is null or t.queue_id in (select id from queues where team_id = $1 and name = $2))`,
    [filter.teamId, filter.queue],
  );
  return rows[0]?.total ?? 0;
}

function toSummary(row: SummaryRow): TaskSummary {
  return {
    teamId: row.team_id,
    id: row.id,
    shape: row.shape,
    queue: row.queue,
    status: row.status,
    call: { method: row.method, url: row.url, headers: row.headers ?? {} },
    priority: row.priority,
    maxRetries: row.max_retries,
    backoff: row.backoff,
    timeoutSeconds: row.timeout_seconds,
    follow: toFollowUp(row),
    onCompleteUrl: row.on_complete_url,
    sign: row.sign,
    sandbox: row.sandbox,
    runAt: row.run_at,
    createdAt: row.created_at,
    startedAt: row.started_at,
    completedAt: row.completed_at,
    result: row.result === null ? null : inOrder(row.result),
    error: row.error,
    failureReason: row.failure_reason,
  };
}

/** jsonb keeps members in an order of its own; a reader expects the status first. */
function inOrder({ statusCode, headers, body, duration, truncated }: TaskResult): TaskResult {
  return { statusCode, headers, body, duration, ...(truncated && { truncated }) };
}
