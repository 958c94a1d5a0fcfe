import { type Sql, statement } from "../sql.ts";

export interface DueQueue {
  readonly teamId: number;
  readonly queue: string;
}

/** The answer to the alarm's check, at one instant of the database's clock. */
export interface DueLook<Place> {
  readonly databaseMs: number;
  readonly cameDue: readonly Place[];
  /** Milliseconds until the next delayed task; null if there is none. */
  readonly untilNextMs: number | null;
}

const DELAYED = "due_at is not null and priority > 0";

/**
 * One `now()` separates due tasks from later ones. With two, a task that becomes due in between was in neither set and
 * was found seconds later. A clock that was set back must not make the range empty. The order by time forces the right
 * index: on a nearly empty table another seemed as cheap.
 */
const LOOK_FOR_DUE = statement(
  "look_for_due",
  `with due as materialized (
     select distinct team_id, queue_id from (
       select team_id, queue_id from tasks
        where ${DELAYED}
          and due_at > least(to_timestamp($1::float8 / 1000), now()) - make_interval(secs => $2 / 1000.0)
          and due_at <= now()
        order by due_at) came
   ), found as (
     select q.team_id, q.name
       from due join queues q on q.team_id = due.team_id and q.id = due.queue_id and q.deleted_at is null
   ), upcoming as (
     select (select due_at from tasks where ${DELAYED} and due_at > now() order by due_at limit 1) as due_at
   )
   select extract(epoch from now())::float8 * 1000 as "databaseMs",
          extract(epoch from upcoming.due_at - clock_timestamp())::float8 * 1000 as "untilNextMs",
          found.team_id as "teamId", found.name as queue
     from upcoming left join found on true`,
  { prepared: true },
);

interface DueRow extends Omit<DueLook<DueQueue>, "cameDue"> {
  readonly teamId: number | null;
  readonly queue: string;
}

/**
 * Queues with a task that became due since the last check (with an overlap), and the time until the next. Reads only
 * those tasks. Without a last check: only the time right before now.
 */
export async function lookForDue(
  sql: Sql,
  sinceMs: number | null,
  overlapMs: number,
): Promise<DueLook<DueQueue>> {
  const rows = await sql.rows<DueRow>(LOOK_FOR_DUE, [sinceMs, overlapMs]);
  const cameDue = rows.flatMap(({ teamId, queue }) => (teamId === null ? [] : [{ teamId, queue }]));
  return { databaseMs: rows[0]?.databaseMs ?? 0, untilNextMs: rows[0]?.untilNextMs ?? null, cameDue };
}

/** For a queue `q`: one index probe per priority, directly to its first due row, locked or not. */
export const HAS_DUE_TASKS = `q.deleted_at is null and not q.paused and exists (
      select 1 from (values (1), (2), (3), (4), (5), (6), (7), (8), (9), (10)) as p(priority)
       cross join lateral (
         select 1 from tasks t
          where t.team_id = q.team_id and t.queue_id = q.id and t.priority = p.priority
            and t.due_at is not null and t.due_at <= now()
          order by t.due_at limit 1) due)`;

const QUEUES_WITH_DUE_TASKS = statement(
  "queues_with_due_tasks",
  `select q.team_id as "teamId", q.name as queue from queues q where ${HAS_DUE_TASKS}`,
  { patience: "chore" },
);

/**
 * Every queue with due tasks. The cost depends on the number of queues, never of tasks. Runs at the start and
 * periodically, in case a hint was lost.
 */
export async function queuesWithDueTasks(sql: Sql): Promise<DueQueue[]> {
  return sql.rows<DueQueue>(QUEUES_WITH_DUE_TASKS);
}

const DUE_AMONG = statement(
  "due_among",
  `select q.team_id as "teamId", q.name as queue
     from jsonb_to_recordset($1::jsonb) as a("teamId" integer, queue text)
     join queues q on q.team_id = a."teamId" and q.name = a.queue
    where ${HAS_DUE_TASKS}`,
  { prepared: true },
);

/** The given queues that have due tasks. */
export async function dueAmong(sql: Sql, queues: readonly DueQueue[]): Promise<DueQueue[]> {
  return sql.rows<DueQueue>(DUE_AMONG, [JSON.stringify(queues)]);
}
