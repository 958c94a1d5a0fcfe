import { columns } from "../../store/columns.ts";
import { type Sql, statement } from "../../store/sql.ts";
import { dueTeams, type TeamRoom } from "../../store/tasks/due-teams.ts";
import { INSERT_BYTES } from "../../store/tasks/submission.ts";
import type { Schedule } from "./domain.ts";
import { readRequest } from "./store.ts";

/** Of which schedules: of all, or of those of the sandbox, whose clock is ahead. */
export interface FiringTime {
  readonly sandboxOnly: boolean;
  readonly aheadMs: number;
}

/** One of those whom a firing calls. */
export interface Recipient {
  readonly url: string;
  readonly name?: string;
}

/** A due schedule with all data for its firing. */
export interface DueSchedule
  extends Pick<
    Schedule,
    | "teamId"
    | "id"
    | "sandbox"
    | "cron"
    | "timezone"
    | "overlap"
    | "catchUp"
    | "aheadSeconds"
    | "task"
    | "now"
  > {
  readonly nextRunAt: Date;
  /** This time has already fired: the firing is under way, or the schedule was set back to it. */
  readonly isFired: boolean;
  /** If the firing is under way: those whom it has not reached yet. */
  readonly fanOut: readonly Recipient[] | null;
  /** Bytes of the request. */
  readonly size: number;
}

type DueRow = Omit<DueSchedule, "task"> & { readonly task: string; readonly request: string };

export const teamsWithDueSchedules = dueTeams(
  "teams_with_due_schedules",
  "next_run_at",
  "schedules where next_run_at is not null",
);

const FIRES_AT = "s.next_run_at + make_interval(secs => s.ahead_seconds)";

/**
 * Locks the rows and skips those that another node has locked: so nodes share the work. A row that changed meanwhile is
 * read as it is now, and only if it is still due. The first schedule of each team comes before the second of any.
 */
const TAKE_DUE = statement(
  "take_due_schedules",
  `with due as materialized (
     select s.*, r.place, exists (select 1 from schedule_firings f
                                   where f.team_id = s.team_id and f.schedule_id = s.id and f.fires_at = ${FIRES_AT}) as is_fired
       from jsonb_to_recordset($1::jsonb) as r("teamId" integer, most integer, place integer)
       cross join lateral (
         select * from schedules
          where team_id = r."teamId" and next_run_at <= clock_timestamp() + make_interval(secs => $2::float8 / 1000)
            and (sandbox or not $3::boolean)
          order by next_run_at limit r.most for update skip locked
       ) s
   ), ranked as (
     select *, octet_length(request) as size, row_number() over (partition by team_id order by next_run_at, id) as rank from due
   ), sized as (
     select *, sum(size) over (order by rank, place rows unbounded preceding) as size_so_far from ranked
   )
   select ${columns("s", "team_id, id, sandbox, cron, timezone, overlap, catch_up, next_run_at, is_fired, fan_out, task, request, size")},
          s.ahead_seconds::float8 as "aheadSeconds", clock_timestamp() as now
     from sized s where s.size_so_far - s.size <= ${INSERT_BYTES} order by s.rank, s.place`,
  { prepared: true },
);

/** Must run in the transaction that fires them: of each team at most as many as it has room, the longest due first. */
export async function takeDueSchedules(
  sql: Sql,
  { aheadMs, sandboxOnly }: FiringTime,
  rooms: readonly TeamRoom[],
): Promise<DueSchedule[]> {
  const places = JSON.stringify(rooms.map((room, place) => ({ ...room, place })));
  const rows = await sql.rows<DueRow>(TAKE_DUE, [places, aheadMs, sandboxOnly]);
  return rows.map(({ task, request, ...row }) => ({
    ...row,
    task: { text: task, request: readRequest(request) },
  }));
}

/** The result of a due schedule. */
export interface Firing {
  readonly schedule: Pick<Schedule, "teamId" | "id">;
  readonly next: Date;
  /** Those whom the next portion calls: until there are none the schedule stays due. */
  readonly rest: readonly Recipient[];
  /** Null if it created none, or an earlier portion of the firing did. */
  readonly taskId: string | null;
  /** Why it created no task, for the schedule's record; null if it created one, or was skipped. */
  readonly error: string | null;
}

