import type { PageRequest } from "../../domain/page.ts";
import type { Reach } from "../../domain/reach.ts";
import { type ListedSchedule, ownTime, type Schedule, type ScheduleTerms } from "../../domain/schedule.ts";
import type { TaskStatus } from "../../domain/task.ts";
import type { TaskRequest } from "../../domain/task-request.ts";
import { columns } from "../columns.ts";
import { type Database, patient, type Sql } from "../sql.ts";
import { untilNext } from "./until-next.ts";

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

/** How a path names a schedule. */
export type ScheduleKey = { readonly id: string } | { readonly name: string };

/** By name; the cursor is the name before. Without their tasks, which may be large. */
export async function listSchedules(
  sql: Sql,
  reach: Reach,
  { limit, cursor }: PageRequest,
): Promise<ListedSchedule[]> {
  const rows = await sql.rows<ListedRow>(
    patient(
      "list",
      `select ${LISTED} ${FROM}
        where s.team_id = $1 and s.sandbox = $2 and ($3::text is null or s.name > $3) order by s.name limit $4`,
    ),
    [reach.teamId, reach.environment === "test", cursor, limit],
  );
  return rows.map(toListed);
}

/** Within a transaction that goes on to change it, `lock` keeps firings and other changes waiting. */
export async function findSchedule(
  sql: Sql,
  reach: Reach,
  key: ScheduleKey,
  lock = false,
): Promise<Schedule | null> {
  const [row] = await sql.rows<ScheduleRow>(
    `${READ} where s.team_id = $1 and s.sandbox = $2 and ${"id" in key ? "s.id = $3" : "s.name = $3"}
     ${lock ? "for update of s" : ""}`,
    [reach.teamId, reach.environment === "test", "id" in key ? key.id : key.name],
  );
  return row === undefined ? null : toSchedule(row);
}

/** False if the name is taken. */
export async function insertSchedule(
  sql: Sql,
  reach: Reach,
  schedule: ScheduleTerms & { readonly id: string; readonly name: string; readonly nextRunAt: Date | null },
): Promise<boolean> {
  const rows = await sql.rows(
    `insert into schedules (team_id, sandbox, id, name, cron, timezone, overlap, catch_up, task, request, next_run_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
     on conflict (team_id, sandbox, name) do nothing returning id`,
    [reach.teamId, reach.environment === "test", schedule.id, schedule.name, ...termValues(schedule)],
  );
  return rows.length === 1;
}

export async function updateSchedule(
  sql: Sql,
  { teamId, id }: Pick<Schedule, "teamId" | "id">,
  terms: ScheduleTerms & { readonly nextRunAt: Date | null },
): Promise<void> {
  await sql.rows(
    `update schedules
        set cron = $3, timezone = $4, overlap = $5, catch_up = $6, task = $7, request = $8, next_run_at = $9,
            updated_at = now()
      where team_id = $1 and id = $2`,
    [teamId, id, ...termValues(terms)],
  );
}

function termValues(terms: ScheduleTerms & { readonly nextRunAt: Date | null }): readonly unknown[] {
  const { cron, timezone, overlap, catchUp, task, nextRunAt } = terms;
  return [cron, timezone, overlap, catchUp, task.text, JSON.stringify(task.request), nextRunAt];
}

export async function removeSchedule(sql: Sql, reach: Reach, id: string): Promise<boolean> {
  const rows = await sql.rows("delete from schedules where team_id = $1 and id = $2 returning id", [
    reach.teamId,
    id,
  ]);
  return rows.length === 1;
}

/** The time of the database, by which all firings go. */
export async function databaseNow(sql: Sql): Promise<Date> {
  const [row] = await sql.rows<{ now: Date }>("select clock_timestamp() as now");
  if (row === undefined) throw new Error("The database did not tell the time");
  return row.now;
}

export const untilNextRunMs = untilNext(
  "until_next_run",
  "next_run_at",
  "schedules where next_run_at is not null",
);

/** Those whose time has come, the longest due first. */
export async function dueSchedules(sql: Sql, limit: number): Promise<Schedule[]> {
  const rows = await sql.rows<ScheduleRow>(
    `${READ} where s.next_run_at <= clock_timestamp() order by s.next_run_at limit $1`,
    [limit],
  );
  return rows.map(toSchedule);
}

