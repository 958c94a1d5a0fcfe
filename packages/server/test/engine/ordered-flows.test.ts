import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { Problem } from "../../src/domain/problem.ts";
import { NOTHING_STORED } from "../../src/features/flow-control/index.ts";
import { flowOf } from "../test-flow.ts";
import { assertFirstStartsAgain, called, callOf, endEach, pathOf, reasonsOf } from "../test-lines.ts";
import { openTestServer, plainRequest, QUEUE, type TestNode, type TestServer } from "../test-server.ts";

const KEY = "account-7";

/** Strict order in a flow: one task at a time, in the order of creation, over all queues and nodes. */
describe("an ordered flow", () => {
  let server: TestServer;
  afterEach(() => server.close());

  const requestOf = (index: number, request: object = {}) => ({
    call: callOf(server, index),
    ...flowOf(KEY, { ordered: true }),
    ...request,
  });
  const submit = (node: TestNode, index: number, request: object = {}): Promise<string> =>
    node.submit(requestOf(index, request));
  const flows = () => server.services.features.flows.service;
  const store = (limits: object) => flows().put(server.principal, KEY, { ...NOTHING_STORED, ...limits });

  for (const nodeCount of [1, 2])
    it(`starts tasks one at a time, in the order of creation, on ${nodeCount} nodes`, async () => {
      server = await openTestServer({ concurrency: 10 });
      await server.queues.create(server.principal, "other", { concurrency: 10 });
      const nodes: TestNode[] = [server];
      if (nodeCount === 2) nodes.push(await server.openNode());
      for (const node of nodes) await node.engine.lease.renewOnce();
      server.target.hold();
      for (let index = 0; index < 6; index += 1)
        await submit(nodes[index % nodeCount] as TestNode, index, {
          priority: 1 + index,
          queue: index % 3 === 2 ? "other" : QUEUE,
        });

      await endEach(server, 6);

      assert.deepEqual(called(server), [0, 1, 2, 3, 4, 5].map(pathOf));
    });

  it("lets tasks of other flows and of none begin while its line waits", async () => {
    server = await openTestServer({ concurrency: 10 });
    server.target.hold();
    for (let index = 0; index < 3; index += 1) await submit(server, index);
    await server.target.received(1);

    await submit(server, 8, flowOf("other", { ordered: true }));
    await submit(server, 9, { flow: null });

    await server.target.received(3);
    await server.quiet();
    assert.deepEqual(called(server).sort(), [0, 8, 9].map(pathOf));
  });

  it("retries its first task before it starts the next", async () => {
    server = await openTestServer({ concurrency: 10, maxRetries: 2, retryDelaySeconds: 60 });
    server.target.answer = (_call, response) =>
      response.writeHead(server.target.calls.length < 2 ? 500 : 200).end("{}");
    await submit(server, 0);
    const next = await submit(server, 1);
    await server.settled(1);
    await server.quiet();
    assert.deepEqual(called(server), [pathOf(0)]);
    assert.deepEqual((await reasonsOf(server, next))[0]?.[0], "blocked_by");

    await server.advance(61);
    await server.look();
    await server.settled(3);

    assert.deepEqual(called(server), [0, 0, 1].map(pathOf));
  });

  it("continues at once when its first task is cancelled or deleted, or its callback comes, on another node", async () => {
    server = await openTestServer({ concurrency: 10, maxRetries: 3, retryDelaySeconds: 100 });
    const other = await server.openNode();
    server.target.answer = (call, response) =>
      response.writeHead(call.path === pathOf(0) || call.path === pathOf(1) ? 500 : 200).end("{}");
    const first = await submit(server, 0);
    const second = await submit(server, 1);
    const waiting = await server.tasks.create(server.principal, {
      ...plainRequest(server.target.url),
      ...requestOf(2),
      waitForCallback: true,
    });
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

    await other.callbacks.resolve(waiting.callback?.id ?? "", "{}");
    await server.settled(4);
    assert.deepEqual(called(server).slice(3), [pathOf(3)]);
  });

  it("starts the first task again, before any other, when its node has died", async () => {
    server = await openTestServer({ concurrency: 10 });
    server.target.hold();
    await submit(server, 0);
    await submit(server, 1);

    await assertFirstStartsAgain(server);
  });

  it("waits for its queue when that is paused, and when the flow is", async () => {
    server = await openTestServer({ concurrency: 10 });
    await server.queues.create(server.principal, "paused", {});
    await server.queues.setPaused(server.principal, "paused", true);
    await submit(server, 0, { queue: "paused" });
    const second = await submit(server, 1);
    await server.quiet();
    assert.deepEqual(called(server), []);
    assert.deepEqual(await reasonsOf(server, second), [["behind", undefined]]);

    await flows().setPaused(server.principal, KEY, true);
    await server.queues.setPaused(server.principal, "paused", false);
    await server.quiet();
    assert.deepEqual(called(server), []);
    await flows().setPaused(server.principal, KEY, false);
    await server.settled(2);

    assert.deepEqual(called(server), [0, 1].map(pathOf));
  });

  it("lets a due delayed task start before younger ones", async () => {
    server = await openTestServer({ concurrency: 10 });
    server.target.hold();
    const delayed = await submit(server, 0, { delaySeconds: 600 });
    await submit(server, 1);
    await server.target.received(1);
    await submit(server, 2);
    await server.database.rows("update tasks set run_at = now(), flow_due_at = now() where id = $1", [
      delayed,
    ]);
    for (const count of [1, 2, 3]) {
      await server.target.received(count);
      server.target.release(1);
      await server.settled(count);
    }

    assert.deepEqual(called(server), [1, 0, 2].map(pathOf));
  });

  it("lets running calls end when it becomes ordered, and goes by priority again when that is deleted", async () => {
    server = await openTestServer({ concurrency: 10 });
    const unordered = flowOf(KEY);
    server.target.hold();
    for (const index of [0, 1]) await submit(server, index, unordered);
    await server.target.received(2);
    await store({ ordered: true });
    for (const index of [2, 3, 4]) await submit(server, index, unordered);
    await server.quiet();
    server.target.release(1);
    await server.settled(1);
    await server.quiet();
    assert.equal(server.target.calls.length, 2);
    server.target.release(1);
    await server.target.received(3);
    await server.quiet();
    assert.deepEqual(called(server).slice(2), [pathOf(2)]);

    await flows().remove(server.principal, KEY);

    await server.target.received(5);
    assert.equal(server.target.held.length, 3);
  });

  it("names the failed task that blocks it, and continues when it is dismissed", async () => {
    server = await openTestServer({ concurrency: 10, maxRetries: 0 });
    await store({ ordered: true, onFailure: "block" });
    server.target.hold();
    const first = await submit(server, 0);
    await server.target.received(1);
    const second = await submit(server, 1);
    const third = await submit(server, 2);
    await server.quiet();
    assert.deepEqual(await reasonsOf(server, second), [["behind", undefined]]);

    server.target.release(1, 500);
    await server.settled(1);
    await server.quiet();
    assert.deepEqual(await reasonsOf(server, second), [["blocked_by", first]]);
    assert.deepEqual(await reasonsOf(server, third), [
      ["blocked_by", first],
      ["behind", undefined],
    ]);
    await server.tasks.dismiss(server.principal, first);
    await server.target.received(2);
    server.target.release();
    await server.target.received(3);
    server.target.release();
    assert.deepEqual(called(server), [0, 1, 2].map(pathOf));
  });

  it("keeps the order of a batch in a queue with a rate", async () => {
    server = await openTestServer({ concurrency: 10, rate: 1000 });
    const batch = Array.from({ length: 5 }, (_, index) => index);
    for (const index of batch) await submit(server, index);
    await server.settled(5);

    assert.deepEqual(called(server), batch.map(pathOf));
  });

  it("refuses a concurrency other than 1, and on_failure without order", async () => {
    server = await openTestServer();
    const refused = (text: string) => (error: unknown) =>
      error instanceof Problem && error.code === "invalid" && error.message.includes(text);
    await assert.rejects(
      async () => store({ ordered: true, concurrency: 2 }),
      refused("concurrency must be 1 in an ordered flow"),
    );
    await assert.rejects(
      async () => store({ onFailure: "block" }),
      refused("on_failure needs ordered: true"),
    );
    const { flow } = await store({ ordered: true, onFailure: "block" });
    assert.deepEqual(
      [flow.ordered, flow.orderedSource, flow.onFailure, flow.concurrency, flow.concurrencySource],
      [true, "stored", "block", 1, "stored"],
    );
  });
});
