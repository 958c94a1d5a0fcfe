import { requestsPerMinute } from "../../domain/identity/plan.ts";
import { formatId } from "../../domain/public-id.ts";
import { findLiveAccess } from "../../store/identity/oauth-tokens.ts";
import type { Sql } from "../../store/sql.ts";
import type { FindByHash } from "./token-principal.ts";

/**
 * An application speaks within the scopes it was granted, and never for more than the person who let it in may do there
 * now. On its own it manages its team like a key.
 */
export function createAccessLookup(sql: Sql): FindByHash {
  return async (idHash) => {
    const access = await findLiveAccess(sql, idHash);
    if (access === null) return null;
    return {
      teamId: access.teamId,
      environment: "live",
      kind: "application",
      id: formatId("app", access.applicationId),
      name: access.applicationName,
      userId: access.userId,
      role: access.userId === null ? "admin" : (access.role ?? "viewer"),
      scopes: new Set(access.scopes),
      requestsPerMinute: requestsPerMinute(access.plan, access.customPerMinute),
      tokenHash: idHash,
    };
  };
}
