import type { Plan } from "../../domain/identity/plan.ts";
import type { Membership, Team } from "../../domain/identity/team.ts";
import type { Sql } from "../sql.ts";

/** The operator's own team is the first row; the first start creates it. */
export const OPERATOR_TEAM = "Operator";

export async function firstTeam(sql: Sql): Promise<number | null> {
  const rows = await sql.rows<{ id: number }>("select id from teams order by id limit 1");
  return rows[0]?.id ?? null;
}

/** Ids from the caller sort by creation time; the column's default does not. */
export async function insertTeam(sql: Sql, name: string, plan: Plan, publicId?: string): Promise<number> {
  const rows = await sql.rows<{ id: number }>(
    `insert into teams (name, plan, public_id) values ($1, $2, coalesce($3::uuid, gen_random_uuid())) returning id`,
    [name, plan, publicId ?? null],
  );
  return Number(rows[0]?.id);
}

const COLUMNS = `t.public_id as id, t.name, t.plan, t.created_at as "createdAt"`;

export async function findTeam(sql: Sql, teamId: number): Promise<Team | null> {
  const [row] = await sql.rows<Team>(`select ${COLUMNS} from teams t where t.id = $1`, [teamId]);
  return row ?? null;
}

/** Locks the team's name and memberships until the transaction ends. Rows that refer to the team can still be added. */
export async function lockTeam(sql: Sql, teamId: number): Promise<Team> {
  const [row] = await sql.rows<Team>(`select ${COLUMNS} from teams t where t.id = $1 for no key update`, [
    teamId,
  ]);
  if (row === undefined) throw new Error("A caller's team is not there");
  return row;
}

export async function renameTeam(sql: Sql, teamId: number, name: string): Promise<void> {
  await sql.rows("update teams set name = $2 where id = $1", [teamId, name]);
}

/** All teams of one person, in the order of joining. The only query by person instead of by team. */
export async function listTeamsOf(sql: Sql, userId: string): Promise<Membership[]> {
  const rows = await sql.rows<Team & Omit<Membership, "team">>(
    `select t.id as "teamId", ${COLUMNS}, m.role, m.joined_at as "joinedAt"
       from team_members m join teams t on t.id = m.team_id
      where m.user_id = $1 order by m.joined_at, t.id`,
    [userId],
  );
  return rows.map(({ teamId, role, joinedAt, ...team }) => ({ teamId, team, role, joinedAt }));
}

export async function countOwnedTeams(sql: Sql, userId: string, plan: Plan): Promise<number> {
  const rows = await sql.rows<{ owned: number }>(
    `select count(*)::integer as owned from team_members m join teams t on t.id = m.team_id
      where m.user_id = $1 and m.role = 'owner' and t.plan = $2`,
    [userId, plan],
  );
  return rows[0]?.owned ?? 0;
}
