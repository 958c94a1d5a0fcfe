import type { RequestOrigin } from "../../domain/identity/principal.ts";
import type { Membership } from "../../domain/identity/team.ts";
import { Problem } from "../../domain/problem.ts";
import { formatId } from "../../domain/public-id.ts";
import {
  findInvitationTeam,
  type TakenInvitation,
  takeInvitation,
} from "../../store/identity/invitations.ts";
import { joinTeam } from "../../store/identity/members.ts";
import { takeSignInLink } from "../../store/identity/sign-in-links.ts";
import { findTeamOf, lockTeam } from "../../store/identity/teams.ts";
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
import { createOwnTeam } from "./team-service.ts";

export interface Admission extends Omit<SignedIn, "session"> {
  readonly stored: StoredSession;
  /** The page that the person had requested. */
  readonly nextPath: string | null;
}

interface SignUpRules {
  readonly signUp: "open" | "invited";
  readonly now: () => Date;
}

/** Signs in the holder of a mailed link. Must run in a transaction: a link that leads to no session is not used up. */
export async function admitByToken(
  sql: Sql,
  rules: SignUpRules,
  token: string,
  origin: RequestOrigin,
): Promise<Admission> {
  const hash = hashSecret(token);
  const link = await takeSignInLink(sql, hash);
  const invitation = link === null ? await takeInvitationInTurn(sql, hash) : null;
  const email = link?.email ?? invitation?.email;
  if (email === undefined) throw new Problem("token_invalid");

  // From here on no other request signs this person in until the transaction ends: no second team is created.
  const userId = await ensureUser(sql, newUuid(), email);
  const author = { kind: "session", id: formatId("user", userId), name: email, ...origin } as const;
  if (invitation !== null) await join(sql, invitation, userId, { ...author, teamId: invitation.teamId });
  // The team of the invitation; otherwise the one joined first.
  const joined = await findTeamOf(sql, userId, { teamId: invitation?.teamId ?? null });
  const { teamId, team } = joined ?? (await signUp(sql, rules, author, userId));

  // An invitation gives access to its team only: unlike a sign-in link it is valid for days, and people forward it.
  const isBound = invitation !== null;
  const stored = await storeSession(sql, { userId, teamId, expiresAt: sessionExpiry(rules.now()), isBound });
  await recordOpening(sql, { ...author, teamId });
  return { stored, user: { id: userId, email }, team, nextPath: link?.nextPath ?? null };
}

/** The team first, then the invitation: a request that removes a member locks in this order too. */
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
  author: ChangeAuthor,
): Promise<void> {
  const { id, teamId, role } = invitation;
  await joinTeam(sql, teamId, userId, role);
  const detail = { role, invitation: formatId("inv", id) };
  await recordChange(sql, author, { action: "member.joined", target: author.id, detail });
}

function signUp(
  sql: Sql,
  rules: SignUpRules,
  author: Omit<ChangeAuthor, "teamId">,
  userId: string,
): Promise<Pick<Membership, "teamId" | "team">> {
  if (rules.signUp === "invited") throw new Problem("token_invalid");
  const { name: email } = author;
  return createOwnTeam(sql, author, userId, `${email.slice(0, email.indexOf("@"))}'s team`);
}
