import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { LIVE_KEY } from "./fake-services.ts";
import { createTestApi, type TestApi, toAnswer } from "./test-api.ts";

describe("authentication", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });
  after(() => api.app.close());

  const get = async (headers: Record<string, string>) =>
    toAnswer(await api.app.inject({ url: "/v1/queues", headers }));

  it("contract 2: without a credential every route asks for one", async () => {
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
    ] as const) {
      const { status, body, headers } = toAnswer(await api.app.inject({ method, url }));
      assert.equal(status, 401, url);
      assert.deepEqual(body, { error: "API key required" });
      assert.equal(headers["www-authenticate"], "Bearer");
    }
  });

  it("contract 2: an unknown key is refused", async () => {
    for (const sent of [
      { authorization: "Bearer nonsense" },
      { authorization: `Bearer ${LIVE_KEY}x` },
      { "x-api-key": "nonsense" },
    ]) {
      const { status, body, headers } = await get(sent);
      assert.equal(status, 401);
      assert.deepEqual(body, { error: "Invalid or revoked API key" });
      assert.equal(headers["www-authenticate"], "Bearer");
    }
  });

  it("contract 2: the key comes as a bearer credential or in X-API-Key", async () => {
    assert.equal((await get({ authorization: `Bearer ${LIVE_KEY}` })).status, 200);
    assert.equal((await get({ authorization: `bearer  ${LIVE_KEY}` })).status, 200);
    assert.equal((await get({ "x-api-key": LIVE_KEY })).status, 200);
    assert.equal((await get({ authorization: "Basic abc", "x-api-key": LIVE_KEY })).status, 200);
  });

  it("takes anything else for no credential at all", async () => {
    for (const sent of [
      { authorization: LIVE_KEY },
      { authorization: `Basic ${LIVE_KEY}` },
      { authorization: "Bearer" },
      { authorization: "Bearer " },
      { "x-api-key": "" },
    ]) {
      assert.deepEqual((await get(sent)).body, { error: "API key required" });
    }
  });

  it("contract 2: a key in the query string is never accepted", async () => {
    const response = await api.app.inject({ url: `/v1/queues?api_key=${LIVE_KEY}` });

    assert.equal(response.statusCode, 401);
  });

  it("comes before the body is looked at", async () => {
    const { statusCode } = await api.app.inject({
      method: "POST",
      url: "/v1/tasks",
      headers: { "content-type": "application/json" },
      payload: "not json",
    });

    assert.equal(statusCode, 401);
  });
});
