import type { EndedAccess, GrantedAccess } from "../../domain/identity/granted-access.ts";
import type { Principal, Requester } from "../../domain/identity/principal.ts";
import { isAtLeast } from "../../domain/identity/role.ts";
import { Problem } from "../../domain/problem.ts";
import { formatId, parseId } from "../../domain/public-id.ts";
import { findFamily, type LiveFamily, listFamilies } from "../../store/identity/oauth-families.ts";
import { revokeFamily } from "../../store/identity/oauth-tokens.ts";
import type { Database } from "../../store/sql.ts";
import { lockStanding } from "../access/standing.ts";
import { recordChange } from "../audit/audit.ts";

/** What people have allowed applications to do in a team: to see it, and to end it. */
export interface GrantedAccessService {
  /** Newest first: an admin's list is the whole team's, anybody else's their own. */
  list(principal: Principal): Promise<readonly GrantedAccess[]>;
  /** Every token of it is refused from then on. Anybody may end their own; that of another takes an admin. */
  end(requester: Requester, id: string): Promise<EndedAccess>;
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
    async end(requester, id) {
      const consentId = parseId("auth", id);
      if (consentId === null) throw new Problem("authorization_not_found");
      return database.transaction(async (sql) => {
        const { role } = await lockStanding(sql, requester);
        const family = await findFamily(sql, requester.teamId, consentId);
        if (family === null) throw new Problem("authorization_not_found");
        const { codeHash, userId, email, applicationId, applicationName: name } = family;
        if (userId !== requester.userId && !isAtLeast(role, "admin"))
          throw new Problem("role_missing", { role: "admin" });
        // The application itself does not wait for the team: it may have been faster.
        const endedAt = await revokeFamily(sql, codeHash);
        if (endedAt === null) throw new Problem("authorization_not_found");
        await recordChange(sql, requester, {
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
