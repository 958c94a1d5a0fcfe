import { type Sql, statement } from "../sql.ts";
import { IS_ORDERED } from "./flow-claim-parts.ts";

/*
 * Begins the lines of flows that became ordered. The tasks that have begun by then hold the line, so that all of them end first. No
 * claim can have taken a task of the flow since: it would have locked the flow's row and found the flow ordered, or have changed the
 * row's version.
 */
const OPEN_FLOW_LINES = statement(
  "open_flow_lines",
  `with locked as materialized (
     select f.key from flows f
      where f.team_id = $1 and not f.sandbox and f.key = any ($2::text[]) and f.line_at is null and ${IS_ORDERED}
        and f.version = (select s.version from flows s where s.team_id = $1 and not s.sandbox and s.key = f.key)
        for no key update skip locked
   ), begun as materialized (
     select t.flow, t.id, t.retries from flow_holds h join tasks t on t.team_id = h.team_id and t.id = h.task_id
      where h.team_id = $1 and not h.sandbox and h.flow = any (array(select key from locked)) and t.flow = h.flow and t.status = 'active'
      union
     select t.flow, t.id, t.retries from tasks t
      where t.team_id = $1 and not t.sandbox and t.list_key in ('waiting', 'polling') and t.flow = any (array(select key from locked))
      union
     select t.flow, t.id, t.retries from tasks t
      where t.team_id = $1 and t.flow_due_at is not null and t.flow = any (array(select key from locked))
        and ((t.attempt_count > 0 and t.retries = 0) or t.failures > 0 or t.interruptions > 0)
   ), held as (
     insert into flow_line_tasks as l (team_id, sandbox, flow, task_id, retries)
     select $1, false, flow, id, retries from begun
     on conflict (team_id, sandbox, flow, task_id) do update set retries = excluded.retries
   ), forgotten as (
     delete from flow_line_tasks l
      where l.team_id = $1 and not l.sandbox and l.flow = any (array(select key from locked)) and l.task_id not in (select id from begun)
   )
   update flows f set line_at = '-infinity'
    where f.team_id = $1 and not f.sandbox and f.key = any (array(select key from locked))`,
  { patience: "chore" },
);

/** Skips a flow that another transaction has locked: the next claim finds that its line has not begun. */
export async function openFlowLines(sql: Sql, teamId: number, keys: readonly string[]): Promise<void> {
  await sql.rows(OPEN_FLOW_LINES, [teamId, keys]);
}
