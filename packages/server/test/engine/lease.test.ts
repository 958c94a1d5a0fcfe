import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { formatTaskId } from "../../src/domain/task-id.ts";
import { createLease } from "../../src/engine/lease.ts";
import type { Sql, Statement } from "../../src/store/sql.ts";
import { until } from "../patience.ts";
import { openTestServer, type TestServer } from "../test-server.ts";
import { createGate, databaseAway } from "../test-sql.ts";
import { createTestTime } from "../test-time.ts";

describe("a task that the reaper releases during its call", () => {
  let server: TestServer;
  beforeEach(async () => {
    server = await openTestServer({ concurrency: 2, maxRetries: 0 });
  });
  afterEach(() => server.close());

  const outcomes = () =>
    server.log.flatMap(({ message, fields: { verdict } }) =>
      message === "attempt.settled" ? [verdict] : [],
    );

  it("runs again, and its late answer is only recorded as superseded (promise D)", async () => {
    server.target.hold();
    const id = await server.submit();
    await server.look();
    await server.target.received(1);

    await server.reapEverything();
    assert.equal((await server.task(id)).status, "pending");
    server.target.release(1, 500);
    await server.settled(1);
    assert.deepEqual(outcomes(), ["superseded"]);
    assert.equal((await server.task(id)).status, "pending");

    server.target.answer = (_call, response) => response.end("{}");
    await server.engine.lease.renewOnce();
    await server.dispatchOnce();

    const task = await server.task(id);
    assert.equal(task.status, "completed");
    assert.deepEqual(
      task.attempts.map(({ number, status, responseCode }) => [number, status, responseCode]),
      [
        [1, "superseded", 500],
        [2, "success", 200],
      ],
    );
    assert.equal(server.target.calls.length, 2);
  });

  it("keeps the result of the second attempt when the first is answered later", async () => {
    const other = await server.openNode();
    server.target.hold();
    const id = await server.submit();
    await server.look();
    await server.target.received(1);
    await server.database.rows("delete from workers where id = $1", [server.engine.lease.workerId]);
    await other.engine.reaper.reapOnce();
    await other.look();
    await server.target.received(2);

    const [late, winner] = server.target.held.splice(0);
    winner?.response.end('"second"');
    await other.engine.attempts.finished();
    late?.response.writeHead(500).end('"first"');
    await server.settled(2);

    const task = await server.task(id);
    assert.deepEqual([task.status, task.result?.body], ["completed", '"second"']);
    assert.deepEqual(
      task.attempts.map(({ status }) => status),
      ["superseded", "success"],
    );
  });

  it("does not count the superseded attempt against its retries", async () => {
    server.target.hold();
    const id = await server.submit({ maxRetries: 1 });
    await server.look();
    await server.target.received(1);
    await server.reapEverything();
    server.target.release(1, 500);
    await server.settled(1);
    server.target.answer = (_call, response) => response.writeHead(500).end();
    await server.engine.lease.renewOnce();
    await server.dispatchOnce();
    await server.advance(10);
    await server.dispatchOnce();

    const task = await server.task(id);
    assert.equal(task.status, "failed");
    assert.deepEqual(
      task.attempts.map(({ status }) => status),
      ["superseded", "failed", "failed"],
    );
  });
});

