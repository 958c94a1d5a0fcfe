import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import type { MintedApplication } from "../../../src/domain/identity/oauth-application.ts";
import type { OAuthRefusal } from "../../../src/domain/identity/oauth-refusal.ts";
import type { Principal } from "../../../src/domain/identity/principal.ts";
import type { Role } from "../../../src/domain/identity/role.ts";
import { createFailureLimit } from "../../../src/service/access/failure-limit.ts";
import {
  createAccessLookup,
  createSessionLookup,
  createTokenLookup,
} from "../../../src/service/access/principals.ts";
import type { RequestLimits } from "../../../src/service/access/request-limits.ts";
import { hashSecret, newSecret } from "../../../src/service/access/secret-hash.ts";
import { createTokenSigner, type TokenSigner } from "../../../src/service/access/token-signer.ts";
import type { Review } from "../../../src/service/oauth/consent-service.ts";
import {
  type ApplicationRequest,
  createOAuthApplicationService,
  type OAuthApplicationService,
} from "../../../src/service/oauth/oauth-application-service.ts";
import { createOAuthService, type OAuthService } from "../../../src/service/oauth/oauth-service.ts";
import { readParameters } from "../../../src/service/oauth/parameters.ts";
import type { AccessTokenAnswer } from "../../../src/service/oauth/token-service.ts";
import { until } from "../../patience.ts";
import { principalOf } from "../../test-principal.ts";
import { type TextDatabase, type WatchedDatabase, watchDatabase } from "../../test-sql.ts";
import { openTeamScene, type Person, type TeamScene } from "../people/team-scene.ts";

export const CALLBACK = "https://reports.example/cb";
export const ISSUER = "https://bellhop.example";
export const REPORTS: ApplicationRequest = {
  name: "Reports",
  redirectUris: [CALLBACK],
  scopes: ["tasks:read", "tasks:write", "tokens:use"],
  grantTypes: ["authorization_code", "refresh_token"],
};

export interface Pkce {
  readonly verifier: string;
  readonly challenge: string;
}

export function newPkce(): Pkce {
  const verifier = randomBytes(32).toString("base64url");
  return { verifier, challenge: createHash("sha256").update(verifier).digest("base64url") };
}

/** Two teams, an application of one, people of the other, and the real flows on a database of their own. */
export interface OAuthScene extends TeamScene {
  readonly watched: WatchedDatabase;
  readonly signer: TokenSigner;
  readonly oauth: OAuthService;
  readonly applications: OAuthApplicationService;
  /** The team that the application is of, and the one that it is let into. */
  readonly owner: number;
  readonly team: number;
  readonly ada: Person;
  /** What the next token request is told of the team's limit. */
  limit: Awaited<ReturnType<RequestLimits["count"]>>;
  register(change?: Partial<ApplicationRequest>): Promise<MintedApplication>;
  review(
    application: MintedApplication,
    change?: Record<string, string | null>,
    pkce?: Pkce,
  ): Promise<Review>;
  /** Consent from beginning to end: the code that the application is sent. */
  codeFor(
    application: MintedApplication,
    change?: Record<string, string | null>,
    more?: { readonly pkce?: Pkce; readonly person?: Person },
  ): Promise<{ readonly code: string; readonly verifier: string }>;
  exchange(
    application: Pick<MintedApplication, "clientId" | "clientSecret">,
    form: Record<string, string>,
    on?: OAuthService,
  ): Promise<AccessTokenAnswer>;
  /** The whole flow. */
  tokensFor(
    application: MintedApplication,
    change?: Record<string, string | null>,
    person?: Person,
  ): Promise<AccessTokenAnswer & { readonly refresh_token: string }>;
  refresh(application: MintedApplication, token: string, scope?: string): Promise<AccessTokenAnswer>;
  revoke(application: MintedApplication, token: string): Promise<void>;
  /** Whom an access token speaks for now. */
  whoIs(accessToken: string): Promise<Principal | null>;
  /** Resolves once a statement waits for a lock that another holds. */
  blocked(): Promise<void>;
  signIn(teamId: number, email: string, role: Role): Promise<{ person: Person; session: string }>;
}

