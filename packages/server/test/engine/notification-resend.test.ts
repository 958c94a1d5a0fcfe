import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { notificationText } from "../../src/api/tasks/notification-view.ts";
import type { TaskRequest } from "../../src/domain/task-copies.ts";
import { openTestServer, plainRequest, type TestServer } from "../test-server.ts";
import { startTestTarget, type TestTarget } from "../test-target.ts";

describe("the notifications of a task", () => {
  let server: TestServer;
  let receiver: TestTarget;
  before(async () => {
    server = await openTestServer({ maxRetries: 0 });
    receiver = await startTestTarget();
  });
  after(async () => {
    await receiver.close();
    await server.close();
  });
  beforeEach(async () => {
    server.target.answer = (_call, response) => response.end("{}");
    receiver.answer = (_call, response) => response.end();
    receiver.calls.length = 0;
    await server.database.rows("delete from notifications");
  });

  const create = async (request: Partial<TaskRequest> = {}) => {
    const asked = { ...plainRequest(server.target.url), onCompleteUrl: `${receiver.url}/done`, ...request };
    return (await server.tasks.create(server.principal, asked)).id;
  };
  const deliver = async () => {
    await server.engine.courier.workOnce();
    await server.engine.courier.finished();
  };
  /** All eight tries. */
  const giveUp = async () => {
    for (let tries = 0; tries < 8; tries += 1) {
      await server.advance(100_000);
      await server.database.rows("update workers set expires_at = clock_timestamp() + interval '15 seconds'");
      await deliver();
    }
  };
  const resend = (id: string) => server.tasks.resendNotification(server.principal, id);
  const notificationsOf = async (id: string) => (await server.task(id)).notifications;
  const done = () => ({ url: `${receiver.url}/done`, lastError: null, nextAt: null });

  it("are absent before the task ends, and without an on_complete_url", async () => {
    const waiting = await create({ delaySeconds: 60 });
    const silent = await create({ onCompleteUrl: null });
    await server.dispatchOnce();

    assert.equal(await notificationsOf(waiting), null);
    assert.equal(await notificationsOf(silent), null);
    await server.tasks.remove(server.principal, waiting);
  });

  it("show each state from the first try to the delivery", async () => {
    receiver.answer = (_call, response) => response.writeHead(receiver.calls.length < 2 ? 503 : 200).end();
    const id = await create();
    await server.dispatchOnce();

    const [due] = (await notificationsOf(id)) ?? [];
    const { completedAt } = await server.task(id);
    assert.deepEqual(due, { ...done(), status: "pending", attempts: 0, nextAt: completedAt });

    await deliver();
    const [tried, ...more] = (await notificationsOf(id)) ?? [];
    assert.equal(more.length, 0);
    assert.deepEqual(
      [tried?.status, tried?.attempts, tried?.lastError],
      ["pending", 1, "The receiver answered 503"],
    );
    assert.ok(tried?.nextAt && completedAt && tried.nextAt > completedAt);

    await server.advance(6);
    await deliver();
    assert.deepEqual(await notificationsOf(id), [{ ...done(), status: "delivered", attempts: 2 }]);
  });

  it("are resent after eight failed tries with the same webhook-id and body", async () => {
    receiver.answer = (_call, response) => response.writeHead(500).end();
    const id = await create();
    await server.dispatchOnce();
    await giveUp();
    const lastError = "The receiver answered 500";
    assert.deepEqual(await notificationsOf(id), [{ ...done(), status: "failed", attempts: 8, lastError }]);

    receiver.answer = (_call, response) => response.end();
    const [resent] = (await resend(id)).notifications ?? [];
    assert.deepEqual([resent?.status, resent?.attempts, resent?.lastError], ["pending", 0, null]);
    await deliver();
    await deliver();

    assert.equal(receiver.calls.length, 9);
    assert.deepEqual(await notificationsOf(id), [{ ...done(), status: "delivered", attempts: 1 }]);
    assert.equal(new Set(receiver.calls.map(({ headers }) => headers["webhook-id"])).size, 1);
    assert.equal(new Set(receiver.calls.map(({ body }) => body)).size, 1);
    assert.equal(JSON.parse(notificationText(await server.task(id))).data.task.notifications, undefined);
  });

  it("are tried eight times again when a resend fails", async () => {
    const id = await create();
    await server.dispatchOnce();
    await deliver();
    receiver.answer = (_call, response) => response.writeHead(500).end();
    await resend(id);
    await giveUp();

    assert.equal(receiver.calls.length, 9);
    assert.equal((await notificationsOf(id))?.[0]?.status, "failed");
  });

  it("wake the courier when they are resent, and not when a resend is refused", async (context) => {
    const id = await create();
    await server.dispatchOnce();
    await deliver();
    const wake = context.mock.method(server.engine, "notificationDue");
    await resend(id);
    await assert.rejects(resend(id));

    assert.equal(wake.mock.callCount(), 1);
  });

  it("are resent once when several resends race", async () => {
    const id = await create();
    await server.dispatchOnce();
    await deliver();
    const answers = await Promise.allSettled([resend(id), resend(id), resend(id)]);
    await deliver();

    const refused = answers.filter(({ status }) => status === "rejected");
    assert.equal(refused.length, 2);
    assert.equal(receiver.calls.length, 2);
  });

  it("are not resent before the task ends, while a try is pending, or without a URL", async () => {
    const silent = await create({ onCompleteUrl: null });
    const direct = await create({ onCompleteUrl: null, shape: "direct" });
    const id = await create({ delaySeconds: 60 });
    await assert.rejects(resend(id), {
      code: "task_not_ended",
      message: "Task has not ended (current: pending)",
    });
    await server.tasks.cancel(server.principal, id);
    const [due] = (await notificationsOf(id)) ?? [];
    await assert.rejects(resend(id), {
      code: "notification_pending",
      message: `Notification is still being delivered (next try: ${due?.nextAt?.toISOString()})`,
    });
    await assert.rejects(resend(silent), {
      code: "notification_unset",
      message: "Task has no on_complete_url: there is no notification to send again",
    });
    await assert.rejects(resend(direct), /Task has no onCompleteUrl:/);
    await assert.rejects(resend("00000000-0000-7000-8000-000000000000"), { code: "task_not_found" });
    const guest = await server.openTeam();
    await deliver();
    await assert.rejects(server.tasks.resendNotification(guest, id), { code: "task_not_found" });
    await deliver();

    assert.equal(receiver.calls.length, 1);
  });

  it("are resent by a test key for sandbox tasks only", async () => {
    const id = await create();
    await server.dispatchOnce();
    await deliver();
    const tester = { ...server.principal, environment: "test" as const };
    await assert.rejects(server.tasks.resendNotification(tester, id), { code: "task_not_found" });
    const asked = { ...plainRequest(server.target.url), onCompleteUrl: receiver.url, delaySeconds: 60 };
    const sandboxed = await server.tasks.create(tester, asked);
    await server.tasks.cancel(tester, sandboxed.id);
    await deliver();
    await server.tasks.resendNotification(tester, sandboxed.id);
    await deliver();

    assert.equal(receiver.calls.length, 3);
  });

  it("are resent for the last end only after a manual retry", async () => {
    server.target.answer = (_call, response) => response.writeHead(500).end();
    const id = await create();
    await server.dispatchOnce();
    await deliver();
    server.target.answer = (_call, response) => response.end("{}");
    await server.tasks.retry(server.principal, id, { delaySeconds: 60, priority: null });
    await assert.rejects(resend(id), { code: "task_not_ended" });
    await server.advance(61);
    await server.dispatchOnce();
    await deliver();
    await resend(id);
    await deliver();

    const types = receiver.calls.map(({ body }) => JSON.parse(body).type);
    assert.deepEqual(types, ["task.failed", "task.completed", "task.completed"]);
    const delivered = { ...done(), status: "delivered", attempts: 1 };
    assert.deepEqual(await notificationsOf(id), [delivered, delivered]);
  });
});
