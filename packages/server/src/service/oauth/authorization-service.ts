import type { Authorization, EndedAuthorization } from "../../domain/identity/oauth-application.ts";
import type { Principal, Requester } from "../../domain/identity/principal.ts";
import { isAtLeast } from "../../domain/identity/role.ts";
import { SCOPES } from "../../domain/identity/scope.ts";
import { cutPageAtOffset, type Page, type PageRequest, WHOLE_LIST } from "../../domain/page.ts";
import { Problem } from "../../domain/problem.ts";
import { formatId, parseId } from "../../domain/public-id.ts";
import {
  findAuthorization,
  type LiveAuthorization,
  listAuthorizations,
} from "../../store/identity/oauth-authorizations.ts";
import { endAuthorization } from "../../store/identity/oauth-tokens.ts";
import type { Database } from "../../store/sql.ts";
import { lockCurrentRole } from "../access/current-role.ts";
import { recordChange } from "../audit/audit.ts";

/** Lists and revokes the authorizations of a team. */
export interface AuthorizationService {
  /** Newest first: an admin sees those of the team, other members their own. */
  list(principal: Principal, page?: PageRequest): Promise<Page<Authorization>>;
  /** Every token of it is refused from then on. A member may revoke their own; others require an admin. */
  end(requester: Requester, id: string): Promise<EndedAuthorization>;
}

export function createAuthorizationService({
  database,
}: {
  readonly database: Database;
}): AuthorizationService {
  return {
    async list({ teamId, userId, role }, page = WHOLE_LIST) {
      const seesAll = isAtLeast(role, "admin");
      const hasNone = !seesAll && userId === null;
      const found = hasNone ? [] : await listAuthorizations(database, teamId, seesAll ? null : userId, page);
      return cutPageAtOffset(found.map(toAuthorization), page);
    },
    async end(requester, id) {
      const uuid = parseId("auth", id);
      if (uuid === null) throw new Problem("authorization_not_found");
      return database.transaction(async (sql) => {
        const { role } = await lockCurrentRole(sql, requester);
        const stored = await findAuthorization(sql, requester.teamId, uuid);
        if (stored === null) throw new Problem("authorization_not_found");
        const { codeHash, userId, email, applicationId, applicationName: name } = stored;
        if (userId !== requester.userId && !isAtLeast(role, "admin"))
          throw new Problem("role_missing", { role: "admin" });
        // The application does not lock the team: it may have been faster.
        const endedAt = await endAuthorization(sql, codeHash);
        if (endedAt === null) throw new Problem("authorization_not_found");
        await recordChange(sql, requester, {
          action: "application.access_ended",
          target: formatId("app", applicationId),
          detail: { name, email, reason: "withdrawn" },
        });
        return { id, endedAt };
      });
    },
  };
}

function toAuthorization(stored: LiveAuthorization): Authorization {
  return {
    id: formatId("auth", stored.id),
    application: {
      clientId: formatId("app", stored.applicationId),
      name: stored.applicationName,
      team: stored.ownerName,
    },
    user: { id: formatId("user", stored.userId), email: stored.email },
    scopes: SCOPES.filter((scope) => stored.scopes.includes(scope)),
    createdAt: stored.consentedAt,
    expiresAt: stored.expiresAt,
  };
}
