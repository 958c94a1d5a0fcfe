import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { formatTaskId } from "../../src/domain/task-id.ts";
import { openTestHouse, type TestHouse, type TestNode } from "../test-house.ts";

describe("several nodes on one database", () => {
  let house: TestHouse;
  afterEach(() => house.close());

  /** Every node knows at its last renewal who else is there. */
  async function openNodes(count: number): Promise<TestNode[]> {
    const nodes: TestNode[] = [house];
    while (nodes.length < count) nodes.push(await house.openNode());
    for (const node of nodes) await node.engine.lease.renewOnce();
    return nodes;
  }

  async function slots(): Promise<number[]> {
    const rows = await house.database.rows<{ slots: number }>(
      "select slots from queue_slots order by worker_id",
    );
    return rows.map((row) => row.slots);
  }

  it("execute at once what is submitted to a node without slots, while another holds them all", async () => {
    house = await openTestHouse({ concurrency: 4 });
    await house.submit();
    await house.dispatchOnce();
    const [, second] = await openNodes(2);
    assert.deepEqual(await slots(), [4]);

    await second?.submit();
    await house.quiet();
    await house.target.received(2);

    assert.deepEqual(await slots(), [2, 2]);
  });

  it("execute at once what is submitted to a node that can have no slot at all", async () => {
    house = await openTestHouse({ concurrency: 1 });
    await house.submit();
    await house.dispatchOnce();
    const [, second] = await openNodes(2);

    const id = (await second?.submit()) ?? "";
    await house.quiet();
    await house.engine.attempts.finished();

    assert.equal((await house.task(id)).status, "completed");
    assert.deepEqual(await slots(), [1, 0]);
  });

  it("execute at once what a node gives back as it stops", async () => {
    house = await openTestHouse({ concurrency: 4 });
    const [, second] = await openNodes(2);
    house.target.hold();
    const id = await second?.submit();
    await house.quiet();
    await house.target.received(1);
    const holder = second?.engine.attempts.count === 1 ? second : house;
    const other = holder === second ? house : second;

    await holder?.engine.stop(0);
    await house.quiet();

    assert.equal(other?.engine.attempts.count, 1);
    await house.target.received(2);
    assert.equal(house.target.calls.at(-1)?.headers["bellhop-task-id"], formatTaskId(id ?? ""));
  });

  it("hand over slots as the calls of the node that holds too many end", async () => {
    house = await openTestHouse({ concurrency: 4 });
    house.target.hold();
    for (let index = 0; index < 8; index += 1) await house.submit();
    await house.quiet();
    await house.target.received(4);
    const [, second] = await openNodes(2);
    await second?.submit();
    await house.quiet();
    assert.deepEqual(await slots(), [4, 0]);

    house.target.release(2);
    await house.settled(2);
    await house.quiet();
    await house.target.received(6);

    assert.deepEqual(await slots(), [2, 2]);
    assert.equal(second?.engine.attempts.count, 2);
    assert.equal(house.target.mostAtOnce, 4);
  });

  it("come to rest while two of them wait for slots that a third one's calls hold", async () => {
    house = await openTestHouse({ concurrency: 3 });
    house.target.hold();
    for (let index = 0; index < 3; index += 1) await house.submit();
    await house.quiet();
    await house.target.received(3);
    const [, second, third] = await openNodes(3);

    await second?.submit();
    await third?.submit();
    await house.quiet();

    assert.deepEqual(await slots(), [3, 0, 0]);
    assert.equal(house.target.calls.length, 3);
  });
});
