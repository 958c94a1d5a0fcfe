import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { Problem } from "../../src/domain/problem.ts";
import { openTestServer, QUEUE, type TestServer } from "../test-server.ts";
import { createGate } from "../test-sql.ts";

const problem = (message: string, status: number) => (error: unknown) => {
  assert.ok(error instanceof Problem);
  assert.equal(error.message, message);
  assert.equal(error.status, status);
  return true;
};

describe("deleting a task", () => {
  let server: TestServer;
  before(async () => {
    server = await openTestServer({ concurrency: 3, maxRetries: 0 });
  });
  after(() => server.close());
  afterEach(async () => {
    server.target.answer = (_call, response) => response.end("{}");
    server.target.release();
    await server.dispatchOnce();
  });

  const remove = (id: string) => server.tasks.remove(server.principal, id);
  const withId = (name: string) => ({
    call: { method: "POST" as const, url: `${server.target.url}/${name}`, headers: {}, body: "{}" },
  });

  it("removes a pending task, after which reads and deletes answer 404", async () => {
    const id = await server.submit({ delaySeconds: 60 });

    await remove(id);

    await assert.rejects(server.task(id), problem("Task not found", 404));
    await assert.rejects(remove(id), problem("Task not found", 404));
  });

  it("is refused for active, completed and failed tasks, and leaves them unchanged", async () => {
    const completed = await server.submit();
    await server.dispatchOnce();
    server.target.answer = (_call, response) => response.writeHead(500).end();
    const failed = await server.submit();
    await server.dispatchOnce();
    server.target.hold();
    const active = await server.submit();
    await server.look();

    for (const [id, status] of [
      [completed, "completed"],
      [failed, "failed"],
      [active, "active"],
    ] as const) {
      await assert.rejects(remove(id), problem(`Task is not pending (current: ${status})`, 409));
      assert.equal((await server.task(id)).status, status);
    }
  });

  it("is refused with 404 for another team's task", async () => {
    const id = await server.submit({ delaySeconds: 60 });
    const guest = await server.openTeam();

    await assert.rejects(server.tasks.remove(guest, id), problem("Task not found", 404));
    assert.equal((await server.task(id)).status, "pending");
  });

  it("removes a task that waits for its retry", async () => {
    server.target.answer = (_call, response) => response.writeHead(500).end();
    const id = await server.submit({ maxRetries: 3, ...withId("retried") });
    await server.dispatchOnce();

    await remove(id);
    await server.advance(3600);
    await server.dispatchOnce();

    assert.equal(server.target.calls.filter(({ path }) => path === "/retried").length, 1);
  });

  it("is never followed by a call when 200 deletes race a dispatcher (promise F)", async () => {
    await server.queues.setPaused(server.principal, QUEUE, true);
    const names = Array.from({ length: 200 }, (_, index) => `race-${index}`);
    const ids = await Promise.all(names.map((name) => server.submit(withId(name))));
    await server.queues.setPaused(server.principal, QUEUE, false);
    const before = server.target.calls.length;
    server.target.hold();

    const dispatching = server.dispatchOnce();
    // The first calls have begun before the first delete.
    await server.target.received(before + 3);
    server.target.answer = (_call, response) => response.end("{}");
    server.target.release();
    const removals = await Promise.allSettled([...ids].reverse().map(remove));
    await dispatching;
    await server.dispatchOnce();

    const called = new Set(server.target.calls.map(({ path }) => path.slice(1)));
    let deleted = 0;
    for (const [index, name] of [...names].reverse().entries()) {
      const gone = removals[index]?.status === "fulfilled";
      if (gone) deleted += 1;
      assert.equal(called.has(name), !gone, `${name} was ${gone ? "deleted" : "kept"}`);
    }
    assert.ok(deleted > 0 && deleted < 200, `both happened: ${deleted} were deleted`);
  });
});

describe("deleting a queue", () => {
  let server: TestServer;
  before(async () => {
    server = await openTestServer();
  });
  after(() => server.close());
  afterEach(() => {
    server.target.answer = (_call, response) => response.end("{}");
    server.target.release();
  });

  it("deletes its pending tasks, and lets active ones finish", async () => {
    await server.queues.create(server.principal, "doomed", { concurrency: 2 });
    server.target.hold();
    const before = server.target.calls.length;
    const request = { queue: "doomed" };
    const active = [await server.submit(request), await server.submit(request)];
    await server.quiet();
    await server.target.received(before + 2);
    const pending = [await server.submit(request), await server.submit({ ...request, delaySeconds: 60 })];

    await server.queues.remove(server.principal, "doomed");
    await server.quiet();

    for (const id of pending) await assert.rejects(server.task(id), problem("Task not found", 404));
    server.target.release();
    await server.engine.attempts.finished();
    for (const id of active) assert.equal((await server.task(id)).status, "completed");
    assert.equal(server.target.calls.length, before + 2);
  });

  it("fails an active task without a retry when its attempt fails", async () => {
    await server.queues.create(server.principal, "failing", { maxRetries: 3 });
    server.target.hold();
    const before = server.target.calls.length;
    const id = await server.submit({ queue: "failing" });
    await server.quiet();
    await server.target.received(before + 1);

    await server.queues.remove(server.principal, "failing");
    server.target.release(1, 500);
    await server.engine.attempts.finished();

    const task = await server.task(id);
    assert.deepEqual([task.status, task.failureReason, task.queue], ["failed", "queue_deleted", "failing"]);
    assert.equal(task.attempts.length, 1);
  });

  it("makes reads, new tasks and a second delete fail with 404", async () => {
    await server.queues.create(server.principal, "brief", {});
    await server.queues.remove(server.principal, "brief");

    const unknown = problem('Queue "brief" not found', 404);
    await assert.rejects(server.queues.get(server.principal, "brief"), unknown);
    await assert.rejects(server.queues.remove(server.principal, "brief"), unknown);
    await assert.rejects(server.submit({ queue: "brief" }), unknown);
  });

  it("leaves another team's queue of the same name alone", async () => {
    const guest = await server.openTeam();
    const id = await server.submit({ delaySeconds: 60 }, guest);

    await server.queues.remove(server.principal, QUEUE);

    assert.equal((await server.tasks.get(guest, id)).status, "pending");
    await server.queues.create(server.principal, QUEUE, {});
  });

  it("is refused for the default queue", async () => {
    await assert.rejects(
      server.queues.remove(server.principal, "default"),
      problem('Queue "default" cannot be deleted', 409),
    );
  });

  it("refuses a task whose insert races with the deletion, and makes no call", async () => {
    await server.queues.create(server.principal, "raced", {});
    server.engine.dispatcher.lookAgain(server.principal.teamId, "raced");
    await server.engine.dispatcher.dispatchOnce();
    const before = server.target.calls.length;
    const gate = createGate();
    server.databases.intake.before = gate.wait;
    const submitted = server.submit({ queue: "raced" });
    await gate.reached;
    await server.queues.remove(server.principal, "raced");
    gate.open();

    await assert.rejects(submitted, problem('Queue "raced" not found', 404));
    server.databases.intake.before = () => {};
    await server.dispatchOnce();
    assert.equal(server.target.calls.length, before);
  });

  it("is completed by the janitor when a delete stopped halfway", async () => {
    const queue = await server.queues.create(server.principal, "half", {});
    const id = await server.submit({ queue: "half", delaySeconds: 60 });
    await server.database.rows("update queues set deleted_at = now(), epoch = epoch + 1 where id = $1", [
      queue.id,
    ]);

    await server.engine.janitor.cleanOnce();

    await assert.rejects(server.task(id), problem("Task not found", 404));
  });
});
