import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { Problem } from "../../src/domain/problem.ts";
import { openTestHouse, QUEUE, type TestHouse } from "../test-house.ts";
import { createGate } from "../test-sql.ts";

const problem = (message: string, status: number) => (error: unknown) => {
  assert.ok(error instanceof Problem);
  assert.equal(error.message, message);
  assert.equal(error.status, status);
  return true;
};

describe("deleting a task", () => {
  let house: TestHouse;
  before(async () => {
    house = await openTestHouse({ concurrency: 3, maxRetries: 0 });
  });
  after(() => house.close());
  afterEach(async () => {
    house.target.answer = (_call, response) => response.end("{}");
    house.target.release();
    await house.dispatchOnce();
  });

  const remove = (id: string) => house.tasks.remove(house.principal, id);
  const withId = (name: string) => ({
    call: { method: "POST" as const, url: `${house.target.url}/${name}`, headers: {}, body: "{}" },
  });

  it("removes a pending task, which is then unknown", async () => {
    const id = await house.submit({ delaySeconds: 60 });

    await remove(id);

    await assert.rejects(house.task(id), problem("Task not found", 404));
    await assert.rejects(remove(id), problem("Task not found", 404));
  });

  it("is refused for an active, a completed and a failed task, which stay as they are", async () => {
    const completed = await house.submit();
    await house.dispatchOnce();
    house.target.answer = (_call, response) => response.writeHead(500).end();
    const failed = await house.submit();
    await house.dispatchOnce();
    house.target.hold();
    const active = await house.submit();
    await house.look();

    for (const [id, status] of [
      [completed, "completed"],
      [failed, "failed"],
      [active, "active"],
    ] as const) {
      await assert.rejects(remove(id), problem(`Task is not pending (current: ${status})`, 409));
      assert.equal((await house.task(id)).status, status);
    }
  });

  it("is refused for another team's task as for an unknown one", async () => {
    const id = await house.submit({ delaySeconds: 60 });
    const guest = await house.openTeam();

    await assert.rejects(house.tasks.remove(guest, id), problem("Task not found", 404));
    assert.equal((await house.task(id)).status, "pending");
  });

  it("removes a task that waits for its retry", async () => {
    house.target.answer = (_call, response) => response.writeHead(500).end();
    const id = await house.submit({ maxRetries: 3, ...withId("retried") });
    await house.dispatchOnce();

    await remove(id);
    await house.advance(3600);
    await house.dispatchOnce();

    assert.equal(house.target.calls.filter(({ path }) => path === "/retried").length, 1);
  });

  it("is never followed by a call: 200 deletes race against a dispatcher (promise F)", async () => {
    await house.queues.setPaused(house.principal, QUEUE, true);
    const names = Array.from({ length: 200 }, (_, index) => `race-${index}`);
    const ids = await Promise.all(names.map((name) => house.submit(withId(name))));
    await house.queues.setPaused(house.principal, QUEUE, false);

    const dispatching = house.dispatchOnce();
    const removals = await Promise.allSettled([...ids].reverse().map(remove));
    await dispatching;
    await house.dispatchOnce();

    const called = new Set(house.target.calls.map(({ path }) => path.slice(1)));
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
  let house: TestHouse;
  before(async () => {
    house = await openTestHouse();
  });
  after(() => house.close());
  afterEach(() => {
    house.target.answer = (_call, response) => response.end("{}");
    house.target.release();
  });

  it("takes its pending tasks with it, and lets the active ones finish", async () => {
    await house.queues.create(house.principal, "doomed", { concurrency: 2 });
    house.target.hold();
    const before = house.target.calls.length;
    const request = { queue: "doomed" };
    const active = [await house.submit(request), await house.submit(request)];
    await house.quiet();
    await house.target.received(before + 2);
    const pending = [await house.submit(request), await house.submit({ ...request, delaySeconds: 60 })];

    await house.queues.remove(house.principal, "doomed");
    await house.quiet();

    for (const id of pending) await assert.rejects(house.task(id), problem("Task not found", 404));
    house.target.release();
    await house.engine.attempts.finished();
    for (const id of active) assert.equal((await house.task(id)).status, "completed");
    assert.equal(house.target.calls.length, before + 2);
  });

  it("ends an active task whose attempt fails: there is no queue to retry in", async () => {
    await house.queues.create(house.principal, "failing", { maxRetries: 3 });
    house.target.hold();
    const before = house.target.calls.length;
    const id = await house.submit({ queue: "failing" });
    await house.quiet();
    await house.target.received(before + 1);

    await house.queues.remove(house.principal, "failing");
    house.target.release(1, 500);
    await house.engine.attempts.finished();

    const task = await house.task(id);
    assert.deepEqual([task.status, task.failureReason, task.queue], ["failed", "queue_deleted", "failing"]);
    assert.equal(task.attempts.length, 1);
  });

  it("makes it unknown at once, for new tasks too, and cannot be repeated", async () => {
    await house.queues.create(house.principal, "brief", {});
    await house.queues.remove(house.principal, "brief");

    const unknown = problem('Queue "brief" not found', 404);
    await assert.rejects(house.queues.get(house.principal, "brief"), unknown);
    await assert.rejects(house.queues.remove(house.principal, "brief"), unknown);
    await assert.rejects(house.submit({ queue: "brief" }), unknown);
  });

  it("does not touch a queue of the same name of another team", async () => {
    const guest = await house.openTeam();
    const id = await house.submit({ delaySeconds: 60 }, guest);

    await house.queues.remove(house.principal, QUEUE);

    assert.equal((await house.tasks.get(guest, id)).status, "pending");
    await house.queues.create(house.principal, QUEUE, {});
  });

  it("is refused for the default queue", async () => {
    await assert.rejects(
      house.queues.remove(house.principal, "default"),
      problem('Queue "default" cannot be deleted', 409),
    );
  });

  it("starts nothing that is inserted while it is deleted, and leaves nothing behind", async () => {
    await house.queues.create(house.principal, "raced", {});
    house.engine.dispatcher.lookAgain(house.principal.teamId, "raced");
    await house.engine.dispatcher.dispatchOnce();
    const before = house.target.calls.length;
    const gate = createGate();
    house.databases.intake.before = gate.wait;
    const submitted = house.submit({ queue: "raced" });
    await gate.reached;
    await house.queues.remove(house.principal, "raced");
    gate.open();

    await assert.rejects(submitted, problem('Queue "raced" not found', 404));
    house.databases.intake.before = () => {};
    await house.dispatchOnce();
    assert.equal(house.target.calls.length, before);
  });

  it("is completed by the janitor where a delete died half-way", async () => {
    const queue = await house.queues.create(house.principal, "half", {});
    const id = await house.submit({ queue: "half", delaySeconds: 60 });
    await house.database.rows("update queues set deleted_at = now(), epoch = epoch + 1 where id = $1", [
      queue.id,
    ]);

    await house.engine.janitor.cleanOnce();

    await assert.rejects(house.task(id), problem("Task not found", 404));
  });
});
