import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createUnderWay } from "../../src/domain/under-way.ts";

describe("createUnderWay", () => {
  it("finds entries by key until they are deleted, and iterates in insertion order", () => {
    const calls = createUnderWay<string, object>();
    const [first, second, third] = [{ call: 1 }, { call: 2 }, { call: 3 }];
    calls.set("a", first);
    calls.set("b", second);
    calls.set("c", third);
    calls.delete("b");
    calls.delete("unknown");

    assert.deepEqual(
      [calls.get("a"), calls.get("b"), calls.has("b"), calls.has("c")],
      [first, undefined, false, true],
    );
    assert.deepEqual(
      [...calls.entries],
      [
        ["a", first],
        ["c", third],
      ],
    );
    assert.deepEqual([...calls.values], [first, third]);
    assert.equal(calls.size, 2);
  });

  it("visits only what is left if entries are deleted during iteration", () => {
    const calls = createUnderWay<number, number>();
    for (let number = 1; number <= 5; number += 1) calls.set(number, number);
    const seen: number[] = [];
    for (const number of calls.values) {
      seen.push(number);
      calls.delete(number);
      calls.delete(number + 1);
    }
    assert.deepEqual(seen, [1, 3, 5]);
    assert.equal(calls.size, 0);
  });
});
