import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { assertNow, createTestApi, type TestApi } from "./test-api.ts";

const BASE = { queue: "default", webhook_url: "https://target.example/hook" };

describe("POST /v1/tasks", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  const create = (fields: object) => api.call("POST", "/v1/tasks", { ...BASE, ...fields });
  const refusal = async (fields: object) => {
    const { status, body } = await create(fields);
    assert.equal(status, 400);
    return body;
  };
  /** The record of a new task with these fields. */
  const recordOf = async (fields: object) => {
    const { status, body } = await create(fields);
    assert.equal(status, 201, JSON.stringify(fields));
    return (await api.call("GET", `/v1/tasks/${body.id}`)).body;
  };
  /** What the target got of a task with these fields. */
  const callOf = async (fields: object) => {
    assert.equal((await api.run(fields)).status, 201);
    const call = api.server.target.calls.at(-1);
    assert.ok(call);
    return call;
  };

  it("answers with id, queue, status, priority, delay and created_at only", async () => {
    const { status, body } = await create({ payload: { a: 1 }, delay: 60, priority: 8 });

    assert.equal(status, 201);
    assert.match(body.id, /^task_[0-9a-z]{26}$/);
    assert.deepEqual(
      { ...body, id: "", created_at: "" },
      { id: "", queue: "default", status: "pending", priority: 8, delay: 60, created_at: "" },
    );
    assertNow(body.created_at);
  });

  it("keeps every field in the record", async () => {
    const fields = {
      payload: { a: 1 },
      delay: 31_536_000,
      priority: 10,
      max_retries: 100,
      method: "PUT",
      headers: { "X-Source": "é" },
      retry_backoff: "fixed",
      retry_delay: 7,
      retry_max_delay: 70,
      no_retry_statuses: [410],
      expires_in: 31_536_000,
      timeout: 3600,
    };
    const record = await recordOf(fields);

    const { delay, ...shown } = fields;
    const { id, created_at, run_at } = record;
    assert.deepEqual(record, { ...BASE, ...shown, id, created_at, run_at, status: "pending", attempts: [] });
    assert.equal(Date.parse(run_at) - Date.parse(created_at), delay * 1000);
  });

  it("uses the queue's setting for a field that is left out", async () => {
    const settings = { max_retries: 7, retry_backoff: "fixed", timeout: 77 };
    assert.equal((await api.call("POST", "/v1/queues", { name: "own", ...settings })).status, 201);
    await api.call("POST", "/v1/queues/own/pause");

    const record = await recordOf({ queue: "own" });

    const { max_retries, retry_backoff, timeout, run_at, created_at, method, headers, payload } = record;
    assert.deepEqual({ max_retries, retry_backoff, timeout }, settings);
    assert.deepEqual([method, headers, payload, run_at], ["POST", {}, {}, created_at]);
  });

  it("sends no body with a GET without payload", async () => {
    const bare = await callOf({ method: "GET" });
    assert.deepEqual([bare.method, bare.body, bare.headers["content-type"]], ["GET", "", undefined]);

    const carrying = await callOf({ method: "GET", payload: {} });
    assert.deepEqual([carrying.body, carrying.headers["content-type"]], ["{}", "application/json"]);
    assert.equal((await callOf({})).body, "{}");
  });

  it("requires a priority of 1 to 10, with the default 5", async () => {
    assert.equal((await create({})).body.priority, 5);
    assert.equal((await create({ priority: 1 })).body.priority, 1);
    for (const priority of [0, 11, -1, 5.5, "5", true, [5], {}]) {
      assert.deepEqual(await refusal({ priority }), {
        error: "priority must be an integer between 1 and 10",
        code: "invalid",
      });
    }
  });

  it("accepts an integer in any JSON number format, and no other number", async () => {
    const raw = (priority: string) =>
      api.call("POST", "/v1/tasks", `{"queue":"default","webhook_url":"http://a/","priority":${priority}}`);

    assert.equal((await raw("7.0")).body.priority, 7);
    assert.equal((await raw("1e1")).body.priority, 10);
    assert.equal((await raw("1e400")).body.error, "priority must be an integer between 1 and 10");
    assert.equal((await raw("NaN")).body.error, "Request body is not valid JSON");
  });

  it("refuses each invalid field with the rule that it breaks", async () => {
    const cases: [object, string][] = [
      [{ queue: 5 }, "queue must be a string"],
      [{ webhook_url: 5 }, "webhook_url must be a string"],
      [{ delay: -1 }, "delay must be an integer between 0 and 31536000"],
      [{ delay: 31_536_001 }, "delay must be an integer between 0 and 31536000"],
      [{ max_retries: 101 }, "max_retries must be an integer between 0 and 100"],
      [{ max_retries: -1 }, "max_retries must be an integer between 0 and 100"],
      [{ method: "HEAD" }, 'method must be one of "GET", "POST", "PUT", "PATCH", "DELETE"'],
      [{ method: "get" }, 'method must be one of "GET", "POST", "PUT", "PATCH", "DELETE"'],
      [{ headers: [] }, "headers must be an object"],
      [{ headers: { "X-A": 1 } }, 'headers["X-A"] must be a string'],
      [{ headers: { "a/~b": null } }, 'headers["a/~b"] must be a string'],
      [
        { no_retry_statuses: "410" },
        "no_retry_statuses must be an array of 0 to 50 integers between 100 and 599",
      ],
      [
        { no_retry_statuses: Array(51).fill(410) },
        "no_retry_statuses must be an array of at most 50 integers between 100 and 599",
      ],
      [{ retry_max_delay: 0 }, "retry_max_delay must be an integer between 1 and 86400"],
      [{ retry_backoff: "linear" }, 'retry_backoff must be one of "fixed", "exponential"'],
      [{ timeout: 0 }, "timeout must be an integer between 1 and 3600"],
      [{ timeout: 3601 }, "timeout must be an integer between 1 and 3600"],
      [{ run_at: 5 }, "run_at must be a string"],
      [
        { delay: 61, expires_in: 60 },
        "delay is beyond expires_in (60 s): the task would expire before it is due",
      ],
      [
        { run_at: new Date(Date.now() + 3_600_000).toISOString(), expires_in: 60 },
        "run_at is beyond expires_in (60 s): the task would expire before it is due",
      ],
    ];
    for (const [fields, error] of cases) assert.deepEqual(await refusal(fields), { error, code: "invalid" });
  });

  it("names a missing required field", async () => {
    const { status, body } = await api.call("POST", "/v1/tasks", { webhook_url: "http://a/" });

    assert.equal(status, 400);
    assert.deepEqual(body, { error: "queue is required", code: "invalid" });
  });

  it("refuses an unknown field and suggests the closest one", async () => {
    const cases: [string, string][] = [
      ["max_retry", ' (did you mean "max_retries"?)'],
      ["maxRetries", ' (did you mean "max_retries"?)'],
      ["payloads", ' (did you mean "payload"?)'],
      ["dealy", ' (did you mean "delay"?)'],
      ["colour", ""],
      ["onCompleteUrl", ' (did you mean "on_complete_url"?)'],
      ["sign", ""],
      ["__proto__", ""],
      ["constructor", ""],
    ];
    for (const [name, hint] of cases) {
      const { status, body } = await api.call(
        "POST",
        "/v1/tasks",
        `{"queue":"default","webhook_url":"http://a/","${name}":{}}`,
      );
      assert.equal(status, 400);
      assert.deepEqual(body, { error: `Unknown field "${name}"${hint}`, code: "invalid" });
    }
  });

  it("lists every broken rule of several fields: unknown, then missing, then invalid", async () => {
    const { body } = await api.call("POST", "/v1/tasks", { timeout: 0, priority: 0, queu: "default" });

    assert.deepEqual(body, {
      error: 'Unknown field "queu" (did you mean "queue"?)',
      code: "invalid",
      details: [
        { field: "queu", error: 'Unknown field "queu" (did you mean "queue"?)' },
        { field: "queue", error: "queue is required" },
        { field: "webhook_url", error: "webhook_url is required" },
        { field: "priority", error: "priority must be an integer between 1 and 10" },
        { field: "timeout", error: "timeout must be an integer between 1 and 3600" },
      ],
    });
  });

  it("limits the number of listed errors and the length of a quoted name", async () => {
    const flood = Object.fromEntries(Array.from({ length: 90 }, (_, index) => [`f${index}`, 1]));
    const long = { ["x".repeat(10_000)]: 1 };

    assert.equal((await refusal(flood)).details.length, 20);
    assert.equal((await refusal(long)).error, `Unknown field "${"x".repeat(128)}…"`);
  });

  it("answers 404 to an unknown queue, whatever its name", async () => {
    for (const queue of ["missing", "no_such queue", "", "\u0000", "ü"]) {
      const { status, body } = await create({ queue });
      assert.equal(status, 404);
      assert.deepEqual(body, { error: `Queue "${queue}" not found`, code: "queue_not_found" });
    }
    const { body } = await create({ queue: "q".repeat(5000) });
    assert.deepEqual(body, { error: `Queue "${"q".repeat(128)}…" not found`, code: "queue_not_found" });
  });

  it("refuses a body that is not an object", async () => {
    for (const text of ["[]", '"a"', "null", "1", "true"]) {
      const { status, body } = await api.call("POST", "/v1/tasks", text);
      assert.equal(status, 400);
      assert.deepEqual(body, { error: "Request body must be a JSON object", code: "body_not_object" });
    }
    const { body } = await api.call("POST", "/v1/tasks");
    assert.deepEqual(body, { error: "Request body must be a JSON object", code: "body_not_object" });
  });
});
