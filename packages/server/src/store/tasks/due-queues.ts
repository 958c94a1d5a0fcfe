import { patient, prepare, type Sql } from "../sql.ts";

export interface DueQueue {
  readonly teamId: number;
  readonly queue: string;
}

/** What the alarm sees, all of it at one instant of the database's clock. */
export interface DueLook {
  readonly databaseMs: number;
  readonly cameDue: readonly DueQueue[];
  /** Until the next delayed task of any queue; null if none waits. */
  readonly untilNextMs: number | null;
}

const DELAYED = "due_at is not null and priority > 0";

/**
 * What is due and what is not yet due are told apart by one `now()`: by two, a task that comes due in between is in
 * neither, and was found seconds later. A clock that was set back must not make the look begin after its end. In the order
 * of their times, which only the index on them has: on a table that was nearly empty another seemed as cheap.
 */
const LOOK_FOR_DUE = prepare(
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
);

interface DueRow extends Omit<DueLook, "cameDue"> {
  readonly teamId: number | null;
  readonly queue: string;
}

/**
 * Queues with a task whose time came since the last look, and for so long before it; and how long until the next. Reads
 * only those tasks. Without a last look: of the time right before now.
 */
export async function lookForDue(sql: Sql, sinceMs: number | null, overlapMs: number): Promise<DueLook> {
  const rows = await sql.rows<DueRow>(LOOK_FOR_DUE, [sinceMs, overlapMs]);
  const cameDue = rows.flatMap(({ teamId, queue }) => (teamId === null ? [] : [{ teamId, queue }]));
  return { databaseMs: rows[0]?.databaseMs ?? 0, untilNextMs: rows[0]?.untilNextMs ?? null, cameDue };
}

/** Of a queue `q`: one probe per priority, each straight to its first due row, locked or not. */
const HAS_DUE_TASKS = `q.deleted_at is null and not q.paused and exists (
      select 1 from (values (1), (2), (3), (4), (5), (6), (7), (8), (9), (10)) as p(priority)
       cross join lateral (
         select 1 from tasks t
          where t.team_id = q.team_id and t.queue_id = q.id and t.priority = p.priority
            and t.due_at is not null and t.due_at <= now()
          order by t.due_at limit 1) due)`;

const QUEUES_WITH_DUE_TASKS = patient(
  "chore",
  `select q.team_id as "teamId", q.name as queue from queues q where ${HAS_DUE_TASKS}`,
);

/**
 * Every queue with due work: the cost follows the number of queues, never the number of tasks. Asked at the start and now
 * and then, in case a hint was lost.
 */
export async function queuesWithDueTasks(sql: Sql): Promise<DueQueue[]> {
  return sql.rows<DueQueue>(QUEUES_WITH_DUE_TASKS);
}

const DUE_AMONG = prepare(
  "due_among",
  `select q.team_id as "teamId", q.name as queue
     from jsonb_to_recordset($1::jsonb) as a("teamId" integer, queue text)
     join queues q on q.team_id = a."teamId" and q.name = a.queue
    where ${HAS_DUE_TASKS}`,
);

/** Those of these queues that have due work. */
export async function dueAmong(sql: Sql, queues: readonly DueQueue[]): Promise<DueQueue[]> {
  return sql.rows<DueQueue>(DUE_AMONG, [JSON.stringify(queues)]);
}
