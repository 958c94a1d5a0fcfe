import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createTestApi, type TestApi, toAnswer } from "./test-api.ts";

describe("health", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });
  after(() => api.app.close());

  const get = async (url: string) => toAnswer(await api.app.inject({ url }));

  it("the process is alive without a credential", async () => {
    const { status, body } = await get("/livez");

    assert.deepEqual([status, body], [200, { status: "ok" }]);
  });

  it("readyz and healthz say which part is missing, and 503 then", async () => {
    for (const url of ["/readyz", "/healthz", "/readyz?probe=1"]) {
      api.services.readiness = { ready: true, checks: { database: "ok", migrations: "ok" } };
      assert.deepEqual((await get(url)).body, { status: "ok", checks: { database: "ok", migrations: "ok" } });

      api.services.readiness = { ready: false, checks: { database: "unreachable" } };
      const { status, body } = await get(url);
      assert.deepEqual([status, body], [503, { status: "unavailable", checks: { database: "unreachable" } }]);
    }
  });
});
