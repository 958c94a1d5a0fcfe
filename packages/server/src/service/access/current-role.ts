import type { Requester } from "../../domain/identity/principal.ts";
import { isAtLeast, type Role } from "../../domain/identity/role.ts";
import type { Team } from "../../domain/identity/team.ts";
import { Problem } from "../../domain/problem.ts";
import { parseId } from "../../domain/public-id.ts";
import { isRevokedKey } from "../../store/identity/api-keys.ts";
import { findMember } from "../../store/identity/members.ts";
import { findLiveAccess } from "../../store/identity/oauth-tokens.ts";
import { findSession } from "../../store/identity/sessions.ts";
import { lockTeam } from "../../store/identity/teams.ts";
import type { Sql } from "../../store/sql.ts";

/**
 * Who may change who belongs to a team, and who may hand out what speaks for it. The role of a principal was true a
 * moment ago: that will do for most requests, but not here. Two owners who demote each other would both succeed, and
 * a member who was removed would have that moment to come back in, or to leave with a key.
 */
export interface CurrentRole {
  readonly team: Team;
  /** The caller's role in the team now. */
  readonly role: Role;
}

/** Until the transaction ends the members stay as they are. */
export async function lockCurrentRole(sql: Sql, requester: Requester): Promise<CurrentRole> {
  const team = await lockTeam(sql, requester.teamId);
  if (!(await counts(sql, requester)))
    throw new Problem(requester.kind === "api_key" ? "api_key_invalid" : "token_invalid");
  if (requester.userId === null) return { team, role: requester.role };
  const member = await findMember(sql, requester.teamId, requester.userId);
  if (member === null) throw new Problem("token_invalid");
  return { team, role: member.role };
}

/** Whether the credential still does: it may have been revoked in the second for which it is remembered. */
async function counts(sql: Sql, { kind, id, teamId, tokenHash }: Requester): Promise<boolean> {
  const keyId = kind === "api_key" ? parseId("key", id) : null;
  if (keyId !== null) return !(await isRevokedKey(sql, teamId, keyId));
  if (tokenHash === null) return true;
  const find = kind === "session" ? findSession : findLiveAccess;
  return (await find(sql, Buffer.from(tokenHash))) !== null;
}

/** The same, for a change that only `needed` may make. */
export async function requireCurrentRole(sql: Sql, requester: Requester, needed: Role): Promise<void> {
  const { role } = await lockCurrentRole(sql, requester);
  if (!isAtLeast(role, needed)) throw new Problem("role_missing", { role: needed });
}
