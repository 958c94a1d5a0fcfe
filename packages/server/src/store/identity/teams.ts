import type { Plan } from "../../domain/identity/plan.ts";
import type { Membership, Team } from "../../domain/identity/team.ts";
import { offsetOf, type PageRequest } from "../../domain/page.ts";
import { type Sql, statement } from "../sql.ts";

/** The operator's own team is the first row; the first start creates it. */
export const OPERATOR_TEAM = "Operator";

const FIRST_TEAM = statement("first_team", "select id from teams order by id limit 1");

export async function firstTeam(sql: Sql): Promise<number | null> {
  const rows = await sql.rows<{ id: number }>(FIRST_TEAM);
  return rows[0]?.id ?? null;
}

const INSERT_TEAM = statement(
  "insert_team",
  `insert into teams (name, plan, public_id) values ($1, $2, coalesce($3::uuid, gen_random_uuid())) returning id`,
);

/** Ids from the caller sort by creation time; the column's default does not. */
export async function insertTeam(sql: Sql, name: string, plan: Plan, publicId?: string): Promise<number> {
  const rows = await sql.rows<{ id: number }>(INSERT_TEAM, [name, plan, publicId ?? null]);
  return Number(rows[0]?.id);
}

const COLUMNS = `t.public_id as id, t.name, t.plan, t.created_at as "createdAt"`;

const FIND_TEAM = statement("find_team", `select ${COLUMNS} from teams t where t.id = $1`);

export async function findTeam(sql: Sql, teamId: number): Promise<Team | null> {
  const [row] = await sql.rows<Team>(FIND_TEAM, [teamId]);
  return row ?? null;
}

const LOCK_TEAM = statement("lock_team", `select ${COLUMNS} from teams t where t.id = $1 for no key update`);

/** Locks the team's name and memberships until the transaction ends. Rows that refer to the team can still be added. */
export async function lockTeam(sql: Sql, teamId: number): Promise<Team> {
  const [row] = await sql.rows<Team>(LOCK_TEAM, [teamId]);
  if (row === undefined) throw new Error("A caller's team is not there");
  return row;
}

const RENAME_TEAM = statement("rename_team", "update teams set name = $2 where id = $1");

export async function renameTeam(sql: Sql, teamId: number, name: string): Promise<void> {
  await sql.rows(RENAME_TEAM, [teamId, name]);
}

const MEMBERSHIPS = `select t.id as "teamId", ${COLUMNS}, m.role, m.joined_at as "joinedAt"
  from team_members m join teams t on t.id = m.team_id
 where m.user_id = $1`;
const IN_ORDER = "order by m.joined_at, t.id";

type MembershipRow = Team & Omit<Membership, "team">;

const LIST_TEAMS_OF = statement("list_teams_of", `${MEMBERSHIPS} ${IN_ORDER} limit $2 offset $3`);

/** A page of the teams of one person and one more, in the order of joining. By person instead of by team, as the one below. */
export async function listTeamsOf(sql: Sql, userId: string, page: PageRequest): Promise<Membership[]> {
  const rows = await sql.rows<MembershipRow>(LIST_TEAMS_OF, [userId, page.limit + 1, offsetOf(page)]);
  return rows.map(toMembership);
}

const FIND_TEAM_OF = statement(
  "find_team_of",
  `${MEMBERSHIPS} and ($2::integer is null or t.id = $2) and ($3::uuid is null or t.public_id = $3) ${IN_ORDER} limit 1`,
);

/** This team of the person, or the one joined first. */
export async function findTeamOf(
  sql: Sql,
  userId: string,
  { teamId = null, publicId = null }: { readonly teamId?: number | null; readonly publicId?: string | null },
): Promise<Membership | null> {
  const [row] = await sql.rows<MembershipRow>(FIND_TEAM_OF, [userId, teamId, publicId]);
  return row === undefined ? null : toMembership(row);
}

function toMembership({ teamId, role, joinedAt, ...team }: MembershipRow): Membership {
  return { teamId, team, role, joinedAt };
}

const COUNT_OWNED_TEAMS = statement(
  "count_owned_teams",
  `select count(*)::integer as owned from team_members m join teams t on t.id = m.team_id
    where m.user_id = $1 and m.role = 'owner' and t.plan = $2`,
);

export async function countOwnedTeams(sql: Sql, userId: string, plan: Plan): Promise<number> {
  const rows = await sql.rows<{ owned: number }>(COUNT_OWNED_TEAMS, [userId, plan]);
  return rows[0]?.owned ?? 0;
}
