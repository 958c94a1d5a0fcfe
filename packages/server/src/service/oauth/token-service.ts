import { OAuthRefusal } from "../../domain/identity/oauth-refusal.ts";
import { requestsPerMinute } from "../../domain/identity/plan.ts";
import { Problem } from "../../domain/problem.ts";
import { formatId } from "../../domain/public-id.ts";
import { type ClientApplication, holdApplication } from "../../store/identity/oauth-applications.ts";
import { findToken, revokeFamily, revokeToken } from "../../store/identity/oauth-tokens.ts";
import type { Database, Sql } from "../../store/sql.ts";
import type { RequestLimits } from "../access/request-limits.ts";
import { hashSecret } from "../access/secret-hash.ts";
import type { NewToken, TokenSigner } from "../access/token-signer.ts";
import { recordChange } from "../audit/audit.ts";
import { ACCESS_VALID_SECONDS, createAuthorizationServer } from "./authorization-server.ts";
import type { AuthenticateClient, ClientRequest } from "./client-authentication.ts";
import { toRefusal } from "./library-refusal.ts";
import { type Parameters, readScope } from "./parameters.ts";
import { ReplayedGrant } from "./replay.ts";
import { createUnsignedToken } from "./unsigned-token.ts";

/** As RFC 6749 (5.1) spells it. */
export interface TokenAnswer {
  readonly access_token: string;
  readonly token_type: "Bearer";
  readonly expires_in: number;
  readonly refresh_token?: string;
  readonly scope: string;
}

export interface OAuthTokenService {
  /** Takes a code, a refresh token, or the word of the application itself, for an access token. */
  exchange(request: ClientRequest): Promise<TokenAnswer>;
  /** Ends a token and all that descend from the same consent; no matter if there is no such token (RFC 7009, 2.2). */
  revoke(request: ClientRequest): Promise<void>;
}

/** What each grant cannot do without. */
const REQUIRED: ReadonlyMap<string, readonly string[]> = new Map([
  ["authorization_code", ["code", "redirect_uri", "code_verifier"]],
  ["refresh_token", ["refresh_token"]],
  ["client_credentials", []],
]);

export function createOAuthTokenService(deps: {
  readonly database: Database;
  readonly signer: TokenSigner;
  readonly authenticate: AuthenticateClient;
  readonly limits: RequestLimits;
}): OAuthTokenService {
  const { database, signer, authenticate } = deps;

  /** Every token is a row: they are counted like the other requests of the application's team. */
  async function countRequest(application: ClientApplication): Promise<void> {
    const { teamId, plan, customPerMinute } = application;
    const { retryAfterSeconds } = await deps.limits.count({
      teamId,
      requestsPerMinute: requestsPerMinute(plan, customPerMinute),
    });
    if (retryAfterSeconds !== null) throw new Problem("rate_limited", {}, { retryAfterSeconds });
  }

  return {
    async exchange(request) {
      requireParameters(request.parameters);
      const application = await authenticate(request);
      await countRequest(application);
      const issued = await database.transaction((sql) => issueTokens(sql, application, request));
      if (issued instanceof ReplayedGrant)
        throw new OAuthRefusal("invalid_grant", "The code or refresh token was used before");
      const { unsigned, refreshToken, scope } = issued;
      return {
        access_token: await signer.sign(unsigned),
        token_type: "Bearer",
        expires_in: ACCESS_VALID_SECONDS,
        ...(refreshToken !== null && { refresh_token: refreshToken }),
        scope,
      };
    },
    async revoke(request) {
      const text = request.parameters.get("token");
      if (text === undefined) throw new OAuthRefusal("invalid_request", "token is required");
      const application = await authenticate(request);
      const verified = await signer.verify(text);
      const hash = hashSecret(verified?.use === "access" ? verified.id : text);
      await database.transaction(async (sql) => {
        const token = await findToken(sql, application.id, hash);
        if (token === null) return;
        const { id, codeHash, teamId } = token;
        const hasEnded =
          codeHash === null ? await revokeToken(sql, id) : (await revokeFamily(sql, codeHash)) !== null;
        if (hasEnded) await recordEnd(sql, application, request, teamId, "revoked");
      });
    },
  };
}

interface IssuedTokens {
  readonly unsigned: NewToken;
  readonly refreshToken: string | null;
  readonly scope: string;
}

/**
 * In one transaction: a refusal leaves everything as it was, so that a mistake in a request does not cost the
 * application its code or refresh token. Only a replay is kept.
 */
async function issueTokens(
  sql: Sql,
  application: ClientApplication,
  request: ClientRequest,
): Promise<IssuedTokens | ReplayedGrant> {
  const { parameters } = request;
  if (!(await holdApplication(sql, application.id)))
    throw new OAuthRefusal("invalid_client", "The application was deleted");
  const clientId = formatId("app", application.id);
  const jwt = createUnsignedToken(clientId);
  const server = createAuthorizationServer(sql, application, jwt);
  // The application has proven itself: the library gets its id, and no secret to compare.
  const body = {
    ...Object.fromEntries(parameters),
    scope: readScope(parameters),
    client_id: clientId,
    client_secret: undefined,
  };
  try {
    const answer = await server.respondToAccessTokenRequest({ headers: {}, query: {}, body });
    const { refresh_token: refreshToken, scope } = answer.body;
    if (jwt.noted === null) throw new TypeError("The library issued no token");
    return {
      unsigned: jwt.noted,
      refreshToken: typeof refreshToken === "string" ? refreshToken : null,
      scope: String(scope),
    };
  } catch (error) {
    if (!(error instanceof ReplayedGrant)) throw toGrantRefusal(error);
    const { endedIn, reason } = error;
    if (endedIn !== null) await recordEnd(sql, application, request, endedIn, reason);
    return error;
  }
}

/** For those whose team it was let into: that it is out, and why. A replay means that something has leaked. */
function recordEnd(
  sql: Sql,
  application: ClientApplication,
  { address, requestId }: ClientRequest,
  teamId: number,
  reason: "revoked" | ReplayedGrant["reason"],
): Promise<void> {
  const { name } = application;
  const id = formatId("app", application.id);
  return recordChange(
    sql,
    { teamId, kind: "application", id, name, address, requestId },
    { action: "application.access_ended", target: id, detail: { name, reason } },
  );
}

/** The library says `invalid_request` of a code or token that does not count. That nothing is missing was checked. */
function toGrantRefusal(error: unknown): unknown {
  const refusal = toRefusal(error);
  return refusal instanceof OAuthRefusal && refusal.error === "invalid_request"
    ? new OAuthRefusal("invalid_grant", refusal.description)
    : refusal;
}

function requireParameters(parameters: Parameters): void {
  const grantType = parameters.get("grant_type");
  if (grantType === undefined) throw new OAuthRefusal("invalid_request", "grant_type is required");
  const required = REQUIRED.get(grantType);
  if (required === undefined)
    throw new OAuthRefusal(
      "unsupported_grant_type",
      `grant_type must be one of ${[...REQUIRED.keys()].join(", ")}`,
    );
  for (const name of required)
    if (!parameters.has(name)) throw new OAuthRefusal("invalid_request", `${name} is required`);
}
