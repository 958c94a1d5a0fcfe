import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { createDatabaseClock } from "../../src/engine/database-clock.ts";
import { createReaper } from "../../src/engine/reaper.ts";
import type { Sql, Statement } from "../../src/store/sql.ts";
import { openTestServer, type TestServer } from "../test-server.ts";
import { createTestTime } from "../test-time.ts";

describe("the reaper's clock", () => {
  /** One worker that has expired, and two clocks. */
  function createScene() {
    const time = createTestTime();
    const scene = { databaseMs: 1_000_000, reaped: 0 };
    const sql: Sql = {
      async rows<Row extends object>({ name }: Statement) {
        if (name === "remove_expired_workers") {
          scene.reaped += 1;
          return [{ id: "1" }] as Row[];
        }
        return (name === "database_clock_ms" ? [{ ms: scene.databaseMs }] : []) as Row[];
      },
    };
    const reaper = createReaper({
      sql,
      workerId: () => 1,
      time,
      clock: createDatabaseClock(time),
      log: { debug() {}, info() {}, warn() {}, error() {} },
      followers: { returning: (work) => work(sql) },
      onReturned: () => {},
    });
    const round = async (databaseMs: number, monotonicMs = databaseMs) => {
      scene.databaseMs += databaseMs;
      time.pass(monotonicMs);
      const before = scene.reaped;
      await reaper.reapOnce();
      return scene.reaped > before;
    };
    return { round, reaper };
  }

  it("may have jumped before the node started: workers get time to renew", async () => {
    const { round, reaper } = createScene();
    reaper.watchFirst();
    assert.deepEqual([await round(0), await round(2000), await round(2000)], [false, false, false]);
    assert.equal(await round(2000), true);
  });

  it("must be known for a round before a worker is considered dead", async () => {
    const { round } = createScene();

    assert.equal(await round(0), false);
    assert.equal(await round(2000), true);
  });

  it("may drift by up to 2.9 s between two rounds", async () => {
    const { round } = createScene();
    await round(0);

    assert.equal(await round(2000, 2500), true);
    assert.equal(await round(4900, 2000), true);
  });

  it("that jumps ahead removes no worker for 20 s, so that each can renew", async () => {
    const { round } = createScene();
    await round(0);

    assert.equal(await round(3_600_000, 2000), false);
    for (let passed = 2000; passed < 20_000; passed += 2000) assert.equal(await round(2000), false);
    assert.equal(await round(2000), true);
  });

  it("that jumps back removes no worker", async () => {
    const { round } = createScene();
    await round(0);

    assert.equal(await round(-60_000, 2000), false);
  });
});

describe("reaping", () => {
  let server: TestServer;
  beforeEach(async () => {
    server = await openTestServer({ concurrency: 2 });
  });
  afterEach(() => server.close());

  it("spares workers whose lease has not expired", async () => {
    const other = await server.openNode();
    server.target.hold();
    const id = await server.submit();
    await server.look();

    await other.engine.reaper.reapOnce();
    await other.engine.reaper.reapOnce();

    assert.equal((await server.task(id)).status, "active");
  });

  it("lets another node run a dead node's tasks at once, in the freed slots", async () => {
    const other = await server.openNode();
    await other.engine.lease.renewOnce();
    server.target.hold();
    const ids = [await server.submit(), await server.submit()];
    await server.quiet();
    await server.target.received(2);
    await other.engine.reaper.reapOnce();
    await server.database.rows("update workers set expires_at = now() where id = $1", [
      server.engine.lease.workerId,
    ]);

    await other.engine.reaper.reapOnce();
    await other.look();
    await server.target.received(4);

    assert.equal(other.engine.attempts.count, 2);
    for (const id of ids) {
      assert.deepEqual(
        (await server.task(id)).attempts.map(({ number, status }) => [number, status]),
        [
          [1, "interrupted"],
          [2, "active"],
        ],
      );
    }
  });

  it("fails a task as worker_lost after three nodes died during its calls", async () => {
    server.target.hold();
    const id = await server.submit();
    for (let death = 1; death <= 3; death += 1) {
      await server.look();
      await server.target.received(death);
      await server.reapEverything();
      await server.engine.lease.renewOnce();
      await server.target.broken(death);
    }
    server.target.answer = (_call, response) => response.end("{}");
    await server.dispatchOnce();

    const task = await server.task(id);
    assert.deepEqual([task.status, task.failureReason], ["failed", "worker_lost"]);
    assert.equal(server.target.calls.length, 3);
  });
});
