import type { Member } from "../../domain/identity/team.ts";
import { deleteInvitationsTo } from "../../store/identity/invitations.ts";
import { deleteMember } from "../../store/identity/members.ts";
import { revokeTokensOfMember } from "../../store/identity/oauth-tokens.ts";
import { endSessionsOfMember } from "../../store/identity/sessions.ts";
import type { Sql } from "../../store/sql.ts";

/**
 * Takes somebody out of a team, with all that the membership allowed: sessions there, what applications may do in that
 * name, and a link with which to come back. Null if that was no member. Run it while the team is locked.
 */
export async function endMembership(
  sql: Sql,
  teamId: number,
  { userId, email }: Pick<Member, "userId" | "email">,
): Promise<Date | null> {
  const endedAt = await deleteMember(sql, teamId, userId);
  if (endedAt === null) return null;
  await endSessionsOfMember(sql, teamId, userId);
  await revokeTokensOfMember(sql, teamId, userId);
  await deleteInvitationsTo(sql, teamId, email);
  return endedAt;
}
