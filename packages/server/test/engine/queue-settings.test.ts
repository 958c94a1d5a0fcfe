import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { setQueuePaused } from "../../src/store/tasks/queues.ts";
import { openTestHouse, QUEUE, type TestHouse } from "../test-house.ts";

describe("settings of a queue", () => {
  let house: TestHouse;
  before(async () => {
    house = await openTestHouse({
      maxRetries: 1,
      backoff: "fixed",
      retryDelaySeconds: 10,
      timeoutSeconds: 20,
    });
  });
  after(() => house.close());

  it("apply to new tasks only: tasks already in the queue keep those from their creation", async () => {
    house.target.answer = (_call, response) => response.writeHead(500).end();
    const old = await house.submit({ delaySeconds: 1 });
    await house.queues.update(house.principal, QUEUE, {
      maxRetries: 5,
      backoff: "exponential",
      retryDelaySeconds: 100,
      timeoutSeconds: 40,
    });
    const fresh = await house.submit({ delaySeconds: 1 });

    await house.advance(1);
    await house.dispatchOnce();
    const waits = await house.database.rows<{ id: string; seconds: number }>(
      "select id, round(extract(epoch from run_at - now()))::integer as seconds from tasks where status = 'pending'",
    );
    assert.ok(Math.abs((waits.find(({ id }) => id === old)?.seconds ?? 0) - 10) <= 2);
    assert.ok(Math.abs((waits.find(({ id }) => id === fresh)?.seconds ?? 0) - 100) <= 2);

    await house.advance(101);
    await house.dispatchOnce();
    const [kept, changed] = [await house.task(old), await house.task(fresh)];
    assert.deepEqual(
      [kept.status, kept.maxRetries, kept.backoff, kept.timeoutSeconds],
      ["failed", 1, "fixed", 20],
    );
    assert.equal(kept.attempts.length, 2);
    assert.deepEqual(
      [changed.status, changed.maxRetries, changed.backoff, changed.timeoutSeconds],
      ["pending", 5, "exponential", 40],
    );
  });

  it("have the defaults that docs/api.md names", async () => {
    const queue = await house.queues.create(house.principal, "plain", {});

    assert.deepEqual(
      [queue.concurrency, queue.maxRetries, queue.backoff, queue.timeoutSeconds, queue.paused],
      [5, 3, "exponential", 30, false],
    );
  });
});

describe("a paused queue", () => {
  let house: TestHouse;
  before(async () => {
    house = await openTestHouse({ concurrency: 2 });
  });
  after(() => house.close());
  afterEach(async () => {
    await house.queues.setPaused(house.principal, QUEUE, false);
    house.target.answer = (_call, response) => response.end("{}");
    house.target.release();
    await house.dispatchOnce();
  });

  const pause = (paused: boolean) => house.queues.setPaused(house.principal, QUEUE, paused);

  it("starts nothing new, while what is executing completes normally", async () => {
    const before = house.target.calls.length;
    house.target.hold();
    const ids = await Promise.all([1, 2, 3, 4].map(() => house.submit()));
    await house.quiet();
    await house.target.received(before + 2);

    await pause(true);
    house.target.release(2);
    await house.engine.attempts.finished();
    await house.quiet();
    await house.look();

    assert.equal(house.target.calls.length, before + 2);
    const statuses = await Promise.all(ids.map(async (id) => (await house.task(id)).status));
    assert.deepEqual(statuses.sort(), ["completed", "completed", "pending", "pending"]);
  });

  it("starts nothing from the moment the pause is stored, although the node has not heard of it", async () => {
    await house.submit();
    await house.dispatchOnce();
    const before = house.target.calls.length;

    await setQueuePaused(house.database, house.principal.teamId, QUEUE, true);
    await Promise.all([house.submit(), house.submit(), house.submit()]);
    await house.rest();

    assert.equal(house.target.calls.length, before);
  });

  it("goes on after it was resumed, although the node has heard neither of the pause nor of its end", async () => {
    const id = await house.submit({ delaySeconds: 60 });
    await house.quiet();
    for (const paused of [true, false]) {
      await setQueuePaused(house.database, house.principal.teamId, QUEUE, paused);
    }
    await house.advance(60);
    house.engine.dispatcher.notice(house.principal.teamId, QUEUE);
    await house.rest();
    await house.engine.attempts.finished();

    assert.equal((await house.task(id)).status, "completed");
  });

  it("takes new tasks, and executes them once it is resumed", async () => {
    await pause(true);
    const [first, second] = [await house.submit(), await house.submit({ priority: 9 })];
    await house.quiet();
    assert.equal((await house.queues.get(house.principal, QUEUE)).stats.pending, 2);

    await pause(false);
    await house.quiet();
    await house.dispatchOnce();

    for (const id of [first, second]) assert.equal((await house.task(id)).status, "completed");
  });

  it("goes on by itself when it is resumed: the node hears of it", async () => {
    await pause(true);
    await house.quiet();
    const id = await house.submit();
    await house.quiet();

    await pause(false);
    await house.quiet();
    await house.engine.attempts.finished();

    assert.equal((await house.task(id)).status, "completed");
  });

  it("keeps delayed tasks and retries waiting too", async () => {
    const delayed = await house.submit({ delaySeconds: 5 });
    house.target.answer = (_call, response) => response.writeHead(500).end();
    const retried = await house.submit();
    await house.dispatchOnce();
    await pause(true);
    house.target.answer = (_call, response) => response.end("{}");
    const before = house.target.calls.length;

    await house.advance(10);
    await house.look();
    assert.equal(house.target.calls.length, before);

    await pause(false);
    await house.dispatchOnce();
    assert.equal((await house.task(delayed)).status, "completed");
    assert.equal((await house.task(retried)).status, "completed");
  });
});
