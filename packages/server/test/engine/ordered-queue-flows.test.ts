import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import type { QueueSettings } from "../../src/domain/queue.ts";
import { NOTHING_STORED } from "../../src/features/flow-control/index.ts";
import { insertTasks } from "../../src/store/tasks/task-intake.ts";
import { flowOf } from "../test-flow.ts";
import { assertFirstStartsAgain, called, callOf, endEach, pathOf, reasonsOf } from "../test-lines.ts";
import { openTestServer, plainRequest, QUEUE, type TestNode, type TestServer } from "../test-server.ts";
import { createGate } from "../test-sql.ts";
import { newTask } from "../test-store.ts";

const FREE = "free";
const LIMITED = "limited";
const OTHER = "other";

/** Tasks with a flow in an ordered queue wait for the line and for their flow. The line waits for the flow of its first task. */
describe("an ordered queue whose tasks have flows", () => {
  let server: TestServer;
  afterEach(() => server.close());

  const submit = (node: TestNode, index: number, request: object = {}) =>
    node.submit({ call: callOf(server, index), ...request });
  const flows = () => server.services.features.flows.service;
  async function learn(...nodes: readonly TestNode[]): Promise<void> {
    for (const { engine } of nodes) {
      await engine.lease.renewOnce();
      await engine.orderedQueues.lookOnce();
    }
  }
  async function open(nodeCount: number, settings: Partial<QueueSettings> = {}): Promise<TestNode[]> {
    server = await openTestServer({ ordered: true, maxRetries: 0, ...settings });
    await server.queues.create(server.principal, OTHER, { concurrency: 10 });
    const nodes: TestNode[] = [server];
    for (let count = 1; count < nodeCount; count += 1) nodes.push(await server.openNode());
    await learn(...nodes);
    return nodes;
  }

  for (const nodeCount of [1, 2]) {
    it(`starts its tasks one at a time, in the order of creation, on ${nodeCount} nodes`, async () => {
      const nodes = await open(nodeCount);
      server.target.hold();
      const kinds = [
        {},
        flowOf(FREE),
        flowOf(LIMITED, { concurrency: 1 }),
        flowOf("line", { ordered: true }),
        flowOf(FREE),
        flowOf("line", { ordered: true }),
        {},
        flowOf("rated", { rate: 100, period: 60 }),
      ];
      for (const [index, kind] of kinds.entries())
        await submit(nodes[index % nodeCount] as TestNode, index, { priority: 1 + index, ...kind });

      await endEach(server, kinds.length);

      assert.deepEqual(called(server), [...kinds.keys()].map(pathOf));
    });

    it(`waits while the flow of its first task is full, on ${nodeCount} nodes`, async () => {
      const nodes = await open(nodeCount);
      server.target.hold();
      await submit(nodes[0] as TestNode, 0, { queue: OTHER, ...flowOf(LIMITED, { concurrency: 1 }) });
      await server.target.received(1);
      const first = await submit(nodes.at(-1) as TestNode, 1, flowOf(LIMITED));
      const second = await submit(nodes.at(-1) as TestNode, 2);
      const third = await submit(nodes[0] as TestNode, 3, flowOf(FREE));
      await server.quiet();
      assert.deepEqual(called(server), [0].map(pathOf));
      assert.deepEqual(await reasonsOf(server, first), [["flow_full", undefined]]);
      assert.deepEqual(await reasonsOf(server, second), [
        ["blocked_by", first],
        ["behind", undefined],
      ]);
      assert.deepEqual(await reasonsOf(server, third), [
        ["blocked_by", first],
        ["behind", undefined],
      ]);

      await endEach(server, 4);

      assert.deepEqual(called(server), [0, 1, 2, 3].map(pathOf));
    });
  }

  it("waits while the flow of its first task is paused", async () => {
    await open(1);
    await flows().setPaused(server.principal, LIMITED, true);
    await submit(server, 0, flowOf(LIMITED));
    await submit(server, 1);
    await server.quiet();
    assert.deepEqual(called(server), []);

    await flows().setPaused(server.principal, LIMITED, false);
    await server.settled(2);

    assert.deepEqual(called(server), [0, 1].map(pathOf));
  });

  it("waits for the rate of its first task's flow", async () => {
    await open(1);
    await submit(server, 0, flowOf(LIMITED, { rate: 1, period: 600 }));
    await server.settled(1);
    const first = await submit(server, 1, flowOf(LIMITED, { rate: 1, period: 600 }));
    await submit(server, 2);
    await server.quiet();
    assert.deepEqual(called(server), [0].map(pathOf));
    assert.deepEqual((await reasonsOf(server, first))[0]?.[0], "flow_rate");

    await server.advance(601);
    await flows().put(server.principal, LIMITED, { ...NOTHING_STORED, rate: 1, period: 601 });
    await server.settled(3);

    assert.deepEqual(called(server), [0, 1, 2].map(pathOf));
  });

  for (const nodeCount of [1, 2])
    it(`starts a task of an ordered flow when it is the first in both lines, on ${nodeCount} nodes`, async () => {
      const nodes = await open(nodeCount);
      const line = flowOf("line", { ordered: true });
      server.target.hold();
      const node = (index: number) => nodes[index % nodeCount] as TestNode;
      await submit(node(0), 0, { queue: OTHER, ...line });
      await server.target.received(1);
      // This task is the first in its queue and the second in its flow.
      await submit(node(1), 1, line);
      await submit(node(1), 2);
      await submit(node(0), 3, { queue: OTHER, ...line });
      await submit(node(1), 4, line);
      await server.quiet();
      assert.deepEqual(called(server), [0].map(pathOf));
      server.target.release(1);
      await server.settled(1);
      await server.target.received(2);
      await server.quiet();
      assert.deepEqual(called(server), [0, 1].map(pathOf));

      // Both the queue and the flow continue.
      server.target.release(1);
      await server.target.received(4);
      await server.quiet();
      assert.deepEqual(called(server).slice(2).sort(), [2, 3].map(pathOf));
      server.target.release();
      await server.target.received(5);
      server.target.release();
      await server.settled(5);
      assert.deepEqual(called(server).at(-1), pathOf(4));
    });

  it("retries its first task before it starts the next", async () => {
    await open(1, { maxRetries: 2, retryDelaySeconds: 60 });
    server.target.answer = (_call, response) =>
      response.writeHead(server.target.calls.length < 2 ? 500 : 200).end("{}");
    const first = await submit(server, 0, flowOf(LIMITED, { concurrency: 1 }));
    const next = await submit(server, 1);
    await server.settled(1);
    await server.quiet();
    assert.deepEqual(called(server), [pathOf(0)]);
    assert.deepEqual((await reasonsOf(server, next))[0], ["blocked_by", first]);

    await server.advance(61);
    await server.look();
    await server.settled(3);

    assert.deepEqual(called(server), [0, 0, 1].map(pathOf));
  });

  it("lets a delayed task join at the place of its creation when it is due, and waits for it not before", async () => {
    await open(1);
    server.target.hold();
    const delayed = await submit(server, 0, { delaySeconds: 600, ...flowOf(FREE) });
    await submit(server, 1, flowOf(FREE));
    await server.target.received(1);
    await submit(server, 2, flowOf(FREE));
    await submit(server, 3);
    await server.database.rows(
      `with due as (update tasks set run_at = now(), flow_due_at = now() where id = $1)
       update line_tasks set created_at = now() where task_id = $1`,
      [delayed],
    );

    await endEach(server, 4);

    assert.deepEqual(called(server), [1, 0, 2, 3].map(pathOf));
  });

  it("continues at once when its first task is cancelled or deleted, or expires, on another node", async () => {
    const [, other] = (await open(2)) as [TestNode, TestNode];
    await flows().setPaused(server.principal, LIMITED, true);
    const first = await submit(server, 0, flowOf(LIMITED));
    const second = await submit(server, 1, flowOf(LIMITED));
    await submit(server, 2, { expiresInSeconds: 30, ...flowOf(LIMITED) });
    await submit(server, 3, flowOf(FREE));
    await submit(server, 4);
    await server.quiet();
    assert.deepEqual(called(server), []);

    await other.tasks.cancel(server.principal, first);
    await other.tasks.remove(server.principal, second);
    await server.quiet();
    assert.deepEqual(called(server), []);
    await server.advance(31);
    await learn(server, other);
    await other.engine.deadlines.expireOnce();
    await server.settled(2);

    assert.deepEqual(called(server), [3, 4].map(pathOf));
  });

  it("starts a task that was retried by hand before younger ones", async () => {
    await open(1);
    server.target.hold();
    const failed = await submit(server, 0, flowOf(FREE));
    await server.target.received(1);
    await submit(server, 1, flowOf(FREE));
    await submit(server, 2, flowOf(FREE));
    server.target.release(1, 500);
    await server.target.received(2);
    await server.tasks.retry(server.principal, failed, { delaySeconds: 0, priority: null });

    await endEach(server, 4, 1);

    assert.deepEqual(called(server), [0, 1, 0, 2].map(pathOf));
  });

  it("is blocked by a failed task until its retry has completed", async () => {
    await open(1, { onFailure: "block" });
    server.target.hold();
    const failed = await submit(server, 0, flowOf(LIMITED, { concurrency: 1 }));
    await server.target.received(1);
    const next = await submit(server, 1, flowOf(FREE));
    server.target.release(1, 500);
    await server.settled(1);
    await server.quiet();
    assert.deepEqual(await reasonsOf(server, next), [["blocked_by", failed]]);
    assert.equal(server.target.calls.length, 1);

    await server.tasks.retry(server.principal, failed, { delaySeconds: 0, priority: null });
    await endEach(server, 3, 1);

    assert.deepEqual(called(server), [0, 0, 1].map(pathOf));
  });

  it("starts the first task again, before any other, when its node has died", async () => {
    await open(1);
    server.target.hold();
    await submit(server, 0, flowOf(LIMITED, { concurrency: 1 }));
    await submit(server, 1, flowOf(FREE));

    await assertFirstStartsAgain(server);
  });

  it("keeps the order of a batch", async () => {
    await open(1);
    const kinds = [
      flowOf(FREE),
      flowOf(LIMITED, { concurrency: 1 }),
      {},
      flowOf("line", { ordered: true }),
      flowOf(FREE),
    ];
    const items = kinds.map((kind, index) => ({
      ...plainRequest(`${server.target.url}${pathOf(index)}`),
      ...kind,
    }));
    await server.tasks.createMany(server.principal, items, true);
    await server.settled(items.length);

    assert.deepEqual(called(server), [...kinds.keys()].map(pathOf));
  });

  it("obeys a rate of its own beside that of a flow", async () => {
    await open(1, { rate: 1000 });
    const kinds = [flowOf(FREE), {}, flowOf(LIMITED, { rate: 1000 }), flowOf("line", { ordered: true }), {}];
    for (const [index, kind] of kinds.entries()) await submit(server, index, kind);
    await server.settled(5);

    assert.deepEqual(called(server), [...kinds.keys()].map(pathOf));
  });

  it("waits with a task whose host its breaker holds back, and makes it the probe", async () => {
    await open(1, { breaker: { failures: 2, ratio: 0.5, within: 60, cooldown: 30 } });
    server.target.answer = (_call, response) =>
      response.writeHead(server.target.calls.length <= 2 ? 503 : 200).end("{}");
    for (const index of [0, 1]) await submit(server, index, flowOf(FREE));
    await server.settled(2);
    await submit(server, 2, flowOf(FREE));
    await submit(server, 3, flowOf("line", { ordered: true }));
    await submit(server, 4);
    await server.engine.breakers.passOnce();
    await server.quiet();
    assert.equal(server.target.calls.length, 2);

    await server.advance(30);
    await server.engine.breakers.passOnce();
    await server.settled(5);

    assert.deepEqual(called(server).slice(2), [2, 3, 4].map(pathOf));
  });

  it("lines up the tasks with flows that wait when it becomes ordered, and lets them go when it no longer is", async () => {
    await open(1, { ordered: false, concurrency: 10 });
    await flows().setPaused(server.principal, LIMITED, true);
    for (let index = 0; index < 3; index += 1)
      await submit(server, index, { priority: 1 + index, ...flowOf(LIMITED) });
    await submit(server, 3, { delaySeconds: 600, ...flowOf(LIMITED) });
    await server.queues.update(server.principal, QUEUE, { ordered: true });
    await learn(server);
    await submit(server, 4);
    await server.quiet();
    assert.deepEqual(called(server), []);
    server.target.hold();
    await flows().setPaused(server.principal, LIMITED, false);
    await server.target.received(1);
    await server.quiet();
    assert.deepEqual(called(server), [pathOf(0)]);

    await server.queues.update(server.principal, QUEUE, { ordered: false, concurrency: 10 });
    await learn(server);
    await server.look();
    await server.target.received(4);

    assert.deepEqual(called(server).sort(), [0, 1, 2, 4].map(pathOf));
  });

  it("starts a task whose insert did not see that it became ordered, after the next round", async () => {
    await open(1, { ordered: false });
    const { teamId } = server.principal;
    const task = { ...newTask({ teamId, id: 0, name: QUEUE }), call: callOf(server, 0), ...flowOf(FREE) };
    const gate = createGate();
    const inserted = server.database.transaction(async (sql) => {
      await insertTasks(sql, [{ task, reservation: null }], 0);
      await gate.wait();
    });
    await gate.reached;
    await server.queues.update(server.principal, QUEUE, { ordered: true });
    gate.open();
    await inserted;
    await server.look();
    await server.quiet();
    assert.deepEqual(called(server), []);

    await learn(server);
    await server.settled(1);

    assert.deepEqual(called(server), [pathOf(0)]);
  });
});
