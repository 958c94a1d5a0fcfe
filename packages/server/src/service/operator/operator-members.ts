import { readEmail } from "../../domain/identity/email.ts";
import type { Role } from "../../domain/identity/role.ts";
import type { Member } from "../../domain/identity/team.ts";
import { formatId } from "../../domain/public-id.ts";
import { deleteInvitationsTo } from "../../store/identity/invitations.ts";
import { ensureMember, listMembers } from "../../store/identity/members.ts";
import { lockTeam } from "../../store/identity/teams.ts";
import type { Database, Sql } from "../../store/sql.ts";
import { type ChangeAuthor, recordChange } from "../audit/audit.ts";
import { newUuid } from "../new-uuid.ts";
import { endMembership, giveRole } from "../people/member-service.ts";
import { findOperatorsTeam, operatorOf, refusal } from "./operator-directory.ts";

export interface Joined {
  readonly team: string;
  readonly email: string;
  readonly role: Role;
  /** The previous role in the team; null for a new member. */
  readonly before: Role | null;
  /** The operator may leave a team without an owner, and name another. */
  readonly hasOwner: boolean;
}

/**
 * Adds a member without an invitation: the address can sign in from then on. A member gets the given role, or keeps the
 * current one.
 */
export async function addMember(
  database: Database,
  userName: string,
  text: string,
  { email: address, role }: { readonly email: string; readonly role: Role | null },
): Promise<Joined> {
  const email = readAddress(address);
  return database.transaction(async (sql) => {
    const { teamId, name: team } = await findOperatorsTeam(sql, text);
    const given = await ensureRole(sql, operatorOf(teamId, userName), email, role);
    return { team, email, ...given, hasOwner: await hasOwner(sql, teamId) };
  });
}

/** Locks the team and adds the address with this role; without a role a member keeps the current one. */
export async function ensureRole(
  sql: Sql,
  author: ChangeAuthor,
  email: string,
  role: Role | null,
): Promise<Pick<Joined, "role" | "before">> {
  const { teamId } = author;
  await lockTeam(sql, teamId);
  const known = await findByAddress(sql, teamId, email);
  if (known !== null) {
    const given = await giveRole(sql, author, known, role ?? known.role);
    return { role: given.role, before: known.role };
  }
  const first = role ?? "member";
  const userId = await ensureMember(sql, teamId, newUuid(), email, first);
  // The invitation is fulfilled, and an older link must not change it.
  await deleteInvitationsTo(sql, teamId, email);
  const target = formatId("user", userId);
  await recordChange(sql, author, { action: "member.added", target, detail: { email, role: first } });
  return { role: first, before: null };
}

/** Unlike members, the operator may remove the last owner. */
export async function removeMember(
  database: Database,
  userName: string,
  text: string,
  address: string,
): Promise<{ team: string; email: string; hasOwner: boolean }> {
  const email = readAddress(address);
  return database.transaction(async (sql) => {
    const { teamId, name: team } = await findOperatorsTeam(sql, text);
    await lockTeam(sql, teamId);
    const member = await findByAddress(sql, teamId, email);
    if (member === null) throw refusal(`${email} is no member of "${team}"`);
    await endMembership(sql, operatorOf(teamId, userName), member, false);
    return { team, email, hasOwner: await hasOwner(sql, teamId) };
  });
}

export function readAddress(text: string): string {
  const email = readEmail(text);
  if (email === null) throw refusal(`"${text}" is no mail address`);
  return email;
}

async function findByAddress(sql: Sql, teamId: number, email: string): Promise<Member | null> {
  return (await listMembers(sql, teamId)).find((member) => member.email === email) ?? null;
}

async function hasOwner(sql: Sql, teamId: number): Promise<boolean> {
  return (await listMembers(sql, teamId)).some(({ role }) => role === "owner");
}
