import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { formatTaskId } from "../../src/domain/task-id.ts";
import { createLease } from "../../src/engine/lease.ts";
import type { Sql } from "../../src/store/sql.ts";
import { openTestHouse, type TestHouse } from "../test-house.ts";
import { createGate, databaseAway, until } from "../test-sql.ts";
import { createTestTime } from "../test-time.ts";

describe("a task taken back during its call", () => {
  let house: TestHouse;
  beforeEach(async () => {
    house = await openTestHouse({ concurrency: 2, maxRetries: 0 });
  });
  afterEach(() => house.close());

  const outcomes = () =>
    house.log.flatMap(({ message, fields: { verdict } }) => (message === "attempt.settled" ? [verdict] : []));

  it("runs again, and the late verdict changes nothing but is noted (promise D)", async () => {
    house.target.hold();
    const id = await house.submit();
    await house.look();
    await house.target.received(1);

    await house.reapEverything();
    assert.equal((await house.task(id)).status, "pending");
    house.target.release(1, 500);
    await house.settled(1);
    assert.deepEqual(outcomes(), ["superseded"]);
    assert.equal((await house.task(id)).status, "pending");

    house.target.answer = (_call, response) => response.end("{}");
    await house.engine.lease.renewOnce();
    await house.dispatchOnce();

    const task = await house.task(id);
    assert.equal(task.status, "completed");
    assert.deepEqual(
      task.attempts.map(({ number, status, responseCode }) => [number, status, responseCode]),
      [
        [1, "superseded", 500],
        [2, "success", 200],
      ],
    );
    assert.equal(house.target.calls.length, 2);
  });

  it("keeps the outcome of the second run when the first one answers after it", async () => {
    const other = await house.openNode();
    house.target.hold();
    const id = await house.submit();
    await house.look();
    await house.target.received(1);
    await house.database.rows("delete from workers where id = $1", [house.engine.lease.workerId]);
    await other.engine.reaper.reapOnce();
    await other.look();
    await house.target.received(2);

    const [late, winner] = house.target.held.splice(0);
    winner?.response.end('"second"');
    await other.engine.attempts.finished();
    late?.response.writeHead(500).end('"first"');
    await house.settled(2);

    const task = await house.task(id);
    assert.deepEqual([task.status, task.result?.body], ["completed", '"second"']);
    assert.deepEqual(
      task.attempts.map(({ status }) => status),
      ["superseded", "success"],
    );
  });

  it("counts neither as a failure nor as a retry", async () => {
    house.target.hold();
    const id = await house.submit({ maxRetries: 1 });
    await house.look();
    await house.target.received(1);
    await house.reapEverything();
    house.target.release(1, 500);
    await house.settled(1);
    house.target.answer = (_call, response) => response.writeHead(500).end();
    await house.engine.lease.renewOnce();
    await house.dispatchOnce();
    await house.advance(10);
    await house.dispatchOnce();

    const task = await house.task(id);
    assert.equal(task.status, "failed");
    assert.deepEqual(
      task.attempts.map(({ status }) => status),
      ["superseded", "failed", "failed"],
    );
  });
});

