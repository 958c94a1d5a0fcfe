import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { openTestServer, QUEUE, type TestServer } from "../test-server.ts";

describe("dispatching", () => {
  let server: TestServer;
  beforeEach(async () => {
    server = await openTestServer({ concurrency: 5, maxRetries: 1 });
  });
  afterEach(() => server.close());

  it("completes a task whose webhook answers 2xx, with one successful attempt", async () => {
    const id = await server.submit();
    await server.dispatchOnce();

    const task = await server.task(id);
    assert.equal(task.status, "completed");
    assert.deepEqual(
      task.attempts.map(({ number, status, responseCode }) => ({ number, status, responseCode })),
      [{ number: 1, status: "success", responseCode: 200 }],
    );
    assert.equal(server.target.calls.length, 1);
  });

  it("starts due tasks strictly by priority, then in the order of submission", async () => {
    await server.queues.update(server.principal, QUEUE, { concurrency: 1 });
    await server.queues.setPaused(server.principal, QUEUE, true);
    for (const [index, priority] of [1, 10, 5, 10, 7].entries()) {
      await server.submit({
        priority,
        call: { method: "POST", url: `${server.target.url}/${priority}-${index}`, headers: {}, body: "{}" },
      });
    }
    await server.queues.setPaused(server.principal, QUEUE, false);
    await server.dispatchOnce();
    await server.target.received(5);

    assert.deepEqual(
      server.target.calls.map(({ path }) => path),
      ["/10-1", "/10-3", "/7-4", "/5-2", "/1-0"],
    );
  });

  it("starts the last submitted task first when it has the highest priority", async () => {
    await server.queues.update(server.principal, QUEUE, { concurrency: 1 });
    const to = (path: string) => ({
      call: { method: "POST" as const, url: `${server.target.url}${path}`, headers: {}, body: "{}" },
    });
    server.target.hold();
    await server.submit({ ...to("/first"), priority: 1 });
    await server.quiet();
    await server.target.received(1);
    for (const path of ["/a", "/b", "/c"]) await server.submit({ ...to(path), priority: 9 });
    await server.submit({ ...to("/urgent"), priority: 10 });

    server.target.answer = (_call, response) => response.end("{}");
    server.target.release();
    await server.dispatchOnce();

    assert.deepEqual(
      server.target.calls.map(({ path }) => path),
      ["/first", "/urgent", "/a", "/b", "/c"],
    );
  });
});
