import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { createTestApi, type TestApi } from "./test-api.ts";

describe("paging of short lists", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
    for (const name of ["a", "b", "c"]) {
      await api.call("POST", "/v1/queues", { name });
      await api.call("POST", "/v1/tokens", { name, value: "a-long-enough-value" });
      await api.call("POST", "/v1/apikeys", { name });
      await api.call("POST", "/v1/webhooks", { url: "https://a.example/", events: ["task.created"] });
      const task = { queue: "default", webhook_url: "https://a.example/" };
      await api.call("POST", "/v1/schedules", { name, cron: "0 3 * * *", task });
      const scopes = ["tasks:read"];
      await api.call("POST", "/v1/oauth/applications", {
        name,
        scopes,
        redirectUris: ["https://a.example/"],
      });
    }
  });

  const LISTS: readonly [path: string, field: string][] = [
    ["/v1/queues", "queues"],
    ["/v1/tokens", "tokens"],
    ["/v1/apikeys", "apiKeys"],
    ["/v1/oauth/applications", "applications"],
    ["/v1/schedules", "schedules"],
    ["/v1/webhooks", "webhooks"],
  ];
  for (const [path, field] of LISTS) {
    it(`${path}: lists everything without a limit, and the same page by page with one`, async () => {
      const whole = (await api.call("GET", path)).body;
      assert.deepEqual(Object.keys(whole), [field]);
      assert.ok(whole[field].length >= 3, JSON.stringify(whole));

      const seen: unknown[] = [];
      for (let query = "limit=2"; ; ) {
        const { status, body } = await api.call("GET", `${path}?${query}`);
        assert.equal(status, 200, JSON.stringify(body));
        assert.ok(body[field].length <= 2);
        seen.push(...body[field]);
        if (!body.pagination.hasMore) break;
        query = `limit=2&cursor=${encodeURIComponent(body.pagination.nextCursor)}`;
      }
      assert.deepEqual(seen, whole[field]);
    });

    it(`${path}: refuses a limit that is not 1 to 1000`, async () => {
      for (const limit of ["0", "1001", "all"])
        assert.equal((await api.call("GET", `${path}?limit=${limit}`)).status, 400);
    });
  }
});
