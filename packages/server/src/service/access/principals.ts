import { requestsPerMinute } from "../../domain/identity/plan.ts";
import type { Principal } from "../../domain/identity/principal.ts";
import { createLimitsOf, type LimitsOf } from "../../domain/limits.ts";
import { formatId } from "../../domain/public-id.ts";
import { findActiveKey } from "../../store/identity/api-keys.ts";
import { findLiveAccess } from "../../store/identity/oauth-tokens.ts";
import { findSession } from "../../store/identity/sessions.ts";
import type { Sql } from "../../store/sql.ts";
import type { FindPrincipal } from "./auth-service.ts";
import { hashSecret } from "./secret-hash.ts";
import type { TokenSigner } from "./token-signer.ts";

/**
 * The principal of an API key. A test key does not manage the team: with a live key or a member that it created, it
 * could cause calls.
 */
export function createKeyLookup(sql: Sql, limitsOf: LimitsOf = createLimitsOf()): FindPrincipal {
  return async (credential): Promise<Principal | null> => {
    const key = await findActiveKey(sql, hashSecret(credential));
    if (key === null) return null;
    const { id, teamId, teamPublicId, name, environment, plan, customPerMinute, ownLimits } = key;
    return {
      teamId,
      team: formatId("team", teamPublicId),
      environment,
      kind: "api_key",
      id: formatId("key", id),
      name,
      userId: null,
      role: environment === "test" ? "member" : "admin",
      scopes: null,
      plan,
      requestsPerMinute: requestsPerMinute(plan, customPerMinute),
      limits: limitsOf(plan, ownLimits),
      tokenHash: null,
    };
  };
}

/** Finds the principal by the hash of a token's secret id; null if the row is gone or invalid. */
export type FindByHash = (idHash: Buffer) => Promise<Principal | null>;

/** A token is valid while its signature is and its row exists: a revoked one is refused despite a valid signature. */
export function createTokenLookup(deps: {
  readonly signer: TokenSigner;
  readonly findSession: FindByHash;
  readonly findAccess: FindByHash;
}): FindPrincipal {
  return async (credential) => {
    const token = await deps.signer.verify(credential);
    if (token === null) return null;
    const find = token.use === "session" ? deps.findSession : deps.findAccess;
    return find(hashSecret(token.id));
  };
}

/** A signed-in person acts for the team of the session, with the current role. */
export function createSessionLookup(sql: Sql, limitsOf: LimitsOf = createLimitsOf()): FindByHash {
  return async (idHash) => {
    const session = await findSession(sql, idHash);
    if (session === null) return null;
    const { teamId, teamPublicId, userId, email, role, plan, customPerMinute, ownLimits } = session;
    return {
      teamId,
      team: formatId("team", teamPublicId),
      environment: "live",
      kind: "session",
      id: formatId("user", userId),
      name: email,
      userId,
      role,
      scopes: null,
      plan,
      requestsPerMinute: requestsPerMinute(plan, customPerMinute),
      limits: limitsOf(plan, ownLimits),
      tokenHash: idHash,
    };
  };
}

/**
 * An application acts within its scopes, limited by the current role of the person who granted access. On its own it
 * has the rights of a key.
 */
export function createAccessLookup(sql: Sql, limitsOf: LimitsOf = createLimitsOf()): FindByHash {
  return async (idHash) => {
    const access = await findLiveAccess(sql, idHash);
    if (access === null) return null;
    return {
      teamId: access.teamId,
      team: formatId("team", access.teamPublicId),
      environment: "live",
      kind: "application",
      id: formatId("app", access.applicationId),
      name: access.applicationName,
      userId: access.userId,
      role: access.userId === null ? "admin" : (access.role ?? "viewer"),
      scopes: new Set(access.scopes),
      plan: access.plan,
      requestsPerMinute: requestsPerMinute(access.plan, access.customPerMinute),
      limits: limitsOf(access.plan, access.ownLimits),
      tokenHash: idHash,
    };
  };
}
