import { ROLES, type Role } from "../../domain/identity/role.ts";
import type { Member } from "../../domain/identity/team.ts";
import { offsetOf, type PageRequest } from "../../domain/page.ts";
import { type Sql, statement } from "../sql.ts";
import { ensureUser } from "./users.ts";

const MEMBERS = `select m.user_id as "userId", u.email, m.role, m.joined_at as "joinedAt"
  from team_members m join users u on u.id = m.user_id where m.team_id = $1`;

const LIST_MEMBERS = statement(
  "list_members",
  `${MEMBERS} order by m.joined_at, m.user_id limit $2 offset $3`,
);

/** In the order of joining: all of them, or of a page one more, which shows whether there is a next one. */
export async function listMembers(sql: Sql, teamId: number, page?: PageRequest): Promise<Member[]> {
  return sql.rows<Member>(LIST_MEMBERS, [teamId, page && page.limit + 1, page && offsetOf(page)]);
}

const FIND_MEMBER = statement("find_member", `${MEMBERS} and m.user_id = $2`);

export async function findMember(sql: Sql, teamId: number, userId: string): Promise<Member | null> {
  const [row] = await sql.rows<Member>(FIND_MEMBER, [teamId, userId]);
  return row ?? null;
}

const IS_MEMBER_ADDRESS = statement(
  "is_member_address",
  "select 1 from team_members m join users u on u.id = m.user_id where m.team_id = $1 and u.email = $2",
);

export async function isMemberAddress(sql: Sql, teamId: number, email: string): Promise<boolean> {
  const rows = await sql.rows(IS_MEMBER_ADDRESS, [teamId, email]);
  return rows.length === 1;
}

const IS_ADDRESS_OF_MEMBER = statement(
  "is_address_of_member",
  "select 1 from users u join team_members m on m.user_id = u.id where u.email = $1 limit 1",
);

/** Whether the person with this address belongs to any team. */
export async function isAddressOfMember(sql: Sql, email: string): Promise<boolean> {
  const rows = await sql.rows(IS_ADDRESS_OF_MEMBER, [email]);
  return rows.length === 1;
}

const HOLD_MEMBERSHIP = statement(
  "hold_membership",
  "select 1 from team_members where team_id = $1 and user_id = $2 for key share",
);

/**
 * Whether the person is still a member. The membership cannot be removed until the transaction ends, so the transaction
 * that removes it sees and revokes a token that is issued now.
 */
export async function holdMembership(sql: Sql, teamId: number, userId: string): Promise<boolean> {
  const rows = await sql.rows(HOLD_MEMBERSHIP, [teamId, userId]);
  return rows.length === 1;
}

const HAS_OTHER_OWNER = statement(
  "has_other_owner",
  "select 1 from team_members where team_id = $1 and role = 'owner' and user_id <> $2 limit 1",
);

/** Valid only while the team is locked: otherwise the other owner may be leaving too. */
export async function hasOtherOwner(sql: Sql, teamId: number, userId: string): Promise<boolean> {
  const rows = await sql.rows(HAS_OTHER_OWNER, [teamId, userId]);
  return rows.length === 1;
}

const INSERT_MEMBER = statement(
  "insert_member",
  "insert into team_members (team_id, user_id, role) values ($1, $2, $3)",
);

export async function insertMember(sql: Sql, teamId: number, userId: string, role: Role): Promise<void> {
  await sql.rows(INSERT_MEMBER, [teamId, userId, role]);
}

const ENSURE_MEMBER = statement(
  "ensure_member",
  "insert into team_members (team_id, user_id, role) values ($1, $2, $3) on conflict do nothing",
);

/** Adds the person as a member. An existing member keeps the role. */
export async function ensureMember(
  sql: Sql,
  teamId: number,
  newId: string,
  email: string,
  role: Role,
): Promise<string> {
  const userId = await ensureUser(sql, newId, email);
  await sql.rows(ENSURE_MEMBER, [teamId, userId, role]);
  return userId;
}

const JOIN_TEAM = statement(
  "join_team",
  `insert into team_members as m (team_id, user_id, role) values ($1, $2, $3)
   on conflict (team_id, user_id) do update set role = excluded.role
    where array_position($4::text[], excluded.role) < array_position($4::text[], m.role)`,
);

/** Adds the person as a member. An existing member keeps the role, unless the new one allows more. */
export async function joinTeam(sql: Sql, teamId: number, userId: string, role: Role): Promise<void> {
  await sql.rows(JOIN_TEAM, [teamId, userId, role, ROLES]);
}

const UPDATE_ROLE = statement(
  "update_role",
  "update team_members set role = $3 where team_id = $1 and user_id = $2",
);

export async function updateRole(sql: Sql, teamId: number, userId: string, role: Role): Promise<void> {
  await sql.rows(UPDATE_ROLE, [teamId, userId, role]);
}

const DELETE_MEMBER = statement(
  "delete_member",
  'delete from team_members where team_id = $1 and user_id = $2 returning now() as "removedAt"',
);

/** The time of the removal; null if the person was not a member. */
export async function deleteMember(sql: Sql, teamId: number, userId: string): Promise<Date | null> {
  const [row] = await sql.rows<{ removedAt: Date }>(DELETE_MEMBER, [teamId, userId]);
  return row?.removedAt ?? null;
}
