import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { openTestHouse, QUEUE, type TestHouse, type TestNode } from "../test-house.ts";
import { createGate } from "../test-sql.ts";

/** Promise E: calls in flight for a queue never exceed its concurrency, over all nodes. */
describe("concurrency", () => {
  let house: TestHouse;
  afterEach(() => house.close());

  const inFlight = (nodes: readonly TestNode[]) =>
    nodes.reduce((sum, { engine }) => sum + engine.attempts.count, 0);

  /** Some arrive together and some one by one, so that some are handed off and the others claimed. */
  async function submitMixed(nodes: readonly TestNode[], count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let index = 0; ids.length < count; index += 1) {
      const node = nodes[index % nodes.length] as TestNode;
      const together = Math.min(count - ids.length, index % 2 === 0 ? 1 : 7);
      ids.push(...(await Promise.all(Array.from({ length: together }, () => node.submit()))));
    }
    return ids;
  }

  for (const [nodeCount, concurrency] of [
    [1, 1],
    [1, 2],
    [1, 5],
    [1, 50],
    [2, 1],
    [2, 2],
    [2, 5],
    [2, 50],
  ] as const) {
    const title = `is used up and never exceeded at ${concurrency} on ${nodeCount === 1 ? "one node" : "two nodes"}`;
    it(title, async () => {
      house = await openTestHouse({ concurrency });
      const nodes: TestNode[] = [house];
      if (nodeCount === 2) nodes.push(await house.openNode());
      for (const node of nodes) await node.engine.lease.renewOnce();
      house.target.hold();
      const total = concurrency * 2 + 9;
      const ids = await submitMixed(nodes, total);
      await house.quiet();
      await house.target.received(concurrency);
      assert.equal(inFlight(nodes), concurrency);

      for (let ended = 0; ended < total; ) {
        const wave = Math.min(Math.ceil(concurrency / 2), total - ended);
        await house.target.received(ended + wave);
        house.target.release(wave);
        ended += wave;
        await house.settled(ended);
        await house.quiet();
        assert.ok(inFlight(nodes) <= concurrency);
      }

      assert.equal(house.target.mostAtOnce, concurrency);
      assert.equal(house.target.calls.length, total);
      const [done] = await house.database.rows<{ count: number }>(
        "select count(*)::integer as count from tasks where id = any($1) and status = 'completed'",
        [ids],
      );
      assert.equal(done?.count, total);
    });
  }

  it("applies at once when it is raised while tasks wait", async () => {
    house = await openTestHouse({ concurrency: 1 });
    house.target.hold();
    await Promise.all(Array.from({ length: 5 }, () => house.submit()));
    await house.quiet();
    assert.equal(house.engine.attempts.count, 1);

    await house.queues.update(house.principal, QUEUE, { concurrency: 4 });
    await house.quiet();

    await house.target.received(4);
    assert.equal(house.engine.attempts.count, 4);
  });

  it("applies at once when it is lowered: nothing starts before enough calls have ended", async () => {
    house = await openTestHouse({ concurrency: 4 });
    house.target.hold();
    await Promise.all(Array.from({ length: 8 }, () => house.submit()));
    await house.quiet();
    await house.target.received(4);

    await house.queues.update(house.principal, QUEUE, { concurrency: 2 });
    for (const [ended, left] of [
      [1, 3],
      [2, 2],
      [3, 2],
      [4, 2],
    ] as const) {
      house.target.release(1);
      await house.settled(ended);
      await house.quiet();
      assert.equal(house.engine.attempts.count, left, `after ${ended} calls ended`);
      await house.target.received(ended + left);
    }
  });

  it("applies when it is lowered, also if a call ends while the node asks for its slots", async () => {
    house = await openTestHouse({ concurrency: 4 });
    house.target.hold();
    await Promise.all(Array.from({ length: 8 }, () => house.submit()));
    await house.quiet();
    await house.target.received(4);
    const gate = createGate();
    house.databases.claim.after = (statement) => {
      if (statement.includes("queue_slots")) return gate.wait();
    };

    await house.queues.update(house.principal, QUEUE, { concurrency: 2 });
    await gate.reached;
    house.target.release(1);
    await house.settled(1);
    gate.open();
    await house.rest();

    assert.equal(house.engine.attempts.count, 3);
  });

  it("applies at once when it is lowered, although the node has not heard of it yet", async () => {
    house = await openTestHouse({ concurrency: 4 });
    house.target.hold();
    await house.submit();
    await house.quiet();
    await house.database.rows("update queues set concurrency = 1, epoch = epoch + 1 where name = $1", [
      QUEUE,
    ]);

    for (let index = 0; index < 4; index += 1) await house.submit();
    await house.look();

    assert.equal(house.engine.attempts.count, 1);
  });

  it("is each queue's own", async () => {
    house = await openTestHouse({ concurrency: 1 });
    await house.queues.create(house.principal, "letters", { concurrency: 2 });
    const guest = await house.openTeam({ concurrency: 3 });
    house.target.hold();
    for (let index = 0; index < 4; index += 1) {
      await house.submit();
      await house.submit({ queue: "letters" });
      await house.submit({}, guest);
    }
    await house.look();

    assert.equal(house.engine.attempts.count, 1 + 2 + 3);
  });
});
