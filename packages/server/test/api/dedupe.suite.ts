import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { createTestApi, type TestApi } from "./test-api.ts";

const TASK = { queue: "default", webhook_url: "http://a.test/" };
const DIRECT = { targetUrl: "http://a.test/" };

describe("dedupe over HTTP", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });
  const create = (body: object, headers = {}) => api.call("POST", "/v1/tasks", body, headers);

  it("answers 200 with the record and deduplicated or replaced, in the words of each kind", async () => {
    const dedupe = { key: "a", mode: "first", window: 60 };
    const first = await create({ ...TASK, dedupe });
    assert.deepEqual([first.status, first.body.deduplicated], [201, undefined]);
    const again = await create({ ...TASK, payload: { n: 2 }, dedupe }, { "Idempotency-Key": "again" });
    assert.equal(again.status, 200);
    const { deduplicated, ...record } = again.body;
    assert.equal(deduplicated, true);
    assert.deepEqual(record, (await api.call("GET", `/v1/tasks/${first.body.id}`)).body);
    assert.deepEqual(record.dedupe, dedupe);
    const replayed = await create({ ...TASK, payload: { n: 2 }, dedupe }, { "Idempotency-Key": "again" });
    assert.deepEqual(
      [replayed.status, replayed.body.id, replayed.headers["idempotent-replayed"]],
      [200, first.body.id, "true"],
    );

    const debounce = { key: "b", mode: "debounce", window: 30, maxWait: 300 };
    const direct = await create({ ...DIRECT, body: "1", dedupe: debounce });
    assert.deepEqual([direct.status, typeof direct.body.callbackId], [201, "string"]);
    const replaced = await create({ ...DIRECT, body: "2", dedupe: debounce });
    assert.equal(replaced.status, 200);
    assert.deepEqual(
      [replaced.body.replaced, replaced.body.task.id, replaced.body.task.body, replaced.body.task.dedupe],
      [true, direct.body.task.id, "2", debounce],
    );
  });

  it("counts beside the others in a batch", async () => {
    const dedupe = { key: "c", mode: "replace", window: 60 };
    const { status, body } = await api.call("POST", "/v1/tasks/batch", {
      tasks: [{ ...TASK, dedupe }, { ...TASK, dedupe, payload: 2 }, TASK, { queue: "default" }],
    });
    const { results, ...counts } = body;
    assert.deepEqual([status, counts], [200, { created: 2, replayed: 0, deduplicated: 1, refused: 1 }]);
    assert.deepEqual([results[1].task.id, results[1].replaced], [results[0].task.id, true]);
  });

  it("refuses by its rules, and says which", async () => {
    const dedupe = { key: "d", mode: "debounce", window: 60 };
    for (const [body, error] of [
      [{ ...TASK, dedupe: { key: "d", mode: "first" } }, /window.* is required/],
      [{ ...TASK, dedupe: { ...dedupe, window: 0 } }, /window.* must be an integer between 1 and 2592000/],
      [{ ...TASK, dedupe: { ...dedupe, key: "é" } }, /key/],
      [{ ...TASK, dedupe: { ...dedupe, mode: "last" } }, /"first", "replace", "debounce"/],
      [{ ...TASK, dedupe: { ...dedupe, maxWait: 90 } }, /Unknown field/],
      [{ ...TASK, dedupe: { ...dedupe, max_wait: 59 } }, /^dedupe.max_wait must be at least dedupe.window/],
      [{ ...TASK, dedupe: { ...dedupe, mode: "first", max_wait: 90 } }, /only be given with mode debounce/],
      [{ ...TASK, delay: 5, dedupe }, /^delay cannot be given with dedupe mode debounce/],
      [{ ...DIRECT, delayUntil: "2020-01-01T00:00:00Z", dedupe }, /^delayUntil cannot be given/],
      [{ ...TASK, expires_in: 30, dedupe }, /^dedupe.window is beyond expires_in/],
    ] as const) {
      const refused = await create(body);
      assert.equal(refused.status, 400, JSON.stringify(body));
      assert.match(refused.body.error, error);
    }
    const schedule = await api.call("POST", "/v1/schedules", {
      name: "deduped",
      cron: "0 0 1 1 *",
      task: { ...TASK, dedupe },
    });
    assert.deepEqual(
      [schedule.status, schedule.body.error],
      [400, "task: dedupe cannot be given in a schedule"],
    );
  });
});