/** Those of a team's sandbox whose time will have come when so much has passed there. */
export async function dueInSandbox(
  sql: Sql,
  teamId: number,
  aheadMs: number,
  limit: number,
): Promise<Schedule[]> {
  const rows = await sql.rows<ScheduleRow>(
    `${READ} where s.team_id = $1 and s.sandbox
        and s.next_run_at <= clock_timestamp() + make_interval(secs => $2::float8 / 1000)
      order by s.next_run_at limit $3`,
    [teamId, aheadMs, limit],
  );
  return rows.map(toSchedule);
}

/** What became of a firing that was due. */
export interface Firing {
  readonly next: Date;
  /** Why it made no task, for the schedule's record; null if it did, or was not to. */
  readonly error: string | null;
}

/**
 * Fires a schedule, exactly once: the transaction that moves `next_run_at` on from the time that was due is the one that
 * makes the task, and one that finds it moved on, held by another or changed in any way does nothing. The time is in a
 * unique key of the firing besides: a schedule that is set back to it makes no second one. `make` returns the id of the
 * task. Returns whether it was this one.
 */
export function fireSchedule(
  database: Database,
  schedule: Schedule,
  firing: Firing,
  make: (sql: Sql) => Promise<string | null>,
): Promise<boolean> {
  return database.transaction(async (sql) => {
    const { teamId, id, nextRunAt, updatedAt } = schedule;
    const firesAt = nextRunAt && ownTime(schedule, nextRunAt);
    const [held] = await sql.rows<{ isFired: boolean }>(
      `select exists (select 1 from schedule_firings f
                       where f.team_id = $1 and f.schedule_id = $2 and f.fires_at = $5) as "isFired"
         from schedules
        where team_id = $1 and id = $2 and next_run_at = $3 and date_trunc('milliseconds', updated_at) = $4
          for update skip locked`,
      [teamId, id, nextRunAt, updatedAt, firesAt],
    );
    if (held === undefined) return false;
    const taskId = held.isFired ? null : await make(sql);
    if (taskId !== null) await markTask(sql, schedule, taskId, firesAt);
    await sql.rows(
      `update schedules
          set next_run_at = $3, last_task_id = coalesce($4, last_task_id), last_error = $5::text,
              last_error_at = case when $5::text is not null then now() end
        where team_id = $1 and id = $2`,
      [teamId, id, firing.next, taskId, firing.error],
    );
    return true;
  });
}

/** A firing that was asked for by hand: the next one comes at its time all the same. */
export async function recordRun(sql: Sql, schedule: Schedule, taskId: string): Promise<void> {
  await markTask(sql, schedule, taskId, null);
  await sql.rows("update schedules set last_task_id = $3 where team_id = $1 and id = $2", [
    schedule.teamId,
    schedule.id,
    taskId,
  ]);
}

/** A statement of its own, so that the insertion of all other tasks need not know of schedules. */
async function markTask(sql: Sql, schedule: Schedule, taskId: string, firesAt: Date | null): Promise<void> {
  await sql.rows(
    `with marked as (update tasks set schedule_id = $2 where team_id = $1 and id = $3)
     insert into schedule_firings (team_id, schedule_id, task_id, fires_at) values ($1, $2, $3, $4)`,
    [schedule.teamId, schedule.id, taskId, firesAt],
  );
}

/** Whether one of the last tasks of a schedule goes on. No more are looked at than a look into the index finds. */
export async function hasUnendedTask(sql: Sql, { teamId, id }: Schedule): Promise<boolean> {
  const rows = await sql.rows(
    `select 1 from (
       select team_id, task_id from schedule_firings where team_id = $1 and schedule_id = $2
        order by task_id desc limit 100) last
       join tasks t on t.team_id = last.team_id and t.id = last.task_id
      where t.completed_at is null limit 1`,
    [teamId, id],
  );
  return rows.length > 0;
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

/** Written by this file. It holds no time: a schedule's task has none of its own. */
function readRequest(text: string): TaskRequest {
  return JSON.parse(text);
}
