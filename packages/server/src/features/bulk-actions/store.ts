import type { PageRequest } from "../../domain/page.ts";
import type { Reach } from "../../domain/reach.ts";
import { firstIdOf } from "../../domain/task-filter.ts";
import { columns } from "../../store/columns.ts";
import { type Sql, statement } from "../../store/sql.ts";
import type { Bulk, BulkAction } from "./domain.ts";

/** Task ids per row. */
export const PORTION = 1000;

const BULK = columns("b", "id, action, status, matched, done, skipped, created_at");

export interface NewBulk {
  readonly id: string;
  readonly action: BulkAction;
  readonly rate: number;
  readonly matched: number;
}

const INSERT_BULK = statement(
  "insert_bulk",
  `insert into bulks as b (team_id, id, action, environment, rate, matched, status, ended_at)
   values ($1, $2, $3, $4, $5, $6::integer, case when $6::integer = 0 then 'completed' else 'running' end,
           case when $6::integer = 0 then now() end)
   returning ${BULK}`,
);

/** An action without tasks is completed at once. */
export async function insertBulk(sql: Sql, reach: Reach, bulk: NewBulk): Promise<Bulk> {
  const [row] = await sql.rows<Bulk>(INSERT_BULK, [
    reach.teamId,
    bulk.id,
    bulk.action,
    reach.environment,
    bulk.rate,
    bulk.matched,
  ]);
  if (row === undefined) throw new Error("The bulk action was not stored");
  return row;
}

const INSERT_PORTION = statement(
  "insert_portion",
  "insert into bulk_portions (team_id, bulk_id, number, task_ids) values ($1, $2, $3, $4)",
);

export async function insertPortion(
  sql: Sql,
  teamId: number,
  bulkId: string,
  number: number,
  taskIds: readonly string[],
): Promise<void> {
  await sql.rows(INSERT_PORTION, [teamId, bulkId, number, taskIds]);
}

const FORGET_PORTIONS = statement(
  "forget_bulk_portions",
  "delete from bulk_portions where team_id = $1 and bulk_id = $2",
);

/** Of an action that was not stored. */
export async function forgetPortions(sql: Sql, teamId: number, bulkId: string): Promise<void> {
  await sql.rows(FORGET_PORTIONS, [teamId, bulkId]);
}

const FORGET_LOST_PORTIONS = statement(
  "forget_lost_bulk_portions",
  `delete from bulk_portions p
    where p.team_id = $1 and p.bulk_id < $2
      and not exists (select 1 from bulks b where b.team_id = p.team_id and b.id = p.bulk_id)`,
);
const DAY_MS = 86_400_000;

/** Of actions that a node began to select tasks for more than a day ago, and crashed. */
export async function forgetLostPortions(sql: Sql, teamId: number): Promise<void> {
  await sql.rows(FORGET_LOST_PORTIONS, [teamId, firstIdOf(Date.now() - DAY_MS)]);
}

const COUNT_RUNNING_BULKS = statement(
  "count_running_bulks",
  "select count(*)::integer as running from bulks where team_id = $1 and ended_at is null",
);

export async function countRunningBulks(sql: Sql, teamId: number): Promise<number> {
  const [row] = await sql.rows<{ running: number }>(COUNT_RUNNING_BULKS, [teamId]);
  return row?.running ?? 0;
}

const NEWEST_TASK_ID = statement(
  "newest_task_id",
  "select id from tasks where team_id = $1 order by id desc limit 1",
);

/** The newest of the team's tasks; null if it has none. */
export async function newestTaskId(sql: Sql, teamId: number): Promise<string | null> {
  const [row] = await sql.rows<{ id: string }>(NEWEST_TASK_ID, [teamId]);
  return row?.id ?? null;
}

const FIND_BULK = statement(
  "find_bulk",
  `select ${BULK} from bulks b
    where b.team_id = $1 and b.id = $2 and ($3 = 'live' or b.environment = 'test')`,
);

export async function findBulk(sql: Sql, reach: Reach, id: string): Promise<Bulk | null> {
  const rows = await sql.rows<Bulk>(FIND_BULK, [reach.teamId, id, reach.environment]);
  return rows[0] ?? null;
}

const LIST_BULKS = statement(
  "list_bulks",
  `select ${BULK} from bulks b
    where b.team_id = $1 and ($2 = 'live' or b.environment = 'test') and ($3::uuid is null or b.id < $3)
    order by b.id desc limit $4`,
);

/** Newest first, before the given one. */
export async function listBulks(sql: Sql, reach: Reach, { limit, cursor }: PageRequest): Promise<Bulk[]> {
  return sql.rows<Bulk>(LIST_BULKS, [reach.teamId, reach.environment, cursor, limit]);
}

const STOP_BULK = statement(
  "stop_bulk",
  `with stopped as (
     update bulks set status = 'stopped', ended_at = now()
      where team_id = $1 and id = $2 and ended_at is null and ($3 = 'live' or environment = 'test')
     returning *
   ), forgotten as (
     delete from bulk_portions p using stopped s where p.team_id = s.team_id and p.bulk_id = s.id
   )
   select ${BULK} from stopped b`,
);

