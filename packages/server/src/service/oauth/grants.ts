// The grants that an application exchanges for tokens (RFC 6749, 4.1, 4.4 and 6, with PKCE of RFC 7636). All of it runs
// in one transaction: a refusal rolls everything back, so that an invalid request does not cost the application its
// code or refresh token. Only a replay is not a refusal here: the revocation must be committed.
import { createHash, timingSafeEqual } from "node:crypto";
import { GRANT_TYPES, type GrantType, isGrantType } from "../../domain/identity/oauth-application.ts";
import { OAuthRefusal } from "../../domain/identity/oauth-refusal.ts";
import type { Scope } from "../../domain/identity/scope.ts";
import { holdMembership } from "../../store/identity/members.ts";
import type { ClientApplication } from "../../store/identity/oauth-applications.ts";
import { findCode, noteReplay, useCode } from "../../store/identity/oauth-codes.ts";
import {
  endAuthorization,
  findRefreshable,
  insertAccessToken,
  useRefreshToken,
  wasRefreshed,
} from "../../store/identity/oauth-tokens.ts";
import type { Sql } from "../../store/sql.ts";
import { hashSecret, newSecret } from "../access/secret-hash.ts";
import { newUuid } from "../new-uuid.ts";
import { chooseScopes, type Parameters, readScopeNames } from "./parameters.ts";

export const ACCESS_VALID_SECONDS = 3600;
/** From one refresh to the next. */
const REFRESH_VALID_DAYS = 30;
/** RFC 7636, 4.1. */
const VERIFIER = /^[\w\-.~]{43,128}$/;

/** The person, team and scopes of issued tokens. */
export interface Grant {
  readonly teamId: number;
  /** Null for an application that acts for its own team. */
  readonly userId: string | null;
  /** Of the code that all tokens of one authorization descend from. */
  readonly codeHash: Buffer | null;
  /** Of the access token. */
  readonly scopes: readonly Scope[];
  /** The scopes that a later refresh may request, if more; null means `scopes`. */
  readonly grantedScopes: readonly Scope[] | null;
}

/** A code or refresh token was used twice: it has leaked, or its successor has. All its tokens were revoked. */
export interface Replay {
  readonly reason: "code_replayed" | "refresh_token_replayed";
  /** The team whose access was revoked now; null if it had ended before. */
  readonly endedIn: number | null;
}

/** Required parameters of each grant. */
const REQUIRED: Readonly<Record<GrantType, readonly string[]>> = {
  authorization_code: ["code", "redirect_uri", "code_verifier"],
  refresh_token: ["refresh_token"],
  client_credentials: [],
};

/** Refuses invalid requests before any lookup. */
export function readGrantType(parameters: Parameters): GrantType {
  const grantType = parameters.get("grant_type");
  if (grantType === undefined) throw new OAuthRefusal("invalid_request", "grant_type is required");
  if (!isGrantType(grantType))
    throw new OAuthRefusal("unsupported_grant_type", `grant_type must be one of ${GRANT_TYPES.join(", ")}`);
  for (const name of REQUIRED[grantType])
    if (!parameters.has(name)) throw new OAuthRefusal("invalid_request", `${name} is required`);
  return grantType;
}

export async function takeGrant(
  sql: Sql,
  application: ClientApplication,
  grantType: GrantType,
  parameters: Parameters,
): Promise<Grant | Replay> {
  const asked = readScopeNames(parameters);
  if (!application.grantTypes.includes(grantType))
    throw new OAuthRefusal("unauthorized_client", "unauthorized client");
  switch (grantType) {
    case "authorization_code":
      return takeCode(sql, application, parameters);
    case "refresh_token":
      return takeRefreshToken(sql, application, parameters, asked);
    case "client_credentials":
      return {
        teamId: application.teamId,
        userId: null,
        codeHash: null,
        scopes: chooseScopes(asked, application.scopes),
        grantedScopes: null,
      };
  }
}

