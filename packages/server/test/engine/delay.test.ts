import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createAlarm } from "../../src/engine/alarm.ts";
import { createDatabaseClock } from "../../src/engine/database-clock.ts";
import type { LocalQueue } from "../../src/engine/local-queues.ts";
import type { Sql, Statement } from "../../src/store/sql.ts";
import type { Hint } from "../../src/store/tasks/hints.ts";
import { openTestServer, QUEUE, type TestServer } from "../test-server.ts";
import { createTestTime } from "../test-time.ts";

describe("delayed tasks", () => {
  let server: TestServer;
  before(async () => {
    server = await openTestServer({ concurrency: 2 });
  });
  after(() => server.close());

  it("are not started before their delay has passed, and then at once", async () => {
    const id = await server.submit({ delaySeconds: 60 });
    await server.dispatchOnce();
    await server.advance(50);
    await server.dispatchOnce();
    assert.equal((await server.task(id)).status, "pending");

    // Due now, not some time ago: the alarm looks only a little further back than when it looked last.
    const [row] = await server.database.rows<{ left: number }>(
      "select extract(epoch from due_at - clock_timestamp())::float8 as left from tasks where id = $1",
      [id],
    );
    await server.advance(row?.left ?? 0);
    await server.engine.alarm.ringOnce();
    await server.rest();
    await server.engine.attempts.finished();

    assert.equal((await server.task(id)).status, "completed");
  });

  it("do not start before their runAt", async () => {
    const id = await server.submit({ runAt: new Date(Date.now() + 3_600_000) });
    await server.advance(3500);
    await server.dispatchOnce();
    assert.equal((await server.task(id)).status, "pending");

    await server.advance(110);
    await server.dispatchOnce();
    assert.equal((await server.task(id)).status, "completed");
  });

  it("start at once when their runAt has already passed", async () => {
    const id = await server.submit({ runAt: new Date(Date.now() - 60_000) });
    await server.rest();
    await server.engine.attempts.finished();

    assert.equal((await server.task(id)).status, "completed");
  });

  it("do not block other tasks of the queue, even at a higher priority", async () => {
    await server.submit({ delaySeconds: 60, priority: 10 });
    const id = await server.submit({ priority: 1 });
    await server.dispatchOnce();

    assert.equal((await server.task(id)).status, "completed");
  });

  it("limit the alarm's nap to the time until the next one is due", async () => {
    await server.database.rows("delete from tasks where status = 'pending'");
    assert.equal(await server.engine.alarm.ringOnce(), 5000);

    await server.submit({ delaySeconds: 2 });
    const napMs = await server.engine.alarm.ringOnce();

    assert.ok(napMs <= 2001 && napMs > 0, `${napMs} ms`);
  });

  it("of a test key do not shorten the alarm's nap", async () => {
    await server.database.rows("delete from tasks where status = 'pending'");
    const sandbox = { ...server.principal, environment: "test" as const };
    await server.submit({ delaySeconds: 1 }, sandbox);

    assert.equal(await server.engine.alarm.ringOnce(), 5000);
  });
});

describe("a task of a test key", () => {
  let server: TestServer;
  before(async () => {
    server = await openTestServer();
  });
  after(() => server.close());

  it("is accepted, stays pending and is never executed", async () => {
    const sandbox = { ...server.principal, environment: "test" as const };
    await server.submit();
    await server.dispatchOnce();
    const calls = server.target.calls.length;

    const id = await server.submit({}, sandbox);
    const delayed = await server.submit({ delaySeconds: 1 }, sandbox);
    await server.advance(60);
    await server.dispatchOnce();
    await server.engine.reaper.reapOnce();
    await server.engine.janitor.cleanOnce();

    for (const each of [id, delayed]) {
      const task = await server.task(each);
      assert.deepEqual([task.status, task.sandbox, task.attempts], ["pending", true, []]);
    }
    assert.equal(server.target.calls.length, calls);
    assert.equal((await server.queues.get(sandbox, QUEUE)).stats.pending, 2);
    await server.tasks.remove(server.principal, id);
  });

  it("does not block live tasks of a lower priority", async () => {
    const sandbox = { ...server.principal, environment: "test" as const };
    await Promise.all(Array.from({ length: 10 }, () => server.submit({ priority: 10 }, sandbox)));
    const id = await server.submit({ priority: 1 });
    await server.dispatchOnce();

    assert.equal((await server.task(id)).status, "completed");
  });
});

