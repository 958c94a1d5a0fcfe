import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { assertNow, createTestApi, type TestApi } from "./test-api.ts";

const DEFAULTS = {
  concurrency: 5,
  max_retries: 3,
  retry_backoff: "exponential",
  retry_delay: 1,
  retry_max_delay: 3600,
  no_retry_statuses: [],
  timeout: 30,
  ordered: false,
  on_failure: "continue",
  rate: false,
  rate_period: null,
  breaker: false,
  paused: false,
};
const STATS = { pending: 0, active: 0, completed: 0, failed: 0, waiting: 0, polling: 0, cancelled: 0 };

describe("queues", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  it("are created with the defaults, and running", async () => {
    const { status, body } = await api.call("POST", "/v1/queues", { name: "emails" });

    assert.equal(status, 201);
    const { created_at, updated_at } = body;
    assert.deepEqual(body, { name: "emails", ...DEFAULTS, created_at, updated_at });
    assert.equal(updated_at, created_at);
    assertNow(created_at);
  });

  it("accept every setting at both ends of its range", async () => {
    const least = {
      concurrency: 1,
      max_retries: 0,
      retry_backoff: "fixed",
      retry_delay: 0,
      retry_max_delay: 1,
      no_retry_statuses: [410],
      timeout: 1,
      rate: 1,
      rate_period: 1,
    };
    const most = {
      concurrency: 1000,
      max_retries: 100,
      retry_backoff: "exponential",
      retry_delay: 3600,
      retry_max_delay: 86_400,
      no_retry_statuses: [],
      timeout: 3600,
      rate: 100_000,
      rate_period: 604_800,
    };

    const created = await api.call("POST", "/v1/queues", { name: "Ends-1", ...least });
    const updated = await api.call("PATCH", "/v1/queues/Ends-1", most);

    const { created_at, updated_at } = created.body;
    assert.deepEqual(created.body, { name: "Ends-1", ...DEFAULTS, ...least, created_at, updated_at });
    assert.equal(updated.status, 200);
    const later = updated.body.updated_at;
    assert.deepEqual(updated.body, { name: "Ends-1", ...DEFAULTS, ...most, created_at, updated_at: later });
    assert.ok(Date.parse(later) >= Date.parse(updated_at));
  });

  it("require a name of 1 to 64 letters, digits or hyphens", async () => {
    for (const name of ["", "a b", "a_b", "ü", "a\n", "a/b", "a".repeat(65), 5]) {
      const { status, body } = await api.call("POST", "/v1/queues", { name });
      assert.equal(status, 400);
      assert.deepEqual(body, { error: "name must be 1 to 64 letters, digits or hyphens", code: "invalid" });
    }
    assert.deepEqual((await api.call("POST", "/v1/queues", {})).body, {
      error: "name is required",
      code: "invalid",
    });
    assert.equal((await api.call("POST", "/v1/queues", { name: "a".repeat(64) })).status, 201);
  });

  it("refuse each invalid setting with the rule that it breaks, on create and on update", async () => {
    const cases: [object, string][] = [
      [{ concurrency: 0 }, "concurrency must be an integer between 1 and 1000"],
      [{ concurrency: 1001 }, "concurrency must be an integer between 1 and 1000"],
      [{ concurrency: "5" }, "concurrency must be an integer between 1 and 1000"],
      [{ max_retries: 101 }, "max_retries must be an integer between 0 and 100"],
      [{ retry_backoff: "none" }, 'retry_backoff must be one of "fixed", "exponential"'],
      [{ retry_delay: 3601 }, "retry_delay must be an integer between 0 and 3600"],
      [{ retry_delay: 0.5 }, "retry_delay must be an integer between 0 and 3600"],
      [{ timeout: 0 }, "timeout must be an integer between 1 and 3600"],
      [{ rate: 0 }, "rate must be an integer between 1 and 100000 or false"],
      [{ rate: true }, "rate must be an integer between 1 and 100000 or false"],
      [{ rate: 1, rate_period: 604_801 }, "rate_period must be an integer between 1 and 604800"],
      [{ rate_period: 60 }, "rate_period needs rate"],
      [{ rate: false, rate_period: 60 }, "rate_period needs rate"],
      [{ paused: true }, 'Unknown field "paused"'],
      [{ concurency: 1 }, 'Unknown field "concurency" (did you mean "concurrency"?)'],
    ];
    for (const [fields, error] of cases) {
      const created = await api.call("POST", "/v1/queues", { name: "never", ...fields });
      const updated = await api.call("PATCH", "/v1/queues/default", fields);
      assert.deepEqual([created.status, created.body], [400, { error, code: "invalid" }]);
      assert.deepEqual([updated.status, updated.body], [400, { error, code: "invalid" }]);
    }
  });

  it("have a rate by the second unless another period is said, keep the period, and lose both together", async () => {
    const ratesOf = ({ body }: { body: { rate: unknown; rate_period: unknown } }) => [
      body.rate,
      body.rate_period,
    ];
    const change = (fields: object) => api.call("PATCH", "/v1/queues/rated", fields);
    assert.deepEqual(ratesOf(await api.call("POST", "/v1/queues", { name: "rated", rate: 5 })), [5, 1]);
    assert.deepEqual(ratesOf(await change({ rate_period: 60 })), [5, 60]);
    assert.deepEqual(ratesOf(await change({ rate: 7 })), [7, 60]);
    assert.deepEqual(ratesOf(await change({ concurrency: 3 })), [7, 60]);
    assert.deepEqual(ratesOf(await change({ rate: false })), [false, null]);
    assert.deepEqual(ratesOf(await change({ rate: 2 })), [2, 1]);
  });

  it("refuse a name that exists", async () => {
    const { status, body } = await api.call("POST", "/v1/queues", { name: "default" });

    assert.equal(status, 409);
    assert.deepEqual(body, { error: 'Queue "default" already exists', code: "queue_exists" });
  });

  it("have stats, alone and in the list", async (test) => {
    const { target } = api.server;
    test.mock.method(target, "answer", (...[call, response]: Parameters<typeof target.answer>) =>
      response.writeHead(call.body === "{}" ? 200 : 500).end(),
    );
    const poll = { urlTemplate: target.url, statusPath: "status", doneValues: ["done"], failValues: [] };
    await api.run({ delay: 60 });
    for (const fields of [{}, { payload: { a: 1 } }, { payload: { b: 1 } }]) await api.run(fields);
    await api.run({ wait_for_callback: true });
    await api.run({ poll_config: poll });
    const one = await api.call("GET", "/v1/queues/runs");
    const list = await api.call("GET", "/v1/queues");

    assert.equal(one.status, 200);
    const { created_at, updated_at } = one.body;
    assert.deepEqual(one.body, {
      ...DEFAULTS,
      name: "runs",
      max_retries: 0,
      retry_delay: 0,
      created_at,
      updated_at,
      stats: { pending: 1, active: 0, completed: 1, failed: 2, waiting: 1, polling: 1, cancelled: 0 },
    });
    assert.deepEqual(
      list.body.queues.find(({ name }: { name: string }) => name === "runs"),
      one.body,
    );
    assert.deepEqual(Object.keys(list.body), ["queues"]);
  });

  it("refuse a rename, and neither change nor audit an update without settings", async () => {
    const before = (await api.call("GET", "/v1/queues/default")).body;

    const empty = await api.call("PATCH", "/v1/queues/default", {});
    const renamed = await api.call("PATCH", "/v1/queues/default", { name: "other", timeout: 5 });
    const bodiless = await api.call("PATCH", "/v1/queues/default");

    assert.deepEqual({ ...empty.body, stats: STATS }, before);
    const { events } = (await api.call("GET", "/v1/audit?action=queue.updated&limit=100")).body;
    assert.deepEqual(
      events.filter(({ target }: { target: string }) => target === "default"),
      [],
    );
    assert.deepEqual(
      [renamed.status, renamed.body],
      [400, { error: "name cannot be changed", code: "invalid" }],
    );
    assert.deepEqual(
      [bodiless.status, bodiless.body],
      [400, { error: "Request body must be a JSON object", code: "body_not_object" }],
    );
    assert.deepEqual((await api.call("GET", "/v1/queues/default")).body, before);
  });

  it("are paused and resumed any number of times", async () => {
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

  it("accept an empty body or object for pause and resume, and no field", async () => {
    assert.equal((await api.call("POST", "/v1/queues/default/pause", {})).status, 200);
    assert.equal((await api.call("POST", "/v1/queues/default/resume", "")).status, 200);
    const { status, body } = await api.call("POST", "/v1/queues/default/pause", { until: 5 });
    assert.deepEqual([status, body], [400, { error: 'Unknown field "until"', code: "invalid" }]);
  });

  it("are deleted once with their pending tasks, except for default", async () => {
    await api.call("POST", "/v1/queues", { name: "gone" });
    await api.call("POST", "/v1/queues/gone/pause");
    for (let count = 0; count < 3; count += 1)
      await api.call("POST", "/v1/tasks", { queue: "gone", webhook_url: "http://a/" });

    const { body } = await api.call("DELETE", "/v1/queues/gone");

    assert.deepEqual(body, { name: "gone", deleted: true, tasks_deleted: 3 });
    await api.call("POST", "/v1/queues", { name: "gone" });
    assert.equal((await api.call("DELETE", "/v1/queues/gone")).body.tasks_deleted, 0);
    assert.equal((await api.call("DELETE", "/v1/queues/gone")).status, 404);
    assert.equal((await api.call("DELETE", "/v1/queues/default")).status, 409);
  });

  it("are answered 404 by every route when unknown, whatever the name", async () => {
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
        assert.deepEqual(answer.body, { error: `Queue "${name}" not found`, code: "queue_not_found" });
      }
    }
  });

  it("are hidden from other teams", async () => {
    const { headers: other } = await api.openTeam();
    await api.call("POST", "/v1/queues", { name: "ours" });

    assert.equal((await api.call("GET", "/v1/queues/ours", undefined, other)).status, 404);
    const { queues } = (await api.call("GET", "/v1/queues", undefined, other)).body;
    assert.deepEqual(
      queues.map(({ name }: { name: string }) => name),
      ["default"],
    );
  });

  it("refuse unknown query parameters with 400 on every route", async () => {
    for (const [method, path] of [
      ["GET", "/v1/queues"],
      ["GET", "/v1/queues/default"],
      ["DELETE", "/v1/queues/default"],
      ["POST", "/v1/queues/default/pause"],
    ] as const) {
      const { status, body } = await api.call(method, `${path}?api_key=1`);
      assert.deepEqual([status, body], [400, { error: 'Unknown field "api_key"', code: "invalid" }]);
    }
  });
});
