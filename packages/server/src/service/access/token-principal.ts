import { requestsPerMinute } from "../../domain/identity/plan.ts";
import type { Principal } from "../../domain/identity/principal.ts";
import { formatId } from "../../domain/public-id.ts";
import { findSession, type LiveSession } from "../../store/identity/sessions.ts";
import type { Sql } from "../../store/sql.ts";
import type { FindPrincipal } from "./auth-service.ts";
import { hashSecret } from "./secret-hash.ts";
import type { TokenSigner } from "./token-signer.ts";

/** Finds whom the row with the hash of a token's secret id speaks for; null if it is gone, or counts no more. */
export type FindByHash = (idHash: Buffer) => Promise<Principal | null>;

/** A token counts while its signature does and its row is there: what was ended is refused, however well it is signed. */
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

/** A person who signed in speaks for the team of the session, as what they are there now. */
export function createSessionLookup(sql: Sql): FindByHash {
  return async (idHash) => {
    const session = await findSession(sql, idHash);
    return session === null ? null : personOf(session, idHash);
  };
}

function personOf(session: LiveSession, tokenHash: Buffer): Principal {
  return {
    teamId: session.teamId,
    environment: "live",
    kind: "session",
    id: formatId("user", session.userId),
    name: session.email,
    userId: session.userId,
    role: session.role,
    scopes: null,
    requestsPerMinute: requestsPerMinute(session.plan, session.customPerMinute),
    tokenHash,
  };
}
