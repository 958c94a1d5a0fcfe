import type { AuthorizationRequest } from "@jmondi/oauth2-server";
import { type OAuthErrorCode, OAuthRefusal } from "../../domain/identity/oauth-refusal.ts";
import type { Requester } from "../../domain/identity/principal.ts";
import { isRegisteredUri, withParameters } from "../../domain/identity/redirect-uri.ts";
import { isScope, type Scope } from "../../domain/identity/scope.ts";
import { Problem } from "../../domain/problem.ts";
import { formatId, parseId } from "../../domain/public-id.ts";
import { holdMembership } from "../../store/identity/members.ts";
import {
  type ClientApplication,
  findClient,
  holdApplication,
} from "../../store/identity/oauth-applications.ts";
import type { Database } from "../../store/sql.ts";
import { recordChange } from "../audit/audit.ts";
import { createAuthorizationServer } from "./authorization-server.ts";
import { formatHolder } from "./holder.ts";
import { toRefusal } from "./library-refusal.ts";
import { type ReceivedParameters, readScope } from "./parameters.ts";
import { createUnsignedToken } from "./unsigned-token.ts";

/** What a person is asked to allow. */
export interface ConsentQuestion {
  readonly applicationName: string;
  /** The team that the application is of. */
  readonly ownerName: string;
  readonly scopes: readonly Scope[];
  readonly redirectUri: string;
  /** Where the browser goes after no. */
  readonly denied: string;
  /** Issues a code to the application. Returns where the browser goes with it. */
  allow(requester: Requester): Promise<string>;
}

export type Review =
  /** No redirect: the address is unproven, and may be that of whoever wants the code. */
  | { readonly verdict: "refused"; readonly reason: string }
  | { readonly verdict: "returned"; readonly location: string }
  | { readonly verdict: "asked"; readonly question: ConsentQuestion };

export interface AuthorizationService {
  /** Looks at what an application sent its user here with. */
  review(received: ReceivedParameters): Promise<Review>;
}

/** A SHA-256 in base64url. */
const CHALLENGE = /^[\w-]{43}$/;

export function createAuthorizationService(deps: {
  readonly database: Database;
  readonly issuer: () => string;
}): AuthorizationService {
  const { database } = deps;

  async function allow(application: ClientApplication, asked: AuthorizationRequest, requester: Requester) {
    const { teamId, userId } = requester;
    if (userId === null) throw new Problem("session_required");
    const clientId = formatId("app", application.id);
    return database.transaction(async (sql) => {
      if (!(await holdApplication(sql, application.id))) throw new Problem("application_not_found");
      if (!(await holdMembership(sql, teamId, userId))) throw new Problem("session_required");
      const server = createAuthorizationServer(sql, application, createUnsignedToken(clientId));
      asked.user = { id: formatHolder({ teamId, userId }) };
      asked.isAuthorizationApproved = true;
      const answer = await server.completeAuthorizationRequest(asked);
      const scopes = asked.scopes.map(({ name }) => name);
      await recordChange(sql, requester, {
        action: "application.authorized",
        target: clientId,
        detail: { name: application.name, scopes },
      });
      return answer.get("location");
    });
  }

  return {
    async review({ parameters, repeated }) {
      const id = parseId("app", parameters.get("client_id") ?? "");
      const application = id === null || repeated.has("client_id") ? null : await findClient(database, id);
      if (application === null)
        return { verdict: "refused", reason: "The application that sent you here is not known." };
      const redirectUri = parameters.get("redirect_uri");
      if (redirectUri === undefined || repeated.has("redirect_uri"))
        return { verdict: "refused", reason: "The application did not say where to send you back to." };
      if (!isRegisteredUri(application.redirectUris, redirectUri))
        return {
          verdict: "refused",
          reason: "The application asked to send you back to an address that it has not registered.",
        };

      const state = repeated.has("state") ? null : (parameters.get("state") ?? null);
      const iss = deps.issuer();
      const sendBack = (error: OAuthErrorCode, description: string) =>
        withParameters(redirectUri, { error, error_description: description, state, iss });
      try {
        const asked = await validate(database, application, { parameters, repeated });
        return {
          verdict: "asked",
          question: {
            applicationName: application.name,
            ownerName: application.teamName,
            scopes: asked.scopes.map(({ name }) => name).filter(isScope),
            redirectUri,
            denied: sendBack("access_denied", "The request was denied"),
            allow: async (requester) => withParameters(await allow(application, asked, requester), { iss }),
          },
        };
      } catch (error) {
        const refusal = toRefusal(error);
        if (!(refusal instanceof OAuthRefusal)) throw error;
        return { verdict: "returned", location: sendBack(refusal.error, refusal.description) };
      }
    },
  };
}

/** Client and redirect URI are proven already; what is wrong from here on, the application is told. */
async function validate(
  database: Database,
  application: ClientApplication,
  { parameters, repeated }: ReceivedParameters,
): Promise<AuthorizationRequest> {
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
  const challenge = parameters.get("code_challenge");
  if (challenge === undefined)
    throw new OAuthRefusal("invalid_request", "code_challenge is required (RFC 7636)");
  if (parameters.get("code_challenge_method") !== "S256")
    throw new OAuthRefusal("invalid_request", "code_challenge_method must be S256");
  if (!CHALLENGE.test(challenge))
    throw new OAuthRefusal("invalid_request", "code_challenge must be a SHA-256 in base64url");
  const clientId = formatId("app", application.id);
  const server = createAuthorizationServer(database, application, createUnsignedToken(clientId));
  // Only what is named here: the library would take over an audience that the caller chose.
  const names = [
    "response_type",
    "client_id",
    "redirect_uri",
    "state",
    "code_challenge",
    "code_challenge_method",
  ];
  const query = {
    ...Object.fromEntries(names.map((name) => [name, parameters.get(name)])),
    scope: readScope(parameters),
  };
  return server.validateAuthorizationRequest({ headers: {}, query, body: {} });
}
