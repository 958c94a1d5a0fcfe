import { type OAuthErrorCode, OAuthRefusal } from "../../domain/identity/oauth-refusal.ts";
import type { Requester } from "../../domain/identity/principal.ts";
import { isRegisteredUri, withParameters } from "../../domain/identity/redirect-uri.ts";
import type { Scope } from "../../domain/identity/scope.ts";
import { Problem } from "../../domain/problem.ts";
import { formatId, parseId } from "../../domain/public-id.ts";
import { holdMembership } from "../../store/identity/members.ts";
import {
  type ClientApplication,
  findClient,
  holdApplication,
} from "../../store/identity/oauth-applications.ts";
import { insertCode } from "../../store/identity/oauth-codes.ts";
import type { Database } from "../../store/sql.ts";
import { hashSecret, newSecret } from "../access/secret-hash.ts";
import { recordChange } from "../audit/audit.ts";
import { newUuid } from "../new-uuid.ts";
import { chooseScopes, type ReceivedParameters, readScopeNames } from "./parameters.ts";

/** The consent question for a person. */
export interface ConsentQuestion {
  readonly applicationName: string;
  /** The team that the application is of. */
  readonly ownerName: string;
  readonly scopes: readonly Scope[];
  readonly redirectUri: string;
  /** The redirect after a denial. */
  readonly denied: string;
  /** Issues a code to the application. Returns the redirect URL. */
  allow(requester: Requester): Promise<string>;
}

export type Review =
  /** No redirect: the address is unverified and may belong to an attacker who wants the code. */
  | { readonly result: "refused"; readonly reason: string }
  | { readonly result: "returned"; readonly location: string }
  | { readonly result: "asked"; readonly question: ConsentQuestion };

export interface ConsentService {
  /** Validates the parameters with which an application redirected its user here. */
  review(received: ReceivedParameters): Promise<Review>;
}

/** The application exchanges a code at once; RFC 6749 (4.1.2) allows ten minutes. */
const CODE_VALID_SECONDS = 60;
/** A SHA-256 in base64url. */
const CHALLENGE = /^[\w-]{43}$/;

export function createConsentService(deps: {
  readonly database: Database;
  readonly issuer: () => string;
}): ConsentService {
  const { database } = deps;

  /** Returns the code. */
  async function allow(
    application: ClientApplication,
    { scopes, codeChallenge, redirectUri }: CodeRequest,
    requester: Requester,
  ): Promise<string> {
    const { teamId, userId } = requester;
    if (userId === null) throw new Problem("session_required");
    const code = newSecret();
    await database.transaction(async (sql) => {
      if (!(await holdApplication(sql, application.id))) throw new Problem("application_not_found");
      if (!(await holdMembership(sql, teamId, userId))) throw new Problem("session_required");
      await insertCode(sql, {
        hash: hashSecret(code),
        authorizationId: newUuid(),
        applicationId: application.id,
        teamId,
        userId,
        scopes,
        redirectUri,
        codeChallenge,
        validSeconds: CODE_VALID_SECONDS,
      });
      await recordChange(sql, requester, {
        action: "application.authorized",
        target: formatId("app", application.id),
        detail: { name: application.name, scopes },
      });
    });
    return code;
  }

  return {
    async review({ parameters, repeated }) {
      const id = parseId("app", parameters.get("client_id") ?? "");
      const application = id === null || repeated.has("client_id") ? null : await findClient(database, id);
      if (application === null)
        return { result: "refused", reason: "The application that sent you here is not known." };
      const redirectUri = parameters.get("redirect_uri");
      if (redirectUri === undefined || repeated.has("redirect_uri"))
        return { result: "refused", reason: "The application did not say where to send you back to." };
      if (!isRegisteredUri(application.redirectUris, redirectUri))
        return {
          result: "refused",
          reason: "The application asked to send you back to an address that it has not registered.",
        };

      const state = repeated.has("state") ? null : (parameters.get("state") ?? null);
      const iss = deps.issuer();
      const sendBack = (error: OAuthErrorCode, description: string) =>
        withParameters(redirectUri, { error, error_description: description, state, iss });
      try {
        const asked = { redirectUri, ...readRequest(application, { parameters, repeated }) };
        return {
          result: "asked",
          question: {
            applicationName: application.name,
            ownerName: application.teamName,
            scopes: asked.scopes,
            redirectUri,
            denied: sendBack("access_denied", "The request was denied"),
            allow: async (requester) =>
              withParameters(redirectUri, { code: await allow(application, asked, requester), state, iss }),
          },
        };
      } catch (error) {
        if (!(error instanceof OAuthRefusal)) throw error;
        return { result: "returned", location: sendBack(error.error, error.description) };
      }
    },
  };
}

/** The request for a code. */
interface CodeRequest {
  readonly redirectUri: string;
  readonly scopes: readonly Scope[];
  readonly codeChallenge: string;
}

/** Client and redirect URI are verified: the application gets every further error. */
function readRequest(
  application: ClientApplication,
  { parameters, repeated }: ReceivedParameters,
): Omit<CodeRequest, "redirectUri"> {
  const [twice] = repeated;
  if (twice !== undefined) throw new OAuthRefusal("invalid_request", `${twice} was sent more than once`);
  const responseType = parameters.get("response_type");
  if (responseType === undefined) throw new OAuthRefusal("invalid_request", "response_type is required");
  if (responseType !== "code")
    throw new OAuthRefusal("unsupported_response_type", "response_type must be code");
  if ((parameters.get("response_mode") ?? "query") !== "query")
    throw new OAuthRefusal("invalid_request", "response_mode must be query");
  if (!application.grantTypes.includes("authorization_code"))
    throw new OAuthRefusal("unauthorized_client", "The application may not use authorization codes");
  const codeChallenge = parameters.get("code_challenge");
  if (codeChallenge === undefined)
    throw new OAuthRefusal("invalid_request", "code_challenge is required (RFC 7636)");
  if (parameters.get("code_challenge_method") !== "S256")
    throw new OAuthRefusal("invalid_request", "code_challenge_method must be S256");
  if (!CHALLENGE.test(codeChallenge))
    throw new OAuthRefusal("invalid_request", "code_challenge must be a SHA-256 in base64url");
  return { scopes: chooseScopes(readScopeNames(parameters), application.scopes), codeChallenge };
}
