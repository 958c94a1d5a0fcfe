import type { Actor, Principal } from "../domain/principal.ts";
import { Problem } from "../domain/problem.ts";
import type { Role } from "../domain/role.ts";
import { type Member, requireRoleToChange } from "../domain/team.ts";
import { findMember, hasOtherOwner, listMembers, updateRole } from "../store/members.ts";
import type { Database, Sql } from "../store/sql.ts";
import { recordChange } from "./audit.ts";
import { endMembership } from "./membership-end.ts";
import { formatId } from "./public-id.ts";
import { lockStanding } from "./standing.ts";

export interface RemovedMember {
  readonly userId: string;
  readonly email: string;
  readonly removedAt: Date;
}

export interface MemberService {
  list(principal: Principal): Promise<readonly Member[]>;
  changeRole(actor: Actor, userId: string, role: Role): Promise<Member>;
  /** The person is out of the team at once: its sessions there end, and so does what it let applications do. */
  remove(actor: Actor, userId: string): Promise<RemovedMember>;
  /** The same for oneself, which needs no role. */
  leave(actor: Actor): Promise<RemovedMember>;
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

  async function takeOut(sql: Sql, actor: Actor, member: Member): Promise<RemovedMember> {
    const { teamId } = actor;
    const { userId, email, role } = member;
    await keepAnOwner(sql, teamId, member);
    const removedAt = await endMembership(sql, teamId, member);
    if (removedAt === null) throw new Problem("member_not_found");
    await recordChange(sql, actor, {
      action: userId === actor.userId ? "member.left" : "member.removed",
      target: formatId("user", userId),
      detail: { email, role },
    });
    return { userId, email, removedAt };
  }

  return {
    list: ({ teamId }) => listMembers(database, teamId),
    changeRole(actor, userId, role) {
      const { teamId } = actor;
      return database.transaction(async (sql) => {
        const standing = await lockStanding(sql, actor);
        const member = await find(sql, teamId, userId);
        requireRoleToChange(standing.role, { from: member.role, to: role });
        if (member.role === role) return member;
        await keepAnOwner(sql, teamId, member);
        await updateRole(sql, teamId, userId, role);
        await recordChange(sql, actor, {
          action: "member.role_changed",
          target: formatId("user", userId),
          detail: { email: member.email, from: member.role, to: role },
        });
        return { ...member, role };
      });
    },
    remove: (actor, userId) =>
      database.transaction(async (sql) => {
        const standing = await lockStanding(sql, actor);
        const member = await find(sql, actor.teamId, userId);
        requireRoleToChange(standing.role, { from: member.role, to: null });
        return takeOut(sql, actor, member);
      }),
    async leave(actor) {
      const { userId } = actor;
      if (userId === null) throw new Problem("session_required");
      return database.transaction(async (sql) => {
        await lockStanding(sql, actor);
        return takeOut(sql, actor, await find(sql, actor.teamId, userId));
      });
    },
  };
}
