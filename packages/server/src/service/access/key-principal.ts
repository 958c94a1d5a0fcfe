import { requestsPerMinute } from "../../domain/identity/plan.ts";
import type { Principal } from "../../domain/identity/principal.ts";
import { formatId } from "../../domain/public-id.ts";
import { findActiveKey } from "../../store/identity/api-keys.ts";
import type { Sql } from "../../store/sql.ts";
import type { FindPrincipal } from "./auth-service.ts";
import { hashSecret } from "./secret-hash.ts";

/**
 * Who an API key speaks for. A test key does not manage the team: with a live key of its own making, or a member of its
 * own choosing, it could have calls made after all.
 */
export function createKeyLookup(sql: Sql): FindPrincipal {
  return async (credential): Promise<Principal | null> => {
    const key = await findActiveKey(sql, hashSecret(credential));
    if (key === null) return null;
    const { id, teamId, name, environment, plan, customPerMinute } = key;
    return {
      teamId,
      environment,
      kind: "api_key",
      id: formatId("key", id),
      name,
      userId: null,
      role: environment === "test" ? "member" : "admin",
      scopes: null,
      requestsPerMinute: requestsPerMinute(plan, customPerMinute),
      tokenHash: null,
    };
  };
}
