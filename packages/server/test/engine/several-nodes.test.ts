import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { formatTaskId } from "../../src/domain/task-id.ts";
import { openTestServer, type TestNode, type TestServer } from "../test-server.ts";

describe("several nodes on one database", () => {
  let server: TestServer;
  afterEach(() => server.close());

  /** Every node knows at its last renewal who else is there. */
  async function openNodes(count: number): Promise<TestNode[]> {
    const nodes: TestNode[] = [server];
    while (nodes.length < count) nodes.push(await server.openNode());
    for (const node of nodes) await node.engine.lease.renewOnce();
    return nodes;
  }

  async function slots(): Promise<number[]> {
    const rows = await server.database.rows<{ slots: number }>(
      "select slots from queue_slots order by worker_id",
    );
    return rows.map((row) => row.slots);
  }

  it("execute at once a task submitted to a node without slots, while another holds them all", async () => {
    server = await openTestServer({ concurrency: 4 });
    await server.submit();
    await server.dispatchOnce();
    const [, second] = await openNodes(2);
    assert.deepEqual(await slots(), [4]);

    await second?.submit();
    await server.quiet();
    await server.target.received(2);

    assert.deepEqual(await slots(), [2, 2]);
  });

  it("execute at once a task submitted to a node that can get no slot", async () => {
    server = await openTestServer({ concurrency: 1 });
    await server.submit();
    await server.dispatchOnce();
    const [, second] = await openNodes(2);

    const id = (await second?.submit()) ?? "";
    await server.quiet();
    await server.engine.attempts.finished();

    assert.equal((await server.task(id)).status, "completed");
    assert.deepEqual(await slots(), [1, 0]);
  });

  it("execute at once the tasks that a stopping node releases", async () => {
    server = await openTestServer({ concurrency: 4 });
    const [, second] = await openNodes(2);
    server.target.hold();
    const id = await second?.submit();
    await server.quiet();
    await server.target.received(1);
    const holder = second?.engine.attempts.count === 1 ? second : server;
    const other = holder === second ? server : second;

    await holder?.engine.stop(0);
    await server.quiet();

    assert.equal(other?.engine.attempts.count, 1);
    await server.target.received(2);
    assert.equal(server.target.calls.at(-1)?.headers["bellhop-task-id"], formatTaskId(id ?? ""));
  });

  it("hand over slots as the calls of the node that holds too many end", async () => {
    server = await openTestServer({ concurrency: 4 });
    server.target.hold();
    for (let index = 0; index < 8; index += 1) await server.submit();
    await server.quiet();
    await server.target.received(4);
    const [, second] = await openNodes(2);
    await second?.submit();
    await server.quiet();
    assert.deepEqual(await slots(), [4, 0]);

    server.target.release(2);
    await server.settled(2);
    await server.quiet();
    await server.target.received(6);

    assert.deepEqual(await slots(), [2, 2]);
    assert.equal(second?.engine.attempts.count, 2);
    assert.equal(server.target.mostAtOnce, 4);
  });

  it("stop exchanging hints while two of them wait for slots of a third one's calls", async () => {
    server = await openTestServer({ concurrency: 3 });
    server.target.hold();
    for (let index = 0; index < 3; index += 1) await server.submit();
    await server.quiet();
    await server.target.received(3);
    const [, second, third] = await openNodes(3);

    await second?.submit();
    await third?.submit();
    await server.quiet();

    assert.deepEqual(await slots(), [3, 0, 0]);
    assert.equal(server.target.calls.length, 3);
  });
});
