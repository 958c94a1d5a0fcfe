import type { PageRequest } from "../../domain/page.ts";
import type { Reach } from "../../domain/reach.ts";
import type { TaskStatus } from "../../domain/task.ts";
import type { TaskRequest } from "../../domain/task-copies.ts";
import { columns } from "../../store/columns.ts";
import { type Sql, statement } from "../../store/sql.ts";
import type { ListedSchedule, Schedule, ScheduleTerms } from "./domain.ts";

interface ListedRow extends Omit<ListedSchedule, "paused" | "lastTask" | "lastError"> {
  readonly lastError: string | null;
  readonly lastErrorAt: Date | null;
  readonly taskId: string | null;
  readonly taskShape: "queue" | "direct";
  readonly taskStatus: TaskStatus;
  readonly taskCreatedAt: Date;
}

interface ScheduleRow extends ListedRow {
  readonly task: string;
  readonly request: string;
}

const LISTED = `${columns(
  "s",
  "team_id, id, sandbox, name, cron, timezone, overlap, catch_up, next_run_at, last_error, last_error_at, created_at, updated_at",
)}, s.ahead_seconds::float8 as "aheadSeconds", clock_timestamp() as now, t.id as "taskId", t.shape as "taskShape", t.status as "taskStatus",
       t.created_at as "taskCreatedAt"`;
const FROM = `from schedules s left join tasks t on t.team_id = s.team_id and t.id = s.last_task_id`;

const READ = `select ${LISTED}, s.task, s.request ${FROM}`;

/** A schedule's key in a URL path. */
export type ScheduleKey = { readonly id: string } | { readonly name: string };

const LIST_SCHEDULES = statement(
  "list_schedules",
  `select ${LISTED} ${FROM}
    where s.team_id = $1 and s.sandbox = $2 and ($3::text is null or s.name > $3) order by s.name limit $4`,
  { patience: "list" },
);

/** By name; the cursor is the previous name. Without their tasks, which may be large. */
export async function listSchedules(
  sql: Sql,
  reach: Reach,
  { limit, cursor }: PageRequest,
): Promise<ListedSchedule[]> {
  const rows = await sql.rows<ListedRow>(LIST_SCHEDULES, [
    reach.teamId,
    reach.environment === "test",
    cursor,
    limit,
  ]);
  return rows.map(toListed);
}

/** In a transaction that changes it, `lock` makes firings and other changes wait. */
export async function findSchedule(
  sql: Sql,
  reach: Reach,
  key: ScheduleKey,
  lock = false,
): Promise<Schedule | null> {
  const [row] = await sql.rows<ScheduleRow>(
    statement(
      "find_schedule",
      `${READ} where s.team_id = $1 and s.sandbox = $2 and ${"id" in key ? "s.id = $3" : "s.name = $3"}
     ${lock ? "for update of s" : ""}`,
    ),
    [reach.teamId, reach.environment === "test", "id" in key ? key.id : key.name],
  );
  return row === undefined ? null : toSchedule(row);
}

const INSERT_SCHEDULE = statement(
  "insert_schedule",
  `insert into schedules (team_id, sandbox, id, name, cron, timezone, overlap, catch_up, task, request, next_run_at,
                          ahead_seconds)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
   on conflict (team_id, sandbox, name) do nothing returning id`,
);

/** False if the name is taken. */
export async function insertSchedule(
  sql: Sql,
  reach: Reach,
  schedule: ScheduleTerms & {
    readonly id: string;
    readonly name: string;
    readonly nextRunAt: Date | null;
    readonly aheadSeconds: number;
  },
): Promise<boolean> {
  const rows = await sql.rows(INSERT_SCHEDULE, [
    reach.teamId,
    reach.environment === "test",
    schedule.id,
    schedule.name,
    ...termValues(schedule),
    schedule.aheadSeconds,
  ]);
  return rows.length === 1;
}

/** The endpoints that a firing has not reached yet never get another body: with another task, the firing ends here. */
const UPDATE_SCHEDULE = statement(
  "update_schedule",
  `update schedules
      set cron = $3, timezone = $4, overlap = $5, catch_up = $6, task = $7, request = $8, next_run_at = $9,
          fan_out = case when request = $8 then fan_out end, updated_at = now()
    where team_id = $1 and id = $2`,
);

export async function updateSchedule(
  sql: Sql,
  { teamId, id }: Pick<Schedule, "teamId" | "id">,
  terms: ScheduleTerms & { readonly nextRunAt: Date | null },
): Promise<void> {
  await sql.rows(UPDATE_SCHEDULE, [teamId, id, ...termValues(terms)]);
}

function termValues(terms: ScheduleTerms & { readonly nextRunAt: Date | null }): readonly unknown[] {
  const { cron, timezone, overlap, catchUp, task, nextRunAt } = terms;
  return [cron, timezone, overlap, catchUp, task.text, JSON.stringify(task.request), nextRunAt];
}

const REMOVE_SCHEDULE = statement(
  "remove_schedule",
  "delete from schedules where team_id = $1 and id = $2 returning id",
);

export async function removeSchedule(sql: Sql, reach: Reach, id: string): Promise<boolean> {
  const rows = await sql.rows(REMOVE_SCHEDULE, [reach.teamId, id]);
  return rows.length === 1;
}

const DATABASE_NOW = statement("database_now", "select clock_timestamp() as now");

/** The database time, which decides all firings. */
export async function databaseNow(sql: Sql): Promise<Date> {
  const [row] = await sql.rows<{ now: Date }>(DATABASE_NOW);
  if (row === undefined) throw new Error("The database did not tell the time");
  return row.now;
}

function toSchedule({ task, request, ...row }: ScheduleRow): Schedule {
  return { ...toListed(row), task: { text: task, request: readRequest(request) } };
}

function toListed(row: ListedRow): ListedSchedule {
  const { lastError, lastErrorAt, taskId, taskShape, taskStatus, taskCreatedAt, ...rest } = row;
  return {
    ...rest,
    paused: rest.nextRunAt === null,
    lastTask:
      taskId === null ? null : { id: taskId, shape: taskShape, status: taskStatus, createdAt: taskCreatedAt },
    lastError: lastError !== null && lastErrorAt !== null ? { at: lastErrorAt, error: lastError } : null,
  };
}

/** Written by `termValues`. It has no time: a schedule's task has none of its own. */
export function readRequest(text: string): TaskRequest {
  // Stored before there were messages, it does not say that it is none.
  return { message: null, ...JSON.parse(text) };
}
