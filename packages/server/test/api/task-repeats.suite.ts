import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createTestApi, type TestApi } from "./test-api.ts";

/** Every setting that a task takes from its queue, and what the queue of these tests says. */
const SETTINGS = {
  max_retries: 7,
  retry_backoff: "fixed",
  retry_delay: 9,
  retry_max_delay: 90,
  no_retry_statuses: [404, 410],
  timeout: 11,
};
const DIRECT_SETTINGS = {
  maxRetries: 7,
  retryBackoff: "fixed",
  retryDelay: 9,
  retryMaxDelay: 90,
  noRetryStatuses: [404, 410],
  timeout: 11,
};
const OTHER: Record<string, unknown> = {
  max_retries: 8,
  retry_backoff: "exponential",
  retry_delay: 10,
  retry_max_delay: 91,
  no_retry_statuses: [404],
  timeout: 12,
};

describe("idempotency keys and queue settings", () => {
  let api: TestApi;
  let keys = 0;
  before(async () => {
    api = await createTestApi();
    for (const name of ["repeats", "changed", "gone"]) {
      const queue = await api.call("POST", "/v1/queues", { name, ...SETTINGS });
      assert.equal(queue.status, 201, queue.text);
      await api.call("POST", `/v1/queues/${name}/pause`);
    }
  });
  after(() => api.close());

  const task = (fields: object = {}) => ({
    queue: "repeats",
    webhook_url: "https://example.com/hook",
    payload: { n: 1 },
    idempotency_key: `repeats-${keys}`,
    ...fields,
  });
  const create = (fields?: object) => api.call("POST", "/v1/tasks", task(fields));

  it("returns the first task whether the repeat states the queue's settings or omits them", async () => {
    for (const [first, second] of [
      [{}, SETTINGS],
      [SETTINGS, {}],
      [{ timeout: 11 }, { max_retries: 7 }],
    ]) {
      keys += 1;
      const made = await create(first);
      const again = await create(second);
      assert.deepEqual([made.status, again.status], [201, 200], again.text);
      assert.equal(again.headers["idempotent-replayed"], "true");
      assert.equal(again.body.id, made.body.id);
    }
  });

  it("returns the first direct task when the repeat states the queue's settings", async () => {
    keys += 1;
    const direct = {
      queue: "repeats",
      targetUrl: "https://example.com/hook",
      idempotencyKey: `repeats-${keys}`,
    };
    const made = await api.call("POST", "/v1/tasks", direct);
    const again = await api.call("POST", "/v1/tasks", { ...direct, ...DIRECT_SETTINGS });
    assert.deepEqual([made.status, again.status], [201, 200], again.text);
    assert.equal(again.body.task.id, made.body.task.id);
  });

  it("answers 409 to a repeat with a setting that differs from the queue's, in either order", async () => {
    for (const [name, value] of Object.entries(OTHER)) {
      keys += 1;
      await create();
      assert.equal((await create({ [name]: value })).status, 409, name);
      keys += 1;
      await create({ [name]: value });
      assert.equal((await create()).status, 409, name);
      assert.equal((await create({ [name]: value })).status, 200, name);
    }
  });

  it("answers 409 to a repeat that states the queue's settings with another payload", async () => {
    keys += 1;
    await create();
    const again = await create({ ...SETTINGS, payload: { n: 2 } });
    assert.deepEqual([again.status, again.body.code], [409, "idempotency_conflict"]);
  });

  it("returns the first task when the repeat states the defaults of a new queue", async () => {
    await api.call("POST", "/v1/queues", { name: "usual" });
    keys += 1;
    const usual = {
      max_retries: 3,
      retry_backoff: "exponential",
      retry_delay: 1,
      retry_max_delay: 3600,
      no_retry_statuses: [],
      timeout: 30,
    };
    await create({ queue: "usual" });
    assert.equal((await create({ queue: "usual", ...usual })).status, 200);
    keys += 1;
    await create({ queue: "usual", ...usual });
    assert.equal((await create({ queue: "usual" })).status, 200);
  });

  it("returns the first task to the identical request after the queue was changed", async () => {
    for (const first of [{}, SETTINGS]) {
      keys += 1;
      await api.call("PATCH", "/v1/queues/changed", SETTINGS);
      const made = await create({ queue: "changed", ...first });
      await api.call("PATCH", "/v1/queues/changed", OTHER);
      const again = await create({ queue: "changed", ...first });
      assert.deepEqual([again.status, again.body.id], [200, made.body.id]);
      // Settings that the queue has by now are not those of the task.
      assert.equal((await create({ queue: "changed", ...OTHER })).status, 409);
    }
  });

  it("creates one task for batch items that differ only in stated queue settings", async () => {
    keys += 1;
    const send = (tasks: object[]) => api.call("POST", "/v1/tasks/batch", { tasks, atomic: true });
    const one = await send([task(), task(SETTINGS)]);
    assert.equal(one.status, 200, one.text);
    assert.deepEqual([one.body.created, one.body.replayed], [1, 1]);

    keys += 1;
    const refused = await send([task(), task({ timeout: 12 })]);
    assert.equal(refused.status, 400);
    assert.match(refused.body.error, /^tasks\[1\]: Idempotency key /);
  });
});