/** Null if it is not running. Waits for the current turn: once this is committed, no further task is processed. */
export async function stopBulk(sql: Sql, reach: Reach, id: string): Promise<Bulk | null> {
  const rows = await sql.rows<Bulk>(STOP_BULK, [reach.teamId, id, reach.environment]);
  return rows[0] ?? null;
}

export interface BulkTeam {
  readonly teamId: number;
  /** Milliseconds until the next turn of one of its actions; 0 means now. */
  readonly waitMs: number;
}

const NEXT_BULK_TEAMS = statement(
  "next_bulk_teams",
  `select team_id as "teamId",
          greatest(0, ceil(extract(epoch from min(next_at) - clock_timestamp()) * 1000))::float8 as "waitMs"
     from bulks where ended_at is null group by team_id order by min(next_at) limit $1`,
);

/** Teams with running actions, each once, ordered by their next turn. */
export async function nextBulkTeams(sql: Sql, most: number): Promise<BulkTeam[]> {
  return sql.rows<BulkTeam>(NEXT_BULK_TEAMS, [most]);
}

export interface BulkTurn extends Reach {
  readonly id: string;
  readonly action: BulkAction;
  readonly rate: number;
  /** By how much this turn is late, at most a second. */
  readonly lateMs: number;
  /** The number of processed tasks. */
  readonly position: number;
}

/** When the turn was due. Time lost in an outage is not made up for, because the tasks would run all at once. */
const DUE_AT = "greatest(next_at, clock_timestamp() - interval '1 second')";

const LOCK_NEXT_BULK = statement(
  "lock_next_bulk",
  `select team_id as "teamId", id, environment, action, rate, done + skipped as position,
          (extract(epoch from clock_timestamp() - ${DUE_AT}) * 1000)::float8 as "lateMs"
     from bulks
    where team_id = $1 and ended_at is null and next_at <= clock_timestamp()
    order by next_at, id limit 1
      for update skip locked`,
);

/**
 * Locks the team's action whose turn was due first until the transaction ends. Null if other nodes have locked all of
 * them, or none is due.
 */
export async function lockNextBulk(sql: Sql, teamId: number): Promise<BulkTurn | null> {
  const rows = await sql.rows<BulkTurn>(LOCK_NEXT_BULK, [teamId]);
  return rows[0] ?? null;
}

const READ_TURN = statement(
  "read_turn",
  `select task_ids[$4::integer:$5::integer] as ids from bulk_portions
    where team_id = $1 and bulk_id = $2 and number = $3`,
);

/** The tasks of this turn: at most the given number, or the rest of their portion. */
export async function readTurn(
  sql: Sql,
  { teamId, id, position }: Pick<BulkTurn, "teamId" | "id" | "position">,
  most: number,
): Promise<readonly string[]> {
  const first = position % PORTION;
  const rows = await sql.rows<{ ids: readonly string[] }>(READ_TURN, [
    teamId,
    id,
    Math.floor(position / PORTION),
    first + 1,
    first + most,
  ]);
  return rows[0]?.ids ?? [];
}

const READ_RETRIES = statement(
  "read_bulk_retries",
  `select id, case when not sandbox then flow end as flow from tasks
    where team_id = $1 and id = any($2::uuid[]) and status in ('failed', 'cancelled') and ($3 = 'live' or sandbox)`,
);

/** Those of the tasks that a retry would begin again, with their live flow. */
export async function readRetries(
  sql: Sql,
  { teamId, environment }: Reach,
  ids: readonly string[],
): Promise<{ readonly id: string; readonly flow: string | null }[]> {
  return sql.rows(READ_RETRIES, [teamId, ids, environment]);
}

const COUNT_TURN = statement(
  "count_turn",
  `with counted as (
     update bulks
        set done = done + $3, skipped = skipped + $4,
            next_at = ${DUE_AT} + make_interval(secs => $5),
            status = case when done + skipped + $3 + $4 < matched then status else 'completed' end,
            ended_at = case when done + skipped + $3 + $4 < matched then null else now() end
      where team_id = $1 and id = $2
     returning team_id, id, status
   )
   delete from bulk_portions p using counted c
    where c.status = 'completed' and p.team_id = c.team_id and p.bulk_id = c.id`,
);

/**
 * Counts a turn, and completes the action with its last one. Must run in the transaction that has locked it. The next
 * turn is due relative to when this one was due, not to when it ran, so delays do not add up.
 */
export async function countTurn(
  sql: Sql,
  { teamId, id }: Pick<BulkTurn, "teamId" | "id">,
  turn: { readonly done: number; readonly skipped: number; readonly seconds: number },
): Promise<void> {
  await sql.rows(COUNT_TURN, [teamId, id, turn.done, turn.skipped, turn.seconds]);
}

const REMOVE_OLD_BULKS = statement(
  "remove_old_bulks",
  `delete from bulks b using (
     select team_id, id from bulks where ended_at < now() - make_interval(days => $1) order by ended_at limit $2) old
    where b.team_id = old.team_id and b.id = old.id and b.ended_at < now() - make_interval(days => $1)
   returning b.id`,
  { patience: "chore" },
);

/** Removes a batch of those that ended so long ago. Returns how many. */
export async function removeOldBulks(sql: Sql, days: number, batch: number): Promise<number> {
  const rows = await sql.rows(REMOVE_OLD_BULKS, [days, batch]);
  return rows.length;
}
