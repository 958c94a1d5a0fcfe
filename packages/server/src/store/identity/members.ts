import { ROLES, type Role } from "../../domain/identity/role.ts";
import type { Member } from "../../domain/identity/team.ts";
import type { Sql } from "../sql.ts";
import { ensureUser } from "./users.ts";

const MEMBERS = `select m.user_id as "userId", u.email, m.role, m.joined_at as "joinedAt"
  from team_members m join users u on u.id = m.user_id where m.team_id = $1`;

/** In the order of joining. */
export async function listMembers(sql: Sql, teamId: number): Promise<Member[]> {
  return sql.rows<Member>(`${MEMBERS} order by m.joined_at, m.user_id`, [teamId]);
}

export async function findMember(sql: Sql, teamId: number, userId: string): Promise<Member | null> {
  const [row] = await sql.rows<Member>(`${MEMBERS} and m.user_id = $2`, [teamId, userId]);
  return row ?? null;
}

export async function isMemberAddress(sql: Sql, teamId: number, email: string): Promise<boolean> {
  const rows = await sql.rows(
    "select 1 from team_members m join users u on u.id = m.user_id where m.team_id = $1 and u.email = $2",
    [teamId, email],
  );
  return rows.length === 1;
}

/** Whether the person with this address belongs to any team. */
export async function isAddressOfMember(sql: Sql, email: string): Promise<boolean> {
  const rows = await sql.rows(
    "select 1 from users u join team_members m on m.user_id = u.id where u.email = $1 limit 1",
    [email],
  );
  return rows.length === 1;
}

/**
 * Whether the person is still a member. The membership cannot be removed until the transaction ends, so the transaction
 * that removes it sees and revokes a token that is issued now.
 */
export async function holdMembership(sql: Sql, teamId: number, userId: string): Promise<boolean> {
  const rows = await sql.rows(
    "select 1 from team_members where team_id = $1 and user_id = $2 for key share",
    [teamId, userId],
  );
  return rows.length === 1;
}

/** Valid only while the team is locked: otherwise the other owner may be leaving too. */
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

/** Adds the person as a member. An existing member keeps the role. */
export async function ensureMember(
  sql: Sql,
  teamId: number,
  newId: string,
  email: string,
  role: Role,
): Promise<string> {
  const userId = await ensureUser(sql, newId, email);
  await sql.rows(
    "insert into team_members (team_id, user_id, role) values ($1, $2, $3) on conflict do nothing",
    [teamId, userId, role],
  );
  return userId;
}

/** Adds the person as a member. An existing member keeps the role, unless the new one allows more. */
export async function joinTeam(sql: Sql, teamId: number, userId: string, role: Role): Promise<void> {
  await sql.rows(
    `insert into team_members as m (team_id, user_id, role) values ($1, $2, $3)
     on conflict (team_id, user_id) do update set role = excluded.role
      where array_position($4::text[], excluded.role) < array_position($4::text[], m.role)`,
    [teamId, userId, role, ROLES],
  );
}

export async function updateRole(sql: Sql, teamId: number, userId: string, role: Role): Promise<void> {
  await sql.rows("update team_members set role = $3 where team_id = $1 and user_id = $2", [
    teamId,
    userId,
    role,
  ]);
}

/** The time of the removal; null if the person was not a member. */
export async function deleteMember(sql: Sql, teamId: number, userId: string): Promise<Date | null> {
  const [row] = await sql.rows<{ removedAt: Date }>(
    'delete from team_members where team_id = $1 and user_id = $2 returning now() as "removedAt"',
    [teamId, userId],
  );
  return row?.removedAt ?? null;
}
