import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { openTestHouse, QUEUE, type TestHouse } from "../test-house.ts";

describe("dispatching", () => {
  let house: TestHouse;
  beforeEach(async () => {
    house = await openTestHouse({ concurrency: 5, maxRetries: 1 });
  });
  afterEach(() => house.close());

  it("completes a task whose webhook answers 2xx, with one successful attempt", async () => {
    const id = await house.submit();
    await house.dispatchOnce();

    const task = await house.task(id);
    assert.equal(task.status, "completed");
    assert.deepEqual(
      task.attempts.map(({ number, status, responseCode }) => ({ number, status, responseCode })),
      [{ number: 1, status: "success", responseCode: 200 }],
    );
    assert.equal(house.target.calls.length, 1);
  });

  it("starts due tasks strictly by priority, then in the order they came", async () => {
    await house.queues.update(house.principal, QUEUE, { concurrency: 1 });
    await house.queues.setPaused(house.principal, QUEUE, true);
    for (const [index, priority] of [1, 10, 5, 10, 7].entries()) {
      await house.submit({
        priority,
        call: { method: "POST", url: `${house.target.url}/${priority}-${index}`, headers: {}, body: "{}" },
      });
    }
    await house.queues.setPaused(house.principal, QUEUE, false);
    await house.dispatchOnce();
    await house.target.received(5);

    assert.deepEqual(
      house.target.calls.map(({ path }) => path),
      ["/10-1", "/10-3", "/7-4", "/5-2", "/1-0"],
    );
  });

  it("starts a task of the highest priority before those that wait, although it was submitted last", async () => {
    await house.queues.update(house.principal, QUEUE, { concurrency: 1 });
    const to = (path: string) => ({
      call: { method: "POST" as const, url: `${house.target.url}${path}`, headers: {}, body: "{}" },
    });
    house.target.hold();
    await house.submit({ ...to("/first"), priority: 1 });
    await house.quiet();
    await house.target.received(1);
    for (const path of ["/a", "/b", "/c"]) await house.submit({ ...to(path), priority: 9 });
    await house.submit({ ...to("/urgent"), priority: 10 });

    house.target.answer = (_call, response) => response.end("{}");
    house.target.release();
    await house.dispatchOnce();

    assert.deepEqual(
      house.target.calls.map(({ path }) => path),
      ["/first", "/urgent", "/a", "/b", "/c"],
    );
  });
});
