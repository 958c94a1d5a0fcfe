import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { Scope } from "../../src/domain/identity/scope.ts";
import type { Answer, TestApi } from "./test-api.ts";
import { bearer, type Credential, type TestPerson, type TestTeam } from "./test-team.ts";

export const FORM = "application/x-www-form-urlencoded";
export const CALLBACK = "https://reports.example/cb";
const VERIFIER = "v".repeat(43);
const CHALLENGE = createHash("sha256").update(VERIFIER).digest("base64url");

/** An application as its owner knows it. */
export interface RegisteredApplication {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** An application that people let in: "Reports", of the team of these tests unless another one is named. */
export async function registerReports(
  api: TestApi,
  change: {
    readonly name?: string;
    readonly redirectUris?: readonly string[];
    readonly scopes?: Scope[];
  } = {},
  team: TestTeam = api.team,
): Promise<RegisteredApplication> {
  const application = {
    name: "Reports",
    redirectUris: [CALLBACK],
    scopes: ["tasks:read", "tokens:use"],
    ...change,
  };
  const { status, body } = await api.call("POST", "/v1/oauth/applications", application, team.headers);
  assert.equal(status, 201);
  return body.application;
}

/** What an application sends its user to the consent page with. */
export function queryOf({ clientId }: RegisteredApplication, change: Record<string, string> = {}): string {
  const query = {
    response_type: "code",
    client_id: clientId,
    redirect_uri: CALLBACK,
    state: 'a"b<c',
    code_challenge: CHALLENGE,
    code_challenge_method: "S256",
    ...change,
  };
  return new URLSearchParams(query).toString();
}

export function cookieOf({ session }: TestPerson): { readonly cookie: string } {
  return { cookie: `other=1; __Host-bellhop_session=${session}` };
}

/** What the form of the consent page carries, to prove that it is ours. */
export function proofIn({ text }: Answer): string {
  return /name="csrf" value="([^"]*)"/.exec(text)?.[1] ?? "";
}

/** The person reads the page and allows what it asks for; the application takes the code for an access token. */
export async function allow(
  api: TestApi,
  application: RegisteredApplication,
  person: TestPerson,
  change: Record<string, string> = {},
): Promise<{ readonly token: string; readonly headers: Credential }> {
  const url = `/v1/oauth/authorize?${queryOf(application, change)}`;
  const page = await api.send({ url, headers: cookieOf(person) });
  const allowed = await api.send({
    method: "POST",
    url,
    headers: { ...cookieOf(person), "content-type": FORM },
    payload: new URLSearchParams({ decision: "allow", csrf: proofIn(page) }).toString(),
  });
  const code = new URL(String(allowed.headers.location)).searchParams.get("code") ?? "";
  const { status, body } = await api.send({
    method: "POST",
    url: "/v1/oauth/token",
    headers: { "content-type": FORM },
    payload: new URLSearchParams(exchangeOf(application, code)).toString(),
  });
  assert.equal(status, 200, body.error_description);
  return { token: body.access_token, headers: bearer(body.access_token) };
}

export function exchangeOf(
  { clientId, clientSecret }: RegisteredApplication,
  code: string,
): Record<string, string> {
  return {
    grant_type: "authorization_code",
    code,
    redirect_uri: CALLBACK,
    code_verifier: VERIFIER,
    client_id: clientId,
    client_secret: clientSecret,
  };
}