describe("a node that has lost its lease", () => {
  let server: TestServer;
  beforeEach(async () => {
    server = await openTestServer({ concurrency: 2 });
  });
  afterEach(() => server.close());

  /** The attempt that was granted to a dead worker was never sent; the task ran once, in a later one. */
  async function assertRunOnce(id: string): Promise<void> {
    const calls = server.target.calls.filter(
      ({ headers }) => headers["bellhop-task-id"] === formatTaskId(id),
    );
    assert.deepEqual(
      calls.map(({ headers }) => headers["bellhop-attempt"]),
      ["2"],
    );
    const task = await server.task(id);
    assert.equal(task.status, "completed");
    assert.deepEqual(
      task.attempts.map(({ status }) => status),
      ["interrupted", "success"],
    );
  }

  it("aborts its calls, and makes none until it has a new lease", async () => {
    server.target.hold();
    const id = await server.submit();
    await server.look();
    await server.target.received(1);
    const lost = server.engine.lease.workerId;
    await server.database.rows("delete from workers");
    await server.engine.reaper.reapOnce();

    const gate = createGate();
    server.databases.lease.before = (statement) =>
      statement === "register_worker" ? gate.wait() : undefined;
    const renewed = server.engine.lease.renewOnce();
    await server.target.broken(1);
    await gate.reached;
    await server.engine.attempts.finished();

    assert.equal(server.engine.lease.isHeld(), false);
    await server.submit();
    await server.look();
    assert.equal(server.engine.attempts.count, 0);
    assert.equal(server.target.calls.length, 1);

    gate.open();
    await renewed;
    assert.notEqual(server.engine.lease.workerId, lost);
    server.target.answer = (_call, response) => response.end("{}");
    await server.dispatchOnce();
    assert.equal((await server.task(id)).status, "completed");
  });

  it("makes no call for claimed tasks after a pause longer than its lease", async () => {
    const gate = createGate();
    server.databases.claim.after = (statement) => {
      if (statement === "claim_due_tasks") return gate.wait();
    };
    const id = await server.submit();
    await gate.reached;
    server.freeze(13);
    gate.open();
    await server.engine.dispatcher.dispatchOnce();
    await server.engine.attempts.finished();

    assert.equal(server.target.calls.length, 0);
    const task = await server.task(id);
    assert.deepEqual(
      [task.status, task.attempts.map(({ status, phase }) => [status, phase])],
      ["pending", [["interrupted", "not_sent"]]],
    );
    await server.engine.lease.renewOnce();
    await server.dispatchOnce();
    assert.equal((await server.task(id)).status, "completed");
  });

  it("makes no call for a claim under its former worker id: the task runs once, later", async () => {
    const gate = createGate();
    await server.submit();
    await server.dispatchOnce();
    server.databases.claim.after = (statement) => {
      if (statement === "claim_due_tasks") return gate.wait();
    };
    const id = await server.submit({ delaySeconds: 1 });
    await server.advance(1);
    const looking = server.look();
    await gate.reached;
    assert.equal((await server.task(id)).status, "active");

    await server.database.rows("delete from workers");
    await server.engine.lease.renewOnce();
    assert.equal(server.engine.lease.isHeld(), true);
    gate.open();
    await looking;
    await server.engine.reaper.reapOnce();
    await server.dispatchOnce();

    await assertRunOnce(id);
  });

  it("makes no call for a hand-off under its former worker id: the task runs once, later", async () => {
    await server.submit();
    await server.dispatchOnce();
    const gate = createGate();
    server.databases.intake.after = gate.wait;
    const submitted = server.submit();
    await gate.reached;

    await server.database.rows("delete from workers");
    await server.engine.lease.renewOnce();
    server.databases.intake.after = () => {};
    gate.open();
    const id = await submitted;
    await server.engine.reaper.reapOnce();
    await server.dispatchOnce();

    await assertRunOnce(id);
  });
});

describe("active tasks of a worker that makes no attempt at them", () => {
  let server: TestServer;
  beforeEach(async () => {
    server = await openTestServer({ concurrency: 2 });
  });
  afterEach(() => server.close());

  it("are released at the second check, and run again", async () => {
    server.databases.claim.after = (statement) => {
      if (statement !== "claim_due_tasks") return;
      server.databases.claim.after = () => {};
      throw new Error("the answer of the claim was lost");
    };
    const id = await server.submit();
    await server.look();
    assert.equal((await server.task(id)).status, "active");
    assert.equal(server.engine.attempts.count, 0);

    assert.deepEqual(await server.engine.attempts.reconcileOnce(), []);
    const returned = await server.engine.attempts.reconcileOnce();
    assert.deepEqual(
      returned.map((task) => task.id),
      [id],
    );
    await server.dispatchOnce();

    const task = await server.task(id);
    assert.equal(task.status, "completed");
    assert.deepEqual(
      task.attempts.map(({ status, phase }) => [status, phase]),
      [
        ["interrupted", "not_sent"],
        ["success", "responded"],
      ],
    );
  });

  it("are recorded as sent when the call was made and only their release was lost", async () => {
    server.target.hold();
    const id = await server.submit();
    await server.look();
    await until(() => server.target.calls.length === 1);
    server.databases.settle.before = (statement) => {
      if (statement !== "release_tasks") return;
      server.databases.settle.before = () => {};
      throw databaseAway();
    };
    server.engine.attempts.abandon();
    await server.engine.attempts.finished();

    // The slot that is free again may be claimed for just now: until that is answered none is taken for lost.
    for (let returned = 0; returned === 0; ) returned = (await server.engine.attempts.reconcileOnce()).length;

    // What was given back may be claimed again already.
    const [first] = (await server.task(id)).attempts;
    assert.deepEqual([first?.status, first?.phase], ["interrupted", "sent"]);
  });

  it("are not released while their call is in flight", async () => {
    server.target.hold();
    const id = await server.submit();
    await server.look();

    for (let look = 0; look < 3; look += 1) {
      assert.deepEqual(await server.engine.attempts.reconcileOnce(), []);
    }

    assert.equal((await server.task(id)).status, "active");
  });
});

