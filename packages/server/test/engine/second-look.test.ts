import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import pg from "pg";
import { createSecondLook } from "../../src/engine/second-look.ts";
import type { Sql } from "../../src/store/sql.ts";
import { openTestHouse, QUEUE, type TestHouse } from "../test-house.ts";
import { databaseAway } from "../test-sql.ts";
import { createTestTime } from "../test-time.ts";

/** Well below the polls of five seconds, which would find it too. */
const SOON_MS = 3_000;

describe("due work that no claim and no hint tells of", () => {
  let house: TestHouse;
  beforeEach(async () => {
    house = await openTestHouse({ concurrency: 2, maxRetries: 0 });
  });
  afterEach(() => house.close());

  async function runsSoon(id: string): Promise<void> {
    const beganMs = performance.now();
    while ((await house.task(id)).status !== "completed") {
      assert.ok(performance.now() - beganMs < SOON_MS, "it was not looked for again");
      await new Promise(setImmediate);
    }
  }

  it("is looked for again when its row was locked as it was claimed", async () => {
    const hand = new pg.Client(house.connection);
    await hand.connect();
    const id = await house.submit({ delaySeconds: 1 });
    await house.advance(1);
    await hand.query("begin");
    await hand.query("select 1 from tasks where id = $1 for update", [id]);
    await house.look();
    assert.equal((await house.task(id)).status, "pending");

    await hand.query("rollback");
    await hand.end();
    await runsSoon(id);
  });

  it("of a queue that was paused before this node began runs at once when it is resumed", async () => {
    await house.queues.setPaused(house.principal, QUEUE, true);
    const id = await house.submit({ runAt: new Date(Date.now() - 120_000) });
    await house.quiet();
    await house.stop();
    const node = await house.openNode();
    await node.look();

    await node.queues.setPaused(house.principal, QUEUE, false);
    await runsSoon(id);
  });
});

describe("the second look", () => {
  function createScene() {
    const time = createTestTime();
    const asked: string[][] = [];
    const noticed: string[] = [];
    const scene = { asked, noticed, away: false, due: [] as string[] };
    const sql: Sql = {
      async rows(_query: unknown, values: readonly unknown[] = []) {
        const queues = JSON.parse(String(values[0])) as { teamId: number; queue: string }[];
        asked.push(queues.map(({ queue }) => queue));
        if (scene.away) throw databaseAway();
        return queues.filter(({ queue }) => scene.due.includes(queue)) as never;
      },
    };
    const secondLook = createSecondLook({
      sql,
      dispatcher: { notice: (_teamId, queue) => noticed.push(queue) },
      time,
      log: { debug() {}, info() {}, warn() {}, error() {} },
    });
    const pass = async (ms: number) => {
      time.pass(ms);
      await new Promise(setImmediate);
    };
    return { scene, secondLook, pass };
  }

  it("is one statement for all queues, and not made again where nothing is due", async () => {
    const { scene, secondLook, pass } = createScene();
    scene.due = ["b"];
    for (const queue of ["a", "b", "a"]) secondLook.later({ teamId: 1, queue });
    await pass(499);
    assert.deepEqual(scene.asked, []);
    await pass(1);
    assert.deepEqual([scene.asked, scene.noticed], [[["a", "b"]], ["b"]]);
    await pass(60_000);
    assert.equal(scene.asked.length, 1);
  });

  it("is made again until the database answers, and no more once it is stopped", async () => {
    const { scene, secondLook, pass } = createScene();
    scene.away = true;
    secondLook.now({ teamId: 1, queue: "a" });
    await pass(0);
    await pass(500);
    assert.equal(scene.asked.length, 2);

    secondLook.stop();
    await pass(500);
    assert.equal(scene.asked.length, 2);
  });
});
