import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import pg from "pg";
import { until } from "../patience.ts";
import { openTestServer, QUEUE, type TestNode, type TestServer } from "../test-server.ts";
import { createGate } from "../test-sql.ts";

const BLOCKED =
  "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";

/** Promise E: calls in flight for a queue never exceed its concurrency, over all nodes. */
describe("the concurrency of a queue", () => {
  let server: TestServer;
  afterEach(() => server.close());

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

  /** Answers the held call of this task. A lock on the task keeps its settlement waiting until the returned function is called. */
  async function endUnsettled(id: string): Promise<() => Promise<void>> {
    const lock = new pg.Client(server.connection);
    await lock.connect();
    await lock.query("begin");
    await lock.query("select 1 from tasks where id = $1 for update", [id]);
    server.target.release(1);
    await until(async () => (await lock.query(BLOCKED)).rows.length > 0);
    return () => lock.end();
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
    const title = `is fully used and never exceeded at ${concurrency} on ${nodeCount === 1 ? "one node" : "two nodes"}`;
    it(title, async () => {
      server = await openTestServer({ concurrency });
      const nodes: TestNode[] = [server];
      if (nodeCount === 2) nodes.push(await server.openNode());
      for (const node of nodes) await node.engine.lease.renewOnce();
      server.target.hold();
      const total = concurrency * 2 + 9;
      const ids = await submitMixed(nodes, total);
      await server.quiet();
      await server.target.received(concurrency);
      assert.equal(inFlight(nodes), concurrency);

      for (let ended = 0; ended < total; ) {
        const wave = Math.min(Math.ceil(concurrency / 2), total - ended);
        await server.target.received(ended + wave);
        server.target.release(wave);
        ended += wave;
        await server.settled(ended);
        await server.quiet();
        assert.ok(inFlight(nodes) <= concurrency);
      }

      assert.equal(server.target.mostAtOnce, concurrency);
      assert.equal(server.target.calls.length, total);
      const [done] = await server.database.rows<{ count: number }>(
        "select count(*)::integer as count from tasks where id = any($1) and status = 'completed'",
        [ids],
      );
      assert.equal(done?.count, total);
    });
  }

  for (const ordered of [false, true]) {
    const starts = ordered ? "after" : "before";
    it(`lets the next call start ${starts} the last one is settled, ${ordered ? "" : "not "}in order`, async () => {
      server = await openTestServer({ concurrency: 1, ordered });
      await server.engine.orderedQueues.lookOnce();
      server.target.hold();
      const first = await server.submit();
      await server.submit();
      await server.target.received(1);
      const letSettle = await endUnsettled(first);
      if (!ordered) await server.target.received(2);
      await server.look();

      assert.equal((await server.task(first)).status, "active");
      assert.equal(server.target.calls.length, ordered ? 1 : 2);
      await letSettle();
      await server.target.received(2);
      server.target.release(1);
      await server.settled(2);
      assert.equal(server.target.mostAtOnce, 1);
    });
  }

  it("starts the line of a queue that becomes ordered once the last call is settled", async () => {
    server = await openTestServer({ concurrency: 1 });
    server.target.hold();
    const first = await server.submit();
    await server.look();
    await server.target.received(1);
    const letSettle = await endUnsettled(first);

    await server.queues.update(server.principal, QUEUE, { ordered: true });
    await server.engine.orderedQueues.lookOnce();
    await server.submit();
    await server.look();
    assert.equal(server.target.calls.length, 1);
    await letSettle();

    await server.target.received(2);
    server.target.release(1);
    await server.settled(2);
  });

  it("applies at once when it is raised while tasks wait", async () => {
    server = await openTestServer({ concurrency: 1 });
    server.target.hold();
    await Promise.all(Array.from({ length: 5 }, () => server.submit()));
    await server.quiet();
    assert.equal(server.engine.attempts.count, 1);

    await server.queues.update(server.principal, QUEUE, { concurrency: 4 });
    await server.quiet();

    await server.target.received(4);
    assert.equal(server.engine.attempts.count, 4);
  });

  it("applies at once when it is lowered: nothing starts before enough calls have ended", async () => {
    server = await openTestServer({ concurrency: 4 });
    server.target.hold();
    await Promise.all(Array.from({ length: 8 }, () => server.submit()));
    await server.quiet();
    await server.target.received(4);

    await server.queues.update(server.principal, QUEUE, { concurrency: 2 });
    for (const [ended, left] of [
      [1, 3],
      [2, 2],
      [3, 2],
      [4, 2],
    ] as const) {
      server.target.release(1);
      await server.settled(ended);
      await server.quiet();
      assert.equal(server.engine.attempts.count, left, `after ${ended} calls ended`);
      await server.target.received(ended + left);
    }
  });

  it("applies when it is lowered, even if a call ends during the request for slots", async () => {
    server = await openTestServer({ concurrency: 4 });
    server.target.hold();
    await Promise.all(Array.from({ length: 8 }, () => server.submit()));
    await server.quiet();
    await server.target.received(4);
    const gate = createGate();
    server.databases.claim.after = (statement) => {
      if (statement.endsWith("_slots")) return gate.wait();
    };

    await server.queues.update(server.principal, QUEUE, { concurrency: 2 });
    await gate.reached;
    server.target.release(1);
    await server.settled(1);
    gate.open();
    await server.rest();

    assert.equal(server.engine.attempts.count, 3);
  });

  it("applies at once when it is lowered, before the hint reaches the node", async () => {
    server = await openTestServer({ concurrency: 4 });
    server.target.hold();
    await server.submit();
    await server.quiet();
    await server.database.rows("update queues set concurrency = 1, epoch = epoch + 1 where name = $1", [
      QUEUE,
    ]);

    for (let index = 0; index < 4; index += 1) await server.submit();
    await server.look();

    assert.equal(server.engine.attempts.count, 1);
  });

  it("limits each queue and each team separately, though names are equal", async () => {
    server = await openTestServer({ concurrency: 1 });
    await server.queues.create(server.principal, "letters", { concurrency: 2 });
    const guest = await server.openTeam({ concurrency: 3 });
    server.target.hold();
    for (let index = 0; index < 4; index += 1) {
      await server.submit();
      await server.submit({ queue: "letters" });
      await server.submit({}, guest);
    }
    await server.look();

    assert.equal(server.engine.attempts.count, 1 + 2 + 3);
  });
});