describe("the alarm", () => {
  /** Answers each statement of the alarm; a look at every queue can be held up. */
  function createScene() {
    const looks: string[] = [];
    const scene = {
      looks,
      untilNextMs: null as number | null,
      databaseMs: 1_000_000,
      cameDue: false,
      slots: 1,
      during: async () => {},
    };
    const sql: Sql = {
      async rows({ name }: Statement, values: readonly unknown[] = []) {
        const isEverywhere = name === "queues_with_due_tasks";
        const databaseMs = scene.databaseMs + time.monotonicMs();
        const [sinceMs, overlapMs] = values;
        looks.push(
          isEverywhere
            ? "everywhere"
            : `last ${databaseMs - Number(sinceMs ?? databaseMs) + Number(overlapMs)} ms`,
        );
        await scene.during();
        const { untilNextMs, cameDue } = scene;
        const [teamId, queue] = cameDue ? [7, "mail"] : [null, null];
        return isEverywhere ? [] : ([{ databaseMs, untilNextMs, teamId, queue }] as never);
      },
    };
    const dispatcher = { notice() {}, lookAgain() {} };
    const time = createTestTime();
    const clock = createDatabaseClock(time);
    const hints: Hint[] = [];
    const localQueues = {
      find: () => ({ grant: { slots: scene.slots, concurrency: 2 } }) as unknown as LocalQueue,
    };
    const hint = (each: Hint) => hints.push(each);
    return { scene, time, hints, alarm: createAlarm({ sql, dispatcher, localQueues, hint, time, clock }) };
  }

  it("checks all queues first, then only tasks due since the last check, with an overlap", async () => {
    const { scene, time, alarm } = createScene();
    await alarm.ringOnce();
    time.pass(1000);
    await alarm.ringOnce();

    assert.deepEqual(scene.looks, ["everywhere", "last 15000 ms", "last 1500 ms"]);
  });

  it("tells the other workers when a task comes due that it expected, unless this worker has all slots of its queue", async () => {
    const { scene, time, hints, alarm } = createScene();
    const toldAfter = async (ms: number) => {
      time.pass(ms);
      await alarm.ringOnce();
      return hints.splice(0);
    };
    const due = { kind: "due", teamId: 7, queue: "mail" };
    scene.cameDue = true;
    scene.untilNextMs = 1_000;
    assert.deepEqual(await toldAfter(0), [], "the other workers make this check too");
    assert.deepEqual(await toldAfter(999), []);
    scene.untilNextMs = 4_500;
    assert.deepEqual(await toldAfter(1_000), [due]);
    scene.untilNextMs = null;
    assert.deepEqual(await toldAfter(4_500), [due], "the next poll falls on the same time");
    assert.deepEqual(await toldAfter(5_000), [], "a poll found it");

    scene.untilNextMs = 1_000;
    await toldAfter(0);
    scene.slots = 2;
    assert.deepEqual(await toldAfter(1_000), []);
  });

  it("checks further back at each 5 s poll, and all queues once a minute", async () => {
    const { scene, time, alarm } = createScene();
    for (; time.monotonicMs() <= 60_000; time.pass(5000)) await alarm.ringOnce();

    assert.equal(scene.looks[2], "last 20000 ms");
    assert.equal(scene.looks.filter((look) => look === "everywhere").length, 2);
    assert.equal(scene.looks.at(-2), "everywhere");
  });

  it("checks all queues again when that was requested during a check", async () => {
    const { scene, alarm } = createScene();
    scene.during = async () => {
      scene.during = async () => {};
      alarm.lookEverywhere();
    };
    await alarm.ringOnce();
    await alarm.ringOnce();

    assert.deepEqual(
      scene.looks.map((look) => look === "everywhere"),
      [true, false, true, false],
    );
  });

  it("reaches back to the last successful check after a failed one", async () => {
    const { scene, time, alarm } = createScene();
    await alarm.ringOnce();
    scene.during = async () => {
      throw new Error("away");
    };
    time.pass(1000);
    await assert.rejects(alarm.ringOnce());
    scene.during = async () => {};
    time.pass(1000);
    await alarm.ringOnce();

    assert.equal(scene.looks.at(-1), "last 2500 ms");
  });

  it("finds tasks that became due in a jump of the database's clock", async () => {
    const { scene, time, alarm } = createScene();
    await alarm.ringOnce();
    time.pass(1000);
    scene.databaseMs += 3_600_000;
    await alarm.ringOnce();

    assert.equal(scene.looks.at(-1), `last ${3_600_000 + 1500} ms`);
  });

  it("compares due times with the database's clock, not with the machine's", async () => {
    const { scene, time, alarm } = createScene();
    await alarm.ringOnce();
    const databaseNowMs = scene.databaseMs + time.monotonicMs();

    assert.equal(alarm.isSooner(new Date(databaseNowMs + 1000)), true);
    assert.equal(alarm.isSooner(new Date(databaseNowMs + 6000)), false);
    assert.equal(alarm.isSooner(new Date(time.nowMs() + 1000)), false, "this machine's clock is years ahead");
  });

  it("naps until the next task is due, at least 10 ms and at most 5 s", async () => {
    const { scene, alarm } = createScene();
    const naps = [];
    for (const untilNextMs of [null, 0.2, 1500.4, 86_400_000]) {
      scene.untilNextMs = untilNextMs;
      naps.push(await alarm.ringOnce());
    }

    assert.deepEqual(naps, [5000, 10, 1502, 5000]);
  });
});
