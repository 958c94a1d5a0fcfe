import type { Role } from "../domain/role.ts";
import type { Member } from "../domain/team.ts";
import type { Sql } from "./sql.ts";

interface MemberRow {
  user_id: string;
  email: string;
  role: Role;
  joined_at: Date;
}

const COLUMNS = "m.user_id, u.email, m.role, m.joined_at";

/** Whoever joined first comes first. */
export async function listMembers(sql: Sql, teamId: number): Promise<Member[]> {
  const rows = await sql.rows<MemberRow>(
    `select ${COLUMNS} from team_members m join users u on u.id = m.user_id
      where m.team_id = $1 order by m.joined_at, m.user_id`,
    [teamId],
  );
  return rows.map(toMember);
}

export async function findMember(sql: Sql, teamId: number, userId: string): Promise<Member | null> {
  const rows = await sql.rows<MemberRow>(
    `select ${COLUMNS} from team_members m join users u on u.id = m.user_id
      where m.team_id = $1 and m.user_id = $2`,
    [teamId, userId],
  );
  return rows[0] === undefined ? null : toMember(rows[0]);
}

export async function isMemberAddress(sql: Sql, teamId: number, email: string): Promise<boolean> {
  const rows = await sql.rows(
    "select 1 from team_members m join users u on u.id = m.user_id where m.team_id = $1 and u.email = $2",
    [teamId, email],
  );
  return rows.length === 1;
}

/** Counts only while the team is locked: otherwise the other owner may be on the way out too. */
export async function hasOtherOwner(sql: Sql, teamId: number, userId: string): Promise<boolean> {
  const rows = await sql.rows(
    "select 1 from team_members where team_id = $1 and role = 'owner' and user_id <> $2 limit 1",
    [teamId, userId],
  );
  return rows.length === 1;
}

export async function insertMember(sql: Sql, teamId: number, userId: string, role: Role): Promise<void> {
  await sql.rows("insert into team_members (team_id, user_id, role) values ($1, $2, $3)", [
    teamId,
    userId,
    role,
  ]);
}

export async function updateRole(sql: Sql, teamId: number, userId: string, role: Role): Promise<void> {
  await sql.rows("update team_members set role = $3 where team_id = $1 and user_id = $2", [
    teamId,
    userId,
    role,
  ]);
}

/** The moment from which the person is no member any more; null if it was none. */
export async function deleteMember(sql: Sql, teamId: number, userId: string): Promise<Date | null> {
  const rows = await sql.rows<{ removed_at: Date }>(
    "delete from team_members where team_id = $1 and user_id = $2 returning now() as removed_at",
    [teamId, userId],
  );
  return rows[0]?.removed_at ?? null;
}

function toMember(row: MemberRow): Member {
  return { userId: row.user_id, email: row.email, role: row.role, joinedAt: row.joined_at };
}
