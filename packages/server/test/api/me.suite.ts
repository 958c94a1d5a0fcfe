import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { SCOPES } from "../../src/domain/identity/scope.ts";
import { allow, registerReports } from "./consent.ts";
import { createTestApi, type TestApi } from "./test-api.ts";
import type { Credential } from "./test-team.ts";

describe("GET /v1/me", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  const ask = (headers: Credential = api.team.headers) => api.call("GET", "/v1/me", undefined, headers);

  it("shows an API key its team, plan, environment, scopes and limits", async () => {
    const { status, body } = await ask();

    assert.equal(status, 200);
    assert.deepEqual(body, {
      kind: "api_key",
      id: body.id,
      name: "Test key",
      environment: "live",
      role: "admin",
      scopes: [...SCOPES],
      team: { id: body.team.id, name: "Analytical Engines", plan: "enterprise" },
      user: null,
      limits: body.limits,
    });
    assert.deepEqual(body.limits.requestsPerMinute, { max: null, used: null });
    assert.deepEqual(body.limits.queues, { max: null, used: 1 });
    assert.match(body.id, /^key_[0-9a-z]{26}$/);
    assert.match(body.team.id, /^team_[0-9a-z]{26}$/);
  });

  it("shows a test key its environment and the limits of its team's plan", async () => {
    const team = await api.openTeam("On the free plan");
    await api.server.database.rows("update teams set plan = 'free' where id = $1", [team.id]);

    const { body } = await ask(await team.newKey("test"));

    const { requestsPerMinute, callsInFlight, retryDelaySeconds, bytesStored } = body.limits;
    assert.deepEqual([body.environment, body.role], ["test", "member"]);
    assert.deepEqual(requestsPerMinute, { max: 60, used: 1 });
    assert.deepEqual(callsInFlight, { max: 20, used: 0 });
    assert.deepEqual(retryDelaySeconds, { min: 1 });
    assert.equal(bytesStored.max, 268_435_456);
    assert.ok(
      bytesStored.used > 100 && bytesStored.used < 1_000,
      `its queue takes ${bytesStored.used} bytes`,
    );
  });

  it("shows a user who they are, whatever their role", async () => {
    const ada = await api.team.signIn("ada", "viewer");

    const { status, body } = await ask(ada.headers);

    assert.equal(status, 200);
    assert.deepEqual([body.kind, body.role, body.scopes], ["session", "viewer", [...SCOPES]]);
    assert.deepEqual(body.user, { id: ada.id, email: ada.email });
    assert.match(body.user.id, /^user_[0-9a-z]{26}$/);
    assert.equal(body.user.id, body.id);
  });

  it("shows an application its granted scopes, and its user only with team:read", async () => {
    const ada = await api.team.signIn("lets-in", "member");
    const application = await registerReports(api, { scopes: ["queues:read", "tasks:read", "team:read"] });

    const { headers: most } = await allow(api, application, ada);
    const { headers: fewer } = await allow(api, application, ada, { scope: "queues:read tasks:read" });

    const { body } = await ask(most);
    assert.deepEqual([body.kind, body.id], ["application", application.clientId]);
    assert.deepEqual(body.scopes, ["tasks:read", "queues:read", "team:read"]);
    assert.deepEqual(body.user, { id: ada.id, email: ada.email });
    const { body: shy } = await ask(fewer);
    assert.deepEqual([shy.scopes, shy.user], [["tasks:read", "queues:read"], null]);
  });

  it("answers an application without any scope", async () => {
    const { clientId, headers } = await api.team.application("tasks:read");
    await api.server.database.rows("update oauth_tokens set scopes = '{}' where team_id = $1", [api.team.id]);

    const { status, body } = await ask(headers);

    assert.equal(status, 200);
    assert.deepEqual([body.id, body.scopes, body.user], [clientId, [], null]);
  });
});
