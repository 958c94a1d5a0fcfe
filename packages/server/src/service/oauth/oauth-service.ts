import type { Database } from "../../store/sql.ts";
import type { FailureLimit } from "../access/failure-limit.ts";
import type { RequestLimits } from "../access/request-limits.ts";
import type { FindByHash } from "../access/token-principal.ts";
import type { TokenSigner } from "../access/token-signer.ts";
import { createClientAuthentication } from "./client-authentication.ts";
import { type ConsentService, createConsentService } from "./consent-service.ts";
import { createOAuthTokenService, type OAuthTokenService } from "./token-service.ts";
import { createVisitorLookup, type FindVisitor } from "./visitor.ts";

/** How applications are let in, and what with. */
export interface OAuthService extends ConsentService, OAuthTokenService {
  /** Who we are in the language of OAuth: the address that callers reach us at. */
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
}): OAuthService {
  const { database, signer, findSession, failures, limits, publicUrl: issuer } = deps;
  const authenticate = createClientAuthentication({ sql: database, failures });
  return {
    issuer,
    findVisitor: createVisitorLookup({ sql: database, signer, findSession }),
    ...createConsentService({ database, issuer }),
    ...createOAuthTokenService({ database, signer, authenticate, limits }),
  };
}
