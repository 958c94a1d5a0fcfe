import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { openTestServer, QUEUE, type TestServer } from "../test-server.ts";

describe("a queue deleted and created again under the same name", () => {
  let server: TestServer;
  beforeEach(async () => {
    server = await openTestServer({ concurrency: 3 });
    server.target.hold();
  });
  afterEach(() => server.close());

  const call = (path: string) => ({
    method: "POST" as const,
    url: `${server.target.url}${path}`,
    headers: {},
    body: "{}",
  });

  async function replaceQueue(concurrency: number): Promise<void> {
    for (let index = 0; index < 3; index += 1) await server.submit({ call: call("/old") });
    await server.look();
    await server.target.received(3);
    await server.queues.remove(server.principal, QUEUE);
    await server.quiet();
    await server.queues.create(server.principal, QUEUE, { concurrency });
  }

  it("starts its tasks at once while calls of the old queue still run", async () => {
    await replaceQueue(2);

    await server.submit({ call: call("/new") });
    await server.submit({ call: call("/new") });
    await server.look();
    await server.target.received(5);

    assert.equal(server.target.calls.filter(({ path }) => path === "/new").length, 2);
  });

  it("keeps its own concurrency while calls of the old queue end", async () => {
    await replaceQueue(2);
    for (let index = 0; index < 6; index += 1) await server.submit({ call: call("/new") });
    await server.look();
    await server.target.received(5);

    for (let ended = 1; ended <= 3; ended += 1) {
      server.target.release(1);
      await server.settled(ended);
      await server.quiet();
      await server.look();
    }

    assert.equal(server.engine.attempts.count, 2);
    server.target.answer = (_call, response) => response.end("{}");
    server.target.release();
    await server.dispatchOnce();
    assert.equal(server.target.mostAtOnceAt("/new"), 2);
  });
});
