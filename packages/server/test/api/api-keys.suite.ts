import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { assertNow, createTestApi, type TestApi } from "./test-api.ts";
import { bearer, type Credential } from "./test-team.ts";

const NOT_FOUND = { error: "API key not found or already revoked", code: "api_key_not_found" };

describe("API keys", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  const create = (body: unknown, as = {}) => api.call("POST", "/v1/apikeys", body, as);
  const list = (as = {}) => api.call("GET", "/v1/apikeys", undefined, as);
  const revoke = (id: string, as = {}) => api.call("DELETE", `/v1/apikeys/${id}`, undefined, as);

  it("creates a key from a name, live by default, and shows the key only in that answer", async () => {
    const { status, body } = await create({ name: "Billing" });

    assert.equal(status, 201);
    const { id, key, createdAt } = body.apiKey;
    assert.deepEqual(body, {
      apiKey: { id, name: "Billing", environment: "live", prefix: key.slice(0, 12), createdAt, key },
    });
    assertNow(createdAt);
    assert.match(id, /^key_[0-9a-z]{26}$/);
    assert.match(key, /^bh_live_\w{64}$/);
    assert.match((await create({ name: "a", environment: "live" })).body.apiKey.key, /^bh_live_/);
    const sandbox = (await create({ name: "a", environment: "test" })).body.apiKey;
    assert.equal(sandbox.environment, "test");
    assert.match(sandbox.key, /^bh_test_/);
    assert.equal((await list(bearer(key))).status, 200);
  });

  it("lists when each key was last used, and never the key itself", async () => {
    const unused = (await create({ name: "unused" })).body.apiKey;
    const used = (await create({ name: "used", environment: "test" })).body.apiKey;
    assert.equal((await api.call("GET", "/v1/me", undefined, bearer(used.key))).status, 200);

    const { status, body, text } = await list();

    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body), ["apiKeys"]);
    const shown = (key: Record<string, unknown>, lastUsedAt: string | null) => {
      const { key: _, ...rest } = key;
      return { ...rest, lastUsedAt };
    };
    const { lastUsedAt } = body.apiKeys[0];
    assertNow(lastUsedAt);
    assert.deepEqual(body.apiKeys.slice(0, 2), [shown(used, lastUsedAt), shown(unused, null)]);
    for (const { key } of [unused, used]) assert.ok(!text.includes(key));
  });

  it("revokes a key once, then no longer lists it", async () => {
    const { id } = (await create({ name: "old" })).body.apiKey;

    const revoked = await revoke(id);
    const again = await revoke(id);

    const { revokedAt } = revoked.body.apiKey;
    assertNow(revokedAt);
    assert.deepEqual([revoked.status, revoked.body], [200, { apiKey: { id, name: "old", revokedAt } }]);
    assert.deepEqual([again.status, again.body], [404, NOT_FOUND]);
    assert.ok(!(await list()).text.includes(id));
  });

  it("answers 404 for an unknown or malformed key id", async () => {
    for (const id of ["key_01k9z3mxe5f8hrk3yv5pzq8c2d", "key_x", "x", "%00", "a".repeat(2000)]) {
      const { status, body } = await revoke(id);
      assert.deepEqual([status, body], [404, NOT_FOUND]);
    }
  });

  it("hides a key from other teams and refuses to revoke it for them", async () => {
    const { id } = (await create({ name: "ours" })).body.apiKey;
    const { headers: other } = await api.openTeam();

    assert.deepEqual(
      (await list(other)).body.apiKeys.map(({ name }: { name: string }) => name),
      ["Test key"],
    );
    const { status, body } = await revoke(id, other);
    assert.deepEqual([status, body], [404, NOT_FOUND]);
    assert.equal((await revoke(id)).status, 200);
  });

  it("clears the credential cache when a key is revoked, not when a revocation fails", async (test) => {
    const { id, key } = (await create({ name: "CI" })).body.apiKey;
    const recheck = test.mock.method(api.services.auth, "recheck");
    assert.equal((await list(bearer(key))).status, 200);

    await revoke("key_unknown");
    await list();
    assert.equal(recheck.mock.callCount(), 0);
    await revoke(id);
    assert.equal(recheck.mock.callCount(), 1);
    assert.equal((await list(bearer(key))).status, 401);
  });

  it("requires a name that is not blank", async () => {
    for (const fields of [{}, { name: "" }, { name: " \t" }, { environment: "live" }]) {
      const { status, body } = await create(fields);
      assert.deepEqual([status, body], [400, { error: "name is required", code: "invalid" }]);
    }
  });

  it("requires a name of 1 to 100 characters without control characters", async () => {
    assert.equal((await create({ name: "😀".repeat(100) })).status, 201);
    for (const name of ["a".repeat(101), 5, []]) {
      const { status, body } = await create({ name });
      assert.deepEqual(
        [status, body],
        [400, { error: "name must be a string of 1 to 100 characters", code: "invalid" }],
      );
    }
    for (const name of ["a\u0000", "a\nb", "\ud800"]) {
      const { status, body } = await create({ name });
      assert.deepEqual(
        [status, body],
        [400, { error: "name must be text without control characters", code: "invalid" }],
      );
    }
  });

  it("refuses unknown environments, fields and parameters, and bodies that are no JSON object", async () => {
    for (const environment of ["prod", "", 1]) {
      const { status, body } = await create({ name: "a", environment });
      assert.deepEqual(
        [status, body],
        [400, { error: 'environment must be one of "live", "test"', code: "invalid" }],
      );
    }
    const typo = await create({ name: "a", enviroment: "test" });
    assert.deepEqual(typo.body, {
      error: 'Unknown field "enviroment" (did you mean "environment"?)',
      code: "invalid",
    });
    assert.deepEqual((await create([])).body, {
      error: "Request body must be a JSON object",
      code: "body_not_object",
    });
    assert.equal((await create("{")).status, 400);
    assert.equal((await create(undefined)).status, 400);
    assert.equal((await api.call("GET", "/v1/apikeys?page=1")).status, 400);
    assert.equal((await api.call("DELETE", "/v1/apikeys/key_x", { a: 1 })).status, 400);
  });

  it("answers 409 to a new key when the team has 100 active keys", async () => {
    const { id, headers } = await api.openTeam();
    await api.server.database.rows(
      `insert into api_keys (id, team_id, name, environment, prefix, hash)
       select gen_random_uuid(), $1, 'Many', 'live', 'bh_live_', sha256(gen_random_uuid()::text::bytea)
         from generate_series(1, 98)`,
      [id],
    );
    assert.equal((await create({ name: "the last" }, headers)).status, 201);

    const { status, body } = await create({ name: "one more" }, headers);
    assert.deepEqual(
      [status, body],
      [
        409,
        { error: "A team can have at most 100 active API keys: revoke one first", code: "api_keys_full" },
      ],
    );
  });

  it("requires the scope from applications and the role from every caller", async () => {
    const { team } = api;
    const scope = "Insufficient scope: apikeys:";
    const role = "Insufficient role: ";
    const cases: [Credential, [create: number, list: number, revoke: number], string][] = [
      [(await team.application("tasks:write")).headers, [403, 403, 403], scope],
      [(await team.application("apikeys:read")).headers, [403, 200, 403], `${scope}write required`],
      [(await team.application("apikeys:write")).headers, [201, 403, 404], `${scope}read required`],
      [(await team.signIn("viewer", "viewer")).headers, [403, 403, 403], role],
      [await team.newKey("test"), [403, 200, 403], "Not available to test keys"],
      [(await team.signIn("owner", "owner")).headers, [201, 200, 404], ""],
    ];
    for (const [as, statuses, text] of cases) {
      const answers = [await create({ name: "a" }, as), await list(as), await revoke("key_x", as)];
      assert.deepEqual(
        answers.map(({ status }) => status),
        statuses,
      );
      for (const { status, body } of answers) if (status === 403) assert.ok(body.error.startsWith(text));
    }
  });

  it("keeps keys out of the log", async () => {
    api.lines.length = 0;
    const { key } = (await create({ name: "a" })).body.apiKey;
    await list();

    assert.equal(api.lines.length, 2);
    assert.ok(!JSON.stringify(api.lines).includes(key));
  });
});