describe("a node that has lost its lease", () => {
  let house: TestHouse;
  beforeEach(async () => {
    house = await openTestHouse({ concurrency: 2 });
  });
  afterEach(() => house.close());

  /** The attempt that was granted to a dead worker was never sent; the task ran once, in a later one. */
  async function assertRunOnce(id: string): Promise<void> {
    const calls = house.target.calls.filter(({ headers }) => headers["bellhop-task-id"] === formatTaskId(id));
    assert.deepEqual(
      calls.map(({ headers }) => headers["bellhop-attempt"]),
      ["2"],
    );
    const task = await house.task(id);
    assert.equal(task.status, "completed");
    assert.deepEqual(
      task.attempts.map(({ status }) => status),
      ["interrupted", "success"],
    );
  }

  it("tears its calls down and sends nothing more until it has a new one", async () => {
    house.target.hold();
    const id = await house.submit();
    await house.look();
    await house.target.received(1);
    const lost = house.engine.lease.workerId;
    await house.database.rows("delete from workers");
    await house.engine.reaper.reapOnce();

    const gate = createGate();
    house.databases.lease.before = (statement) => (statement.startsWith("insert") ? gate.wait() : undefined);
    const renewed = house.engine.lease.renewOnce();
    await house.target.broken(1);
    await gate.reached;
    await house.engine.attempts.finished();

    assert.equal(house.engine.lease.isHeld(), false);
    await house.submit();
    await house.look();
    assert.equal(house.engine.attempts.count, 0);
    assert.equal(house.target.calls.length, 1);

    gate.open();
    await renewed;
    assert.notEqual(house.engine.lease.workerId, lost);
    house.target.answer = (_call, response) => response.end("{}");
    await house.dispatchOnce();
    assert.equal((await house.task(id)).status, "completed");
  });

  it("sends nothing of what it had claimed when it was paused past its lease", async () => {
    const gate = createGate();
    house.databases.claim.after = (statement) => {
      if (statement === "claim_due_tasks") return gate.wait();
    };
    const id = await house.submit();
    await gate.reached;
    house.freeze(13);
    gate.open();
    await house.engine.dispatcher.dispatchOnce();
    await house.engine.attempts.finished();

    assert.equal(house.target.calls.length, 0);
    const task = await house.task(id);
    assert.deepEqual(
      [task.status, task.attempts.map(({ status, phase }) => [status, phase])],
      ["pending", [["interrupted", "not_sent"]]],
    );
    await house.engine.lease.renewOnce();
    await house.dispatchOnce();
    assert.equal((await house.task(id)).status, "completed");
  });

  it("does not make the call of a claim that was granted to its former self: the task runs once, later", async () => {
    const gate = createGate();
    await house.submit();
    await house.dispatchOnce();
    house.databases.claim.after = (statement) => {
      if (statement === "claim_due_tasks") return gate.wait();
    };
    const id = await house.submit({ delaySeconds: 1 });
    await house.advance(1);
    const looking = house.look();
    await gate.reached;
    assert.equal((await house.task(id)).status, "active");

    await house.database.rows("delete from workers");
    await house.engine.lease.renewOnce();
    assert.equal(house.engine.lease.isHeld(), true);
    gate.open();
    await looking;
    await house.engine.reaper.reapOnce();
    await house.dispatchOnce();

    await assertRunOnce(id);
  });

  it("does not make the call of a hand-off that was granted to its former self either", async () => {
    await house.submit();
    await house.dispatchOnce();
    const gate = createGate();
    house.databases.intake.after = gate.wait;
    const submitted = house.submit();
    await gate.reached;

    await house.database.rows("delete from workers");
    await house.engine.lease.renewOnce();
    house.databases.intake.after = () => {};
    gate.open();
    const id = await submitted;
    await house.engine.reaper.reapOnce();
    await house.dispatchOnce();

    await assertRunOnce(id);
  });
});

describe("tasks that the database holds for a worker and nobody works on", () => {
  let house: TestHouse;
  beforeEach(async () => {
    house = await openTestHouse({ concurrency: 2 });
  });
  afterEach(() => house.close());

  it("are given back at the second look, and run", async () => {
    house.databases.claim.after = (statement) => {
      if (statement !== "claim_due_tasks") return;
      house.databases.claim.after = () => {};
      throw new Error("the answer of the claim was lost");
    };
    const id = await house.submit();
    await house.look();
    assert.equal((await house.task(id)).status, "active");
    assert.equal(house.engine.attempts.count, 0);

    assert.deepEqual(await house.engine.attempts.reconcileOnce(), []);
    const returned = await house.engine.attempts.reconcileOnce();
    assert.deepEqual(
      returned.map((task) => task.id),
      [id],
    );
    await house.dispatchOnce();

    const task = await house.task(id);
    assert.equal(task.status, "completed");
    assert.deepEqual(
      task.attempts.map(({ status, phase }) => [status, phase]),
      [
        ["interrupted", "not_sent"],
        ["success", "responded"],
      ],
    );
  });

  it("are recorded as sent where the call had left, and only its giving back was lost", async () => {
    house.target.hold();
    const id = await house.submit();
    await house.look();
    await until(() => house.target.calls.length === 1);
    house.databases.settle.before = (statement) => {
      if (statement !== "release_tasks") return;
      house.databases.settle.before = () => {};
      throw databaseAway();
    };
    house.engine.attempts.abandon();
    await house.engine.attempts.finished();

    // The slot that is free again may be claimed for just now: until that is answered none is taken for lost.
    for (let returned = 0; returned === 0; ) returned = (await house.engine.attempts.reconcileOnce()).length;

    // What was given back may be claimed again already.
    const [first] = (await house.task(id)).attempts;
    assert.deepEqual([first?.status, first?.phase], ["interrupted", "sent"]);
  });

  it("are left alone while their call is under way", async () => {
    house.target.hold();
    const id = await house.submit();
    await house.look();

    for (let look = 0; look < 3; look += 1) {
      assert.deepEqual(await house.engine.attempts.reconcileOnce(), []);
    }

    assert.equal((await house.task(id)).status, "active");
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
      async rows<Row extends object>(query: unknown, values: readonly unknown[] = []) {
        if (scene.away) throw new Error("away");
        const text = String(query).trim();
        if (text.startsWith("insert")) {
          alive.add(nextId);
          nextId += 1;
          return [{ id: String(nextId - 1) }] as Row[];
        }
        const id = Number(values[0]);
        if (text.startsWith("delete")) alive.delete(id);
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

  it("ends for its worker well before others may take what it holds: 12 s of 15", async () => {
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

  it("counts from before the renewal was sent, not from its answer", async () => {
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

  it("is extended by each renewal, without a word", async () => {
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

  it("is lost while the database is away, and held again under the same id when its row still stands", async () => {
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

  it("begins anew under another id when the worker was taken for dead", async () => {
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
