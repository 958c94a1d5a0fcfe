import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Problem } from "../../src/domain/problem.ts";
import { openTestServer, QUEUE, type TestServer } from "../test-server.ts";
import { countBothWays } from "../test-store.ts";

describe("a task with an expiry", () => {
  let server: TestServer;
  before(async () => {
    server = await openTestServer({ maxRetries: 2, retryDelaySeconds: 100, retryMaxDelaySeconds: 150 });
  });
  after(() => server.close());

  const expire = () => server.engine.deadlines.expireOnce();
  const endOf = async (id: string) => {
    const { status, failureReason, error } = await server.task(id);
    return [status, failureReason, error];
  };

  it("fails if no attempt started in time, even in a paused queue or with a longer delay", async () => {
    await server.queues.setPaused(server.principal, QUEUE, true);
    const paused = await server.submit({ expiresInSeconds: 60 });
    const delayed = await server.submit({ expiresInSeconds: 60, delaySeconds: 600 });
    await expire();
    assert.equal((await server.task(paused)).status, "pending");

    await server.advance(61);
    await expire();

    const expired = ["failed", "expired", "No attempt was begun within 60 s"];
    assert.deepEqual(await endOf(paused), expired);
    assert.deepEqual(await endOf(delayed), expired);
    await server.queues.setPaused(server.principal, QUEUE, false);
    const { tallied, counted } = await countBothWays(server.database);
    assert.deepEqual(tallied, counted);
  });

  it("does not start after its expiry, even before the deadline actor has ended it", async () => {
    await server.queues.setPaused(server.principal, QUEUE, true);
    const id = await server.submit({ expiresInSeconds: 60 });
    await server.advance(61);
    await server.queues.setPaused(server.principal, QUEUE, false);
    const before = server.target.calls.length;

    await server.dispatchOnce();

    assert.equal(server.target.calls.length, before);
    await expire();
    assert.equal((await server.task(id)).failureReason, "expired");
  });

  it("does not expire once an attempt has started, even while it waits for a retry", async () => {
    server.target.answer = (_call, response) => response.writeHead(500).end();
    const ids = [
      await server.submit({ expiresInSeconds: 60 }),
      await server.submit({ expiresInSeconds: 60, delaySeconds: 1 }),
    ];
    await server.advance(1);
    await server.dispatchOnce();

    await server.advance(80);
    await expire();

    for (const id of ids) assert.equal((await server.task(id)).status, "pending");
    server.target.answer = (_call, response) => response.end("{}");
    await server.advance(30);
    await server.dispatchOnce();
    for (const id of ids) assert.equal((await server.task(id)).status, "completed");
  });

  it("restarts the expiry after a manual retry", async () => {
    const id = await server.submit({ expiresInSeconds: 60, delaySeconds: 600 });
    await server.advance(61);
    await expire();

    await assert.rejects(
      server.tasks.retry(server.principal, id, { delaySeconds: 61, priority: null }),
      (error) =>
        error instanceof Problem &&
        error.message === "delay is beyond expires_in (60 s): the task would expire before it is due",
    );
    await server.queues.setPaused(server.principal, QUEUE, true);
    await server.tasks.retry(server.principal, id, { delaySeconds: 60, priority: null });
    await server.advance(50);
    await expire();
    assert.equal((await server.task(id)).status, "pending");
    await server.advance(11);
    await expire();
    assert.equal((await server.task(id)).failureReason, "expired");
    await server.queues.setPaused(server.principal, QUEUE, false);
  });
});

describe("the retry settings of a task", () => {
  let server: TestServer;
  before(async () => {
    server = await openTestServer({
      retryDelaySeconds: 100,
      retryMaxDelaySeconds: 150,
      noRetryStatuses: [410],
    });
  });
  after(() => server.close());

  const waitOf = async (id: string) => {
    const [row] = await server.database.rows<{ seconds: number }>(
      "select round(extract(epoch from run_at - now()))::integer as seconds from tasks where id = $1",
      [id],
    );
    return row?.seconds ?? Number.NaN;
  };

  it("override the queue's first delay, maximum delay and non-retryable statuses", async () => {
    server.target.answer = (_call, response) => response.writeHead(500).end();
    const queues = await server.submit();
    const own = await server.submit({ retryDelaySeconds: 20, retryMaxDelaySeconds: 5000 });
    await server.dispatchOnce();
    const waits = [await waitOf(queues), await waitOf(own)];
    await server.advance(101);
    await server.dispatchOnce();
    waits.push(await waitOf(queues), await waitOf(own));
    const expected = [100, 20, 150, 40];
    for (const [index, wait] of waits.entries()) {
      assert.ok(Math.abs(wait - (expected[index] ?? 0)) <= 4, `${waits} is not ${expected}`);
    }

    server.target.answer = (_call, response) => response.writeHead(410).end("gone");
    const ended = await server.submit();
    const retried = await server.submit({ noRetryStatuses: [] });
    await server.dispatchOnce();
    const { status, failureReason, result, attempts } = await server.task(ended);
    assert.deepEqual(
      [status, failureReason, result?.body, attempts.length],
      ["failed", "not_retryable", "gone", 1],
    );
    assert.equal((await server.task(retried)).status, "pending");
  });

  it("are overridden by the target's Bellhop-No-Retry header", async () => {
    server.target.answer = (_call, response) => response.writeHead(500, { "Bellhop-No-Retry": "true" }).end();
    const id = await server.submit();
    await server.dispatchOnce();

    assert.equal((await server.task(id)).failureReason, "not_retryable");
  });
});
