import { type Static, Type } from "typebox";
import { GRANT_TYPES } from "../../domain/identity/oauth-application.ts";
import { model, oneOf } from "./field.ts";

const text = (description: string, ...examples: readonly string[]) =>
  Type.Optional(Type.String({ description, ...(examples.length > 0 && { examples: [...examples] }) }));

const client = {
  client_id: text(
    "The application, unless it is in the `Authorization` header.",
    "app_01k9z3mxe5f8hrk3yv5pzq8c2d",
  ),
  client_secret: text("Its secret, unless it is in the `Authorization` header.", "bhs_3f9a…"),
};

/** Only documents: the rules of OAuth for parameters are checked, and answered, in its own way. */
export const TokenRequest = model("TokenRequest", "A form, url-encoded. What is not known is left aside.", {
  grant_type: oneOf(GRANT_TYPES, { description: "The grant that is exchanged for a token." }),
  code: text("With `authorization_code`: the code, within 60 s, once."),
  redirect_uri: text("With `authorization_code`: the one of the authorization request."),
  code_verifier: text("With `authorization_code`: what the challenge was made of (RFC 7636)."),
  refresh_token: text("With `refresh_token`: the newest one; each works once."),
  scope: text(
    "Scopes, separated by spaces. Left out: all of the application, or those granted before.",
    "tasks:read tasks:write",
  ),
  ...client,
});

export const AccessToken = model("AccessToken", "An access token (RFC 6749, 5.1).", {
  access_token: Type.String({ description: "Send it as `Authorization: Bearer …`." }),
  token_type: oneOf(["Bearer"]),
  expires_in: Type.Integer({ description: "Seconds.", examples: [3600] }),
  refresh_token: Type.Optional(Type.String({ description: "For the next token; valid for 30 days, once." })),
  scope: Type.String({ description: "The granted scopes, separated by spaces.", examples: ["tasks:read"] }),
});
export type AccessToken = Static<typeof AccessToken>;

export const RevocationRequest = model("RevocationRequest", "A form, url-encoded.", {
  token: Type.String({ description: "An access or refresh token." }),
  token_type_hint: text("Not needed: both kinds are looked for."),
  ...client,
});

export const Revoked = model("RevokedAccess", "The token does not count any more, or never did.", {
  revoked: Type.Boolean({
    description: "Always `true`, also for an unknown token (RFC 7009).",
    examples: [true],
  }),
});

export const OAuthError = model(
  "OAuthError",
  "A refusal in the form of RFC 6749 (5.2).",
  {
    error: Type.String({ description: "The error code of the RFC, for programs." }),
    error_description: Type.String({ description: "What was refused and why, for people." }),
  },
  { examples: [{ error: "invalid_grant", error_description: "The code or refresh token was used before" }] },
);

const strings = (description: string) => Type.Array(Type.String(), { description });

export const ServerMetadata = model("AuthorizationServer", "What an OAuth client needs to know (RFC 8414).", {
  issuer: Type.String({ description: "The issuer of the tokens: the address of this server." }),
  authorization_endpoint: Type.String(),
  token_endpoint: Type.String(),
  revocation_endpoint: Type.String(),
  scopes_supported: strings("All scopes."),
  response_types_supported: strings("`code` alone."),
  response_modes_supported: strings("`query` alone."),
  grant_types_supported: strings("All grant types."),
  code_challenge_methods_supported: strings("`S256` alone; it is required."),
  token_endpoint_auth_methods_supported: strings("How an application proves itself."),
  revocation_endpoint_auth_methods_supported: strings("The same."),
  authorization_response_iss_parameter_supported: Type.Boolean({ description: "RFC 9207." }),
  service_documentation: Type.String(),
});
export type ServerMetadata = Static<typeof ServerMetadata>;

/** The parameters that an application sends a person to `/v1/oauth/authorize` with. */
export const AuthorizeQuery = Type.Object({
  response_type: text("`code`.", "code"),
  client_id: text("The application.", "app_01k9z3mxe5f8hrk3yv5pzq8c2d"),
  redirect_uri: text("One of the registered ones, letter by letter."),
  scope: text("Scopes, separated by spaces. Left out: all of the application.", "tasks:read"),
  state: text("Comes back unchanged."),
  code_challenge: text("SHA-256 of the verifier in base64url (RFC 7636)."),
  code_challenge_method: text("`S256`.", "S256"),
});
