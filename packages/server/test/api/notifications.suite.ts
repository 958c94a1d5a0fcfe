import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startTestTarget, type TestTarget } from "../test-target.ts";
import { createTestApi, type TestApi } from "./test-api.ts";

describe("notifications of a task", () => {
  let api: TestApi;
  let receiver: TestTarget;
  before(async () => {
    api = await createTestApi();
    receiver = await startTestTarget();
  });
  after(() => receiver.close());

  const cancelled = async (fields: object) => {
    const { body } = await api.call("POST", "/v1/tasks", { ...fields, delay: 60 });
    const id = String(body.task?.id ?? body.id);
    await api.call("POST", `/v1/tasks/${id}/cancel`);
    return id;
  };
  const deliver = async () => {
    await api.server.engine.courier.workOnce();
    await api.server.engine.courier.finished();
  };
  const resend = (id: string) => api.call("POST", `/v1/tasks/${id}/notifications/resend`);
  const record = async (id: string) => (await api.call("GET", `/v1/tasks/${id}`)).body;

  it("are in the record in the task's own spelling, and not in lists", async () => {
    receiver.answer = (_call, response) => response.writeHead(503).end();
    const queued = await cancelled({
      queue: "default",
      webhook_url: "https://target.example/hook",
      on_complete_url: receiver.url,
    });
    const direct = await cancelled({
      targetUrl: "https://target.example/start",
      onCompleteUrl: receiver.url,
    });
    await deliver();

    const [{ next_at, ...ofQueued }] = (await record(queued)).notifications;
    const [{ nextAt, ...ofDirect }] = (await record(direct)).task.notifications;
    const tried = { url: receiver.url, status: "pending", attempts: 1 };
    assert.deepEqual(ofQueued, { ...tried, last_error: "The receiver answered 503" });
    assert.deepEqual(ofDirect, { ...tried, lastError: "The receiver answered 503" });
    for (const at of [next_at, nextAt]) assert.match(at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const { body } = await api.call("GET", "/v1/tasks");
    assert.equal(body.tasks.length, 2);
    for (const task of body.tasks) assert.equal("notifications" in task, false);
  });

  it("are resent with 202 and an audit event, and answered 409 while still pending", async () => {
    receiver.answer = (_call, response) => response.end();
    receiver.calls.length = 0;
    const id = await cancelled({
      queue: "default",
      webhook_url: "https://target.example/hook",
      on_complete_url: receiver.url,
    });
    await deliver();
    assert.deepEqual((await record(id)).notifications, [
      { url: receiver.url, status: "delivered", attempts: 1, last_error: null, next_at: null },
    ]);

    const resent = await resend(id);
    assert.deepEqual([resent.status, resent.body.notifications[0].status], [202, "pending"]);
    const { next_at } = resent.body.notifications[0];
    const again = await resend(id);
    assert.equal(again.status, 409);
    assert.deepEqual(again.body, {
      error: `Notification is still being delivered (next try: ${next_at})`,
      code: "notification_pending",
    });
    await deliver();

    assert.equal(receiver.calls.filter(({ body }) => JSON.parse(body).data.task.id === id).length, 2);
    const { body } = await api.call("GET", "/v1/audit?action=task.notification_resent");
    assert.deepEqual(
      body.events.map(({ target }: { target: string }) => target),
      [id],
    );
  });

  it("are not resent for a task without on_complete_url, or for an unknown task", async () => {
    const id = await cancelled({ queue: "default", webhook_url: "https://target.example/hook" });
    const refused = await resend(id);
    assert.deepEqual([refused.status, refused.body.code], [409, "notification_unset"]);
    for (const unknown of ["task_01k9z3mxe5f8hrk3yv5pzq8c2d", "nothing"])
      assert.equal((await resend(unknown)).status, 404);
  });
});
