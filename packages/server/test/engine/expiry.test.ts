import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Problem } from "../../src/domain/problem.ts";
import { openTestHouse, QUEUE, type TestHouse } from "../test-house.ts";
import { countBothWays } from "../test-store.ts";

describe("a task that expires", () => {
  let house: TestHouse;
  before(async () => {
    house = await openTestHouse({ maxRetries: 2, retryDelaySeconds: 100, retryMaxDelaySeconds: 150 });
  });
  after(() => house.close());

  const expire = () => house.engine.deadlines.expireOnce();
  const endOf = async (id: string) => {
    const { status, failureReason, error } = await house.task(id);
    return [status, failureReason, error];
  };

  it("fails if no attempt was begun in time, also while its queue is paused; a delay does not extend it", async () => {
    await house.queues.setPaused(house.principal, QUEUE, true);
    const paused = await house.submit({ expiresInSeconds: 60 });
    const delayed = await house.submit({ expiresInSeconds: 60, delaySeconds: 600 });
    await expire();
    assert.equal((await house.task(paused)).status, "pending");

    await house.advance(61);
    await expire();

    const expired = ["failed", "expired", "No attempt was begun within 60 s"];
    assert.deepEqual(await endOf(paused), expired);
    assert.deepEqual(await endOf(delayed), expired);
    await house.queues.setPaused(house.principal, QUEUE, false);
    const { tallied, counted } = await countBothWays(house.database);
    assert.deepEqual(tallied, counted);
  });

  it("is not begun late, though the one who ends it has not come by yet", async () => {
    await house.queues.setPaused(house.principal, QUEUE, true);
    const id = await house.submit({ expiresInSeconds: 60 });
    await house.advance(61);
    await house.queues.setPaused(house.principal, QUEUE, false);
    const before = house.target.calls.length;

    await house.dispatchOnce();

    assert.equal(house.target.calls.length, before);
    await expire();
    assert.equal((await house.task(id)).failureReason, "expired");
  });

  it("does not expire once an attempt has begun: neither while it is retried, nor when it was begun at once", async () => {
    house.target.answer = (_call, response) => response.writeHead(500).end();
    const ids = [
      await house.submit({ expiresInSeconds: 60 }),
      await house.submit({ expiresInSeconds: 60, delaySeconds: 1 }),
    ];
    await house.advance(1);
    await house.dispatchOnce();

    await house.advance(99);
    await expire();

    for (const id of ids) assert.equal((await house.task(id)).status, "pending");
    house.target.answer = (_call, response) => response.end("{}");
    await house.advance(10);
    await house.dispatchOnce();
    for (const id of ids) assert.equal((await house.task(id)).status, "completed");
  });

  it("has its time anew after a retry by hand", async () => {
    const id = await house.submit({ expiresInSeconds: 60, delaySeconds: 600 });
    await house.advance(61);
    await expire();

    await assert.rejects(
      house.tasks.retry(house.principal, id, { delaySeconds: 61, priority: null }),
      (error) =>
        error instanceof Problem &&
        error.message === "delay is beyond expires_in (60 s): the task would expire before it is due",
    );
    await house.queues.setPaused(house.principal, QUEUE, true);
    await house.tasks.retry(house.principal, id, { delaySeconds: 60, priority: null });
    await house.advance(50);
    await expire();
    assert.equal((await house.task(id)).status, "pending");
    await house.advance(11);
    await expire();
    assert.equal((await house.task(id)).failureReason, "expired");
    await house.queues.setPaused(house.principal, QUEUE, false);
  });
});

describe("what a task says about its retries", () => {
  let house: TestHouse;
  before(async () => {
    house = await openTestHouse({
      retryDelaySeconds: 100,
      retryMaxDelaySeconds: 150,
      noRetryStatuses: [410],
    });
  });
  after(() => house.close());

  const waitOf = async (id: string) => {
    const [row] = await house.database.rows<{ seconds: number }>(
      "select round(extract(epoch from run_at - now()))::integer as seconds from tasks where id = $1",
      [id],
    );
    return row?.seconds ?? Number.NaN;
  };

  it("comes before what its queue says: base wait, cap, and the answers that end it", async () => {
    house.target.answer = (_call, response) => response.writeHead(500).end();
    const queues = await house.submit();
    const own = await house.submit({ retryDelaySeconds: 20, retryMaxDelaySeconds: 5000 });
    await house.dispatchOnce();
    const waits = [await waitOf(queues), await waitOf(own)];
    await house.advance(101);
    await house.dispatchOnce();
    waits.push(await waitOf(queues), await waitOf(own));
    const expected = [100, 20, 150, 40];
    for (const [index, wait] of waits.entries()) {
      assert.ok(Math.abs(wait - (expected[index] ?? 0)) <= 4, `${waits} is not ${expected}`);
    }

    house.target.answer = (_call, response) => response.writeHead(410).end("gone");
    const ended = await house.submit();
    const retried = await house.submit({ noRetryStatuses: [] });
    await house.dispatchOnce();
    const { status, failureReason, result, attempts } = await house.task(ended);
    assert.deepEqual(
      [status, failureReason, result?.body, attempts.length],
      ["failed", "not_retryable", "gone", 1],
    );
    assert.equal((await house.task(retried)).status, "pending");
  });

  it("is also said by its target", async () => {
    house.target.answer = (_call, response) => response.writeHead(500, { "Bellhop-No-Retry": "true" }).end();
    const id = await house.submit();
    await house.dispatchOnce();

    assert.equal((await house.task(id)).failureReason, "not_retryable");
  });
});
