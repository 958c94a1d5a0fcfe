import type { Membership } from "../../domain/identity/team.ts";
import { Problem } from "../../domain/problem.ts";
import { formatId } from "../../domain/public-id.ts";
import {
  findInvitationTeam,
  type TakenInvitation,
  takeInvitation,
} from "../../store/identity/invitations.ts";
import { insertMember, joinTeam } from "../../store/identity/members.ts";
import { takeSignInLink } from "../../store/identity/sign-in-links.ts";
import { listTeamsOf, lockTeam } from "../../store/identity/teams.ts";
import { ensureUser } from "../../store/identity/users.ts";
import type { Sql } from "../../store/sql.ts";
import { hashSecret } from "../access/secret-hash.ts";
import { type ChangeAuthor, recordChange } from "../audit/audit.ts";
import { newUuid } from "../new-uuid.ts";
import {
  recordOpening,
  type SignedIn,
  type StoredSession,
  sessionExpiry,
  storeSession,
} from "./session-service.ts";
import { createTeam } from "./team-creation.ts";

/** Where a sign-in comes from, for the audit log. */
export interface Visitor {
  readonly address: string;
  readonly requestId: string;
}

export interface Admission extends Omit<SignedIn, "session"> {
  readonly stored: StoredSession;
  /** Where the person wanted to go when asking for the link. */
  readonly nextPath: string | null;
}

interface Door {
  readonly signUp: "open" | "invited";
  readonly now: () => Date;
}

/**
 * Lets in whoever holds a mailed link. Run it in a transaction: a link that was taken and led to no session is not lost.
 */
export async function admitByToken(
  sql: Sql,
  door: Door,
  token: string,
  visitor: Visitor,
): Promise<Admission> {
  const hash = hashSecret(token);
  const link = await takeSignInLink(sql, hash);
  const invitation = link === null ? await takeInvitationInTurn(sql, hash) : null;
  const email = link?.email ?? invitation?.email;
  if (email === undefined) throw new Problem("token_invalid");

  // From here on nobody else signs this person in until the transaction ends: no second team of their own is made.
  const userId = await ensureUser(sql, newUuid(), email);
  const authorIn = (teamId: number): ChangeAuthor => ({
    teamId,
    kind: "session",
    id: formatId("user", userId),
    name: email,
    ...visitor,
  });
  if (invitation !== null) await join(sql, invitation, userId, authorIn(invitation.teamId));
  const { teamId, team } =
    (await chooseTeam(sql, userId, invitation?.teamId ?? null)) ??
    (await signUp(sql, door, userId, email, authorIn));

  const isBound = invitation !== null && (await hasOtherTeam(sql, userId, teamId));
  const stored = await storeSession(sql, { userId, teamId, expiresAt: sessionExpiry(door.now()), isBound });
  await recordOpening(sql, authorIn(teamId));
  return { stored, user: { id: userId, email }, team, nextPath: link?.nextPath ?? null };
}

/** The team first, the invitation second: whoever removes a member locks them in this order too. */
async function takeInvitationInTurn(sql: Sql, hash: Buffer): Promise<TakenInvitation | null> {
  const teamId = await findInvitationTeam(sql, hash);
  if (teamId === null) return null;
  await lockTeam(sql, teamId);
  return takeInvitation(sql, hash);
}

async function join(
  sql: Sql,
  invitation: TakenInvitation,
  userId: string,
  requester: ChangeAuthor,
): Promise<void> {
  const { id, teamId, role } = invitation;
  await joinTeam(sql, teamId, userId, role);
  const detail = { role, invitation: formatId("inv", id) };
  await recordChange(sql, requester, { action: "member.joined", target: requester.id, detail });
}

/** The one that an invitation leads to; otherwise the one joined first. */
async function chooseTeam(sql: Sql, userId: string, teamId: number | null): Promise<Membership | null> {
  const teams = await listTeamsOf(sql, userId);
  return (teamId === null ? teams[0] : teams.find((membership) => membership.teamId === teamId)) ?? null;
}

/**
 * Then an invitation must not open that one too: unlike a sign-in link it lives for days, and people pass it on to whom
 * they think it is for.
 */
async function hasOtherTeam(sql: Sql, userId: string, teamId: number): Promise<boolean> {
  return (await listTeamsOf(sql, userId)).some((membership) => membership.teamId !== teamId);
}

async function signUp(
  sql: Sql,
  door: Door,
  userId: string,
  email: string,
  authorIn: (teamId: number) => ChangeAuthor,
): Promise<Membership> {
  if (door.signUp === "invited") throw new Problem("token_invalid");
  const name = `${email.slice(0, email.indexOf("@"))}'s team`;
  const teamId = await createTeam(sql, name, "free");
  await insertMember(sql, teamId, userId, "owner");
  const membership = await chooseTeam(sql, userId, teamId);
  if (membership === null) throw new Error("A new team has no owner");
  const target = formatId("team", membership.team.id);
  await recordChange(sql, authorIn(teamId), { action: "team.created", target, detail: { name } });
  return membership;
}
