import { type OAuthClient, OAuthException, type OAuthTokenRepository } from "@jmondi/oauth2-server";
import { isScope } from "../../domain/identity/scope.ts";
import { holdMembership } from "../../store/identity/members.ts";
import type { ClientApplication } from "../../store/identity/oauth-applications.ts";
import {
  addRefreshToken,
  findRefreshable,
  insertToken,
  revokeFamily,
  useRefreshToken,
  wasRefreshed,
} from "../../store/identity/oauth-tokens.ts";
import type { Sql } from "../../store/sql.ts";
import { hashSecret, newSecret } from "../access/secret-hash.ts";
import { newUuid } from "../new-uuid.ts";
import { formatHolder, parseHolder } from "./holder.ts";
import { ReplayedGrant } from "./replay.ts";

/** From one refresh to the next. */
const REFRESH_VALID_DAYS = 30;

/** Tokens for the library, in one transaction. Codes and refresh tokens that were found are known by their hashes. */
export function createTokenRepository(
  sql: Sql,
  application: ClientApplication,
  client: OAuthClient,
): OAuthTokenRepository {
  return {
    /** What the library calls the access token is the secret id inside it. */
    async issueToken(_client, scopes, user) {
      return {
        accessToken: newSecret(),
        accessTokenExpiresAt: new Date(0),
        client,
        scopes,
        user: user ?? null,
      };
    },
    async persist({ accessToken, accessTokenExpiresAt, user, scopes, originatingAuthCodeId }) {
      const holder = user ? parseHolder(user.id) : { teamId: application.teamId, userId: null };
      const isStored = await insertToken(sql, {
        ...holder,
        id: newUuid(),
        accessHash: hashSecret(accessToken),
        applicationId: application.id,
        codeHash: originatingAuthCodeId === undefined ? null : Buffer.from(originatingAuthCodeId, "hex"),
        scopes: scopes.map(({ name }) => name).filter(isScope),
        accessExpiresAt: accessTokenExpiresAt,
      });
      if (!isStored) throw OAuthException.invalidGrant();
    },
    async issueRefreshToken(token) {
      if (!application.grantTypes.includes("refresh_token")) return token;
      const refreshToken = `bhr_${newSecret()}`;
      await addRefreshToken(sql, hashSecret(token.accessToken), hashSecret(refreshToken), REFRESH_VALID_DAYS);
      return { ...token, refreshToken };
    },
    async getByRefreshToken(refreshToken) {
      const hash = hashSecret(refreshToken);
      const stored = await findRefreshable(sql, application.id, hash);
      // Before the token is locked, as everywhere: nobody waits in a circle with whoever removes a member.
      if (stored === null || !(await holdMembership(sql, stored.teamId, stored.userId)))
        throw OAuthException.invalidGrant();
      return {
        accessToken: "",
        accessTokenExpiresAt: new Date(0),
        refreshToken: hash.toString("hex"),
        client,
        user: { id: formatHolder(stored) },
        scopes: stored.scopes.map((name) => ({ name })),
        originatingAuthCodeId: stored.codeHash.toString("hex"),
      };
    },
    /** The library asks, and then goes on as if nothing could come between: so asking uses the refresh token up. */
    async isRefreshTokenRevoked({ refreshToken, originatingAuthCodeId, user }) {
      const hash = Buffer.from(refreshToken ?? "", "hex");
      if (await useRefreshToken(sql, hash)) return false;
      if (!(await wasRefreshed(sql, hash))) return true;
      const endedAt = await revokeFamily(sql, Buffer.from(originatingAuthCodeId ?? "", "hex"));
      const endedIn = endedAt === null ? null : parseHolder(user?.id ?? "").teamId;
      throw new ReplayedGrant("refresh_token_replayed", endedIn);
    },
    async revoke() {
      // Requests that are under way with the access token before may finish: it has less than an hour to live.
    },
  };
}
