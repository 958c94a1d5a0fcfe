import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { Problem } from "../../src/domain/problem.ts";
import { openTestHouse, QUEUE, type TestHouse } from "../test-house.ts";
import { createGate, databaseAway } from "../test-sql.ts";

describe("intake", () => {
  let house: TestHouse;
  before(async () => {
    house = await openTestHouse({ concurrency: 1 });
  });
  after(() => house.close());
  afterEach(async () => {
    house.databases.intake.before = () => {};
    house.databases.intake.after = () => {};
    await house.dispatchOnce();
  });

  const path = (name: string) => ({
    call: { method: "POST" as const, url: `${house.target.url}/${name}`, headers: {}, body: "{}" },
  });

  /** The node knows the queue, holds its slots and knows that nothing waits: the next task is handed off. */
  async function warmUp(): Promise<void> {
    await house.submit();
    await house.dispatchOnce();
  }

  it("hands a task off without a claim when a slot is free and nothing waits", async () => {
    await warmUp();
    const claims = house.databases.claim.sent.length;

    const id = await house.submit();
    await house.engine.attempts.finished();

    const task = await house.task(id);
    assert.equal(task.status, "completed");
    assert.equal(task.attempts.length, 1);
    assert.equal(house.databases.claim.sent.length, claims);
  });

  it("shares few commits among a hundred tasks that arrive together", async () => {
    await warmUp();
    const flushes = house.databases.intake.sent.length;

    const ids = await Promise.all(Array.from({ length: 100 }, () => house.submit()));

    assert.equal(new Set(ids).size, 100);
    assert.ok(house.databases.intake.sent.length - flushes <= 2);
  });

  it("collects what arrives during a flush into the next one", async () => {
    await warmUp();
    const gate = createGate();
    house.databases.intake.before = gate.wait;
    const flushes = house.databases.intake.sent.length;

    const first = house.submit();
    await gate.reached;
    const others = Array.from({ length: 50 }, () => house.submit());
    gate.open();
    await Promise.all([first, ...others]);

    assert.equal(house.databases.intake.sent.length - flushes, 2);
  });

  it("answers each task of a flush for itself: one with an unknown queue does not disturb the others", async () => {
    const answers = await Promise.allSettled([
      house.submit(),
      house.submit({ queue: "nowhere" }),
      house.submit(),
    ]);

    assert.deepEqual(
      answers.map(({ status }) => status),
      ["fulfilled", "rejected", "fulfilled"],
    );
    const refused = answers[1];
    assert.ok(refused?.status === "rejected" && refused.reason instanceof Problem);
    assert.equal(refused.reason.message, 'Queue "nowhere" not found');
  });

  it("goes on after a flush that the database refused", async () => {
    await assert.rejects(house.submit({ priority: 11 }));

    const id = await house.submit();
    await house.dispatchOnce();

    assert.equal((await house.task(id)).status, "completed");
  });

  it("does not let a task that cannot be stored take the others of its flush with it", async () => {
    const withBody = (body: string) => ({ call: { ...path("odd").call, body } });
    const answers = await Promise.allSettled([
      house.submit(),
      house.submit(withBody("a lone surrogate \ud800")),
      house.submit(withBody("a NUL \0")),
      house.submit(),
    ]);

    assert.equal(answers[0]?.status, "fulfilled");
    assert.equal(answers[3]?.status, "fulfilled");
  });

  it("gives the free slot to the highest priority among tasks that arrive together", async () => {
    await warmUp();
    house.target.calls.length = 0;

    await Promise.all([
      house.submit({ priority: 1, ...path("low") }),
      house.submit({ priority: 10, ...path("high") }),
      house.submit({ priority: 5, ...path("middle") }),
    ]);
    await house.dispatchOnce();
    await house.dispatchOnce();

    assert.deepEqual(
      house.target.calls.map((call) => call.path),
      ["/high", "/middle", "/low"],
    );
  });

  it("looks the task up when the connection is lost during the commit, and answers that it is stored", async () => {
    await warmUp();
    house.databases.intake.after = (statement) => {
      if (statement === "insert_tasks_plain") throw databaseAway();
    };

    const id = await house.submit();
    await house.engine.attempts.finished();

    const task = await house.task(id);
    assert.equal(task.status, "completed");
    assert.equal(task.attempts.length, 1);
  });

  it("answers 503 when the connection is lost before the task was stored, and stores nothing", async () => {
    const [before] = await house.database.rows<{ count: string }>("select count(*) from tasks");
    house.databases.intake.before = (statement) => {
      if (statement === "insert_tasks_plain") throw databaseAway();
    };

    await assert.rejects(house.submit(), (error: Problem) => error.status === 503);

    const [after] = await house.database.rows<{ count: string }>("select count(*) from tasks");
    assert.deepEqual(after, before);
  });

  it("executes a stored task even if the connection is lost and cannot be asked about it", async () => {
    await warmUp();
    house.target.calls.length = 0;
    house.databases.intake.after = () => {
      throw databaseAway();
    };
    await assert.rejects(house.submit(path("unsure")), (error: Problem) => error.status === 503);

    await house.engine.attempts.reconcileOnce();
    await house.engine.attempts.reconcileOnce();
    await house.dispatchOnce();

    assert.deepEqual(
      house.target.calls.map((call) => call.path),
      ["/unsure"],
    );
  });

  it("inserts a task as pending when its queue was paused after the slot was set aside", async () => {
    await warmUp();
    const gate = createGate();
    house.databases.intake.before = gate.wait;
    const submitted = house.submit();
    await gate.reached;
    await house.queues.setPaused(house.principal, QUEUE, true);
    gate.open();
    const id = await submitted;
    await house.rest();

    assert.equal((await house.task(id)).status, "pending");
    await house.queues.setPaused(house.principal, QUEUE, false);
    await house.dispatchOnce();
    assert.equal((await house.task(id)).status, "completed");
  });

  it("inserts a task as pending when its worker was taken for dead meanwhile, and it is executed later", async () => {
    await warmUp();
    await house.database.rows("delete from workers");

    const id = await house.submit();
    assert.equal((await house.task(id)).status, "pending");

    await house.engine.lease.renewOnce();
    await house.dispatchOnce();
    assert.equal((await house.task(id)).status, "completed");
  });
});
