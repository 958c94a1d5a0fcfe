import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { type Actors, createActors } from "../../src/engine/actors.ts";
import { createDatabaseClock } from "../../src/engine/database-clock.ts";
import { createTimetable } from "../../src/engine/timetable.ts";
import { openTestServer } from "../test-server.ts";
import { createTestTime, type TestTime } from "../test-time.ts";

const turn = () => new Promise(setImmediate);
const log = { debug() {}, info() {}, warn() {}, error() {} };

describe("the actors of an engine", () => {
  let time: TestTime;
  let actors: Actors;
  let rounds: string[];
  beforeEach(() => {
    time = createTestTime();
    actors = createActors({ time, log });
    rounds = [];
  });
  afterEach(() => actors.stop());

  function add(name: string, napMs: number) {
    return actors.add({
      name,
      async once() {
        rounds.push(name);
        return napMs;
      },
    });
  }

  it("run one round at the start, and each the next when its own nap ends", async () => {
    add("often", 1000);
    add("seldom", 60_000);
    await turn();
    assert.deepEqual(rounds, [], "none before the start");

    actors.start();
    await turn();
    assert.deepEqual(rounds.splice(0), ["often", "seldom"]);
    for (let second = 0; second < 3; second += 1) {
      time.pass(1000);
      await turn();
    }
    assert.deepEqual(rounds, ["often", "often", "often"]);
  });

  it("wake individually, and ignore a wake before the start", async () => {
    const one = add("one", 60_000);
    add("other", 60_000);
    one.wake();
    await turn();
    assert.deepEqual(rounds, []);

    actors.start();
    await turn();
    rounds.length = 0;
    one.wake();
    await turn();
    assert.deepEqual(rounds, ["one"]);
  });

  it("run no further round after a stop, and accept a stop before the start", async () => {
    await actors.stop();
    add("one", 1000);
    actors.start();
    await turn();
    await actors.stop();
    rounds.length = 0;
    time.pass(10_000);
    await turn();
    assert.deepEqual(rounds, []);
  });

  it("are all in one list, including those outside the engine", async () => {
    const server = await openTestServer();
    try {
      assert.deepEqual(server.engine.actors.all.map(({ name }) => name).sort(), [
        "alarm",
        "alert-courier",
        "alerts",
        "breakers",
        "budgets",
        "bulks",
        "courier",
        "deadlines",
        "flow-alarm",
        "heartbeat",
        "janitor",
        "ordered-queues",
        "poller",
        "queue-stats",
        "reaper",
        "reconciler",
        "retention",
        "sandbox",
        "scheduler",
        "session-keys",
        "slot-keeper",
        "vault-rotation",
        "vault-uses",
        "webhook-courier",
        "webhooks",
      ]);
    } finally {
      await server.close();
    }
  });
});

describe("the timetable of an actor", () => {
  const create = () => {
    const time = createTestTime();
    return {
      time,
      timetable: createTimetable({ time, clock: createDatabaseClock(time), shortestMs: 20, longestMs: 5000 }),
    };
  };

  it("naps until just after the next due time, at least 20 ms and at most 5 s", () => {
    const { timetable } = create();
    const naps = [null, -100, 0.2, 1500.4, 4999.5, 86_400_000].map((untilMs) => timetable.nap(untilMs));
    assert.deepEqual(naps, [5000, 20, 20, 1502, 5000, 5000]);
  });

  it("reports whether a time or a delay falls before the next check", () => {
    const { time, timetable } = create();
    timetable.nap(3000);
    time.pass(1000);
    const inMs = (ms: number) => new Date(time.nowMs() + ms);

    assert.deepEqual([timetable.isSooner(inMs(2000)), timetable.isSooner(inMs(2001))], [true, false]);
    assert.deepEqual([timetable.isSoonerThan(2000), timetable.isSoonerThan(2001)], [true, false]);
  });
});
