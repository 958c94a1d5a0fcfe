import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { databaseAway } from "../test-sql.ts";
import { allow, exchangeOf, FORM, type RegisteredApplication, registerReports } from "./consent.ts";
import { createTestApi, PUBLIC_URL, type TestApi } from "./test-api.ts";

describe("the OAuth token endpoint", () => {
  const TOKEN = "/v1/oauth/token";
  const GRANT = "grant_type=client_credentials";
  let api: TestApi;
  let application: RegisteredApplication;
  let robot: RegisteredApplication;
  before(async () => {
    api = await createTestApi();
    application = await registerReports(api);
    const grantTypes = ["client_credentials"];
    const fields = { name: "Robot", scopes: ["tasks:read", "tokens:use", "queues:read"], grantTypes };
    robot = (await api.call("POST", "/v1/oauth/applications", fields)).body.application;
  });

  const post = (path: string, form: string | Record<string, string>, headers: Record<string, string> = {}) =>
    api.send({
      method: "POST",
      url: path,
      headers: { "content-type": FORM, ...headers },
      payload: typeof form === "string" ? form : new URLSearchParams(form).toString(),
    });
  const basic = ({ clientId, clientSecret }: RegisteredApplication) => ({
    authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString("base64")}`,
  });
  const countTokens = async () =>
    (await api.server.database.rows("select 1 from oauth_tokens where team_id = $1", [api.team.id])).length;

  it("answers in the form of RFC 6749, with Cache-Control: no-store", async () => {
    const { status, body, headers } = await post(
      TOKEN,
      `${GRANT}&scope=tasks%3Aread+tokens:use&resource=`,
      basic(robot),
    );

    assert.equal(status, 200);
    assert.deepEqual(body, {
      access_token: body.access_token,
      token_type: "Bearer",
      expires_in: 3600,
      scope: "tasks:read tokens:use",
    });
    assert.equal(headers["cache-control"], "no-store");
    const me = await api.call("GET", "/v1/me", undefined, { authorization: `Bearer ${body.access_token}` });
    assert.deepEqual([me.status, me.body.id], [200, robot.clientId]);
    // A parameter without a value counts as left out.
    const all = await post(TOKEN, `${GRANT}&scope=`, basic(robot));
    assert.equal(all.body.scope, "tasks:read tokens:use queues:read");
  });

  it("refuses in the form of RFC 6749, without other fields", async () => {
    const wrong = { ...robot, clientSecret: "bhs_wrong" };
    for (const [error, status, form, headers] of [
      ["invalid_request", 400, "scope=tasks:read", basic(robot)],
      ["invalid_client", 401, GRANT, basic(wrong)],
      ["invalid_client", 401, GRANT, { authorization: "Basic abc" }],
      ["invalid_grant", 400, exchangeOf(application, "nonsense"), {}],
      ["invalid_scope", 400, `${GRANT}&scope=team:write`, basic(robot)],
      ["unauthorized_client", 400, GRANT, basic(application)],
      ["unsupported_grant_type", 400, "grant_type=password", basic(robot)],
    ] as const) {
      const answer = await post(TOKEN, form, { ...headers });
      const { error_description } = answer.body;
      assert.deepEqual([answer.status, answer.body], [status, { error, error_description }]);
      assert.match(error_description, /^[ !#-[\]-~]+$/);
      assert.equal(answer.headers["cache-control"], "no-store");
      const challenge = status === 401 ? 'Basic realm="Bellhop", charset="UTF-8"' : undefined;
      assert.equal(answer.headers["www-authenticate"], challenge);
    }
    const name = encodeURIComponent('"was" \\ wrong\n');
    assert.deepEqual((await post(TOKEN, `${name}=1&${name}=2`)).body, {
      error: "invalid_request",
      error_description: "?was? ? wrong? was sent more than once",
    });
  });

  it("accepts only url-encoded forms of up to 16 KiB, each parameter once, none in the query", async () => {
    const before = await countTokens();
    const refused = async (expected: number, ...[path, form, headers]: Parameters<typeof post>) => {
      const { status, body } = await post(path, form, { ...basic(robot), ...headers });
      assert.deepEqual([status, body.error, Object.keys(body).length], [expected, "invalid_request", 2]);
      return body.error_description;
    };
    assert.equal(
      await refused(415, TOKEN, "{}", { "content-type": "application/json" }),
      "Content-Type must be application/x-www-form-urlencoded",
    );
    const twice = `${GRANT}&scope=tasks:read&scope=tasks:read`;
    assert.equal(await refused(400, TOKEN, twice), "scope was sent more than once");
    assert.match(await refused(400, `${TOKEN}?client_secret=x`, GRANT), /belong into the form/);
    await refused(413, TOKEN, `${GRANT}&a=${"x".repeat(16 * 1024)}`);
    assert.equal(await countTokens(), before);
  });

  it("answers 429 with Retry-After after 60 wrong secrets, and hides the cause of a 500", async (test) => {
    const guess = () =>
      api.send({
        method: "POST",
        url: TOKEN,
        remoteAddress: "192.0.2.60",
        headers: { "content-type": FORM, ...basic({ ...robot, clientSecret: "guess" }) },
        payload: GRANT,
      });
    for (let number = 0; number < 60; number += 1) assert.equal((await guess()).status, 401);
    const limited = await guess();
    assert.deepEqual(
      [limited.status, limited.body],
      [429, { error: "temporarily_unavailable", error_description: "Rate limit exceeded" }],
    );
    const retryAfter = Number(limited.headers["retry-after"]);
    assert.ok(retryAfter > 0 && retryAfter <= 60, String(retryAfter));

    api.lines.length = 0;
    test.mock.method(api.services.oauth, "exchange", async () => {
      throw new TypeError("the reason");
    });
    const bug = await post(TOKEN, "client_secret=bhs_secret", { authorization: "Basic secret" });
    assert.deepEqual(
      [bug.status, bug.body],
      [500, { error: "server_error", error_description: "Internal server error" }],
    );
    const log = JSON.stringify(api.lines);
    assert.match(log, /the reason/);
    assert.doesNotMatch(log, /secret/);
  });

  it("answers 503 with Retry-After while the database is down", async (test) => {
    const { database } = api.server;
    test.mock.method(database, "rows", async () => {
      throw databaseAway();
    });

    const { status, body, headers } = await post(TOKEN, GRANT, basic(robot));

    assert.deepEqual([status, body.error, headers["retry-after"]], [503, "temporarily_unavailable", "1"]);
  });

  it("answers revoked: true to each revocation, after which the token is refused", async () => {
    const ada = await api.team.signIn("ada", "member");
    const { token, headers: credential } = await allow(api, application, ada);
    const uses = async () => (await api.call("GET", "/v1/me", undefined, credential)).status;
    assert.equal(await uses(), 200);
    const { clientId: client_id, clientSecret: client_secret } = application;

    for (const sent of [token, token, "nobody knows this one"]) {
      const { status, body, headers } = await post("/v1/oauth/revoke", {
        client_id,
        client_secret,
        token: sent,
      });
      assert.deepEqual([status, body], [200, { revoked: true }]);
      assert.equal(headers["cache-control"], "no-store");
    }
    assert.equal(await uses(), 401);
  });

  it("publishes the metadata of RFC 8414", async () => {
    const { status, body } = await api.send({ url: "/.well-known/oauth-authorization-server" });

    assert.equal(status, 200);
    const issuer = PUBLIC_URL;
    const { scopes_supported: scopes, ...rest } = body;
    assert.ok(scopes.includes("tokens:use") && scopes.includes("team:write"));
    assert.deepEqual(rest, {
      issuer,
      authorization_endpoint: `${issuer}/v1/oauth/authorize`,
      token_endpoint: `${issuer}/v1/oauth/token`,
      revocation_endpoint: `${issuer}/v1/oauth/revoke`,
      response_types_supported: ["code"],
      response_modes_supported: ["query"],
      grant_types_supported: ["authorization_code", "refresh_token", "client_credentials"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post"],
      revocation_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post"],
      authorization_response_iss_parameter_supported: true,
      service_documentation: `${issuer}/docs`,
    });
  });
});
