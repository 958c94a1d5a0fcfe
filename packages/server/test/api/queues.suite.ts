import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { OTHER_TEAM_KEY } from "./fake-services.ts";
import { createTestApi, type TestApi } from "./test-api.ts";

const AT = "2026-03-01T09:30:00.123Z";
const DEFAULTS = {
  concurrency: 5,
  max_retries: 3,
  retry_backoff: "exponential",
  retry_delay: 1,
  timeout: 30,
  paused: false,
  created_at: AT,
  updated_at: AT,
};
const STATS = { pending: 1, active: 2, completed: 5, failed: 6, waiting: 3, polling: 4 };

describe("queues", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });
  after(() => api.app.close());

  it("a new queue has the defaults and is running", async () => {
    const { status, body } = await api.call("POST", "/v1/queues", { name: "emails" });

    assert.equal(status, 201);
    assert.deepEqual(body, { name: "emails", ...DEFAULTS });
  });

  it("takes every setting at both ends of its range", async () => {
    const least = { concurrency: 1, max_retries: 0, retry_backoff: "fixed", retry_delay: 0, timeout: 1 };
    const most = {
      concurrency: 1000,
      max_retries: 100,
      retry_backoff: "exponential",
      retry_delay: 3600,
      timeout: 3600,
    };

    const created = await api.call("POST", "/v1/queues", { name: "Ends-1", ...least });
    const updated = await api.call("PATCH", "/v1/queues/Ends-1", most);

    assert.deepEqual(created.body, { name: "Ends-1", ...DEFAULTS, ...least });
    assert.equal(updated.status, 200);
    assert.deepEqual(updated.body, { name: "Ends-1", ...DEFAULTS, ...most });
  });

  it("a name is alphanumeric characters and hyphens, 1 to 64 of them", async () => {
    for (const name of ["", "a b", "a_b", "ü", "a\n", "a/b", "a".repeat(65), 5, null]) {
      const { status, body } = await api.call("POST", "/v1/queues", { name });
      assert.equal(status, 400);
      assert.deepEqual(body, { error: "name must be 1 to 64 letters, digits or hyphens" });
    }
    assert.deepEqual((await api.call("POST", "/v1/queues", {})).body, { error: "name is required" });
    assert.equal((await api.call("POST", "/v1/queues", { name: "a".repeat(64) })).status, 201);
  });

  it("names the rule of every setting that breaks it, on create and on update", async () => {
    const cases: [object, string][] = [
      [{ concurrency: 0 }, "concurrency must be an integer between 1 and 1000"],
      [{ concurrency: 1001 }, "concurrency must be an integer between 1 and 1000"],
      [{ concurrency: "5" }, "concurrency must be an integer between 1 and 1000"],
      [{ max_retries: 101 }, "max_retries must be an integer between 0 and 100"],
      [{ max_retries: null }, "max_retries must be an integer between 0 and 100"],
      [{ retry_backoff: "none" }, 'retry_backoff must be one of "fixed", "exponential"'],
      [{ retry_delay: 3601 }, "retry_delay must be an integer between 0 and 3600"],
      [{ retry_delay: 0.5 }, "retry_delay must be an integer between 0 and 3600"],
      [{ timeout: 0 }, "timeout must be an integer between 1 and 3600"],
      [{ paused: true }, 'Unknown field "paused"'],
      [{ concurency: 1 }, 'Unknown field "concurency" (did you mean "concurrency"?)'],
    ];
    for (const [fields, error] of cases) {
      const created = await api.call("POST", "/v1/queues", { name: "never", ...fields });
      const updated = await api.call("PATCH", "/v1/queues/default", fields);
      assert.deepEqual([created.status, created.body], [400, { error }]);
      assert.deepEqual([updated.status, updated.body], [400, { error }]);
    }
  });

  it("a second queue of the same name is refused", async () => {
    const { status, body } = await api.call("POST", "/v1/queues", { name: "default" });

    assert.equal(status, 409);
    assert.deepEqual(body, { error: 'Queue "default" already exists' });
  });

  it("one queue and the list come with stats", async () => {
    const one = await api.call("GET", "/v1/queues/default");
    const list = await api.call("GET", "/v1/queues");

    assert.equal(one.status, 200);
    assert.deepEqual(one.body, { name: "default", ...DEFAULTS, stats: STATS });
    assert.deepEqual(list.body.queues[0], one.body);
    assert.deepEqual(Object.keys(list.body), ["queues"]);
  });

  it("an update without a setting changes nothing; the name cannot be changed", async () => {
    const before = (await api.call("GET", "/v1/queues/default")).body;

    const empty = await api.call("PATCH", "/v1/queues/default", {});
    const renamed = await api.call("PATCH", "/v1/queues/default", { name: "other", timeout: 5 });
    const bodiless = await api.call("PATCH", "/v1/queues/default");

    assert.deepEqual({ ...empty.body, stats: STATS }, before);
    assert.deepEqual([renamed.status, renamed.body], [400, { error: "name cannot be changed" }]);
    assert.deepEqual(
      [bodiless.status, bodiless.body],
      [400, { error: "Request body must be a JSON object" }],
    );
    assert.deepEqual((await api.call("GET", "/v1/queues/default")).body, before);
  });

  it("pause and resume answer the queue, however often they are called", async () => {
    for (const [action, paused] of [
      ["pause", true],
      ["pause", true],
      ["resume", false],
      ["resume", false],
    ] as const) {
      const { status, body } = await api.call("POST", `/v1/queues/default/${action}`);
      assert.equal(status, 200);
      assert.equal(body.paused, paused);
    }
  });

  it("takes an empty object where no body is needed, and no field", async () => {
    assert.equal((await api.call("POST", "/v1/queues/default/pause", {})).status, 200);
    assert.equal((await api.call("POST", "/v1/queues/default/resume", "")).status, 200);
    const { status, body } = await api.call("POST", "/v1/queues/default/pause", { until: 5 });
    assert.deepEqual([status, body], [400, { error: 'Unknown field "until"' }]);
  });

  it("a queue is deleted once; `default` stays", async () => {
    await api.call("POST", "/v1/queues", { name: "gone" });

    assert.deepEqual((await api.call("DELETE", "/v1/queues/gone")).body, { name: "gone", deleted: true });
    assert.equal((await api.call("DELETE", "/v1/queues/gone")).status, 404);
    assert.equal((await api.call("DELETE", "/v1/queues/default")).status, 409);
  });

  it("an unknown queue is not found by any route, whatever its name looks like", async () => {
    for (const [path, name] of [
      ["missing", "missing"],
      ["%00", "\u0000"],
      ["a%20b", "a b"],
      ["%C3%BC", "ü"],
      ["a%2Fb", "a/b"],
      ["a".repeat(2000), `${"a".repeat(128)}…`],
    ] as const) {
      for (const [method, suffix, body] of [
        ["GET", "", undefined],
        ["PATCH", "", {}],
        ["DELETE", "", undefined],
        ["POST", "/pause", undefined],
        ["POST", "/resume", undefined],
      ] as const) {
        const answer = await api.call(method, `/v1/queues/${path}${suffix}`, body);
        assert.equal(answer.status, 404);
        assert.deepEqual(answer.body, { error: `Queue "${name}" not found` });
      }
    }
  });

  it("another team does not see it", async () => {
    const other = { authorization: `Bearer ${OTHER_TEAM_KEY}` };

    assert.equal((await api.call("GET", "/v1/queues/default", undefined, other)).status, 404);
    assert.deepEqual((await api.call("GET", "/v1/queues", undefined, other)).body, { queues: [] });
  });

  it("refuses a query parameter where none is known", async () => {
    for (const [method, path] of [
      ["GET", "/v1/queues"],
      ["GET", "/v1/queues/default"],
      ["DELETE", "/v1/queues/default"],
      ["POST", "/v1/queues/default/pause"],
    ] as const) {
      const { status, body } = await api.call(method, `${path}?api_key=1`);
      assert.deepEqual([status, body], [400, { error: 'Unknown field "api_key"' }]);
    }
  });
});
