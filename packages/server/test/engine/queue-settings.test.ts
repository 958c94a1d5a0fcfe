import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { setQueuePaused } from "../../src/store/tasks/queues.ts";
import { openTestServer, QUEUE, type TestServer } from "../test-server.ts";

describe("settings of a queue", () => {
  let server: TestServer;
  before(async () => {
    server = await openTestServer({
      maxRetries: 1,
      backoff: "fixed",
      retryDelaySeconds: 10,
      timeoutSeconds: 20,
    });
  });
  after(() => server.close());

  it("apply to new tasks only: existing tasks keep those from their creation", async () => {
    server.target.answer = (_call, response) => response.writeHead(500).end();
    const old = await server.submit({ delaySeconds: 1 });
    await server.queues.update(server.principal, QUEUE, {
      maxRetries: 5,
      backoff: "exponential",
      retryDelaySeconds: 100,
      timeoutSeconds: 40,
    });
    const fresh = await server.submit({ delaySeconds: 1 });

    await server.advance(1);
    await server.dispatchOnce();
    const waits = await server.database.rows<{ id: string; seconds: number }>(
      "select id, round(extract(epoch from run_at - now()))::integer as seconds from tasks where status = 'pending'",
    );
    assert.ok(Math.abs((waits.find(({ id }) => id === old)?.seconds ?? 0) - 10) <= 2);
    assert.ok(Math.abs((waits.find(({ id }) => id === fresh)?.seconds ?? 0) - 100) <= 2);

    await server.advance(101);
    await server.dispatchOnce();
    const [kept, changed] = [await server.task(old), await server.task(fresh)];
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
    const queue = await server.queues.create(server.principal, "plain", {});

    assert.deepEqual(
      [queue.concurrency, queue.maxRetries, queue.backoff, queue.timeoutSeconds, queue.paused],
      [5, 3, "exponential", 30, false],
    );
  });
});

describe("a paused queue", () => {
  let server: TestServer;
  before(async () => {
    server = await openTestServer({ concurrency: 2 });
  });
  after(() => server.close());
  afterEach(async () => {
    await server.queues.setPaused(server.principal, QUEUE, false);
    server.target.answer = (_call, response) => response.end("{}");
    server.target.release();
    await server.dispatchOnce();
  });

  const pause = (paused: boolean) => server.queues.setPaused(server.principal, QUEUE, paused);

  it("starts no new call, while running ones complete normally", async () => {
    const before = server.target.calls.length;
    server.target.hold();
    const ids = await Promise.all([1, 2, 3, 4].map(() => server.submit()));
    await server.quiet();
    await server.target.received(before + 2);

    await pause(true);
    server.target.release(2);
    await server.engine.attempts.finished();
    await server.quiet();
    await server.look();

    assert.equal(server.target.calls.length, before + 2);
    const statuses = await Promise.all(ids.map(async (id) => (await server.task(id)).status));
    assert.deepEqual(statuses.sort(), ["completed", "completed", "pending", "pending"]);
  });

  it("starts nothing from the moment the pause is stored, before the hint reaches the node", async () => {
    await server.submit();
    await server.dispatchOnce();
    const before = server.target.calls.length;

    await setQueuePaused(server.database, server.principal.teamId, QUEUE, true);
    await Promise.all([server.submit(), server.submit(), server.submit()]);
    await server.rest();

    assert.equal(server.target.calls.length, before);
  });

  it("continues after it was resumed although the node received neither hint", async () => {
    const id = await server.submit({ delaySeconds: 60 });
    await server.quiet();
    for (const paused of [true, false]) {
      await setQueuePaused(server.database, server.principal.teamId, QUEUE, paused);
    }
    await server.advance(60);
    server.engine.dispatcher.notice(server.principal.teamId, QUEUE);
    await server.rest();
    await server.engine.attempts.finished();

    assert.equal((await server.task(id)).status, "completed");
  });

  it("accepts new tasks, and executes them once it is resumed", async () => {
    await pause(true);
    const [first, second] = [await server.submit(), await server.submit({ priority: 9 })];
    await server.quiet();
    assert.equal((await server.queues.get(server.principal, QUEUE)).stats.pending, 2);

    await pause(false);
    await server.quiet();
    await server.dispatchOnce();

    for (const id of [first, second]) assert.equal((await server.task(id)).status, "completed");
  });

  it("continues at once when it is resumed: a hint reaches the node", async () => {
    await pause(true);
    await server.quiet();
    const id = await server.submit();
    await server.quiet();

    await pause(false);
    await server.quiet();
    await server.engine.attempts.finished();

    assert.equal((await server.task(id)).status, "completed");
  });

  it("keeps delayed tasks and retries waiting too", async () => {
    const delayed = await server.submit({ delaySeconds: 5 });
    server.target.answer = (_call, response) => response.writeHead(500).end();
    const retried = await server.submit();
    await server.dispatchOnce();
    await pause(true);
    server.target.answer = (_call, response) => response.end("{}");
    const before = server.target.calls.length;

    await server.advance(10);
    await server.look();
    assert.equal(server.target.calls.length, before);

    await pause(false);
    await server.dispatchOnce();
    assert.equal((await server.task(delayed)).status, "completed");
    assert.equal((await server.task(retried)).status, "completed");
  });
});
