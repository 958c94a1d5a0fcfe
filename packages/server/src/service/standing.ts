import type { Actor } from "../domain/principal.ts";
import { Problem } from "../domain/problem.ts";
import { isAtLeast, type Role } from "../domain/role.ts";
import type { Team } from "../domain/team.ts";
import { isRevokedKey } from "../store/api-keys.ts";
import { findMember } from "../store/members.ts";
import type { Sql } from "../store/sql.ts";
import { lockTeam } from "../store/teams.ts";
import { parseId } from "./public-id.ts";

/**
 * Who may change who belongs to a team, and who may hand out what speaks for it. The role of a principal was true a
 * moment ago: that will do for most requests, but not here. Two owners who demote each other would both succeed, and
 * somebody removed would have that moment to let himself in again, or to leave with a key.
 */
export interface Standing {
  readonly team: Team;
  /** What the caller may do now. */
  readonly role: Role;
}

/** From here on nobody joins the queue ahead of us: until the transaction ends the members stay as they are. */
export async function lockStanding(sql: Sql, actor: Actor): Promise<Standing> {
  const team = await lockTeam(sql, actor.teamId);
  if (actor.userId === null) {
    const keyId = actor.kind === "api_key" ? parseId("key", actor.id) : null;
    if (keyId !== null && (await isRevokedKey(sql, actor.teamId, keyId)))
      throw new Problem("api_key_invalid");
    return { team, role: actor.role };
  }
  const member = await findMember(sql, actor.teamId, actor.userId);
  if (member === null) throw new Problem("token_invalid");
  return { team, role: member.role };
}

/** The same, for what only `needed` may do. */
export async function requireStanding(sql: Sql, actor: Actor, needed: Role): Promise<void> {
  const { role } = await lockStanding(sql, actor);
  if (!isAtLeast(role, needed)) throw new Problem("role_missing", { role: needed });
}
