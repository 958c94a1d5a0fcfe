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

  it("make a round at the start, and each its next when its own nap is over", async () => {
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

  it("are woken one at a time, and not before they run", async () => {
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

  it("make no round once they are stopped, also when they never ran", async () => {
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

  it("are all in one list, those of the rest of the server too", async () => {
    const server = await openTestServer();
    try {
      assert.deepEqual(
        server.engine.actors.all.map(({ name }) => name),
        [
          "alarm",
          "poller",
          "courier",
          "webhook-courier",
          "deadlines",
          "reaper",
          "janitor",
          "slot-keeper",
          "reconciler",
          "budgets",
          "retention",
          "session-keys",
          "vault-rotation",
          "vault-uses",
          "bulks",
          "webhooks",
          "heartbeat",
          "queue-stats",
          "scheduler",
          "sandbox",
        ],
      );
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

  it("naps until the next thing is due and a little more, but neither in a spin nor past its net", () => {
    const { timetable } = create();
    const naps = [null, -100, 0.2, 1500.4, 4999.5, 86_400_000].map((untilMs) => timetable.nap(untilMs));
    assert.deepEqual(naps, [5000, 20, 20, 1502, 5000, 5000]);
  });

  it("reports what is due before the next check, by time and by delay", () => {
    const { time, timetable } = create();
    timetable.nap(3000);
    time.pass(1000);
    const inMs = (ms: number) => new Date(time.nowMs() + ms);

    assert.deepEqual([timetable.isSooner(inMs(2000)), timetable.isSooner(inMs(2001))], [true, false]);
    assert.deepEqual([timetable.isSoonerThan(2000), timetable.isSoonerThan(2001)], [true, false]);
  });
});
