import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import * as oauth from "oauth4webapi";
import { newUuid } from "../../src/service/new-uuid.ts";
import { createTestDatabase, type TestDatabase } from "../test-database.ts";
import { type Browser, openBrowser, type Visit } from "./browser.ts";
import { API_KEY, type Json, type ServerProcess, startServer, until } from "./server-process.ts";

const CALLBACK = "http://127.0.0.1/cb";
const OWNER = "owner@example.test";
const VIEWER = "viewer@example.test";
const MEMBER = "member@example.test";
const SCOPES = ["tasks:read", "tasks:write", "queues:read"];

describe("a standard OAuth client against the built server (LOG_LEVEL=debug)", () => {
  let test: TestDatabase;
  let server: ServerProcess;
  let as: oauth.AuthorizationServer;
  /** The server speaks plain http here; nothing else of the library is changed. */
  const insecure = { [oauth.allowInsecureRequests]: true };
  /** Everything that was a secret, to be looked for in the log. */
  const secrets: string[] = [];
  const browsers = new Map<string, Browser>();

  before(async () => {
    test = await createTestDatabase();
    const { host, port, user, database } = test.connection;
    server = await startServer({
      DATABASE_URL: `postgres://${user}@/${database}?host=${encodeURIComponent(host)}&port=${port}`,
      BELLHOP_VAULT_KEYS: `test:${Buffer.alloc(32, 7).toString("base64")}`,
      BELLHOP_OWNER_EMAIL: OWNER,
      LOG_LEVEL: "debug",
    });
    for (const [email, role] of [
      [VIEWER, "viewer"],
      [MEMBER, "member"],
    ])
      await test.database.rows(
        `with person as (insert into users (id, email) values ($1, $2) returning id)
         insert into team_members (team_id, user_id, role)
         select (select min(id) from teams), id, $3 from person`,
        [newUuid(), email, role],
      );
    const issuer = new URL(server.url);
    const answer = await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...insecure });
    as = await oauth.processDiscoveryResponse(issuer, answer);
  });
  after(async () => {
    if (server.child.exitCode === null) {
      server.signal("SIGKILL");
      await server.exited;
    }
    await test.drop();
  });

  async function register(more: object = {}): Promise<{ client: oauth.Client; secret: string }> {
    const { status, json } = await server.api("POST", "/v1/oauth/applications", {
      name: "Reports",
      redirectUris: [CALLBACK],
      scopes: SCOPES,
      ...more,
    });
    assert.equal(status, 201, JSON.stringify(json));
    const { clientId, clientSecret } = json.application;
    secrets.push(clientSecret);
    return { client: { client_id: clientId }, secret: clientSecret };
  }

  interface Request {
    readonly url: string;
    readonly state: string;
    readonly verifier: string;
  }

  async function authorizationUrl(client: oauth.Client, more: Record<string, string> = {}): Promise<Request> {
    const verifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const url = new URL(as.authorization_endpoint ?? "");
    url.search = new URLSearchParams({
      client_id: client.client_id,
      response_type: "code",
      redirect_uri: CALLBACK,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      state,
      ...more,
    }).toString();
    secrets.push(verifier);
    return { url: url.href, state, verifier };
  }

  /** A person is asked, after they signed in through the pages. Few mails are sent to one address: it signs in once. */
  async function askPerson(url: string, email: string): Promise<{ browser: Browser; page: Visit }> {
    const browser = browsers.get(email) ?? openBrowser(server);
    browsers.set(email, browser);
    const first = await browser.get(url);
    const page = first.status === 303 ? await browser.signIn(first, email) : first;
    assert.equal(page.status, 200, page.text);
    return { browser, page };
  }

  async function consent(url: string, email: string): Promise<Visit> {
    const { browser, page } = await askPerson(url, email);
    const answer = await browser.submit(page, { decision: "allow" });
    assert.equal(answer.status, 303, answer.text);
    return answer;
  }

  async function tokensFor(email: string, of?: { client: oauth.Client; secret: string }): Promise<Json> {
    const { client, secret } = of ?? (await register());
    const { url, state, verifier } = await authorizationUrl(client);
    const { location } = await consent(url, email);
    const parameters = oauth.validateAuthResponse(as, client, new URL(location ?? ""), state);
    secrets.push(parameters.get("code") ?? "");
    const response = await oauth.authorizationCodeGrantRequest(
      as,
      client,
      oauth.ClientSecretBasic(secret),
      parameters,
      CALLBACK,
      verifier,
      insecure,
    );
    const tokens = await oauth.processAuthorizationCodeResponse(as, client, response);
    secrets.push(tokens.access_token, tokens.refresh_token ?? "-");
    return tokens;
  }

  async function call(token: string, method: string, path: string, body?: object) {
    const response = await fetch(`${server.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, json: (await response.json()) as Json };
  }

  it("discovers the server, gets a code with PKCE, calls the API, refreshes and revokes", async () => {
    const { client, secret } = await register();
    const { url, state, verifier } = await authorizationUrl(client, { scope: "tasks:read queues:read" });

    const { location } = await consent(url, OWNER);

    // The library checks state and issuer (RFC 9207), and every answer by its RFC.
    const parameters = oauth.validateAuthResponse(as, client, new URL(location ?? ""), state);
    const auth = oauth.ClientSecretBasic(secret);
    const first = await oauth.processAuthorizationCodeResponse(
      as,
      client,
      await oauth.authorizationCodeGrantRequest(as, client, auth, parameters, CALLBACK, verifier, insecure),
    );
    assert.equal(first.scope, "tasks:read queues:read");
    const queues = await oauth.protectedResourceRequest(
      first.access_token,
      "GET",
      new URL(`${server.url}/v1/queues`),
      undefined,
      undefined,
      insecure,
    );
    assert.equal(queues.status, 200);

    const second = await oauth.processRefreshTokenResponse(
      as,
      client,
      await oauth.refreshTokenGrantRequest(as, client, auth, first.refresh_token ?? "", insecure),
    );
    assert.equal((await call(second.access_token, "GET", "/v1/queues")).status, 200);

    await oauth.processRevocationResponse(
      await oauth.revocationRequest(as, client, auth, second.refresh_token ?? "", insecure),
    );
    await until(async () => (await call(second.access_token, "GET", "/v1/queues")).status === 401);
    assert.deepEqual((await call(second.access_token, "GET", "/v1/queues")).json, {
      error: "Invalid or expired token",
      code: "token_invalid",
    });
    await assert.rejects(
      oauth.processRefreshTokenResponse(
        as,
        client,
        await oauth.refreshTokenGrantRequest(as, client, auth, second.refresh_token ?? "", insecure),
      ),
      { error: "invalid_grant" },
    );
    secrets.push(parameters.get("code") ?? "", first.access_token, second.access_token);
    secrets.push(first.refresh_token ?? "-", second.refresh_token ?? "-");
  });

  it("gets a token by client credentials, with either authentication method", async () => {
    const { client, secret } = await register({ grantTypes: ["client_credentials"], redirectUris: [] });
    for (const auth of [oauth.ClientSecretBasic(secret), oauth.ClientSecretPost(secret)]) {
      const response = await oauth.clientCredentialsGrantRequest(
        as,
        client,
        auth,
        { scope: "queues:read" },
        insecure,
      );
      const { access_token: token } = await oauth.processClientCredentialsResponse(as, client, response);
      assert.equal((await call(token, "GET", "/v1/queues")).status, 200);
      const refused = await call(token, "GET", "/v1/tasks");
      assert.deepEqual(
        [refused.status, refused.json],
        [403, { error: "Insufficient scope: tasks:read required", code: "scope_missing" }],
      );
      secrets.push(token);
    }
    const wrong = await oauth.clientCredentialsGrantRequest(
      as,
      client,
      oauth.ClientSecretBasic("wrong"),
      {},
      insecure,
    );
    assert.equal(wrong.headers.get("www-authenticate")?.startsWith("Basic"), true);
    await assert.rejects(
      oauth.processClientCredentialsResponse(as, client, wrong),
      // The library reads the challenge before the body.
      { status: 401 },
    );
  });

  it("gets access_denied when the person denies access", async () => {
    const { client } = await register();
    const { url, state } = await authorizationUrl(client);
    const { browser, page } = await askPerson(url, OWNER);

    const { location } = await browser.submit(page, { decision: "deny" });

    assert.throws(() => oauth.validateAuthResponse(as, client, new URL(location ?? ""), state), {
      error: "access_denied",
    });
  });

  it("gets no consent by a form from another site or for another request", async () => {
    const { client } = await register();
    const { url } = await authorizationUrl(client, { scope: "tasks:read" });
    const { browser, page } = await askPerson(url, OWNER);
    const [, csrf = ""] = /name="csrf" value="(\w+)"/.exec(page.text) ?? [];
    const allow = { decision: "allow", csrf };
    const wider = url.replace("tasks%3Aread", "tasks%3Awrite");
    const origin = server.url;

    for (const [to, form, headers] of [
      [url, { decision: "allow" }, { origin }],
      [url, allow, { origin: "https://evil.example" }],
      [url, allow, { origin: "null" }],
      [wider, allow, { origin }],
    ] as const) {
      const { status, location } = await browser.post(to, form, headers);
      assert.deepEqual([status, location], [403, null]);
    }
    assert.equal((await openBrowser(server).post(url, allow, { origin })).status, 303);
    assert.equal((await browser.post(url, allow, { origin })).status, 303);
  });

  it("can read but not write with a viewer's token, whatever its scopes", async () => {
    const { access_token: token } = await tokensFor(VIEWER);
    const task = { queue: "default", webhook_url: "http://127.0.0.1:9/", delay: 3600 };

    assert.equal((await call(token, "GET", "/v1/tasks")).status, 200);
    const refused = await call(token, "POST", "/v1/tasks", task);
    assert.deepEqual(
      [refused.status, refused.json],
      [403, { error: "Insufficient role: member required", code: "role_missing" }],
    );
  });

  it("needs the scope tokens:use to use a stored credential", async () => {
    const stored = await server.api("POST", "/v1/tokens", { name: "Vendor", value: "Bearer vendor" });
    const body = {
      targetUrl: "http://127.0.0.1:9/",
      headers: { authorization: stored.json.token.id },
      delay: 3600,
    };
    const { access_token: without } = await tokensFor(OWNER);
    const refused = await call(without, "POST", "/v1/tasks", body);
    assert.deepEqual(
      [refused.status, refused.json],
      [403, { error: "Insufficient scope: tokens:use required", code: "scope_missing" }],
    );
    const { access_token: token } = await tokensFor(
      OWNER,
      await register({ scopes: ["tasks:write", "tokens:use"] }),
    );
    assert.equal((await call(token, "POST", "/v1/tasks", body)).status, 201);
  });

  it("loses access shortly after the member is removed", async () => {
    const { access_token: token } = await tokensFor(MEMBER);
    assert.equal((await call(token, "GET", "/v1/tasks")).status, 200);
    const { json } = await server.api("GET", "/v1/team/members");
    const { id } = json.members.find(({ email }: { email: string }) => email === MEMBER);

    assert.equal((await server.api("DELETE", `/v1/team/members/${id}`)).status, 200);

    await until(async () => (await call(token, "GET", "/v1/tasks")).status === 401);
  });

  it("loses access when its secret is rotated or the application is deleted", async () => {
    const application = await register();
    const path = `/v1/oauth/applications/${application.client.client_id}`;
    const { access_token: token, refresh_token: refresh } = await tokensFor(OWNER, application);
    const { json } = await server.api("POST", `${path}/rotate`);
    secrets.push(json.application.clientSecret);
    const ask = async (secret: string) => {
      const auth = oauth.ClientSecretPost(secret);
      return (await oauth.refreshTokenGrantRequest(as, application.client, auth, refresh, insecure)).status;
    };

    assert.equal(await ask(application.secret), 401);
    assert.equal((await server.api("DELETE", path)).status, 200);
    assert.equal(await ask(json.application.clientSecret), 401);
    await until(async () => (await call(token, "GET", "/v1/tasks")).status === 401);
  });

  it("loses access before the answer to a refresh token that is used twice", async () => {
    const application = await register();
    const { client, secret } = application;
    const refresh = (token: string) =>
      oauth.refreshTokenGrantRequest(as, client, oauth.ClientSecretPost(secret), token, insecure);
    const first = await tokensFor(OWNER, application);
    const second = await oauth.processRefreshTokenResponse(
      as,
      client,
      await refresh(first.refresh_token ?? ""),
    );
    secrets.push(second.access_token, second.refresh_token ?? "-");
    assert.equal((await call(second.access_token, "GET", "/v1/tasks")).status, 200);

    assert.equal((await refresh(first.refresh_token ?? "")).status, 400);
    assert.equal((await call(second.access_token, "GET", "/v1/tasks")).status, 401);
  });

  it("gets no redirect to an unregistered address", async () => {
    const { client } = await register();
    const browser = openBrowser(server);
    for (const redirect_uri of ["https://evil.example/cb", "http://127.0.0.1/other", "javascript:alert(1)"]) {
      const { url } = await authorizationUrl(client, { redirect_uri });
      const { status, location, headers } = await browser.get(url);
      assert.deepEqual([status, location], [400, null]);
      assert.match(headers.get("content-security-policy") ?? "", /frame-ancestors 'none'/);
    }
  });

  it("has its name escaped on the consent page", async () => {
    const { client } = await register({ name: '<img src=x onerror="alert(1)">' });
    const { url } = await authorizationUrl(client);
    const { page } = await askPerson(url, OWNER);

    assert.ok(page.text.includes("&lt;img src=x onerror=&quot;alert(1)&quot;&gt;"));
    assert.ok(!page.text.includes("<img"));
    assert.equal(page.headers.get("x-frame-options"), "DENY");
  });

  it("is recorded as the actor of its changes, and the person as the actor of the consent", async () => {
    const application = await register({ scopes: ["queues:write"] });
    const { access_token: token } = await tokensFor(OWNER, application);
    assert.equal((await call(token, "POST", "/v1/queues", { name: "by-application" })).status, 201);

    const { json } = await server.api("GET", "/v1/audit?limit=2");
    const [made, allowed] = json.events;
    assert.deepEqual(
      [made.action, made.actor.kind, made.actor.id],
      ["queue.created", "application", application.client.client_id],
    );
    assert.deepEqual(
      [allowed.action, allowed.actor.name, allowed.target],
      ["application.authorized", OWNER, application.client.client_id],
    );
  });

  it("leaves no secret in the log", async () => {
    server.signal("SIGTERM");
    await server.exited;
    const log = server.stdout + server.stderr;

    assert.match(log, /\/v1\/oauth\/token/);
    assert.ok(secrets.length > 20);
    for (const secret of secrets) assert.ok(!log.includes(secret), secret.slice(0, 8));
    assert.ok(!log.includes(API_KEY));
  });
});
