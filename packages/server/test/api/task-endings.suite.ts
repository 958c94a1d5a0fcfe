import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startTestTarget, type TestTarget } from "../test-target.ts";
import { createTestApi, PRIVATE_RULE, type TestApi } from "./test-api.ts";

describe("dismissals, failure notifications and corrected retries", () => {
  let api: TestApi;
  let receiver: TestTarget;
  before(async () => {
    api = await createTestApi();
    receiver = await startTestTarget();
  });
  after(() => receiver.close());

  /** A failed task, of either kind; its target answers 200 afterwards. */
  const fail = async (fields: object = {}): Promise<string> => {
    const { target } = api.server;
    const { answer } = target;
    target.answer = (_call, response) => response.writeHead(500).end();
    const { body } = await api.run({ max_retries: 0, ...fields });
    target.answer = answer;
    return String(body.task?.id ?? body.id);
  };
  const failDirect = (fields: object = {}) =>
    fail({ targetUrl: api.server.target.url, max_retries: undefined, maxRetries: 0, ...fields });
  const act = (id: string, verb: string, body?: unknown) => api.call("POST", `/v1/tasks/${id}/${verb}`, body);
  const record = async (id: string) => (await api.call("GET", `/v1/tasks/${id}`)).body;
  const listed = async (query: string) =>
    (await api.call("GET", `/v1/tasks?${query}`)).body.tasks.map(({ id }: { id: string }) => id);

  it("dismisses a failed task, which lists can exclude and a retry clears", async () => {
    const id = await fail({ tags: ["dismissed"] });
    const dismissed = await act(id, "dismiss");
    assert.equal(dismissed.status, 200);
    const at = dismissed.body.dismissed_at;
    assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000);
    assert.equal((await act(id, "dismiss")).body.dismissed_at, at);
    assert.deepEqual(await listed("tag=dismissed&dismissed=true"), [id]);
    assert.deepEqual(await listed("dismissed=true"), [id]);
    assert.deepEqual(await listed("tag=dismissed&dismissed=false"), []);
    const { events } = (await api.call("GET", "/v1/audit?limit=1")).body;
    assert.deepEqual([events[0].action, events[0].target], ["task.dismissed", id]);

    const retried = await act(id, "retry", { delay: 60 });
    assert.deepEqual([retried.body.status, retried.body.dismissed_at], ["pending", undefined]);
    const refused = await act(id, "dismiss");
    assert.deepEqual(
      [refused.status, refused.body],
      [409, { error: "Task is not in failed state (current: pending)", code: "task_not_failed" }],
    );
    const direct = await failDirect();
    assert.ok((await act(direct, "dismiss")).body.task.dismissedAt);
  });

  it("dismisses failed tasks by a bulk action, which skips the others", async () => {
    const id = await fail({ tags: ["many"] });
    await api.call("POST", "/v1/tasks", {
      queue: "default",
      webhook_url: "http://a.test/",
      tags: ["many"],
    });
    const { bulk } = (
      await api.call("POST", "/v1/tasks/bulk", { action: "dismiss", filter: { tag: ["many"] } })
    ).body;
    assert.deepEqual([bulk.action, bulk.status, bulk.matched], ["dismiss", "running", 2]);
    const worker = api.server.engine.actors.all.find(({ name }) => name === "bulks");
    await worker?.once();

    const { body } = await api.call("GET", `/v1/tasks/bulk/${bulk.id}`);
    assert.deepEqual([body.bulk.status, body.bulk.done, body.bulk.skipped], ["completed", 1, 1]);
    assert.ok((await record(id)).dismissed_at);
  });

  it("notifies on_failure_url of failures and cancellations only, beside on_complete_url", async () => {
    const deliver = async () => {
      receiver.calls.length = 0;
      await api.server.engine.courier.workOnce();
      await api.server.engine.courier.finished();
      return receiver.calls.map(({ path, body }) => `${path} ${JSON.parse(body).type}`).sort();
    };
    const on_complete_url = `${receiver.url}/ended`;
    const on_failure_url = `${receiver.url}/failed`;
    const failed = await fail({ on_complete_url, on_failure_url });
    assert.deepEqual(await deliver(), ["/ended task.failed", "/failed task.failed"]);
    const { notifications } = await record(failed);
    assert.deepEqual(
      notifications.map(({ url, status }: { url: string; status: string }) => [url, status]).sort(),
      [
        [on_complete_url, "delivered"],
        [on_failure_url, "delivered"],
      ],
    );
    assert.equal((await act(failed, "notifications/resend")).status, 202);
    assert.deepEqual(await deliver(), ["/ended task.failed", "/failed task.failed"]);

    await api.run({ on_complete_url, on_failure_url });
    assert.deepEqual(await deliver(), ["/ended task.completed"]);
    const { body } = await api.call("POST", "/v1/tasks", {
      targetUrl: "http://a.test/",
      onFailureUrl: on_failure_url,
      delay: 60,
    });
    assert.equal((await record(body.task.id)).task.onFailureUrl, on_failure_url);
    await act(body.task.id, "cancel");
    assert.deepEqual(await deliver(), ["/failed task.cancelled"]);

    const refused = await api.call("POST", "/v1/tasks", {
      queue: "default",
      webhook_url: "http://a.test/",
      on_failure_url: "http://private.test/",
    });
    assert.deepEqual([refused.status, refused.body.error], [400, `on_failure_url ${PRIVATE_RULE}`]);
  });

  it("retries with a corrected call, which the record lists and the next attempt makes", async () => {
    const { target } = api.server;
    const key = { idempotency_key: "corrected" };
    const id = await fail({ payload: { user: 1 }, headers: { "X-Old": "1" }, ...key });
    const url = `${target.url}/other`;
    const retried = await act(
      id,
      "retry",
      `{"payload":{"user":  2},"headers":{"X-New":"2"},"webhook_url":"${url}","delay":null}`,
    );
    assert.equal(retried.status, 200);
    assert.deepEqual(retried.body.payload, { user: 2 });
    assert.deepEqual(
      [retried.body.webhook_url, retried.body.headers, retried.body.retried_with.length],
      [url, { "X-New": "2" }, 1],
    );
    const [{ at, fields }] = retried.body.retried_with;
    assert.ok(Date.parse(at) > 0);
    assert.deepEqual(fields, ["payload", "headers", "webhook_url"]);
    const seen = target.calls.length;
    await api.run({ delay: 60 });
    const call = target.calls[seen];
    assert.deepEqual(
      [call?.path, call?.body, call?.headers["x-new"], call?.headers["x-old"]],
      ["/other", '{"user":  2}', "2", undefined],
    );

    // A repeated request is compared with the first one, not with the corrected call.
    const again = await api.run({ max_retries: 0, payload: { user: 1 }, headers: { "X-Old": "1" }, ...key });
    assert.deepEqual([again.status, again.body.id], [200, id]);
    const other = await api.run({ max_retries: 0, payload: { user: 2 }, headers: { "X-Old": "1" }, ...key });
    assert.equal(other.body.code, "idempotency_conflict");
  });

  it("refuses an invalid correction by the rules of a creation, and changes nothing", async () => {
    const id = await fail({ payload: 1 });
    const direct = await failDirect({ body: "text" });
    for (const [task, body, error] of [
      [id, { webhook_url: "nowhere" }, /^webhook_url must be/],
      [id, { webhook_url: "http://private.test/" }, `webhook_url ${PRIVATE_RULE}`],
      [id, { headers: { Host: "a" } }, /Host/],
      [id, { headers: { Authorization: "tok_01k9z3mxe5f8hrk3yv5pzq8c2d" } }, /unknown vault token/],
      [id, { body: "x" }, "body is a field of direct tasks: this is a queue task, use payload"],
      [id, { payload: 1, targetUrl: "http://a.test/" }, /payload.*targetUrl|targetUrl.*payload/],
      [direct, { payload: 1 }, "payload is a field of queue tasks: this is a direct task, use body"],
      [direct, { body: 5 }, /^body must be/],
      [id, { queue: "x" }, /Unknown field "queue"/],
    ] as const) {
      const refused = await act(task, "retry", body);
      assert.equal(refused.status, 400, JSON.stringify(body));
      if (typeof error === "string") assert.equal(refused.body.error, error);
      else assert.match(refused.body.error, error);
    }
    const { status, payload, retried_with } = await record(id);
    assert.deepEqual([status, payload, retried_with], ["failed", 1, undefined]);

    const corrected = (await act(direct, "retry", { body: { a: 1 }, targetUrl: "http://a.test/", delay: 60 }))
      .body;
    assert.deepEqual(corrected.task.body, { a: 1 });
    assert.deepEqual(corrected.task.retriedWith[0].fields, ["body", "targetUrl"]);
    const pending = await act(direct, "retry", { body: "b" });
    assert.deepEqual([pending.status, pending.body.code], [409, "task_not_retryable"]);
    assert.deepEqual((await record(direct)).task.body, { a: 1 });
  });
});
