import { type Sql, statement } from "../sql.ts";
import type { DueLook } from "./due-queues.ts";
import { turnSql } from "./turns.ts";

/** A flow with due tasks in a queue. */
export interface DueFlow {
  readonly teamId: number;
  readonly flow: string;
  readonly queue: string;
  /** The turn of the first of these tasks. */
  readonly turn: number;
}

const DELAYED = "flow_due_at is not null and priority > 0";

/** As `look_for_due`, for tasks with a flow. */
const LOOK_FOR_DUE_FLOWS = statement(
  "look_for_due_flows",
  `with due as materialized (
     select team_id, flow, queue_id, min(turn) as turn from (
       select team_id, flow, queue_id, ${turnSql("priority", "flow_due_at")} as turn from tasks
        where ${DELAYED}
          and flow_due_at > least(to_timestamp($1::float8 / 1000), now()) - make_interval(secs => $2 / 1000.0)
          and flow_due_at <= now()
        order by flow_due_at) came
      group by team_id, flow, queue_id
   ), found as (
     select q.team_id, due.flow, due.turn, q.name
       from due join queues q on q.team_id = due.team_id and q.id = due.queue_id and q.deleted_at is null
   ), upcoming as (
     select (select flow_due_at from tasks where ${DELAYED} and flow_due_at > now() order by flow_due_at limit 1) as due_at
   )
   select extract(epoch from now())::float8 * 1000 as "databaseMs",
          extract(epoch from upcoming.due_at - clock_timestamp())::float8 * 1000 as "untilNextMs",
          found.team_id as "teamId", found.flow, found.name as queue, found.turn
     from upcoming left join found on true`,
  { prepared: true },
);

type DueRow = Omit<DueLook<DueFlow>, "cameDue"> & (DueFlow | { readonly teamId: null });

/** The flows with a task that became due since the last check (with an overlap), and the time until the next. */
export async function lookForDueFlows(
  sql: Sql,
  sinceMs: number | null,
  overlapMs: number,
): Promise<DueLook<DueFlow>> {
  const rows = await sql.rows<DueRow>(LOOK_FOR_DUE_FLOWS, [sinceMs, overlapMs]);
  const cameDue = rows.flatMap((row) =>
    row.teamId === null ? [] : [{ teamId: row.teamId, flow: row.flow, queue: row.queue, turn: row.turn }],
  );
  return { databaseMs: rows[0]?.databaseMs ?? 0, untilNextMs: rows[0]?.untilNextMs ?? null, cameDue };
}

/** Goes from one pair of flow and queue to the next in the index: the cost depends on their number, not on that of the tasks. */
const FLOWS_WITH_DUE_TASKS = statement(
  "flows_with_due_tasks",
  `with recursive lane as (
     (select team_id, flow, queue_id from tasks where flow_due_at is not null order by team_id, flow, queue_id limit 1)
     union all
     select n.* from lane l cross join lateral (
       select t.team_id, t.flow, t.queue_id from tasks t
        where t.flow_due_at is not null and (t.team_id, t.flow, t.queue_id) > (l.team_id, l.flow, l.queue_id)
        order by t.team_id, t.flow, t.queue_id limit 1) n
   )
   select l.team_id as "teamId", l.flow, q.name as queue, due.turn
     from lane l join queues q on q.team_id = l.team_id and q.id = l.queue_id and q.deleted_at is null
    cross join lateral (
      select ${turnSql("p.priority", "due.at")} as turn
        from generate_series(10, 1, -1) as p(priority) cross join lateral (
          select t.flow_due_at as at from tasks t
           where t.team_id = l.team_id and t.flow = l.flow and t.queue_id = l.queue_id and t.priority = p.priority
             and t.flow_due_at is not null and t.flow_due_at <= now()
           order by t.flow_due_at limit 1) due
       limit 1) due`,
  { patience: "chore" },
);

/** Every flow with due tasks in a queue. Those of a paused queue must be known when it is resumed: one of them may be the first there. */
export async function flowsWithDueTasks(sql: Sql): Promise<DueFlow[]> {
  return sql.rows<DueFlow>(FLOWS_WITH_DUE_TASKS);
}
