import type { Access } from "../http/access.ts";
import { SCOPE_WORDS } from "./scope-words.ts";

type Requirement = Record<string, string[]>;

/** One of these will do, unless an operation says otherwise. */
export const SECURITY: Requirement[] = [
  { apiKey: [] },
  { apiKeyHeader: [] },
  { session: [] },
  { oauth2: [] },
];

/** What a route asks of its caller, from where the server itself reads it. Undefined: one of the usual. */
export function securityOf(access: Access | undefined): Requirement[] | undefined {
  if (access === undefined || access.scope === "any") return undefined;
  if (access.scope === "session") return [{ session: [] }];
  const { scope } = access;
  return SECURITY.map((requirement) => ("oauth2" in requirement ? { oauth2: [scope] } : requirement));
}

export function securitySchemes(publicUrl: string) {
  const urls = { tokenUrl: `${publicUrl}/v1/oauth/token`, refreshUrl: `${publicUrl}/v1/oauth/token` };
  const scopes = { ...SCOPE_WORDS };
  return {
    apiKey: {
      type: "http",
      scheme: "bearer",
      description: "An API key: `bh_live_…`, or `bh_test_…` for the sandbox.",
    },
    apiKeyHeader: {
      type: "apiKey",
      in: "header",
      name: "X-API-Key",
      description: "The same key, in a separate header.",
    },
    session: {
      type: "http",
      scheme: "bearer",
      bearerFormat: "JWT",
      description: "The token of a session, for people who signed in.",
    },
    oauth2: {
      type: "oauth2",
      description:
        "An access token of an application, limited by its scopes and the role of the person who granted access. " +
        "PKCE is required.",
      flows: {
        authorizationCode: { authorizationUrl: `${publicUrl}/v1/oauth/authorize`, ...urls, scopes },
        clientCredentials: { tokenUrl: urls.tokenUrl, scopes },
      },
    },
    clientSecret: {
      type: "http",
      scheme: "basic",
      description: "An application's client id and secret; in the form if it cannot send the header.",
    },
  } as const;
}
