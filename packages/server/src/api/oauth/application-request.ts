import { echo, invalid, mustBe } from "../../domain/complaint.ts";
import { DEFAULT_GRANT_TYPES, GRANT_TYPES, isGrantType } from "../../domain/identity/oauth-application.ts";
import { isRedirectUri, MOST_REDIRECT_URIS } from "../../domain/identity/redirect-uri.ts";
import { isScope, SCOPES } from "../../domain/identity/scope.ts";
import type { ProblemDetail } from "../../domain/problem.ts";
import { closestName } from "../../domain/spelling.ts";
import type { ApplicationRequest } from "../../service/oauth/oauth-application-service.ts";
import { blankComplaints, labelComplaints } from "../http/label.ts";
import type { CreateApplication } from "../schemas/oauth-application.ts";

const URI_RULE =
  "hold absolute https URIs, http ones on 127.0.0.1, [::1] or localhost, or ones with a scheme of your own such as " +
  "com.example.app:/callback, without fragment, user name or password";

/** Text from right to left can make one name look like another. Nobody's program is called that. */
const DIRECTION = /[\u202a-\u202e\u2066-\u2069]/;

/** What the schema would say less well: an empty field is a missing one, and a list too long is one mistake. */
export function refuseLists(body: unknown): void {
  if (typeof body !== "object" || body === null) return;
  const fields: Readonly<Record<string, unknown>> = { ...body };
  const complaints = [
    ...blankComplaints(body, "name"),
    ...listComplaints("redirectUris", fields.redirectUris, 0, MOST_REDIRECT_URIS),
    ...listComplaints("scopes", fields.scopes, 1, SCOPES.length),
    ...listComplaints("grantTypes", fields.grantTypes, 1, GRANT_TYPES.length),
  ];
  if (complaints.length > 0) throw invalid(complaints);
}

function listComplaints(field: string, value: unknown, min: number, max: number): ProblemDetail[] {
  if (!Array.isArray(value)) return [];
  const isGood =
    value.length >= min && value.length <= max && value.every((entry) => typeof entry === "string");
  return isGood ? [] : [mustBe(field, `an array of ${min} to ${max} strings`)];
}

export function readApplication(body: CreateApplication): ApplicationRequest {
  const { name, redirectUris = [], scopes, grantTypes = [...DEFAULT_GRANT_TYPES] } = body;
  const complaints = [
    ...labelComplaints("name", name),
    ...(DIRECTION.test(name) ? [mustBe("name", "text without marks that change its direction")] : []),
    ...uriComplaints(redirectUris),
    ...wordComplaints("scopes", "scope", scopes, SCOPES),
    ...wordComplaints("grantTypes", "grant type", grantTypes, GRANT_TYPES),
    ...grantComplaints(grantTypes, redirectUris),
  ];
  if (complaints.length > 0) throw invalid(complaints);
  return { name, redirectUris, scopes: scopes.filter(isScope), grantTypes: grantTypes.filter(isGrantType) };
}

function uriComplaints(uris: readonly string[]): ProblemDetail[] {
  const wrong = uris
    .filter((uri) => !isRedirectUri(uri))
    .map((uri) => `redirectUris must ${URI_RULE}, not ${JSON.stringify(echo(uri))}`);
  return [...wrong, ...repeats("redirectUris", uris)].map((error) => ({ field: "redirectUris", error }));
}

function wordComplaints(
  field: string,
  what: string,
  words: readonly string[],
  known: readonly string[],
): ProblemDetail[] {
  const unknown = words
    .filter((word) => !known.includes(word))
    .map((word) => {
      const meant = closestName(word, known);
      return `Unknown ${what} "${echo(word)}"${meant === undefined ? "" : ` (did you mean "${meant}"?)`}`;
    });
  return [...unknown, ...repeats(field, words)].map((error) => ({ field, error }));
}

function repeats(field: string, entries: readonly string[]): string[] {
  const repeated = entries.find((entry, index) => entries.indexOf(entry) !== index);
  return repeated === undefined ? [] : [`${field} must not hold ${JSON.stringify(echo(repeated))} twice`];
}

function grantComplaints(types: readonly string[], redirectUris: readonly string[]): ProblemDetail[] {
  const usesCodes = types.includes("authorization_code");
  if (usesCodes && redirectUris.length === 0)
    return [{ field: "redirectUris", error: "redirectUris is required with authorization_code" }];
  if (types.includes("refresh_token") && !usesCodes)
    return [{ field: "grantTypes", error: "grantTypes must hold authorization_code for refresh_token" }];
  return [];
}
