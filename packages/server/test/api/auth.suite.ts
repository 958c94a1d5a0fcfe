import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { fastify } from "fastify";
import { access } from "../../src/api/http/access.ts";
import { answerError } from "../../src/api/http/error-answer.ts";
import { guardRoutes } from "../../src/api/http/route-guard.ts";
import { createCookieRules, createSessionCookies } from "../../src/api/http/session-cookie.ts";
import { createTestApi, PUBLIC_URL, type TestApi } from "./test-api.ts";

describe("authentication", () => {
  let api: TestApi;
  let key: string;
  before(async () => {
    api = await createTestApi();
    key = api.team.key;
  });

  const get = (headers: Record<string, string>) => api.send({ url: "/v1/queues", headers });

  it("answers 401 without a credential on each of these routes", async () => {
    for (const [method, url] of [
      ["POST", "/v1/tasks"],
      ["GET", "/v1/tasks"],
      ["GET", "/v1/tasks/task_1"],
      ["DELETE", "/v1/tasks/task_1"],
      ["POST", "/v1/queues"],
      ["GET", "/v1/queues"],
      ["GET", "/v1/queues/default"],
      ["PATCH", "/v1/queues/default"],
      ["DELETE", "/v1/queues/default"],
      ["POST", "/v1/queues/default/pause"],
      ["POST", "/v1/queues/default/resume"],
      ["GET", "/v1/tokens"],
      ["GET", "/v1/signing-secret"],
      ["POST", "/v1/signing-secret/rotate"],
      ["GET", "/v1/me"],
      ["GET", "/v1/teams"],
      ["POST", "/v1/teams"],
      ["GET", "/v1/team"],
      ["PATCH", "/v1/team"],
      ["GET", "/v1/team/members"],
      ["PATCH", "/v1/team/members/user_1"],
      ["DELETE", "/v1/team/members/user_1"],
      ["DELETE", "/v1/team/membership"],
      ["POST", "/v1/team/invitations"],
      ["GET", "/v1/team/invitations"],
      ["DELETE", "/v1/team/invitations/inv_1"],
      ["POST", "/v1/apikeys"],
      ["GET", "/v1/apikeys"],
      ["DELETE", "/v1/apikeys/key_1"],
      ["GET", "/v1/audit"],
      ["POST", "/v1/oauth/applications"],
      ["GET", "/v1/oauth/applications"],
      ["DELETE", "/v1/oauth/applications/app_1"],
      ["POST", "/v1/oauth/applications/app_1/rotate"],
      ["GET", "/v1/oauth/authorizations"],
      ["DELETE", "/v1/oauth/authorizations/auth_1"],
    ] as const) {
      const { status, body, headers } = await api.send({ method, url });
      assert.equal(status, 401, url);
      assert.deepEqual(body, { error: "API key required", code: "api_key_required" });
      assert.equal(headers["www-authenticate"], "Bearer");
    }
  });

  it("refuses an unknown key with 401, in either header", async () => {
    for (const sent of [
      { authorization: "Bearer nonsense" },
      { authorization: `Bearer ${key}x` },
      { "x-api-key": "nonsense" },
    ]) {
      const { status, body, headers } = await get(sent);
      assert.equal(status, 401);
      assert.deepEqual(body, { error: "Invalid or revoked API key", code: "api_key_invalid" });
      assert.equal(headers["www-authenticate"], "Bearer");
    }
  });

  it("accepts the key as a bearer credential or in X-API-Key", async () => {
    assert.equal((await get({ authorization: `Bearer ${key}` })).status, 200);
    assert.equal((await get({ authorization: `bearer  ${key}` })).status, 200);
    assert.equal((await get({ "x-api-key": key })).status, 200);
    assert.equal((await get({ authorization: "Basic abc", "x-api-key": key })).status, 200);
  });

  it("sends Cache-Control: no-store with records, secrets and refusals", async () => {
    const { headers } = await get({ authorization: `Bearer ${key}` });
    assert.equal(headers["cache-control"], "no-store");
    const secret = await api.call("GET", "/v1/signing-secret");
    const minted = await api.call("POST", "/v1/apikeys", { name: "CI" });
    const refused = await api.call("GET", "/v1/queues/nobody-has-this");
    assert.deepEqual([secret.status, minted.status, refused.status], [200, 201, 404]);
    for (const answer of [secret, minted, refused]) assert.equal(answer.headers["cache-control"], "no-store");
  });

  it("treats any other form of Authorization or X-API-Key as no credential", async () => {
    for (const sent of [
      { authorization: key },
      { authorization: `Basic ${key}` },
      { authorization: "Bearer" },
      { authorization: "Bearer " },
      { "x-api-key": "" },
    ]) {
      assert.deepEqual((await get(sent)).body, { error: "API key required", code: "api_key_required" });
    }
  });

  it("does not accept a key in the query string", async () => {
    assert.equal((await api.send({ url: `/v1/queues?api_key=${key}` })).status, 401);
  });

  it("runs before the body is parsed", async () => {
    const { status } = await api.send({
      method: "POST",
      url: "/v1/tasks",
      headers: { "content-type": "application/json" },
      payload: "not json",
    });

    assert.equal(status, 401);
  });

  it("throws at registration for a route that does not declare its access", async () => {
    const app = fastify();
    guardRoutes(app, { ...api.services, cookies: createSessionCookies(createCookieRules(PUBLIC_URL)) });

    assert.throws(() => app.get("/open", async () => "anybody"), /GET \/open does not declare its access/);
    app.get("/closed", { config: access("tasks:read") }, async () => "somebody");
    app.decorateRequest("principal", null);
    app.setErrorHandler(answerError);
    assert.equal((await app.inject("/closed")).statusCode, 401);
    assert.equal((await app.inject({ method: "HEAD", url: "/closed" })).statusCode, 401);
    await app.close();
  });
});
