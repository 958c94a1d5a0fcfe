import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { databaseAway } from "../test-sql.ts";
import { createTestApi, type TestApi } from "./test-api.ts";

describe("health", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  const get = (url: string) => api.send({ url });

  it("answers /livez without a credential", async () => {
    const { status, body } = await get("/livez");

    assert.deepEqual([status, body], [200, { status: "ok" }]);
  });

  it("answers 503 on /readyz and /healthz, with the failed check, without a database", async (test) => {
    const well = { database: "ok", migrations: "ok", dispatcher: "ok" };
    for (const url of ["/readyz", "/healthz", "/readyz?probe=1"]) {
      const ready = await get(url);
      assert.deepEqual([ready.status, ready.body], [200, { status: "ok", checks: well }]);

      const away = test.mock.method(api.server.database, "rows", async () => {
        throw databaseAway();
      });
      const { status, body } = await get(url);
      away.mock.restore();
      const checks = { database: "cannot be reached", migrations: "unknown", dispatcher: "ok" };
      assert.deepEqual([status, body], [503, { status: "unavailable", checks }]);
    }
  });
});
