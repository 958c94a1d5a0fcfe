import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { createTestApi, type TestApi } from "./test-api.ts";
import type { Credential, TestTeam } from "./test-team.ts";

describe("vault tokens of test keys", () => {
  let api: TestApi;
  let team: TestTeam;
  let test: Credential;
  let liveToken: string;
  let testToken: string;

  before(async () => {
    api = await createTestApi();
    team = await api.openTeam();
    test = await team.newKey("test");
    liveToken = (await store(team.headers)).body.token.id;
    testToken = (await store(test)).body.token.id;
  });

  const store = (headers: Credential) =>
    api.call("POST", "/v1/tokens", { name: "Vendor", value: "Bearer secret" }, headers);
  const listed = async (headers: Credential): Promise<string[]> =>
    (await api.call("GET", "/v1/tokens", undefined, headers)).body.tokens.map(({ id }: { id: string }) => id);
  const submit = (headers: Credential, value: string) =>
    api.call("POST", "/v1/tasks", { targetUrl: "http://a/", headers: { Authorization: value } }, headers);

  it("are listed to test keys alone, which see no live tokens", async () => {
    assert.deepEqual(await listed(test), [testToken]);
    assert.deepEqual(await listed(team.headers), [liveToken]);
    assert.deepEqual(await listed((await team.signIn("ada", "owner")).headers), [liveToken]);
  });

  it("are answered 404 to live keys, as live tokens are to test keys", async () => {
    for (const method of ["GET", "DELETE"] as const) {
      for (const [headers, id] of [
        [test, liveToken],
        [team.headers, testToken],
      ] as const) {
        const answer = await api.call(method, `/v1/tokens/${id}`, undefined, headers);
        assert.deepEqual(
          [answer.status, answer.body.error],
          [404, "Token not found or already revoked"],
          `${method} ${id}`,
        );
      }
    }
    assert.deepEqual(await listed(test), [testToken]);
  });

  it("may be named by sandbox tasks, as may live tokens, and not by live tasks", async () => {
    assert.equal((await submit(test, testToken)).status, 201);
    assert.equal((await submit(test, liveToken)).status, 201);
    assert.equal((await submit(team.headers, liveToken)).status, 201);
    const refused = await submit(team.headers, testToken);
    assert.deepEqual(
      [refused.status, refused.body.error],
      [400, `Header "Authorization" references unknown vault token "${testToken}"`],
    );
  });

  it("cannot be named by a schedule of a live key", async () => {
    const task = { targetUrl: "http://a/", headers: { Authorization: testToken } };
    const schedule = { name: "nightly", cron: "0 0 1 1 *", task };
    assert.equal((await api.call("POST", "/v1/schedules", schedule, team.headers)).status, 400);
    assert.equal((await api.call("POST", "/v1/schedules", schedule, test)).status, 201);
  });

  it("cannot be seen, revoked or named by another team's test key", async () => {
    const stranger = await (await api.openTeam()).newKey("test");
    assert.deepEqual(await listed(stranger), []);
    assert.equal((await api.call("DELETE", `/v1/tokens/${testToken}`, undefined, stranger)).status, 404);
    assert.equal((await submit(stranger, testToken)).status, 400);
  });

  it("are refused inside a longer header value, if the caller may name the token", async () => {
    assert.equal((await submit(test, `Bearer ${testToken}`)).status, 400);
    assert.equal((await submit(test, `Bearer ${liveToken}`)).status, 400);
    assert.equal((await submit(team.headers, `Bearer ${liveToken}`)).status, 400);
    assert.equal((await submit(team.headers, `Bearer ${testToken}`)).status, 201);
  });

  it("count only open tasks of their own environment", async () => {
    const count = async (headers: Credential, id: string) =>
      (await api.call("GET", `/v1/tokens/${id}`, undefined, headers)).body.token.openTasks.count;
    assert.equal(await count(test, testToken), 1);
    assert.equal(await count(team.headers, liveToken), 1);
  });

  it("are revoked by a test key, and then cannot be named", async () => {
    const { id } = (await store(test)).body.token;
    const revoked = await api.call("DELETE", `/v1/tokens/${id}`, undefined, test);
    assert.equal(revoked.status, 200);
    assert.equal((await submit(test, id)).status, 400);
    assert.equal((await api.call("DELETE", `/v1/tokens/${id}`, undefined, test)).status, 404);
  });

  it("have their own quota, which live tokens do not use", async () => {
    const small = await api.openTeam("Small");
    await api.server.database.rows(`update teams set limits = '{"vaultTokens": 1}' where id = $1`, [
      small.id,
    ]);
    const key = await small.newKey("test");
    const used = async (headers: Credential) =>
      (await api.call("GET", "/v1/me", undefined, headers)).body.limits.vaultTokens;
    assert.equal((await store(key)).status, 201);
    assert.deepEqual(await used(key), { max: 1, used: 1 });
    assert.deepEqual(await used(small.headers), { max: 1, used: 0 });
    const refused = await store(key);
    assert.deepEqual([refused.status, refused.body.code], [403, "limit_reached"]);
    assert.equal((await store(small.headers)).status, 201);
    assert.equal((await store(small.headers)).status, 403);
  });
});
