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
 * For changes of memberships and credentials the cached role of a principal is not enough. Two owners who demote each
 * other would both succeed, and a removed member could rejoin or create a key within that second.
 */
export interface CurrentRole {
  readonly team: Team;
  /** The caller's current role in the team. */
  readonly role: Role;
}

/** The members cannot change until the transaction ends. */
export async function lockCurrentRole(sql: Sql, requester: Requester): Promise<CurrentRole> {
  const team = await lockTeam(sql, requester.teamId);
  if (!(await counts(sql, requester)))
    throw new Problem(requester.kind === "api_key" ? "api_key_invalid" : "token_invalid");
  if (requester.userId === null) return { team, role: requester.role };
  const member = await findMember(sql, requester.teamId, requester.userId);
  if (member === null) throw new Problem("token_invalid");
  return { team, role: member.role };
}

/** Whether the credential is still valid: it may have been revoked within the second of its cache entry. */
async function counts(sql: Sql, { kind, id, teamId, tokenHash }: Requester): Promise<boolean> {
  const keyId = kind === "api_key" ? parseId("key", id) : null;
  if (keyId !== null) return !(await isRevokedKey(sql, teamId, keyId));
  if (tokenHash === null) return true;
  const find = kind === "session" ? findSession : findLiveAccess;
  return (await find(sql, Buffer.from(tokenHash))) !== null;
}

/** The same, for a change that requires `needed`. */
export async function requireCurrentRole(sql: Sql, requester: Requester, needed: Role): Promise<void> {
  const { role } = await lockCurrentRole(sql, requester);
  if (!isAtLeast(role, needed)) throw new Problem("role_missing", { role: needed });
}
