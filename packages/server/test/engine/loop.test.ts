import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { Problem } from "../../src/domain/problem.ts";
import { type Loop, startLoop } from "../../src/engine/loop.ts";
import { createTestTime, type TestTime } from "../test-time.ts";

const NAP_MS = 1000;
const turn = () => new Promise(setImmediate);

describe("the loop of an actor", () => {
  let loop: Loop;
  let time: TestTime;
  let rounds: number;
  let once: () => Promise<number>;
  const log: string[] = [];
  const note = (_fields: object, message: string) => log.push(message);
  beforeEach(() => {
    time = createTestTime();
    rounds = 0;
    log.length = 0;
    once = async () => NAP_MS;
  });
  afterEach(async () => {
    await loop.stop();
  });

  function start(): void {
    loop = startLoop({
      name: "test",
      time,
      log: { debug: note, info: note, warn: note, error: note },
      once: () => {
        rounds += 1;
        return once();
      },
    });
  }

  it("naps as long as a round says", async () => {
    start();
    await turn();
    assert.equal(rounds, 1);
    time.pass(NAP_MS - 1);
    await turn();
    assert.equal(rounds, 1);
    time.pass(1);
    await turn();
    assert.equal(rounds, 2);
  });

  it("goes on at once when it is woken from its nap", async () => {
    start();
    await turn();
    loop.wake();
    await turn();
    assert.equal(rounds, 2);
  });

  it("does not lose a wake that comes during a round", async () => {
    let finish = (_napMs: number) => {};
    once = () =>
      new Promise((resolve) => {
        finish = resolve;
      });
    start();
    loop.wake();
    finish(NAP_MS);
    await turn();
    assert.equal(rounds, 2);
    finish(NAP_MS);
  });

  it("makes one more round, not several, for several wakes", async () => {
    start();
    await turn();
    loop.wake();
    loop.wake();
    loop.wake();
    await turn();
    assert.equal(rounds, 2);
  });

  it("says in one line that it waits for a database that is away", async () => {
    once = async () => {
      throw new Problem("database_away");
    };
    start();
    await turn();
    assert.ok(log.includes("actor.waits"));
    assert.ok(!log.includes("actor.failed"));
  });

  it("survives a round that throws, and naps before the next", async () => {
    once = async () => {
      throw new Error("boom");
    };
    start();
    await turn();
    assert.equal(rounds, 1);
    assert.ok(log.includes("actor.failed"));
    time.pass(500);
    await turn();
    assert.equal(rounds, 2);
  });

  it("stops in its nap at once, and after its round when it is in one", async () => {
    start();
    await turn();
    await loop.stop();
    assert.equal(rounds, 1);

    let finish = (_napMs: number) => {};
    once = () =>
      new Promise((resolve) => {
        finish = resolve;
      });
    start();
    let stopped = false;
    const stop = loop.stop().then(() => {
      stopped = true;
    });
    await turn();
    assert.equal(stopped, false);
    finish(NAP_MS);
    await stop;
    assert.equal(rounds, 2);
  });
});