/** The due time is the key of the firing, so a schedule that is set back to it creates no second task. */
const RECORD_FIRINGS = statement(
  "record_firings",
  `with asked as materialized (
     select f.*, now() as at, ${FIRES_AT} as fires_at
       from jsonb_to_recordset($1::jsonb) as f(
              team_id integer, id uuid, next timestamptz, fan_out jsonb, task_id uuid, error text)
       join schedules s on s.team_id = f.team_id and s.id = f.id
   ), marked as (
     update tasks t set schedule_id = f.id, scheduled_for = f.fires_at
       from asked f where t.team_id = f.team_id and t.id = f.task_id
   ), fired as (
     insert into schedule_firings (team_id, schedule_id, task_id, fires_at)
     select f.team_id, f.id, f.task_id, f.fires_at from asked f where f.task_id is not null
   )
   update schedules s
      set next_run_at = coalesce(f.next, s.next_run_at), fan_out = f.fan_out, last_task_id = coalesce(f.task_id, s.last_task_id), last_error = f.error,
          last_error_at = case when f.error is not null then f.at end,
          errors_in_row = case when f.error is null then 0 else s.errors_in_row + 1 end
     from asked f where s.team_id = f.team_id and s.id = f.id`,
  { prepared: true },
);

/** Must run in the transaction that took the schedules and created their tasks: neither exists without the other. */
export async function recordFirings(sql: Sql, firings: readonly Firing[]): Promise<void> {
  const rows = firings.map(({ schedule: { teamId, id }, next, rest, taskId, error }) => ({
    team_id: teamId,
    id,
    next: rest.length === 0 ? next : null,
    fan_out: rest.length === 0 ? null : rest,
    task_id: taskId,
    error,
  }));
  await sql.rows(RECORD_FIRINGS, [JSON.stringify(rows)]);
}

const RECORD_RUN = statement(
  "record_run",
  `with marked as (update tasks set schedule_id = $2 where team_id = $1 and id = $3),
        fired as (insert into schedule_firings (team_id, schedule_id, task_id) values ($1, $2, $3))
   update schedules set last_task_id = $3 where team_id = $1 and id = $2`,
);

/** A manual firing: the next regular one is unaffected. */
export async function recordRun(
  sql: Sql,
  { teamId, id }: Pick<Schedule, "teamId" | "id">,
  taskId: string,
): Promise<void> {
  await sql.rows(RECORD_RUN, [teamId, id, taskId]);
}

const WITH_UNENDED_TASKS = statement(
  "with_unended_tasks",
  `select s.id from jsonb_to_recordset($1::jsonb) as s(team_id integer, id uuid)
    where exists (
      select 1 from (
        select f.team_id, f.task_id from schedule_firings f where f.team_id = s.team_id and f.schedule_id = s.id
         order by f.task_id desc limit 100) last
        join tasks t on t.team_id = last.team_id and t.id = last.task_id
       where t.completed_at is null)`,
);

/** The schedules with an open task among their last ones. No more are checked than one index probe finds. */
export async function withUnendedTasks(
  sql: Sql,
  schedules: readonly Pick<Schedule, "teamId" | "id">[],
): Promise<ReadonlySet<string>> {
  if (schedules.length === 0) return new Set();
  const rows = await sql.rows<{ id: string }>(WITH_UNENDED_TASKS, [
    JSON.stringify(schedules.map(({ teamId, id }) => ({ team_id: teamId, id }))),
  ]);
  return new Set(rows.map(({ id }) => id));
}

const READ_FAILED_FIRINGS = statement(
  "read_failed_firings",
  `select max(s.errors_in_row + (
            select count(*) from (
              select bool_and(t.status = 'failed') over (order by t.id desc) as failed
                from (select f.task_id from schedule_firings f where f.team_id = s.team_id and f.schedule_id = s.id
                       order by f.task_id desc limit $2) last
                join tasks t on t.team_id = s.team_id and t.id = last.task_id
               where t.completed_at is not null) row_of where row_of.failed))::float8 as failed
     from schedules s where s.team_id = $1 and not s.sandbox and s.next_run_at is not null`,
  { patience: "list" },
);

/**
 * The most firings in a row that failed, of the schedules that are not paused: those that created no task, and before
 * them those whose task failed. Tasks that have not ended are passed over. At most `most` firings of each are
 * looked at. Null without schedules.
 */
export async function readFailedFirings(sql: Sql, teamId: number, most: number): Promise<number | null> {
  const [row] = await sql.rows<{ failed: number | null }>(READ_FAILED_FIRINGS, [teamId, most]);
  return row?.failed ?? null;
}
