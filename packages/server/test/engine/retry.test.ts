import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { Problem } from "../../src/domain/problem.ts";
import type { TaskRequest } from "../../src/domain/task-copies.ts";
import { until } from "../patience.ts";
import { openTestServer, plainRequest, QUEUE, type TestServer } from "../test-server.ts";
import { ALL_TASKS, countBothWays } from "../test-store.ts";

const problem = (message: string, status: number) => (error: unknown) => {
  assert.ok(error instanceof Problem);
  assert.deepEqual([error.message, error.status], [message, status]);
  return true;
};

describe("a manual retry of a task", () => {
  let server: TestServer;
  before(async () => {
    server = await openTestServer({ maxRetries: 1, backoff: "fixed", retryDelaySeconds: 0 });
  });
  after(() => server.close());
  afterEach(async () => {
    answerWith(200);
    const { tallied, counted } = await countBothWays(server.database);
    assert.deepEqual(tallied, counted);
  });

  function answerWith(status: number): void {
    server.target.answer = (_call, response) => response.writeHead(status).end("{}");
  }
  const retry = (id: string, delaySeconds = 0, priority: number | null = null) =>
    server.tasks.retry(server.principal, id, { delaySeconds, priority });

  async function comesTo(id: string, status: string): Promise<void> {
    await until(async () => {
      if ((await server.task(id)).status === status) return true;
      await server.dispatchOnce();
      return false;
    });
  }

  async function failed(request: Partial<TaskRequest> = {}): Promise<string> {
    answerWith(500);
    const id = await server.submit(request);
    await comesTo(id, "failed");
    return id;
  }

  it("restarts it under its id with all its retries, and continues its attempt numbers", async () => {
    const id = await failed();

    const task = await retry(id);

    assert.deepEqual(
      [task.status, task.retries, task.error, task.failureReason, task.completedAt, task.result],
      ["pending", 1, null, null, null, null],
    );
    await comesTo(id, "failed");
    const again = await server.task(id);
    assert.deepEqual(
      [again.status, again.failureReason, again.attempts.map(({ number }) => number)],
      ["failed", "retries_exhausted", [1, 2, 3, 4]],
    );
    answerWith(200);
    assert.equal((await retry(id)).retries, 2);
    await server.dispatchOnce();
    const done = await server.task(id);
    assert.deepEqual([done.status, done.attempts.at(-1)?.number, done.retries], ["completed", 5, 2]);
  });

  it("accepts a delay and a new priority", async () => {
    const id = await failed();
    const before = server.target.calls.length;

    const task = await retry(id, 600, 9);
    await server.dispatchOnce();

    assert.equal(task.priority, 9);
    assert.ok(task.runAt.getTime() > Date.now() + 590_000);
    assert.equal(server.target.calls.length, before);
    answerWith(200);
    await server.advance(601);
    await server.dispatchOnce();
    assert.equal((await server.task(id)).status, "completed");
  });

  it("starts a second after a cancel, so that the call in flight is aborted first", async () => {
    server.target.hold();
    const before = server.target.calls.length;
    const id = await server.submit();
    await server.look();
    await server.target.received(before + 1);
    await server.tasks.cancel(server.principal, id);

    const task = await retry(id);

    assert.ok(task.runAt.getTime() > task.createdAt.getTime() + 900);
    assert.deepEqual(
      task.attempts.map(({ status }) => status),
      ["aborted"],
    );
    answerWith(200);
    await server.advance(2);
    await server.dispatchOnce();
    assert.equal((await server.task(id)).status, "completed");
  });

  it("is refused for pending and completed tasks, another team, and a deleted queue", async () => {
    answerWith(200);
    const completed = await server.submit();
    await server.dispatchOnce();
    const pending = await server.submit({ delaySeconds: 60 });
    await server.queues.create(server.principal, "doomed", { maxRetries: 0 });
    const orphan = await failed({ queue: "doomed" });
    await server.queues.remove(server.principal, "doomed");
    const guest = await server.openTeam();

    const notIn = (status: string) =>
      problem(`Task is not in failed/cancelled state (current: ${status})`, 409);
    await assert.rejects(retry(completed), notIn("completed"));
    await assert.rejects(retry(pending), notIn("pending"));
    await assert.rejects(
      retry(orphan),
      problem('Task cannot be retried: its queue "doomed" was deleted', 409),
    );
    await assert.rejects(
      server.tasks.retry(guest, completed, { delaySeconds: 0, priority: null }),
      problem("Task not found", 404),
    );
  });

  it("succeeds once when two requests race", async () => {
    const id = await failed();

    const both = await Promise.allSettled([retry(id, 60), retry(id, 60)]);

    assert.deepEqual(both.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
    assert.equal((await server.task(id)).retries, 1);
    await server.tasks.remove(server.principal, id);
  });

  it("makes an unused callback id valid again, and sends it in the call", async () => {
    answerWith(200);
    const call = { method: "POST" as const, url: server.target.url, headers: {}, body: "{callbackId}" };
    const request = { ...plainRequest(server.target.url), waitForCallback: true, maxWaitSeconds: 60 };
    const { id, callback } = await server.tasks.create(server.principal, {
      ...request,
      shape: "direct",
      call,
    });
    await server.dispatchOnce();
    await server.advance(61);
    await server.engine.deadlines.expireOnce();
    const resolve = () => server.callbacks.resolve(callback?.id ?? "", '"done"');
    assert.equal((await server.task(id)).failureReason, "callback_timeout");
    await assert.rejects(resolve(), problem("Invalid or expired callback ID", 404));

    await retry(id);
    await server.dispatchOnce();

    assert.equal(server.target.calls.at(-1)?.body, callback?.id);
    assert.equal((await server.task(id)).status, "waiting");
    assert.equal((await resolve()).status, "completed");
    await assert.rejects(resolve(), problem("Invalid or expired callback ID", 404));
  });

  it("drops the undelivered notification of the previous end; the next end sends one", async () => {
    const deliver = async () => {
      await server.engine.courier.workOnce();
      await server.engine.courier.finished();
    };
    const told = () =>
      server.target.calls.filter(({ path }) => path === "/told").map(({ body }) => JSON.parse(body).type);
    const id = await failed({ onCompleteUrl: `${server.target.url}/told` });
    answerWith(200);

    await retry(id, 60);
    const [left] = await server.database.rows<{ count: number }>(
      "select count(*)::integer as count from notifications where url like '%/told'",
    );
    assert.equal(left?.count, 0);
    await deliver();
    assert.deepEqual(told(), []);
    await server.advance(61);
    await server.dispatchOnce();
    await deliver();

    assert.deepEqual(told(), ["task.completed"]);
  });

  it("keeps the idempotency key: the same request returns the restarted task", async () => {
    answerWith(500);
    const request = { ...plainRequest(server.target.url), idempotencyKey: "once", requestText: "same" };
    const { id } = await server.tasks.create(server.principal, request);
    await comesTo(id, "failed");

    await retry(id, 60);

    const again = await server.tasks.create(server.principal, request);
    assert.deepEqual([again.id, again.replayed, again.status], [id, true, "pending"]);
    const [newest] = (await server.tasks.list(server.principal, listOf(1))).tasks;
    assert.equal(newest?.id, id);
  });

  const listOf = (limit: number) => ({
    ...ALL_TASKS,
    queue: QUEUE,
    sandbox: null,
    order: "desc" as const,
    limit,
    offset: 0,
    cursor: null,
  });
});
