import type { Principal, Requester } from "../../domain/identity/principal.ts";
import type { Role } from "../../domain/identity/role.ts";
import { type Member, requireRoleToChange } from "../../domain/identity/team.ts";
import { Problem } from "../../domain/problem.ts";
import { formatId } from "../../domain/public-id.ts";
import { findMember, hasOtherOwner, listMembers, updateRole } from "../../store/identity/members.ts";
import type { Database, Sql } from "../../store/sql.ts";
import { lockStanding } from "../access/standing.ts";
import { recordChange } from "../audit/audit.ts";
import { endMembership } from "./membership-end.ts";

export interface RemovedMember {
  readonly userId: string;
  readonly email: string;
  readonly removedAt: Date;
}

export interface MemberService {
  list(principal: Principal): Promise<readonly Member[]>;
  changeRole(requester: Requester, userId: string, role: Role): Promise<Member>;
  /** The person is out of the team at once: its sessions there end, and so does what it let applications do. */
  remove(requester: Requester, userId: string): Promise<RemovedMember>;
  /** The same for oneself, which needs no role. */
  leave(requester: Requester): Promise<RemovedMember>;
}

export function createMemberService({ database }: { readonly database: Database }): MemberService {
  async function find(sql: Sql, teamId: number, userId: string): Promise<Member> {
    const member = await findMember(sql, teamId, userId);
    if (member === null) throw new Problem("member_not_found");
    return member;
  }

  /** A team without an owner would belong to nobody, for good. Only while the team is locked. */
  async function keepAnOwner(sql: Sql, teamId: number, member: Member): Promise<void> {
    if (member.role === "owner" && !(await hasOtherOwner(sql, teamId, member.userId)))
      throw new Problem("last_owner");
  }

  async function takeOut(sql: Sql, requester: Requester, member: Member): Promise<RemovedMember> {
    const { teamId } = requester;
    const { userId, email, role } = member;
    await keepAnOwner(sql, teamId, member);
    const removedAt = await endMembership(sql, teamId, member);
    if (removedAt === null) throw new Problem("member_not_found");
    await recordChange(sql, requester, {
      action: userId === requester.userId ? "member.left" : "member.removed",
      target: formatId("user", userId),
      detail: { email, role },
    });
    return { userId, email, removedAt };
  }

  return {
    list: ({ teamId }) => listMembers(database, teamId),
    changeRole(requester, userId, role) {
      const { teamId } = requester;
      return database.transaction(async (sql) => {
        const standing = await lockStanding(sql, requester);
        const member = await find(sql, teamId, userId);
        requireRoleToChange(standing.role, { from: member.role, to: role });
        if (member.role === role) return member;
        await keepAnOwner(sql, teamId, member);
        await updateRole(sql, teamId, userId, role);
        await recordChange(sql, requester, {
          action: "member.role_changed",
          target: formatId("user", userId),
          detail: { email: member.email, from: member.role, to: role },
        });
        return { ...member, role };
      });
    },
    remove: (requester, userId) =>
      database.transaction(async (sql) => {
        const standing = await lockStanding(sql, requester);
        const member = await find(sql, requester.teamId, userId);
        requireRoleToChange(standing.role, { from: member.role, to: null });
        return takeOut(sql, requester, member);
      }),
    async leave(requester) {
      const { userId } = requester;
      if (userId === null) throw new Problem("session_required");
      return database.transaction(async (sql) => {
        await lockStanding(sql, requester);
        return takeOut(sql, requester, await find(sql, requester.teamId, userId));
      });
    },
  };
}
