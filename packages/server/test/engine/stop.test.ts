import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { openTestHouse, type TestHouse } from "../test-house.ts";
import { databaseAway, until } from "../test-sql.ts";

/** Longer than any test lasts. */
const LONG_MS = 600_000;

describe("stopping a node", () => {
  let house: TestHouse;
  beforeEach(async () => {
    house = await openTestHouse({ concurrency: 2 });
  });
  afterEach(() => house.close());

  async function workers(): Promise<number> {
    return (await house.database.rows("select 1 from workers")).length;
  }

  it("waits for the calls under way and settles them", async () => {
    house.target.hold();
    const id = await house.submit();
    await house.look();
    await house.target.received(1);

    const stopped = house.engine.stop(LONG_MS);
    await house.rest();
    assert.equal((await house.task(id)).status, "active");
    house.target.release();
    await stopped;

    assert.equal((await house.task(id)).status, "completed");
    assert.equal(await workers(), 0);
  });

  it("starts nothing more, also when a call that ends makes room", async () => {
    house.target.hold();
    for (let index = 0; index < 5; index += 1) await house.submit();
    await house.look();
    await house.target.received(2);

    const stopped = house.engine.stop(LONG_MS);
    house.target.release();
    await stopped;

    assert.equal(house.target.calls.length, 2);
    const left = await house.database.rows("select 1 from tasks where status = 'pending'");
    assert.equal(left.length, 3);
  });

  it("leaves its queues to others while its last calls run, but for the slots that those use", async () => {
    const other = await house.openNode();
    for (const node of [house, other]) await node.engine.lease.renewOnce();
    house.target.hold();
    await house.submit();
    await house.look();
    await house.target.received(1);

    const stopped = house.engine.stop(LONG_MS);
    await house.rest();
    await house.engine.actors.all.find(({ name }) => name === "slot-keeper")?.once();
    await other.submit();
    await other.submit();
    await house.target.received(2);
    assert.equal(house.target.mostAtOnce, 2);

    house.target.release();
    await stopped;
    await house.target.received(3);
    house.target.release();
    await other.engine.attempts.finished();
  });

  it("gives back what it cannot wait for, and another node completes it", async () => {
    const other = await house.openNode();
    house.target.hold();
    const id = await house.submit();
    await house.look();
    await house.target.received(1);

    await house.engine.stop(0);
    await house.target.broken(1);

    const given = await house.task(id);
    assert.equal(given.status, "pending");
    assert.deepEqual(
      given.attempts.map(({ status, phase }) => [status, phase]),
      [["interrupted", "sent"]],
    );
    house.target.answer = (_call, response) => response.end("{}");
    await other.dispatchOnce();
    assert.equal((await house.task(id)).status, "completed");
  });

  it("can be hurried while it waits", async () => {
    house.target.hold();
    const id = await house.submit();
    await house.look();
    await house.target.received(1);

    const stopped = house.engine.stop(LONG_MS);
    house.engine.hurry();
    await stopped;

    assert.equal((await house.task(id)).status, "pending");
  });

  it("still stores what was being accepted, for others to execute", async () => {
    const submitted = [house.submit(), house.submit()];
    await house.engine.stop(LONG_MS);

    const ids = await Promise.all(submitted);
    const rows = await house.database.rows<{ status: string }>(
      "select status from tasks where id = any($1)",
      [ids],
    );
    assert.equal(rows.length, 2);
    assert.ok(rows.every(({ status }) => status === "pending" || status === "completed"));
  });

  it("leaves no slots, no worker and no task behind that would be taken for alive", async () => {
    house.target.hold();
    await house.submit();
    await house.look();
    await house.target.received(1);

    await house.engine.stop(0);

    assert.equal(await workers(), 0);
    assert.deepEqual(await house.database.rows("select 1 from queue_slots"), []);
    assert.deepEqual(await house.database.rows("select 1 from tasks where worker_id is not null"), []);
  });

  it("ends although the database is away, and the task is found by the next node", async () => {
    house.target.hold();
    const id = await house.submit();
    await house.look();
    await house.target.received(1);
    house.databases.settle.before = () => {
      throw databaseAway();
    };
    house.target.release();
    await until(() => house.log.some(({ message }) => message.startsWith("settle.waits")));

    await house.engine.stop(0);

    const other = await house.openNode();
    await other.engine.reaper.reapOnce();
    house.target.answer = (_call, response) => response.end("{}");
    await other.dispatchOnce();
    assert.equal((await house.task(id)).status, "completed");
  });

  it("can be stopped twice, and before it did anything", async () => {
    await house.engine.stop(0);
    await house.engine.stop(0);
  });
});
