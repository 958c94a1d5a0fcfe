import { type Sql, statement } from "../sql.ts";

/** Goes from one key to the next in the index of waiting tasks; keys with calls under way have places. */
const COUNT_OPEN_FLOWS = statement(
  "count_open_flows",
  `with recursive waiting as (
     (select flow from tasks where team_id = $1 and flow_due_at is not null order by flow limit 1)
     union all
     select (select t.flow from tasks t where t.team_id = $1 and t.flow_due_at is not null and t.flow > w.flow
              order by t.flow limit 1)
       from waiting w where w.flow is not null
   )
   select count(*)::integer as count from (
     select flow from (select flow from waiting where flow is not null limit $2) w
      union
     select flow from (select distinct flow from flow_holds where team_id = $1 and not sandbox limit $2) h) open`,
  { patience: "chore" },
);

/** The keys of live tasks that wait or are being called, counted to about twice `most`. */
export async function countOpenFlows(sql: Sql, teamId: number, most: number): Promise<number> {
  const [row] = await sql.rows<{ count: number }>(COUNT_OPEN_FLOWS, [teamId, most]);
  return row?.count ?? 0;
}

const IS_FLOW_OPEN = statement(
  "is_flow_open",
  `select exists (select 1 from tasks where team_id = $1 and flow = $2 and flow_due_at is not null)
       or exists (select 1 from flow_holds where team_id = $1 and not sandbox and flow = $2) as "isOpen"`,
);

export async function isFlowOpen(sql: Sql, teamId: number, key: string): Promise<boolean> {
  const [row] = await sql.rows<{ isOpen: boolean }>(IS_FLOW_OPEN, [teamId, key]);
  return row?.isOpen ?? false;
}
