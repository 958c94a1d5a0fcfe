import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import pg from "pg";
import { createRecheck } from "../../src/engine/recheck.ts";
import { openTestServer, QUEUE, type TestServer } from "../test-server.ts";
import { databaseAway, type TextSql } from "../test-sql.ts";
import { createTestTime } from "../test-time.ts";

/** Against hanging alone: the actors, whose polls would find it too, do not run here. */
const SOON_MS = 60_000;

describe("due tasks that claims and hints miss", () => {
  let server: TestServer;
  beforeEach(async () => {
    server = await openTestServer({ concurrency: 2, maxRetries: 0 });
  });
  afterEach(() => server.close());

  async function runsSoon(id: string): Promise<void> {
    const beganMs = performance.now();
    while ((await server.task(id)).status !== "completed") {
      assert.ok(performance.now() - beganMs < SOON_MS, "it was not looked for again");
      await new Promise(setImmediate);
    }
  }

  it("run soon when their row was locked during the claim", async () => {
    const hand = new pg.Client(server.connection);
    await hand.connect();
    const id = await server.submit({ delaySeconds: 1 });
    await server.advance(1);
    await hand.query("begin");
    await hand.query("select 1 from tasks where id = $1 for update", [id]);
    await server.look();
    assert.equal((await server.task(id)).status, "pending");

    await hand.query("rollback");
    await hand.end();
    await runsSoon(id);
  });

  it("of a queue that was paused before the node started run soon when it is resumed", async () => {
    await server.queues.setPaused(server.principal, QUEUE, true);
    const id = await server.submit({ runAt: new Date(Date.now() - 120_000) });
    await server.quiet();
    await server.stop();
    const node = await server.openNode();
    await node.look();

    await node.queues.setPaused(server.principal, QUEUE, false);
    await runsSoon(id);
  });
});

describe("the recheck", () => {
  function createScene() {
    const time = createTestTime();
    const asked: string[][] = [];
    const noticed: string[] = [];
    const scene = { asked, noticed, away: false, due: [] as string[] };
    const sql: TextSql = {
      async rows(_query: unknown, values: readonly unknown[] = []) {
        const queues = JSON.parse(String(values[0])) as { teamId: number; queue: string }[];
        asked.push(queues.map(({ queue }) => queue));
        if (scene.away) throw databaseAway();
        return queues.filter(({ queue }) => scene.due.includes(queue)) as never;
      },
    };
    const recheck = createRecheck({
      sql,
      dispatcher: { notice: (_teamId, queue) => noticed.push(queue) },
      time,
      log: { debug() {}, info() {}, warn() {}, error() {} },
    });
    const pass = async (ms: number) => {
      time.pass(ms);
      await new Promise(setImmediate);
    };
    return { scene, recheck, pass };
  }

  it("checks all queues in one statement, once", async () => {
    const { scene, recheck, pass } = createScene();
    scene.due = ["b"];
    for (const queue of ["a", "b", "a"]) recheck.later({ teamId: 1, queue });
    await pass(499);
    assert.deepEqual(scene.asked, []);
    await pass(1);
    assert.deepEqual([scene.asked, scene.noticed], [[["a", "b"]], ["b"]]);
    await pass(60_000);
    assert.equal(scene.asked.length, 1);
  });

  it("is repeated until the database answers, and ends when it is stopped", async () => {
    const { scene, recheck, pass } = createScene();
    scene.away = true;
    recheck.now({ teamId: 1, queue: "a" });
    await pass(0);
    await pass(500);
    assert.equal(scene.asked.length, 2);

    recheck.stop();
    await pass(500);
    assert.equal(scene.asked.length, 2);
  });
});
