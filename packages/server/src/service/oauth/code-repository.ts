import { type OAuthAuthCodeRepository, type OAuthClient, OAuthException } from "@jmondi/oauth2-server";
import { isScope } from "../../domain/identity/scope.ts";
import { holdMembership } from "../../store/identity/members.ts";
import type { ClientApplication } from "../../store/identity/oauth-applications.ts";
import { findCode, insertCode, noteReplay, useCode } from "../../store/identity/oauth-codes.ts";
import { revokeFamily } from "../../store/identity/oauth-tokens.ts";
import type { Sql } from "../../store/sql.ts";
import { hashSecret, newSecret } from "../access/secret-hash.ts";
import { newUuid } from "../new-uuid.ts";
import { formatHolder, parseHolder } from "./holder.ts";
import { ReplayedGrant } from "./replay.ts";

/** The application exchanges it at once; RFC 6749 (4.1.2) allows ten minutes. */
const VALID_SECONDS = 60;

/**
 * Codes for the library, in one transaction. A code that was found is known by its hash from then on: what it said is
 * only ever in the hands of the application.
 */
export function createCodeRepository(
  sql: Sql,
  application: ClientApplication,
  client: OAuthClient,
): OAuthAuthCodeRepository {
  return {
    issueAuthCode(_client, user, scopes) {
      return { code: newSecret(), client, user: user ?? null, scopes, expiresAt: new Date(0) };
    },
    async persist({ code, user, scopes, redirectUri, codeChallenge, codeChallengeMethod }) {
      if (!user || !redirectUri || !codeChallenge || codeChallengeMethod !== "S256")
        throw new TypeError("A code needs a person, a redirect URI and an S256 challenge");
      await insertCode(sql, {
        ...parseHolder(user.id),
        hash: hashSecret(code),
        consentId: newUuid(),
        applicationId: application.id,
        scopes: scopes.map(({ name }) => name).filter(isScope),
        redirectUri,
        codeChallenge,
        validSeconds: VALID_SECONDS,
      });
    },
    async getByIdentifier(code) {
      const hash = hashSecret(code);
      const stored = await findCode(sql, application.id, hash);
      // Before the code is locked, as everywhere: nobody waits in a circle with whoever removes a member.
      if (stored === null || !(await holdMembership(sql, stored.teamId, stored.userId)))
        throw OAuthException.invalidGrant();
      return {
        code: hash.toString("hex"),
        client,
        user: { id: formatHolder(stored) },
        scopes: stored.scopes.map((name) => ({ name })),
        redirectUri: stored.redirectUri,
        codeChallenge: stored.codeChallenge,
        codeChallengeMethod: "S256",
        // Judged by the database's clock when it is used.
        expiresAt: new Date(Date.now() + VALID_SECONDS * 1000),
      };
    },
    /** The library asks, and then goes on as if nothing could come between: so asking uses the code up. */
    async isRevoked(hex) {
      const hash = Buffer.from(hex, "hex");
      if (await useCode(sql, hash)) return false;
      const teamId = await noteReplay(sql, hash);
      if (teamId === null) return true;
      throw new ReplayedGrant("code_replayed", (await revokeFamily(sql, hash)) === null ? null : teamId);
    },
    async revoke() {
      // It was used up when the library asked.
    },
  };
}
