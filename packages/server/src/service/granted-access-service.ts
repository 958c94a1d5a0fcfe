import type { EndedAccess, GrantedAccess } from "../domain/granted-access.ts";
import type { Actor, Principal } from "../domain/principal.ts";
import { Problem } from "../domain/problem.ts";
import { isAtLeast } from "../domain/role.ts";
import { findFamily, type LiveFamily, listFamilies } from "../store/oauth-families.ts";
import { revokeFamily } from "../store/oauth-tokens.ts";
import type { Database } from "../store/sql.ts";
import { recordChange } from "./audit.ts";
import { formatId, parseId } from "./public-id.ts";
import { lockStanding } from "./standing.ts";

/** What people have allowed applications to do in a team: to see it, and to end it. */
export interface GrantedAccessService {
  /** Newest first: an admin's list is the whole team's, anybody else's their own. */
  list(principal: Principal): Promise<readonly GrantedAccess[]>;
  /** Every token of it is refused from then on. Anybody may end their own; that of another takes an admin. */
  end(actor: Actor, id: string): Promise<EndedAccess>;
}

export function createGrantedAccessService({
  database,
}: {
  readonly database: Database;
}): GrantedAccessService {
  return {
    async list({ teamId, userId, role }) {
      const seesAll = isAtLeast(role, "admin");
      if (!seesAll && userId === null) return [];
      return (await listFamilies(database, teamId, seesAll ? null : userId)).map(toGrantedAccess);
    },
    async end(actor, id) {
      const consentId = parseId("auth", id);
      if (consentId === null) throw new Problem("authorization_not_found");
      return database.transaction(async (sql) => {
        const { role } = await lockStanding(sql, actor);
        const family = await findFamily(sql, actor.teamId, consentId);
        if (family === null) throw new Problem("authorization_not_found");
        const { codeHash, userId, email, applicationId, applicationName: name } = family;
        if (userId !== actor.userId && !isAtLeast(role, "admin"))
          throw new Problem("role_missing", { role: "admin" });
        // The application itself does not wait for the team: it may have been faster.
        const endedAt = await revokeFamily(sql, codeHash);
        if (endedAt === null) throw new Problem("authorization_not_found");
        await recordChange(sql, actor, {
          action: "application.access_ended",
          target: formatId("app", applicationId),
          detail: { name, email, reason: "withdrawn" },
        });
        return { id: formatId("auth", consentId), endedAt };
      });
    },
  };
}

function toGrantedAccess(family: LiveFamily): GrantedAccess {
  return {
    id: formatId("auth", family.consentId),
    application: {
      clientId: formatId("app", family.applicationId),
      name: family.applicationName,
      team: family.ownerName,
    },
    user: { id: formatId("user", family.userId), email: family.email },
    scopes: family.scopes,
    createdAt: family.consentedAt,
    expiresAt: family.expiresAt,
  };
}
