import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { type Actors, createActors } from "../../src/engine/actors.ts";
import { createDatabaseClock } from "../../src/engine/database-clock.ts";
import type { RoundCost } from "../../src/engine/round-cost.ts";
import { createTimetable } from "../../src/engine/timetable.ts";
import { openTestServer } from "../test-server.ts";
import { createTestTime, type TestTime } from "../test-time.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

/**
 * What every actor costs, written down a second time and by hand: the rows and bytes of a portion, what it is a portion of, and
 * how teams take turns.
 */
const ROUNDS: Readonly<Record<string, readonly [rows: number, bytes: number, per: string, turns: string]>> = {
  // Within the budget of each team, or an equal share of the portion.
  dispatcher: [200, 800 * MIB, "portion", "in turn"],
  flows: [200, 800 * MIB, "portion", "in turn"],
  poller: [100, 400 * MIB, "portion", "in turn"],
  courier: [50, 200 * MIB, "portion", "in turn"],
  "webhook-courier": [50, 50 * MIB, "portion", "in turn"],
  "alert-courier": [50, 50 * 64 * KIB, "portion", "in turn"],
  intake: [300, 256 * KIB, "portion", "in turn"],
  settler: [300, 19.75 * MIB, "portion", "in turn"],
  scheduler: [300, 256 * KIB, "portion", "in turn"],
  // A portion for each of those with work.
  alarm: [1, KIB, "queue", "each"],
  "flow-alarm": [1, KIB, "flow", "each"],
  alerts: [500_000, 500 * KIB, "team", "each"],
  breakers: [1_000, 1_000 * KIB, "host", "each"],
  budgets: [1, KIB, "team", "each"],
  bulks: [100, 100 * KIB, "team", "each"],
  "ordered-queues": [10_001, KIB, "queue", "each"],
  reconciler: [1, KIB, "call", "each"],
  "slot-keeper": [1, KIB, "queue", "each"],
  "vault-uses": [1, KIB, "token", "each"],
  webhooks: [200 + 1_024, 12.5 * MIB, "team", "each"],
  // Rows that cost the same for every team.
  deadlines: [500, 500 * KIB, "portion", "oldest first"],
  janitor: [1_000, 1_000 * KIB, "portion", "oldest first"],
  "queue-stats": [500, 500 * KIB, "portion", "oldest first"],
  reaper: [500, 500 * KIB, "portion", "oldest first"],
  retention: [1_000, 1_000 * KIB, "portion", "oldest first"],
  sandbox: [100 + 10 * 101, 25 * MIB, "portion", "oldest first"],
  "vault-rotation": [200, 200 * MIB, "portion", "oldest first"],
  // Rows of no team.
  heartbeat: [1, KIB, "portion", "none"],
  lease: [1, KIB, "portion", "none"],
  "session-keys": [10, 10 * KIB, "portion", "none"],
};

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
      cost: { rows: 1, bytes: 1, turns: "none" },
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

  it("are all in one list, including those outside the engine, with costs as they are repeated by hand", async () => {
    const server = await openTestServer();
    try {
      const { all, costs } = server.engine.actors;
      const declared = [...costs].map(([name, { rows, bytes, per, turns }]) => [
        name,
        [rows, bytes, per ?? "portion", turns],
      ]);
      assert.deepEqual(Object.fromEntries(declared), ROUNDS);
      const others = ["dispatcher", "flows", "intake", "lease", "settler"];
      const names = [...all.map(({ name }) => name), ...others];
      assert.deepEqual(names.sort(), Object.keys(ROUNDS).sort());
    } finally {
      await server.close();
    }
  });

  it("are refused without a cost, with one that is no bound, or where it does not say how teams take turns", () => {
    const cost: RoundCost = { rows: 1, bytes: 1, turns: "none" };
    const adding = (wrong: object | undefined) => () =>
      actors.add({ name: "late", once: async () => 1, cost: wrong as RoundCost });
    assert.throws(adding(undefined), /The actor late does not declare its cost/);
    assert.throws(adding({ ...cost, rows: Number.POSITIVE_INFINITY }), /costs Infinity rows/);
    assert.throws(adding({ ...cost, bytes: -1 }), /costs -1 bytes/);
    assert.throws(adding({ rows: 1, bytes: 1 }), /does not say how teams take turns/);
    assert.deepEqual(actors.all, []);
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
