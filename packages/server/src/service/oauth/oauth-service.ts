import { createHmac, timingSafeEqual } from "node:crypto";
import type { Principal } from "../../domain/identity/principal.ts";
import { findTeam } from "../../store/identity/teams.ts";
import type { Database, Sql } from "../../store/sql.ts";
import type { FailureLimit } from "../access/failure-limit.ts";
import type { FindByHash } from "../access/principals.ts";
import type { RequestLimits } from "../access/request-limits.ts";
import { hashSecret } from "../access/secret-hash.ts";
import type { TokenSigner } from "../access/token-signer.ts";
import { createClientAuthentication } from "./client-authentication.ts";
import { type ConsentService, createConsentService } from "./consent-service.ts";
import { createOAuthTokenService, type OAuthTokenService } from "./token-service.ts";

/** OAuth: consents and tokens of applications. */
export interface OAuthService extends ConsentService, OAuthTokenService {
  /** The issuer: the public address of this server. */
  issuer(): string;
  readonly findVisitor: FindVisitor;
}

export function createOAuthService(deps: {
  readonly database: Database;
  readonly signer: TokenSigner;
  readonly findSession: FindByHash;
  readonly failures: FailureLimit;
  readonly limits: RequestLimits;
  readonly publicUrl: () => string;
  /** Called when tokens were revoked, before the answer is sent. */
  readonly recheck: () => void;
}): OAuthService {
  const { database, signer, findSession, failures, limits, publicUrl: issuer } = deps;
  const authenticate = createClientAuthentication({ sql: database, failures });
  return {
    issuer,
    findVisitor: createVisitorLookup({ sql: database, signer, findSession }),
    ...createConsentService({ database, issuer }),
    ...createOAuthTokenService({ database, signer, authenticate, limits, recheck: deps.recheck }),
  };
}

/** A person on one of our pages with a session in the browser. */
export interface Visitor {
  readonly principal: Principal;
  /** The team of the session, which a consent is for. */
  readonly teamName: string;
  /**
   * The proof that a form of one page must carry. Keyed by the session's secret: another site can make the browser
   * submit a form here, but it neither knows the secret nor can read our page.
   */
  formProof(page: string): string;
  isOwnForm(page: string, proof: string): boolean;
}

/** Null for an invalid session. */
type FindVisitor = (sessionToken: string) => Promise<Visitor | null>;

function createVisitorLookup(deps: {
  readonly sql: Sql;
  readonly signer: TokenSigner;
  readonly findSession: FindByHash;
}): FindVisitor {
  return async (sessionToken) => {
    const token = await deps.signer.verify(sessionToken);
    if (token?.use !== "session") return null;
    const principal = await deps.findSession(hashSecret(token.id));
    const team = principal === null ? null : await findTeam(deps.sql, principal.teamId);
    if (principal === null || team === null) return null;
    const proofOf = (page: string) => createHmac("sha256", token.id).update(page).digest();
    return {
      principal,
      teamName: team.name,
      formProof: (page) => proofOf(page).toString("hex"),
      isOwnForm: (page, proof) =>
        /^[0-9a-f]{64}$/.test(proof) && timingSafeEqual(Buffer.from(proof, "hex"), proofOf(page)),
    };
  };
}
