import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createUnderWay } from "../../src/domain/under-way.ts";

describe("createUnderWay", () => {
  it("lists items in the order of their arrival until they are removed", () => {
    const calls = createUnderWay<string>();
    const places = ["a", "b", "c", "d"].map((call) => calls.add(call));
    const removed: string[][] = [];
    for (const index of [1, 0, 3, 2]) {
      const place = places[index] ?? assert.fail();
      calls.remove(place);
      calls.remove(place);
      removed.push(calls.all());
    }
    assert.deepEqual(removed, [["a", "c", "d"], ["c", "d"], ["c"], []]);
    calls.add("e");
    assert.deepEqual(calls.all(), ["e"]);
    assert.equal(calls.size, 1);
  });

  it("keeps nothing of its neighbours in a removed place", () => {
    const calls = createUnderWay<number>();
    const [, second] = [calls.add(1), calls.add(2), calls.add(3)];
    calls.remove(second);
    assert.deepEqual([second.before, second.after], [null, null]);
  });
});
