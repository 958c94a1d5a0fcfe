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

  it("naps for the duration that its round returns", async () => {
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

  it("starts a round at once when it is woken from its nap", async () => {
    start();
    await turn();
    loop.wake();
    await turn();
    assert.equal(rounds, 2);
  });

  it("runs another round after a wake during a round", async () => {
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

  it("runs one more round, not several, for several wakes", async () => {
    start();
    await turn();
    loop.wake();
    loop.wake();
    loop.wake();
    await turn();
    assert.equal(rounds, 2);
  });

  it("logs that it waits, not that it failed, while the database is away", async () => {
    once = async () => {
      throw new Problem("database_away");
    };
    start();
    await turn();
    assert.ok(log.includes("actor.waits"));
    assert.ok(!log.includes("actor.failed"));
  });

  it("continues after a round that throws, and naps before the next", async () => {
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

  it("stops at once during a nap, and otherwise after its round", async () => {
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
