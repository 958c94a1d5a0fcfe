import type { Principal, Requester } from "../../domain/identity/principal.ts";
import type { Role } from "../../domain/identity/role.ts";
import { type Member, requireRoleToChange } from "../../domain/identity/team.ts";
import { cutPageAtOffset, type Page, type PageRequest, WHOLE_LIST } from "../../domain/page.ts";
import { Problem } from "../../domain/problem.ts";
import { formatId } from "../../domain/public-id.ts";
import { deleteInvitationsTo } from "../../store/identity/invitations.ts";
import {
  deleteMember,
  findMember,
  hasOtherOwner,
  listMembers,
  updateRole,
} from "../../store/identity/members.ts";
import { revokeTokensOfMember } from "../../store/identity/oauth-tokens.ts";
import { endSessionsOfMember } from "../../store/identity/sessions.ts";
import type { Database, Sql } from "../../store/sql.ts";
import { lockCurrentRole } from "../access/current-role.ts";
import { type ChangeAuthor, recordChange } from "../audit/audit.ts";

export interface RemovedMember {
  readonly userId: string;
  readonly email: string;
  readonly removedAt: Date;
}

export interface MemberService {
  /** In the order of joining. */
  list(principal: Principal, page?: PageRequest): Promise<Page<Member>>;
  changeRole(requester: Requester, userId: string, role: Role): Promise<Member>;
  /** Removes the person at once: sessions in the team end, and so do grants to applications. */
  remove(requester: Requester, userId: string): Promise<RemovedMember>;
  /** The same for the caller, without a required role. */
  leave(requester: Requester): Promise<RemovedMember>;
}

export function createMemberService({ database }: { readonly database: Database }): MemberService {
  async function find(sql: Sql, teamId: number, userId: string): Promise<Member> {
    const member = await findMember(sql, teamId, userId);
    if (member === null) throw new Problem("member_not_found");
    return member;
  }

  /** A team without an owner could never get one. Valid only while the team is locked. */
  async function keepAnOwner(sql: Sql, teamId: number, member: Member): Promise<void> {
    if (member.role === "owner" && !(await hasOtherOwner(sql, teamId, member.userId)))
      throw new Problem("last_owner");
  }

  return {
    list: async ({ teamId }, page = WHOLE_LIST) =>
      cutPageAtOffset(await listMembers(database, teamId, page), page),
    changeRole(requester, userId, role) {
      const { teamId } = requester;
      return database.transaction(async (sql) => {
        const current = await lockCurrentRole(sql, requester);
        const member = await find(sql, teamId, userId);
        requireRoleToChange(current.role, { from: member.role, to: role });
        if (member.role !== role) await keepAnOwner(sql, teamId, member);
        return giveRole(sql, requester, member, role);
      });
    },
    remove: (requester, userId) =>
      database.transaction(async (sql) => {
        const current = await lockCurrentRole(sql, requester);
        const member = await find(sql, requester.teamId, userId);
        requireRoleToChange(current.role, { from: member.role, to: null });
        await keepAnOwner(sql, requester.teamId, member);
        return endMembership(sql, requester, member, userId === requester.userId);
      }),
    async leave(requester) {
      const { teamId, userId } = requester;
      if (userId === null) throw new Problem("session_required");
      return database.transaction(async (sql) => {
        await lockCurrentRole(sql, requester);
        const member = await find(sql, teamId, userId);
        await keepAnOwner(sql, teamId, member);
        return endMembership(sql, requester, member, true);
      });
    },
  };
}

/** Changes a member's role, or keeps it. Must run while the team is locked. */
export async function giveRole(sql: Sql, author: ChangeAuthor, member: Member, role: Role): Promise<Member> {
  const { userId, email, role: from } = member;
  if (from === role) return member;
  await updateRole(sql, author.teamId, userId, role);
  const detail = { email, from, to: role };
  const target = formatId("user", userId);
  await recordChange(sql, author, { action: "member.role_changed", target, detail });
  return { ...member, role };
}

/** Removes a member with sessions, grants to applications and open invitations. Must run while the team is locked. */
export async function endMembership(
  sql: Sql,
  author: ChangeAuthor,
  { userId, email, role }: Member,
  isOwn: boolean,
): Promise<RemovedMember> {
  const { teamId } = author;
  const removedAt = await deleteMember(sql, teamId, userId);
  if (removedAt === null) throw new Problem("member_not_found");
  await endSessionsOfMember(sql, teamId, userId);
  await revokeTokensOfMember(sql, teamId, userId);
  await deleteInvitationsTo(sql, teamId, email);
  await recordChange(sql, author, {
    action: isOwn ? "member.left" : "member.removed",
    target: formatId("user", userId),
    detail: { email, role },
  });
  return { userId, email, removedAt };
}
