import type { GrantType } from "../../domain/identity/oauth-application.ts";
import { OAuthRefusal } from "../../domain/identity/oauth-refusal.ts";
import { requestsPerMinute } from "../../domain/identity/plan.ts";
import { Problem } from "../../domain/problem.ts";
import { formatId } from "../../domain/public-id.ts";
import { type ClientApplication, holdApplication } from "../../store/identity/oauth-applications.ts";
import { endAuthorization, findIssuedToken, revokeAccessToken } from "../../store/identity/oauth-tokens.ts";
import type { Database, Sql } from "../../store/sql.ts";
import type { RequestLimits } from "../access/request-limits.ts";
import { hashSecret } from "../access/secret-hash.ts";
import type { TokenSigner } from "../access/token-signer.ts";
import { recordChange } from "../audit/audit.ts";
import type { AuthenticateClient, ClientRequest } from "./client-authentication.ts";
import {
  ACCESS_VALID_SECONDS,
  type Grant,
  type IssuedTokens,
  issueTokens,
  type Replay,
  readGrantType,
  takeGrant,
} from "./grants.ts";

/** The field names of RFC 6749 (5.1). */
export interface AccessTokenAnswer {
  readonly access_token: string;
  readonly token_type: "Bearer";
  readonly expires_in: number;
  readonly refresh_token?: string;
  readonly scope: string;
}

export interface OAuthTokenService {
  /** Exchanges a code, a refresh token or the application's credentials for an access token. */
  exchange(request: ClientRequest): Promise<AccessTokenAnswer>;
  /** Revokes a token and all others of the same consent; an unknown token is no error (RFC 7009, 2.2). */
  revoke(request: ClientRequest): Promise<void>;
}

export function createOAuthTokenService(deps: {
  readonly database: Database;
  readonly signer: TokenSigner;
  readonly authenticate: AuthenticateClient;
  readonly limits: RequestLimits;
  readonly recheck: () => void;
}): OAuthTokenService {
  const { database, signer, authenticate, recheck } = deps;

  /** Every token is a row: they count as requests of the application's team. */
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
      const grantType = readGrantType(request.parameters);
      const application = await authenticate(request);
      await countRequest(application);
      const issued = await database.transaction((sql) => exchangeGrant(sql, application, grantType, request));
      if (issued === null) {
        // The tokens of the code were revoked, although the answer is a refusal.
        recheck();
        throw new OAuthRefusal("invalid_grant", "The code or refresh token was used before");
      }
      const { grant, accessId, accessExpiresAt, refreshToken } = issued;
      // After the transaction: the signer may have to read its keys.
      const accessToken = await signer.sign({
        use: "access",
        id: accessId,
        subject: grant.userId === null ? formatId("app", application.id) : formatId("user", grant.userId),
        expiresAt: accessExpiresAt,
      });
      return {
        access_token: accessToken,
        token_type: "Bearer",
        expires_in: ACCESS_VALID_SECONDS,
        ...(refreshToken !== null && { refresh_token: refreshToken }),
        scope: grant.scopes.join(" "),
      };
    },
    async revoke(request) {
      const text = request.parameters.get("token");
      if (text === undefined) throw new OAuthRefusal("invalid_request", "token is required");
      const application = await authenticate(request);
      const verified = await signer.verify(text);
      const hash = hashSecret(verified?.use === "access" ? verified.id : text);
      await database.transaction(async (sql) => {
        const token = await findIssuedToken(sql, application.id, hash);
        if (token === null) return;
        const { id, codeHash, teamId } = token;
        const hasEnded =
          codeHash === null
            ? await revokeAccessToken(sql, id)
            : (await endAuthorization(sql, codeHash)) !== null;
        if (hasEnded) await recordEnd(sql, application, request, teamId, "revoked");
      });
    },
  };
}

/** Null for a replay: the revocation is recorded and must be committed. */
async function exchangeGrant(
  sql: Sql,
  application: ClientApplication,
  grantType: GrantType,
  request: ClientRequest,
): Promise<(IssuedTokens & { readonly grant: Grant }) | null> {
  if (!(await holdApplication(sql, application.id)))
    throw new OAuthRefusal("invalid_client", "The application was deleted");
  const grant = await takeGrant(sql, application, grantType, request.parameters);
  if (!("reason" in grant)) return { grant, ...(await issueTokens(sql, application, grant)) };
  if (grant.endedIn !== null) await recordEnd(sql, application, request, grant.endedIn, grant.reason);
  return null;
}

/** For the audit log of the team: the end of the access and its reason. A replay means a leak. */
function recordEnd(
  sql: Sql,
  application: ClientApplication,
  { address, requestId }: ClientRequest,
  teamId: number,
  reason: "revoked" | Replay["reason"],
): Promise<void> {
  const { name } = application;
  const id = formatId("app", application.id);
  return recordChange(
    sql,
    { teamId, kind: "application", id, name, address, requestId },
    { action: "application.access_ended", target: id, detail: { name, reason } },
  );
}
