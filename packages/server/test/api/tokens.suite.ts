import assert from "node:assert/strict";
import { before, describe, it, type TestContext } from "node:test";
import { createVaultService } from "../../src/service/vault/vault-service.ts";
import { createVault } from "../../src/vault/vault.ts";
import { assertNow, createTestApi, type TestApi } from "./test-api.ts";

const VALUE = "Bearer sk_live_canary";

describe("vault tokens", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  const create = (body: unknown) => api.call("POST", "/v1/tokens", body);
  /** What a node does whose operator has set no key. */
  const closeVault = (test: TestContext) => {
    const { database } = api.server;
    const closed = createVaultService({ vault: createVault({ sql: database, keyRing: null }), database });
    const { vault } = api.services;
    const open = { ...vault };
    Object.assign(vault, closed);
    test.after(() => Object.assign(vault, open));
  };

  it("are created without the value in the answer, and sent with the value in calls", async () => {
    const { status, body } = await create({ name: "Replicate", value: VALUE });

    assert.equal(status, 201);
    const { id, createdAt } = body.token;
    assert.deepEqual(body, { token: { id, name: "Replicate", createdAt, lastUsedAt: null } });
    assert.match(id, /^tok_[0-9a-z]{26}$/);
    assertNow(createdAt);
    await api.run({ headers: { Authorization: id } });
    assert.equal(api.server.target.calls.at(-1)?.headers.authorization, VALUE);
  });

  it("show their allowed hosts in lower case", async () => {
    const { status, body } = await create({
      name: "Replicate",
      value: VALUE,
      allowedHosts: ["API.Replicate.com", "*.example.com:8443"],
    });

    assert.equal(status, 201);
    assert.deepEqual(body.token.allowedHosts, ["api.replicate.com", "*.example.com:8443"]);
    const list = await api.call("GET", "/v1/tokens");
    assert.deepEqual(list.body.tokens[0], body.token);
  });

  it("are listed newest first by GET /v1/tokens", async () => {
    const first = (await create({ name: "first", value: VALUE })).body.token;
    const second = (await create({ name: "second", value: VALUE })).body.token;

    const { status, body } = await api.call("GET", "/v1/tokens");

    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body), ["tokens"]);
    assert.deepEqual(body.tokens.slice(0, 2), [second, first]);
    assert.deepEqual(first, { id: first.id, name: "first", createdAt: first.createdAt, lastUsedAt: null });
  });

  it("show how many open live tasks name them", async () => {
    const { token } = (await create({ name: "counted", value: VALUE })).body;
    const task = { webhook_url: "http://localhost/", headers: { Authorization: token.id } };
    await api.call("POST", "/v1/tasks", { ...task, queue: "default" });
    await api.call("POST", "/v1/tasks", { ...task, queue: "default" }, await api.team.newKey("test"));

    const { status, body } = await api.call("GET", `/v1/tokens/${token.id}`);

    assert.equal(status, 200);
    assert.deepEqual(body, { token: { ...token, openTasks: { count: 1, isCapped: false } } });
  });

  it("are revoked once and then no longer listed", async () => {
    const { id } = (await create({ name: "old", value: VALUE })).body.token;

    const revoked = await api.call("DELETE", `/v1/tokens/${id}`);
    const again = await api.call("DELETE", `/v1/tokens/${id}`);

    const { revokedAt } = revoked.body.token;
    assertNow(revokedAt);
    assert.deepEqual([revoked.status, revoked.body], [200, { token: { id, name: "old", revokedAt } }]);
    assert.deepEqual(
      [again.status, again.body],
      [404, { error: "Token not found or already revoked", code: "vault_token_not_found" }],
    );
    const { tokens } = (await api.call("GET", "/v1/tokens")).body;
    assert.ok(!tokens.some((token: { id: string }) => token.id === id));
  });

  it("are answered 404 when unknown or malformed", async () => {
    for (const id of ["tok_01k9z3mxe5f8hrk3yv5pzq8c2d", "tok_x", "x", "%00", "a".repeat(2000)]) {
      for (const method of ["GET", "DELETE"] as const) {
        const { status, body } = await api.call(method, `/v1/tokens/${id}`);
        assert.deepEqual(
          [status, body],
          [404, { error: "Token not found or already revoked", code: "vault_token_not_found" }],
        );
      }
    }
  });

  it("are hidden from other teams", async () => {
    const { id } = (await create({ name: "ours", value: VALUE })).body.token;
    const { headers: other } = await api.openTeam();

    assert.deepEqual((await api.call("GET", "/v1/tokens", undefined, other)).body, { tokens: [] });
    for (const method of ["GET", "DELETE"] as const) {
      const { status, body } = await api.call(method, `/v1/tokens/${id}`, undefined, other);
      assert.deepEqual(
        [status, body],
        [404, { error: "Token not found or already revoked", code: "vault_token_not_found" }],
      );
    }
  });

  it("require a name and a value", async () => {
    const cases: [object, string][] = [
      [{ value: VALUE }, "name is required"],
      [{ name: "", value: VALUE }, "name is required"],
      [{ name: "  ", value: VALUE }, "name is required"],
      [{ name: "a" }, "value is required"],
      [{ name: "a", value: "" }, "value is required"],
      [{ name: "a", value: " " }, "value is required"],
    ];
    for (const [fields, error] of cases) {
      const { status, body } = await create(fields);
      assert.deepEqual([status, body], [400, { error, code: "invalid" }]);
    }
    const both = await create({});
    assert.equal(both.body.error, "name is required");
    assert.deepEqual(both.body.details, [
      { field: "name", error: "name is required" },
      { field: "value", error: "value is required" },
    ]);
  });

  it("require a name of at most 100 characters without control characters", async () => {
    assert.equal((await create({ name: "ü".repeat(100), value: VALUE })).status, 201);
    assert.equal((await create({ name: "😀".repeat(100), value: VALUE })).status, 201);
    for (const name of ["a".repeat(101), 5, []]) {
      const { status, body } = await create({ name, value: VALUE });
      assert.deepEqual(
        [status, body],
        [400, { error: "name must be a string of 1 to 100 characters", code: "invalid" }],
      );
    }
    for (const name of ["a\u0000", "a\nb", "\ud800"]) {
      const { status, body } = await create(`{"name":${JSON.stringify(name)},"value":"x"}`);
      assert.deepEqual(
        [status, body],
        [400, { error: "name must be text without control characters", code: "invalid" }],
      );
    }
  });

  it("require a valid header value, which a refusal does not repeat", async () => {
    const unfit = [
      "canary\r\nX-Evil: 1",
      "canary\n",
      "canary\u0000",
      " canary",
      "canary ",
      "canary\u20ac",
      "\u007fcanary",
    ];
    for (const value of unfit) {
      const { status, body, text } = await create({ name: "a", value });
      assert.equal(status, 400, JSON.stringify(value));
      assert.match(body.error, /^value must be a valid header value: no line breaks/);
      assert.ok(!text.includes("canary"));
    }
    for (const value of ["c".repeat(8193), 5, { canary: 1 }, ["canary"]]) {
      const { status, body } = await create({ name: "a", value });
      assert.deepEqual(
        [status, body],
        [400, { error: "value must be a string of 1 to 8192 characters", code: "invalid" }],
      );
    }
    assert.equal((await create({ name: "a", value: "c".repeat(8192) })).status, 201);
    assert.equal((await create({ name: "a", value: "Basic \u00e4\t~" })).status, 201);
  });

  it("require allowedHosts of 1 to 50 host names", async () => {
    const list = "allowedHosts must be an array of 1 to 50 host names";
    const cases: [unknown, string][] = [
      [[], list],
      [Array.from({ length: 51 }, (_, index) => `h${index}.example`), list],
      [["a.example", 5], list],
      [Array.from({ length: 20_000 }, () => 0), list],
      ["a.example", "allowedHosts must be an array"],
      [
        ["https://a.example"],
        'allowedHosts must hold host names such as api.example.com, api.example.com:8443 or *.example.com, not "https://a.example"',
      ],
    ];
    for (const [allowedHosts, error] of cases) {
      const { status, body } = await create({ name: "a", value: VALUE, allowedHosts });
      assert.deepEqual([status, body], [400, { error, code: "invalid" }]);
    }
    const most = Array.from({ length: 50 }, (_, index) => `h${index}.example`);
    assert.equal((await create({ name: "a", value: VALUE, allowedHosts: most })).status, 201);
  });

  it("refuse unknown fields and parameters, and bodies that are not JSON objects", async () => {
    const unknown = await create({ name: "a", valu: VALUE, value: VALUE });
    assert.deepEqual(unknown.body, {
      error: 'Unknown field "valu" (did you mean "value"?)',
      code: "invalid",
    });
    assert.deepEqual((await create([])).body, {
      error: "Request body must be a JSON object",
      code: "body_not_object",
    });
    assert.equal((await create("{")).status, 400);
    assert.equal((await api.call("GET", "/v1/tokens?page=1")).status, 400);
    assert.equal((await api.call("DELETE", "/v1/tokens/tok_x", { a: 1 })).status, 400);
  });

  it("are answered 503 on every route while the vault has no key", async (test) => {
    closeVault(test);
    const answers = [
      await create({ name: "a", value: VALUE }),
      await create({}),
      await api.call("GET", "/v1/tokens"),
      await api.call("GET", "/v1/tokens/tok_01k9z3mxe5f8hrk3yv5pzq8c2d"),
      await api.call("DELETE", "/v1/tokens/tok_01k9z3mxe5f8hrk3yv5pzq8c2d"),
      await api.call("DELETE", "/v1/tokens/x"),
    ];
    for (const { status, body, headers } of answers) {
      assert.deepEqual([status, body], [503, { error: "Token vault is not configured", code: "vault_off" }]);
      assert.equal(headers["retry-after"], undefined);
    }
  });

  it("require a credential before the vault is checked", async (test) => {
    closeVault(test);
    const { status } = await api.call("GET", "/v1/tokens", undefined, { authorization: "" });
    assert.equal(status, 401);
  });

  it("keep their values out of answers and of the log", async () => {
    api.lines.length = 0;
    const answers = [
      await create({ name: "a", value: VALUE }),
      await create({ name: "a", value: VALUE, allowedHosts: ["/"] }),
      await create({ name: "", value: VALUE }),
      await create({ name: "a", value: `${VALUE}\r\n` }),
      await create({ name: "a", valeu: VALUE }),
      await create(`{"name":"a","value":"${VALUE}"`),
      await api.call("GET", "/v1/tokens"),
    ];
    const shown = JSON.stringify([answers.map(({ text }) => text), api.lines]);

    assert.equal(api.lines.length, answers.length);
    assert.ok(!shown.includes("canary"), shown);
  });
});
