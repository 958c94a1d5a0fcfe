import type { Plan } from "../domain/plan.ts";
import type { Sql } from "./sql.ts";

/** The operator's own team is the first; its row is made by the first start. */
export const OPERATOR_TEAM = "Operator";

export async function firstTeam(sql: Sql): Promise<number | null> {
  const rows = await sql.rows<{ id: number }>("select id from teams order by id limit 1");
  return rows[0]?.id ?? null;
}

export async function insertTeam(sql: Sql, name: string, plan: Plan): Promise<number> {
  const rows = await sql.rows<{ id: number }>("insert into teams (name, plan) values ($1, $2) returning id", [
    name,
    plan,
  ]);
  return Number(rows[0]?.id);
}
