import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createTurns } from "../../src/service/turns.ts";

/** Time passes only by work, and a turn of the event loop begins when the test says so. */
function createLoop() {
  let nowMs = 0;
  let soon: (() => void)[] = [];
  const done: string[] = [];
  const inTurns = createTurns({ nowMs: () => nowMs, soon: (work) => soon.push(work) });
  const settle = async () => {
    for (let passed = 0; passed < 10; passed += 1) await Promise.resolve();
  };
  return {
    /** Begins a request with so many items, each of which takes the given milliseconds. */
    start(name: string, { teamId = 1, items = 1, ms = 1 }) {
      const numbers = Array.from({ length: items }, (_, index) => index);
      return inTurns(teamId, numbers, (number) => {
        nowMs += ms;
        done.push(`${name}${number}`);
        return number;
      });
    },
    /** The items that were worked on in this turn; then the next begins. */
    async turn() {
      await settle();
      const items = done.splice(0);
      const works = soon;
      soon = [];
      for (const work of works) work();
      return items.join(" ");
    },
  };
}

describe("turns", () => {
  it("work on a few items at once, and on many in several turns", async () => {
    const loop = createLoop();
    const few = loop.start("a", { items: 3 });
    assert.equal(await loop.turn(), "a0 a1 a2");
    assert.deepEqual(await few, [0, 1, 2]);

    const many = loop.start("b", { items: 5, ms: 4 });
    assert.equal(await loop.turn(), "b0 b1");
    assert.equal(await loop.turn(), "b2 b3");
    assert.equal(await loop.turn(), "b4");
    assert.deepEqual(await many, [0, 1, 2, 3, 4]);
  });

  it("are shared by all requests: ten of them take no more of a turn than one", async () => {
    const loop = createLoop();
    const all = ["a", "b", "c"].map((name) => loop.start(name, { items: 3, ms: 4 }));
    const turns: string[] = [];
    for (let number = 0; number < 5; number += 1) turns.push(await loop.turn());
    assert.deepEqual(turns, ["a0 a1", "a2 b0", "c0 c1", "b1 b2", "c2"]);
    await Promise.all(all);
  });

  it("go to the teams in turn", async () => {
    const loop = createLoop();
    const all = [
      ...["a", "b", "c"].map((name) => loop.start(name, { items: 2, ms: 8 })),
      loop.start("x", { teamId: 2, items: 2, ms: 8 }),
    ];
    const turns: string[] = [];
    for (let number = 0; number < 8; number += 1) turns.push(await loop.turn());
    assert.deepEqual(turns, ["a0", "a1", "x0", "b0", "x1", "c0", "b1", "c1"]);
    await Promise.all(all);
  });

  it("go on after work that throws", async () => {
    const inTurns = createTurns({ nowMs: () => 0, soon: setImmediate });
    await assert.rejects(
      inTurns(1, [1], () => {
        throw new Error("broken");
      }),
      /broken/,
    );
    assert.deepEqual(await inTurns(1, [1, 2], (item) => item * 2), [2, 4]);
  });

  it("tell the time of each, and whether other work ran before it", async () => {
    let nowMs = 0;
    const told: [number, boolean][] = [];
    const inTurns = createTurns({ nowMs: () => nowMs, soon: setImmediate });
    await inTurns(
      1,
      [5, 5, 3],
      (ms) => {
        nowMs += ms;
      },
      (ms, hasWaited) => told.push([ms, hasWaited]),
    );
    assert.deepEqual(told, [
      [10, false],
      [3, true],
    ]);
  });
});
