import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { createTestApi, type TestApi } from "./test-api.ts";
import type { Credential, TestTeam } from "./test-team.ts";

describe("the vault of test keys", () => {
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

  it("is listed to test keys alone, and they see no other", async () => {
    assert.deepEqual(await listed(test), [testToken]);
    assert.deepEqual(await listed(team.headers), [liveToken]);
    assert.deepEqual(await listed((await team.signIn("ada", "owner")).headers), [liveToken]);
  });

  it("a token of the other environment is answered like one that does not exist", async () => {
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

  it("a sandbox task may name tokens of both environments, a live task live tokens alone", async () => {
    assert.equal((await submit(test, testToken)).status, 201);
    assert.equal((await submit(test, liveToken)).status, 201);
    assert.equal((await submit(team.headers, liveToken)).status, 201);
    const refused = await submit(team.headers, testToken);
    assert.deepEqual(
      [refused.status, refused.body.error],
      [400, `Header "Authorization" references unknown vault token "${testToken}"`],
    );
  });

  it("a schedule of a live key cannot name a sandbox token", async () => {
    const task = { targetUrl: "http://a/", headers: { Authorization: testToken } };
    const schedule = { name: "nightly", cron: "0 0 1 1 *", task };
    assert.equal((await api.call("POST", "/v1/schedules", schedule, team.headers)).status, 400);
    assert.equal((await api.call("POST", "/v1/schedules", schedule, test)).status, 201);
  });

  it("another team's test key can neither see nor name it", async () => {
    const stranger = await (await api.openTeam()).newKey("test");
    assert.deepEqual(await listed(stranger), []);
    assert.equal((await api.call("DELETE", `/v1/tokens/${testToken}`, undefined, stranger)).status, 404);
    assert.equal((await submit(stranger, testToken)).status, 400);
  });

  it("text that has a token's id in it is refused where the token can be named, and sent as it is elsewhere", async () => {
    assert.equal((await submit(test, `Bearer ${testToken}`)).status, 400);
    assert.equal((await submit(test, `Bearer ${liveToken}`)).status, 400);
    assert.equal((await submit(team.headers, `Bearer ${liveToken}`)).status, 400);
    assert.equal((await submit(team.headers, `Bearer ${testToken}`)).status, 201);
  });

  it("open tasks that name a token are counted in the token's environment", async () => {
    const count = async (headers: Credential, id: string) =>
      (await api.call("GET", `/v1/tokens/${id}`, undefined, headers)).body.token.openTasks.count;
    assert.equal(await count(test, testToken), 1);
    assert.equal(await count(team.headers, liveToken), 1);
  });

  it("a test key revokes its token; a sandbox task that names it afterwards is refused", async () => {
    const { id } = (await store(test)).body.token;
    const revoked = await api.call("DELETE", `/v1/tokens/${id}`, undefined, test);
    assert.equal(revoked.status, 200);
    assert.equal((await submit(test, id)).status, 400);
    assert.equal((await api.call("DELETE", `/v1/tokens/${id}`, undefined, test)).status, 404);
  });

  it("each environment has the plan's number of tokens: neither uses up the other's", async () => {
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
