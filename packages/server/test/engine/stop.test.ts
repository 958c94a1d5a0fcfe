import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { until } from "../patience.ts";
import { openTestServer, type TestServer } from "../test-server.ts";
import { databaseAway } from "../test-sql.ts";

/** Longer than any test lasts. */
const LONG_MS = 600_000;

describe("stopping a node", () => {
  let server: TestServer;
  beforeEach(async () => {
    server = await openTestServer({ concurrency: 2 });
  });
  afterEach(() => server.close());

  async function workers(): Promise<number> {
    return (await server.database.rows("select 1 from workers")).length;
  }

  async function hasUnusedSlots(): Promise<boolean> {
    const { lease, attempts } = server.engine;
    const rows = await server.database.rows("select 1 from queue_slots where worker_id = $1 and slots > $2", [
      lease.workerId,
      attempts.count,
    ]);
    return rows.length > 0;
  }

  it("waits for the calls in flight and settles them", async () => {
    server.target.hold();
    const id = await server.submit();
    await server.look();
    await server.target.received(1);

    const stopped = server.engine.stop(LONG_MS);
    await server.rest();
    assert.equal((await server.task(id)).status, "active");
    server.target.release();
    await stopped;

    assert.equal((await server.task(id)).status, "completed");
    assert.equal(await workers(), 0);
  });

  it("starts no further call, even when a call that ends frees a slot", async () => {
    server.target.hold();
    for (let index = 0; index < 5; index += 1) await server.submit();
    await server.look();
    await server.target.received(2);

    const stopped = server.engine.stop(LONG_MS);
    server.target.release();
    await stopped;

    assert.equal(server.target.calls.length, 2);
    const left = await server.database.rows("select 1 from tasks where status = 'pending'");
    assert.equal(left.length, 3);
  });

  it("frees the slots that its last calls do not use for other nodes", async () => {
    server.target.hold();
    await server.submit();
    await server.look();
    await server.target.received(1);
    // The other node opens after the call has begun: before, it could claim the task.
    const other = await server.openNode();
    for (const node of [server, other]) await node.engine.lease.renewOnce();
    assert.ok(await hasUnusedSlots());

    const stopped = server.engine.stop(LONG_MS);
    const keeper = server.engine.actors.all.find(({ name }) => name === "slot-keeper");
    await until(async () => {
      await keeper?.once();
      return !(await hasUnusedSlots());
    });
    await other.submit();
    await other.submit();
    await server.target.received(2);
    assert.equal(server.target.mostAtOnce, 2);

    server.target.release();
    await stopped;
    await server.target.received(3);
    server.target.release();
    await other.engine.attempts.finished();
  });

  it("releases calls that exceed the grace period, and another node completes them", async () => {
    const other = await server.openNode();
    server.target.hold();
    const id = await server.submit();
    await server.look();
    await server.target.received(1);

    await server.engine.stop(0);
    await server.target.broken(1);

    const given = await server.task(id);
    assert.equal(given.status, "pending");
    assert.deepEqual(
      given.attempts.map(({ status, phase }) => [status, phase]),
      [["interrupted", "sent"]],
    );
    server.target.answer = (_call, response) => response.end("{}");
    await other.dispatchOnce();
    assert.equal((await server.task(id)).status, "completed");
  });

  it("releases its calls at once when it is hurried", async () => {
    server.target.hold();
    const id = await server.submit();
    await server.look();
    await server.target.received(1);

    const stopped = server.engine.stop(LONG_MS);
    server.engine.hurry();
    await stopped;

    assert.equal((await server.task(id)).status, "pending");
  });

  it("still stores tasks that were being accepted, for other nodes to execute", async () => {
    const submitted = [server.submit(), server.submit()];
    await server.engine.stop(LONG_MS);

    const ids = await Promise.all(submitted);
    const rows = await server.database.rows<{ status: string }>(
      "select status from tasks where id = any($1)",
      [ids],
    );
    assert.equal(rows.length, 2);
    assert.ok(rows.every(({ status }) => status === "pending" || status === "completed"));
  });

  it("leaves no slots, no worker row and no active task behind", async () => {
    server.target.hold();
    await server.submit();
    await server.look();
    await server.target.received(1);

    await server.engine.stop(0);

    assert.equal(await workers(), 0);
    assert.deepEqual(await server.database.rows("select 1 from queue_slots"), []);
    assert.deepEqual(await server.database.rows("select 1 from tasks where worker_id is not null"), []);
  });

  it("succeeds while the database is away, and another node completes the task", async () => {
    server.target.hold();
    const id = await server.submit();
    await server.look();
    await server.target.received(1);
    server.databases.settle.before = () => {
      throw databaseAway();
    };
    server.target.release();
    await until(() => server.log.some(({ message }) => message.startsWith("settle.waits")));

    await server.engine.stop(0);

    const other = await server.openNode();
    await other.engine.reaper.reapOnce();
    server.target.answer = (_call, response) => response.end("{}");
    await other.dispatchOnce();
    assert.equal((await server.task(id)).status, "completed");
  });

  it("succeeds twice, and before the node did anything", async () => {
    await server.engine.stop(0);
    await server.engine.stop(0);
  });
});
