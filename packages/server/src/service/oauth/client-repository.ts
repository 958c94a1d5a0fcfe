import { type OAuthClient, type OAuthClientRepository, OAuthException } from "@jmondi/oauth2-server";
import { formatId } from "../../domain/public-id.ts";
import type { ClientApplication } from "../../store/identity/oauth-applications.ts";

/** How the library sees an application. It gets no secret: the application has proven itself before it is asked. */
export function toClient(application: ClientApplication): OAuthClient {
  return {
    id: formatId("app", application.id),
    name: application.name,
    secret: null,
    redirectUris: [...application.redirectUris],
    allowedGrants: [...application.grantTypes],
    scopes: application.scopes.map((name) => ({ name })),
  };
}

/** Knows the one application whose request it is. */
export function createClientRepository(known: OAuthClient): OAuthClientRepository {
  return {
    async getByIdentifier(clientId) {
      if (clientId !== known.id) throw OAuthException.invalidClient();
      return known;
    },
    async isClientValid(grantType, client) {
      if (!client.allowedGrants.includes(grantType)) throw OAuthException.unauthorizedClient();
      return true;
    },
  };
}
