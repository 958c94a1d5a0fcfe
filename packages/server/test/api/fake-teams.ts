import type { Principal } from "../../src/domain/identity/principal.ts";
import type { Invitation, Member, Team } from "../../src/domain/identity/team.ts";
import { Problem } from "../../src/domain/problem.ts";
import { formatId } from "../../src/domain/public-id.ts";
import { newUuid } from "../../src/service/new-uuid.ts";
import type { InvitationService } from "../../src/service/people/invitation-service.ts";
import type { MemberService, RemovedMember } from "../../src/service/people/member-service.ts";
import type { TeamService } from "../../src/service/people/team-service.ts";
import { principalOf } from "../test-principal.ts";

export interface FakeTeams {
  readonly teams: TeamService;
  readonly members: MemberService;
  readonly invitations: InvitationService;
  /** Makes a person known as a member of a team, and signed in there with the credential that comes back. */
  signIn(teamId: number, email: string, role: Member["role"]): { credential: string; userId: string };
  /** Who has signed in, by credential. */
  readonly signedIn: Map<string, Principal>;
  /** The next call that asks for it is refused with this. */
  refusal: Problem | null;
}

/** What the routes need to be tried: the rules themselves are tested on the database. */
export function createFakeTeams(now: Date): FakeTeams {
  const teams = new Map<number, Team>();
  const members = new Map<string, Member & { readonly teamId: number }>();
  const invitations = new Map<string, Invitation & { readonly teamId: number }>();
  const weekLater = new Date(now.getTime() + 7 * 24 * 3_600_000);

  const teamOf = (teamId: number, name = `Team ${teamId}`): Team => {
    const known = teams.get(teamId) ?? { id: newUuid(), name, plan: "free" as const, createdAt: now };
    teams.set(teamId, known);
    return known;
  };
  const refuse = () => {
    const { refusal } = fake;
    fake.refusal = null;
    if (refusal !== null) throw refusal;
  };
  const find = ({ teamId }: Principal, userId: string) => {
    refuse();
    const member = members.get(`${teamId} ${userId}`);
    if (member === undefined) throw new Problem("member_not_found");
    return member;
  };
  const remove = (principal: Principal, userId: string): RemovedMember => {
    const { email } = find(principal, userId);
    members.delete(`${principal.teamId} ${userId}`);
    return { userId, email, removedAt: now };
  };

  const fake: FakeTeams = {
    refusal: null,
    signedIn: new Map(),
    signIn(teamId, email, role) {
      const userId = newUuid();
      members.set(`${teamId} ${userId}`, { teamId, userId, email, role, joinedAt: now });
      const credential = `header.${userId}.signature`;
      const id = formatId("user", userId);
      const principal = principalOf(teamId, { kind: "session", id, name: email, userId, role });
      fake.signedIn.set(credential, principal);
      return { credential, userId };
    },
    teams: {
      async whoAmI({ teamId, userId, name }) {
        return { team: teamOf(teamId), user: userId === null ? null : { id: userId, email: name } };
      },
      async list({ userId }) {
        return [...members.values()]
          .filter((member) => member.userId === userId)
          .map(({ teamId, role, joinedAt }) => ({ teamId, team: teamOf(teamId), role, joinedAt }));
      },
      async create({ userId, name: email }, name) {
        refuse();
        const teamId = 1000 + teams.size;
        if (userId !== null)
          members.set(`${teamId} ${userId}`, { teamId, userId, email, role: "owner", joinedAt: now });
        return teamOf(teamId, name);
      },
      get: async ({ teamId }) => teamOf(teamId),
      async rename({ teamId }, name) {
        const renamed = { ...teamOf(teamId), name };
        teams.set(teamId, renamed);
        return renamed;
      },
    },
    members: {
      list: async ({ teamId }) => [...members.values()].filter((member) => member.teamId === teamId),
      async changeRole(requester, userId, role) {
        const changed = { ...find(requester, userId), role };
        members.set(`${requester.teamId} ${userId}`, changed);
        return changed;
      },
      remove: async (requester, userId) => remove(requester, userId),
      leave: async (requester) => remove(requester, requester.userId ?? ""),
    },
    invitations: {
      async create({ teamId, name: invitedBy }, email, role) {
        refuse();
        const id = newUuid();
        const invitation = { id, teamId, email, role, invitedBy, createdAt: now, expiresAt: weekLater };
        invitations.set(id, invitation);
        return invitation;
      },
      list: async ({ teamId }) =>
        [...invitations.values()].filter((invitation) => invitation.teamId === teamId).reverse(),
      async revoke({ teamId }, id) {
        const invitation = invitations.get(id);
        if (invitation?.teamId !== teamId) throw new Problem("invitation_not_found");
        invitations.delete(id);
        return { id, email: invitation.email, role: invitation.role, revokedAt: now };
      },
    },
  };
  return fake;
}
