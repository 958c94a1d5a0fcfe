import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { explore, STUCK } from "./engine/explore.ts";
import { PROTOCOLS } from "./protocols/all.ts";

describe("the explorer", () => {
  /** Two counters that each go up to two, one step at a time. */
  const counters = (forbidden: string | null, last: number) => ({
    start: { one: 0, two: 0 },
    steps: ({ one, two }: { one: number; two: number }) => [
      ...(one < 2 ? [{ text: "one", to: { one: one + 1, two } }] : []),
      ...(two < 2 ? [{ text: "two", to: { one, two: two + 1 }, isFault: two === 1 }] : []),
    ],
    wrong: ({ one, two }: { one: number; two: number }) =>
      `${one}${two}` === forbidden ? "forbidden" : null,
    isSettled: ({ one, two }: { one: number; two: number }) => one + two >= last,
  });

  it("visits each state once", () => {
    const { states, steps, trace } = explore(counters(null, 3));
    assert.deepEqual({ states, steps, trace }, { states: 9, steps: 12, trace: null });
  });

  it("tells the shortest way to a state that must not be", () => {
    const { trace } = explore(counters("21", 3));
    assert.deepEqual(trace, { steps: ["one", "one", "two"], wrong: "forbidden" });
  });

  it("tells the shortest way to a state that only a fault leads out of", () => {
    const { trace } = explore(counters(null, 4));
    assert.deepEqual(trace, { steps: [], wrong: STUCK });
  });
});

for (const { name, about, bugs, bounds, explore } of PROTOCOLS)
  describe(`the protocol "${name}"`, () => {
    it(`keeps what it promises in every interleaving: ${about}`, () => {
      const { states, trace } = explore(bounds.least, null);
      assert.equal(trace === null ? "" : [...trace.steps, trace.wrong].join("\n"), "");
      assert.ok(states > 100, "there was something to explore");
    });

    for (const [bug, what] of Object.entries(bugs))
      it(`does not keep it where ${what}`, () => {
        assert.notEqual(explore(bounds.least, bug).trace, null);
      });
  });