async function takeCode(
  sql: Sql,
  application: ClientApplication,
  parameters: Parameters,
): Promise<Grant | Replay> {
  const codeHash = hashSecret(parameters.get("code") ?? "");
  const code = await findCode(sql, application.id, codeHash);
  if (code === null) throw unknownGrant();
  const { teamId, userId, scopes } = code;
  // Before the code is locked, as everywhere: avoids a deadlock with a request that removes a member.
  if (!(await holdMembership(sql, teamId, userId))) throw unknownGrant();
  if (!(await useCode(sql, codeHash))) {
    if (!(await noteReplay(sql, codeHash)))
      throw new OAuthRefusal("invalid_grant", "Authorization code is expired or revoked");
    return endReplayed(sql, "code_replayed", codeHash, teamId);
  }
  if (parameters.get("redirect_uri") !== code.redirectUri)
    throw new OAuthRefusal("invalid_grant", "Invalid redirect URI");
  requireVerifier(parameters.get("code_verifier") ?? "", code.codeChallenge);
  return { teamId, userId, codeHash, scopes, grantedScopes: null };
}

/** Verifies that the application with the code is the one that requested it. S256 is the only method. */
function requireVerifier(verifier: string, challenge: string): void {
  if (!VERIFIER.test(verifier))
    throw new OAuthRefusal("invalid_grant", "Code verifier must follow the specifications of RFC-7636");
  const proven = createHash("sha256").update(verifier).digest("base64url");
  if (!timingSafeEqual(Buffer.from(proven), Buffer.from(challenge)))
    throw new OAuthRefusal("invalid_grant", "Failed to verify code challenge.");
}

async function takeRefreshToken(
  sql: Sql,
  application: ClientApplication,
  parameters: Parameters,
  asked: readonly string[] | null,
): Promise<Grant | Replay> {
  const refreshHash = hashSecret(parameters.get("refresh_token") ?? "");
  const token = await findRefreshable(sql, application.id, refreshHash);
  if (token === null) throw unknownGrant();
  const { teamId, userId, codeHash, scopes } = token;
  // Before the token is locked, as with a code.
  if (!(await holdMembership(sql, teamId, userId))) throw unknownGrant();
  // The access token stays valid: requests in progress may finish within its hour.
  if (!(await useRefreshToken(sql, refreshHash))) {
    if (!(await wasRefreshed(sql, refreshHash)))
      throw new OAuthRefusal("invalid_grant", "Token has been revoked");
    return endReplayed(sql, "refresh_token_replayed", codeHash, teamId);
  }
  if (asked === null) return { teamId, userId, codeHash, scopes, grantedScopes: null };
  const fewer = chooseScopes(asked, application.scopes);
  const excess = fewer.find((scope) => !scopes.includes(scope));
  if (excess !== undefined) throw new OAuthRefusal("invalid_scope", `Check the \`${excess}\` scope(s)`);
  // The refresh token keeps its scope (RFC 6749, section 6): only the access token is narrower.
  return { teamId, userId, codeHash, scopes: fewer, grantedScopes: scopes };
}

async function endReplayed(
  sql: Sql,
  reason: Replay["reason"],
  codeHash: Buffer,
  teamId: number,
): Promise<Replay> {
  return { reason, endedIn: (await endAuthorization(sql, codeHash)) === null ? null : teamId };
}

/** One answer for a code or token that is unknown, another application's, or of a person who left the team. */
function unknownGrant(): OAuthRefusal {
  return new OAuthRefusal(
    "invalid_grant",
    "The code or refresh token is unknown, has expired, was used before, or does not go with the rest of the request",
  );
}

export interface IssuedTokens {
  /** The secret id inside the access token: the row has its hash. */
  readonly accessId: string;
  readonly accessExpiresAt: Date;
  /** Null for an application that does not use them, or acts on its own. */
  readonly refreshToken: string | null;
}

export async function issueTokens(
  sql: Sql,
  application: ClientApplication,
  grant: Grant,
): Promise<IssuedTokens> {
  const accessId = newSecret();
  const mayRefresh = grant.codeHash !== null && application.grantTypes.includes("refresh_token");
  const refreshToken = mayRefresh ? `bhr_${newSecret()}` : null;
  const accessExpiresAt = await insertAccessToken(sql, {
    ...grant,
    id: newUuid(),
    applicationId: application.id,
    accessHash: hashSecret(accessId),
    accessValidSeconds: ACCESS_VALID_SECONDS,
    refreshHash: refreshToken === null ? null : hashSecret(refreshToken),
    refreshValidDays: REFRESH_VALID_DAYS,
  });
  if (accessExpiresAt === null) throw unknownGrant();
  return { accessId, accessExpiresAt, refreshToken };
}