describe("the lease", () => {
  /** A registry of workers that the test can unplug, and a clock that it turns. */
  function createScene() {
    let nextId = 1;
    const alive = new Set<number>();
    const events: string[] = [];
    const time = createTestTime();
    const scene = { away: false, alive, events };
    const sql: Sql = {
      async rows<Row extends object>({ name }: Statement, values: readonly unknown[] = []) {
        if (scene.away) throw new Error("away");
        if (name === "register_worker") {
          alive.add(nextId);
          nextId += 1;
          return [{ id: String(nextId - 1) }] as Row[];
        }
        const id = Number(values[0]);
        if (name === "remove_worker") alive.delete(id);
        return (alive.has(id) ? [{ peers: 3 }] : []) as Row[];
      },
    };
    const lease = createLease({
      sql,
      name: "test",
      time,
      log: { debug() {}, info() {}, warn() {}, error() {} },
      onLost: () => events.push("lost"),
      onHeld: () => events.push("held"),
    });
    return { scene, lease, time };
  }

  it("expires for its worker after 12 s, before others may release its tasks at 15 s", async () => {
    const { scene, lease, time } = createScene();
    await lease.renewOnce();
    scene.events.length = 0;

    time.pass(11_999);
    assert.equal(lease.isHeld(), true);
    assert.deepEqual(scene.events, []);
    time.pass(1);
    assert.equal(lease.isHeld(), false);
    assert.deepEqual(scene.events, ["lost"]);
  });

  it("counts from the sending of the renewal, not from its answer", async () => {
    const { lease, time } = createScene();
    await lease.renewOnce();
    const answered = lease.renewOnce();
    time.pass(5000);
    await answered;

    time.pass(6999);
    assert.equal(lease.isHeld(), true);
    time.pass(1);
    assert.equal(lease.isHeld(), false);
  });

  it("is extended by each renewal, without a lost or held event", async () => {
    const { scene, lease, time } = createScene();
    await lease.renewOnce();
    scene.events.length = 0;
    for (let renewal = 0; renewal < 5; renewal += 1) {
      time.pass(4000);
      await lease.renewOnce();
    }

    assert.equal(lease.isHeld(), true);
    assert.deepEqual(scene.events, []);
    assert.equal(lease.peers, 3);
  });

  it("expires while the database is away, and keeps its id if its row still exists", async () => {
    const { scene, lease, time } = createScene();
    await lease.renewOnce();
    const id = lease.workerId;
    scene.events.length = 0;
    scene.away = true;
    await assert.rejects(lease.renewOnce());
    time.pass(13_000);
    scene.away = false;
    await lease.renewOnce();

    assert.deepEqual(scene.events, ["lost", "held"]);
    assert.equal(lease.workerId, id);
  });

  it("restarts under a new id when the worker's row was removed", async () => {
    const { scene, lease } = createScene();
    await lease.renewOnce();
    const id = lease.workerId;
    scene.events.length = 0;
    scene.alive.clear();
    await lease.renewOnce();

    assert.deepEqual(scene.events, ["lost", "held"]);
    assert.notEqual(lease.workerId, id);
    assert.equal(lease.isHeld(), true);
  });
});
