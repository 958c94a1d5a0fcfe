import type { OAuthScopeRepository } from "@jmondi/oauth2-server";
import { OAuthRefusal } from "../../domain/identity/oauth-refusal.ts";
import { isScope, SCOPES } from "../../domain/identity/scope.ts";
import { closestName } from "../../domain/spelling.ts";

/** Whoever asks for no scope asks for all that the application has; nobody gets more than that. */
export function createScopeRepository(): OAuthScopeRepository {
  return {
    async getAllByIdentifiers(names) {
      for (const name of names) if (!isScope(name)) throw unknownScope(name);
      return SCOPES.filter((scope) => names.includes(scope)).map((name) => ({ name }));
    },
    async finalize(scopes, _grantType, client) {
      if (scopes.length === 0) return client.scopes;
      const excess = scopes.find(({ name }) => !client.scopes.some((allowed) => allowed.name === name));
      if (excess !== undefined)
        throw new OAuthRefusal("invalid_scope", `The application does not have the scope ${excess.name}`);
      return scopes;
    },
  };
}

function unknownScope(name: string): OAuthRefusal {
  const meant = closestName(name, SCOPES);
  return new OAuthRefusal(
    "invalid_scope",
    `Unknown scope ${name}${meant === undefined ? "" : ` (did you mean ${meant}?)`}`,
  );
}