export async function openOAuthScene(): Promise<OAuthScene> {
  const scene = await openTeamScene();
  const database: TextDatabase = scene.open(8);
  const watched = watchDatabase(database);
  const monotonicMs = () => performance.now();
  const signer = createTokenSigner({ database, sessionKeys: [], monotonicMs, now: () => new Date() });
  const findSession = createSessionLookup(database);
  const findToken = createTokenLookup({ signer, findSession, findAccess: createAccessLookup(database) });
  const applications = createOAuthApplicationService({ database });
  const oauth = createOAuthService({
    database: watched,
    signer,
    findSession,
    failures: createFailureLimit({ monotonicMs }),
    limits: { count: () => self.limit },
    publicUrl: () => ISSUER,
    recheck: () => {},
  });
  const owner = await scene.newTeam("Difference Ltd");
  const team = await scene.newTeam("Analytical Engines");
  const ada = await scene.join(team, "ada@example.test", "member");

  const self: OAuthScene = {
    ...scene,
    watched,
    signer,
    oauth,
    applications,
    owner,
    team,
    ada,
    limit: { limit: null, remaining: 0, resetSeconds: 0, retryAfterSeconds: null },
    register: (change = {}) => applications.create(principalOf(owner), { ...REPORTS, ...change }),
    review(application, change = {}, pkce = newPkce()) {
      const query: Record<string, string | null> = {
        response_type: "code",
        client_id: application.clientId,
        redirect_uri: application.redirectUris[0] ?? "",
        state: "the state",
        code_challenge: pkce.challenge,
        code_challenge_method: "S256",
        ...change,
      };
      const sent = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== null);
      return oauth.review(readParameters(sent));
    },
    async codeFor(application, change = {}, { pkce = newPkce(), person = ada } = {}) {
      const review = await self.review(application, change, pkce);
      assert.equal(review.result, "asked", JSON.stringify(review));
      const location = review.result === "asked" ? await review.question.allow(person) : "";
      return { code: new URL(location).searchParams.get("code") ?? "", verifier: pkce.verifier };
    },
    exchange: ({ clientId, clientSecret }, form, on = oauth) =>
      on.exchange({
        parameters: new Map(Object.entries({ client_id: clientId, client_secret: clientSecret, ...form })),
        authorization: null,
        address: "192.0.2.1",
        requestId: "request-1",
      }),
    async tokensFor(application, change = {}, person = ada) {
      const { code, verifier } = await self.codeFor(application, change, { person });
      const redirectUri = change.redirect_uri ?? application.redirectUris[0] ?? "";
      const answer = await self.exchange(application, codeForm(code, verifier, redirectUri));
      return { ...answer, refresh_token: answer.refresh_token ?? "" };
    },
    refresh: (application, token, scope) =>
      self.exchange(application, {
        grant_type: "refresh_token",
        refresh_token: token,
        ...(scope !== undefined && { scope }),
      }),
    revoke: ({ clientId, clientSecret }, token) =>
      oauth.revoke({
        parameters: new Map(Object.entries({ client_id: clientId, client_secret: clientSecret, token })),
        authorization: null,
        address: "192.0.2.1",
        requestId: "request-1",
      }),
    whoIs: (accessToken) => findToken(accessToken),
    async blocked() {
      const waiting = () =>
        scene.database.rows(
          "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        );
      await until(async () => (await waiting()).length > 0);
    },
    async signIn(teamId, email, role) {
      const person = await scene.join(teamId, email, role);
      const id = newSecret();
      const expiresAt = new Date(Date.now() + 60_000);
      await database.rows(
        "insert into sessions (hash, user_id, team_id, expires_at) values ($1, $2, $3, $4)",
        [hashSecret(id), person.userId, teamId, expiresAt],
      );
      return { person, session: await signer.sign({ use: "session", id, subject: person.id, expiresAt }) };
    },
  };
  return self;
}

export function codeForm(code: string, verifier: string, redirectUri = CALLBACK): Record<string, string> {
  return { grant_type: "authorization_code", code, code_verifier: verifier, redirect_uri: redirectUri };
}

/** Asserts on the word by which OAuth clients decide. */
export function refusedAs(error: OAuthRefusal["error"], description?: RegExp) {
  return (thrown: unknown): boolean => {
    const refusal = thrown as OAuthRefusal;
    assert.equal(refusal.error, error, String(thrown));
    if (description !== undefined) assert.match(refusal.description, description);
    return true;
  };
}
