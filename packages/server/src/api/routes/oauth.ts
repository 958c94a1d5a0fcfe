import type { FastifyReply, FastifyRequest, onSendHookHandler } from "fastify";
import { GRANT_TYPES } from "../../domain/identity/oauth-application.ts";
import { type OAuthErrorCode, OAuthRefusal } from "../../domain/identity/oauth-refusal.ts";
import { SCOPES } from "../../domain/identity/scope.ts";
import type { Problem } from "../../domain/problem.ts";
import type { ClientRequest } from "../../service/oauth/client-authentication.ts";
import type { OAuthService } from "../../service/oauth/oauth-service.ts";
import { readParameters } from "../../service/oauth/parameters.ts";
import { costs, SMALL } from "../http/cost.ts";
import { refuse } from "../http/error-answer.ts";
import type { Api } from "../http/schema-types.ts";
import { acceptForms } from "../pages/form.ts";
import { serverRefusals } from "../schemas/error.ts";
import { NoQuery, ref } from "../schemas/field.ts";
import * as record from "../schemas/oauth.ts";

const tags = ["OAuth"];
const AUTH_METHODS = ["client_secret_basic", "client_secret_post"];
const FORM = "application/x-www-form-urlencoded";

const refusal = (description: string) => ({
  description,
  content: { "application/json": { schema: { $ref: `${record.OAuthError.$id}#` } } },
});
const REFUSALS = {
  400: refusal("`invalid_request`: a parameter is missing, wrong or repeated"),
  401: refusal("`invalid_client`: the application did not prove itself"),
  413: refusal("`invalid_request`: the form has more than 16 KiB"),
  415: refusal("`invalid_request`: the body is no form"),
  429: refusal("`temporarily_unavailable`: too many requests, or too many wrong secrets from one source"),
  503: refusal("`temporarily_unavailable`: try again shortly"),
  ...serverRefusals,
};

/** The routes that OAuth clients call. In a scope of its own, for the forms that it takes and the errors that it gives. */
export function registerOAuthRoutes(app: Api, oauth: OAuthService, recheck: onSendHookHandler): void {
  acceptForms(app);
  app.setErrorHandler(answerOAuthError);
  const security = [{ clientSecret: [] }];

  app.post(
    "/v1/oauth/token",
    {
      config: costs("write", { rows: 2, bytes: SMALL }),
      // The answers to what is missing or wrong are given in the words of the RFC.
      attachValidation: true,
      schema: {
        operationId: "issueAccessToken",
        tags,
        summary: "Get an access token",
        description:
          "RFC 6749 with PKCE (RFC 7636), which is required. A refresh token works once and is replaced; a second " +
          "use of it, or of a code, revokes every token of that consent. Counts as a request of the application's " +
          "team.",
        security,
        consumes: [FORM],
        querystring: NoQuery,
        body: ref(record.TokenRequest),
        response: {
          200: ref(record.AccessToken),
          ...REFUSALS,
          400: refusal(
            "`invalid_request` · `invalid_grant` · `invalid_scope` · `unauthorized_client` · `unsupported_grant_type`",
          ),
        },
      },
    },
    async (request, reply) => {
      reply.headers({ "cache-control": "no-store", pragma: "no-cache" });
      return oauth.exchange(clientRequest(request));
    },
  );

  app.post(
    "/v1/oauth/revoke",
    {
      config: costs("write", { rows: 1, bytes: SMALL }),
      attachValidation: true,
      onSend: recheck,
      schema: {
        operationId: "revokeAccessToken",
        tags,
        summary: "Revoke a token",
        description:
          "RFC 7009. Revokes an access or refresh token of the application, and all others of the same consent. The " +
          "answer is the same for an unknown token.",
        security,
        consumes: [FORM],
        querystring: NoQuery,
        body: ref(record.RevocationRequest),
        response: { 200: ref(record.Revoked), ...REFUSALS },
      },
    },
    async (request, reply) => {
      reply.header("cache-control", "no-store");
      await oauth.revoke(clientRequest(request));
      return { revoked: true };
    },
  );

  app.get(
    "/.well-known/oauth-authorization-server",
    {
      config: costs("point", { rows: 0, bytes: SMALL }),
      schema: {
        operationId: "getAuthorizationServer",
        tags,
        summary: "Describe the authorization server",
        description: "RFC 8414: an OAuth client configures itself with this.",
        security: [],
        response: { 200: ref(record.ServerMetadata), ...serverRefusals },
      },
    },
    async () => metadataOf(oauth.issuer()),
  );
}

/** A parameter in the address would be in every log on the way: only the form counts. */
function clientRequest(request: FastifyRequest): ClientRequest {
  if (request.url.includes("?"))
    throw new OAuthRefusal("invalid_request", "Parameters belong into the form, not into the address");
  const { body } = request;
  const { parameters, repeated } = readParameters(body instanceof URLSearchParams ? body : []);
  const [twice] = repeated;
  if (twice !== undefined) throw new OAuthRefusal("invalid_request", `${twice} was sent more than once`);
  const { headers, ip: address, id: requestId } = request;
  return { parameters, authorization: headers.authorization ?? null, address, requestId };
}

function metadataOf(issuer: string): record.ServerMetadata {
  return {
    issuer,
    authorization_endpoint: `${issuer}/v1/oauth/authorize`,
    token_endpoint: `${issuer}/v1/oauth/token`,
    revocation_endpoint: `${issuer}/v1/oauth/revoke`,
    scopes_supported: [...SCOPES],
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: [...GRANT_TYPES],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: AUTH_METHODS,
    revocation_endpoint_auth_methods_supported: AUTH_METHODS,
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${issuer}/docs`,
  };
}

/** For the routes that OAuth clients call: every refusal in the form that they read (RFC 6749, 5.2). */
function answerOAuthError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.headers({ "cache-control": "no-store", "content-type": "application/json; charset=utf-8" });
  if (error instanceof OAuthRefusal) {
    if (error.status === 401) reply.header("www-authenticate", 'Basic realm="Bellhop", charset="UTF-8"');
    return send(reply.code(error.status), error.error, error.description);
  }
  const problem = refuse(error, request, reply);
  return send(reply, codeOf(problem), textOf(problem));
}

/** Text and not an object: the serializer of the route must not decide what of an error is shown. */
function send(reply: FastifyReply, error: OAuthErrorCode, description: string): FastifyReply {
  return reply.send(JSON.stringify({ error, error_description: description }));
}

/** Come back later, or ask otherwise. */
function codeOf({ code, status }: Problem): OAuthErrorCode {
  if (code === "internal") return "server_error";
  return status === 429 || status >= 500 ? "temporarily_unavailable" : "invalid_request";
}

function textOf(problem: Problem): string {
  return problem.code === "body_not_typed"
    ? "Content-Type must be application/x-www-form-urlencoded"
    : new OAuthRefusal("invalid_request", problem.message).description;
}
