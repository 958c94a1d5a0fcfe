import { AuthorizationServer, DateInterval, type JwtInterface } from "@jmondi/oauth2-server";
import type { ClientApplication } from "../../store/identity/oauth-applications.ts";
import type { Sql } from "../../store/sql.ts";
import { createClientRepository, toClient } from "./client-repository.ts";
import { createCodeRepository } from "./code-repository.ts";
import { createScopeRepository } from "./scope-repository.ts";
import { createTokenRepository } from "./token-repository.ts";

export const ACCESS_VALID_SECONDS = 3600;

/**
 * The library, for one request of one application that is known already. `sql` is the transaction of that request: what
 * the library does in several steps happens as a whole or not at all.
 */
export function createAuthorizationServer(
  sql: Sql,
  application: ClientApplication,
  jwt: JwtInterface,
): AuthorizationServer {
  const client = toClient(application);
  const server = new AuthorizationServer(
    createClientRepository(client),
    createTokenRepository(sql, application, client),
    createScopeRepository(),
    jwt,
    {
      requiresPKCE: true,
      requiresS256: true,
      useOpaqueAuthorizationCodes: true,
      useOpaqueRefreshTokens: true,
    },
  );
  const validFor = new DateInterval(`${ACCESS_VALID_SECONDS}s`);
  const authCodeRepository = createCodeRepository(sql, application, client);
  const userRepository = { getUserByCredentials: async (id: string | number) => ({ id }) };
  server.enableGrantTypes(
    ["client_credentials", validFor],
    ["refresh_token", validFor],
    [{ grant: "authorization_code", authCodeRepository, userRepository }, validFor],
  );
  return server;
}
