import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { Problem } from "../../src/domain/problem.ts";
import { assertFirstStartsAgain, called, callOf, endEach, pathOf, reasonsOf } from "../test-lines.ts";
import { openTestServer, QUEUE, type TestNode, type TestServer } from "../test-server.ts";
import { createTestTime } from "../test-time.ts";

/** Strict order: one task at a time, in the order of creation, over all nodes. */
describe("an ordered queue", () => {
  let server: TestServer;
  afterEach(() => server.close());

  const submit = (node: TestNode, index: number, request: object = {}) =>
    node.submit({ call: callOf(server, index), ...request });
  /** Every node knows which queues are ordered. */
  async function learn(...nodes: readonly TestNode[]): Promise<void> {
    for (const { engine } of nodes) await engine.orderedQueues.lookOnce();
  }

  it("starts tasks one at a time, in the order of creation, on two nodes", async () => {
    server = await openTestServer({ ordered: true });
    const nodes = [server, await server.openNode()];
    await learn(...nodes);
    server.target.hold();
    for (let index = 0; index < 6; index += 1)
      await submit(nodes[index % 2] as TestNode, index, { priority: 1 + index });

    await endEach(server, 6);

    assert.deepEqual(called(server), [0, 1, 2, 3, 4, 5].map(pathOf));
  });

  it("continues at once when its first task is cancelled or deleted on another node", async () => {
    server = await openTestServer({ ordered: true, maxRetries: 3, retryDelaySeconds: 100 });
    const other = await server.openNode();
    await learn(server, other);
    server.target.answer = (call, response) =>
      response.writeHead(call.path === pathOf(0) || call.path === pathOf(1) ? 500 : 200).end("{}");
    const first = await submit(server, 0);
    const second = await submit(server, 1);
    const waiting = await submit(server, 2, { waitForCallback: true });
    await submit(server, 3);
    await server.settled(1);
    await server.quiet();
    assert.deepEqual(called(server), [pathOf(0)]);

    await other.tasks.cancel(server.principal, first);
    await server.settled(2);
    await server.quiet();
    assert.deepEqual(called(server).slice(1), [pathOf(1)]);

    await other.tasks.remove(server.principal, second);
    await server.settled(3);
    await server.quiet();
    assert.deepEqual(called(server).slice(2), [pathOf(2)]);

    await other.tasks.cancel(server.principal, waiting);
    await server.settled(4);
    assert.deepEqual(called(server).slice(3), [pathOf(3)]);
  });

  it("continues at once when its first task is cancelled right after the queue's creation", async () => {
    // No time passes: without a hint, no node learns that the queue is ordered.
    server = await openTestServer({}, { time: createTestTime() });
    const other = await server.openNode();
    for (const { engine } of [server, other]) engine.actors.start();
    await server.quiet();
    const queue = "line";
    await server.queues.create(server.principal, queue, { ordered: true });
    const waiting = await submit(server, 0, { queue, waitForCallback: true });
    await submit(server, 1, { queue });
    await server.settled(1);
    await server.quiet();
    assert.deepEqual(called(server), [pathOf(0)]);

    await other.tasks.cancel(server.principal, waiting);

    await server.settled(2);
    assert.deepEqual(called(server), [0, 1].map(pathOf));
  });

  it("starts the first task again, before any other, when its node has died", async () => {
    server = await openTestServer({ ordered: true });
    await learn(server);
    server.target.hold();
    await submit(server, 0);
    await submit(server, 1);

    await assertFirstStartsAgain(server);
  });

  it("lets running calls end when it becomes ordered, and then starts one at a time", async () => {
    server = await openTestServer({ concurrency: 3 });
    server.target.hold();
    for (let index = 0; index < 3; index += 1) await submit(server, index);
    await server.target.received(3);
    await server.queues.update(server.principal, QUEUE, { ordered: true });
    await learn(server);
    for (let index = 3; index < 6; index += 1) await submit(server, index);
    await server.quiet();
    assert.equal(server.target.calls.length, 3);

    server.target.release(2);
    await server.settled(2);
    await server.quiet();
    assert.equal(server.target.calls.length, 3);
    for (let ended = 2; ended < 6; ended += 1) {
      await server.target.received(ended + 1);
      server.target.release(1);
      await server.settled(ended + 1);
    }
    assert.equal(server.target.mostAtOnce, 3);

    assert.deepEqual(called(server).slice(3), [3, 4, 5].map(pathOf));
  });

  it("names the failed task that blocks it, and continues when on_failure is changed", async () => {
    server = await openTestServer({ ordered: true, onFailure: "block", maxRetries: 0 });
    await learn(server);
    server.target.hold();
    const first = await submit(server, 0);
    await server.target.received(1);
    const second = await submit(server, 1);
    const third = await submit(server, 2);
    await server.quiet();
    assert.deepEqual(await reasonsOf(server, second), [
      ["queue_full", undefined],
      ["behind", undefined],
    ]);

    server.target.release(1, 500);
    await server.settled(1);
    await server.quiet();
    assert.deepEqual(await reasonsOf(server, second), [["blocked_by", first]]);
    assert.deepEqual(await reasonsOf(server, third), [
      ["blocked_by", first],
      ["behind", undefined],
    ]);
    await server.queues.update(server.principal, QUEUE, { onFailure: "continue" });
    await server.quiet();
    await server.target.received(2);
    server.target.release();
    await server.target.received(3);
    server.target.release();
    assert.deepEqual(called(server), [0, 1, 2].map(pathOf));
  });

  it("refuses a concurrency other than 1, and on_failure block without order", async () => {
    server = await openTestServer();
    const { queues, principal } = server;
    const refused = (text: string) => (error: unknown) =>
      error instanceof Problem && error.code === "invalid" && error.message.includes(text);
    const one = /concurrency must be 1 in an ordered queue/.source;
    await assert.rejects(queues.create(principal, "a", { ordered: true, concurrency: 2 }), refused(one));
    await assert.rejects(queues.create(principal, "a", { onFailure: "block" }), refused("on_failure"));
    const made = await queues.update(principal, QUEUE, { ordered: true, onFailure: "block" });
    assert.deepEqual([made.ordered, made.onFailure, made.concurrency], [true, "block", 1]);
    await assert.rejects(queues.update(principal, QUEUE, { concurrency: 3 }), refused(one));
    const free = await queues.update(principal, QUEUE, { ordered: false, concurrency: 3 });
    assert.deepEqual([free.ordered, free.onFailure, free.concurrency], [false, "continue", 3]);
  });
});
