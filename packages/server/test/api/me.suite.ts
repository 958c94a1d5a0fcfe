import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Principal } from "../../src/domain/identity/principal.ts";
import { SCOPES } from "../../src/domain/identity/scope.ts";
import { newUuid } from "../../src/service/new-uuid.ts";
import { principalOf } from "../test-principal.ts";
import { createTestApi, type TestApi } from "./test-api.ts";

describe("who am I", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });
  after(() => api.app.close());

  /** As what the caller is for this one question. */
  async function ask(principal?: Principal) {
    const credential = "a.b.c";
    if (principal === undefined) return api.call("GET", "/v1/me");
    api.services.people.signedIn.set(credential, principal);
    return api.call("GET", "/v1/me", undefined, { authorization: `Bearer ${credential}` });
  }

  it("tells a key its team, plan, environment, scopes and limits", async () => {
    const { status, body } = await ask();

    assert.equal(status, 200);
    assert.deepEqual(body, {
      kind: "api_key",
      id: "key_01k9z3mxe5f8hrk3yv5pzq8c2d",
      name: "Test key",
      environment: "live",
      role: "admin",
      scopes: [...SCOPES],
      team: { id: body.team.id, name: "Team 1", plan: "free" },
      user: null,
      limits: { requestsPerMinute: null },
    });
    assert.match(body.team.id, /^team_[0-9a-z]{26}$/);
  });

  it("tells a test key that it is one", async () => {
    const { body } = await ask(
      principalOf(1, { environment: "test", role: "member", requestsPerMinute: 60 }),
    );

    assert.deepEqual(
      [body.environment, body.role, body.limits],
      ["test", "member", { requestsPerMinute: 60 }],
    );
  });

  it("tells a person who they are, whatever their role", async () => {
    const { credential } = api.services.people.signIn(1, "ada@example.com", "viewer");

    const { status, body } = await api.call("GET", "/v1/me", undefined, {
      authorization: `Bearer ${credential}`,
    });

    assert.equal(status, 200);
    assert.deepEqual([body.kind, body.role, body.scopes], ["session", "viewer", [...SCOPES]]);
    assert.equal(body.user.email, "ada@example.com");
    assert.match(body.user.id, /^user_[0-9a-z]{26}$/);
    assert.equal(body.user.id, body.id);
  });

  it("tells an application no more scopes than it was granted, and who let it in", async () => {
    const id = "app_01k9z3mxe5f8hrk3yv5pzq8c2d";
    const scopes: Principal["scopes"] = new Set(["queues:read", "tasks:read"] as const);
    const { body } = await ask(
      principalOf(1, { kind: "application", id, name: "ada@example.com", userId: newUuid(), scopes }),
    );

    assert.deepEqual([body.kind, body.id], ["application", id]);
    assert.deepEqual(body.scopes, ["tasks:read", "queues:read"]);
    assert.equal(body.user.email, "ada@example.com");
  });

  it("tells an application without any scope, too", async () => {
    const { status, body } = await ask(principalOf(1, { kind: "application", scopes: new Set() }));

    assert.equal(status, 200);
    assert.deepEqual([body.scopes, body.user], [[], null]);
  });
});
