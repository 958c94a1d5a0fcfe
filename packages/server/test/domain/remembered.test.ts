import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { remembered } from "../../src/domain/remembered.ts";

describe("a function that remembers recent texts", () => {
  /** Returns the remembered function, and the texts that it did not remember. */
  function create() {
    const asked: string[] = [];
    const lengthOf = remembered((text) => {
      asked.push(text);
      return text.length;
    });
    return { asked, lengthOf };
  }

  it("computes the answer for a text once", () => {
    const { asked, lengthOf } = create();
    assert.deepEqual([lengthOf("one"), lengthOf("one"), lengthOf("three")], [3, 3, 5]);
    assert.deepEqual(asked, ["one", "three"]);
  });

  it("remembers all the URLs of the largest URL group", () => {
    const { asked, lengthOf } = create();
    const urls = Array.from({ length: 100 }, (_, at) => `https://a.example/${at}/`.padEnd(8_192, "u"));
    for (const url of [...urls, ...urls]) lengthOf(url);
    assert.equal(asked.length, 100);
  });

  it("forgets all texts rather than hold too many, or too many characters", () => {
    for (const [count, length] of [
      [1_000, 5],
      [244, 8_192],
    ] as const) {
      const { asked, lengthOf } = create();
      const texts = Array.from({ length: count }, (_, at) => `${at}`.padEnd(length, "x"));
      for (const text of texts) lengthOf(text);
      lengthOf(texts[0] ?? "");
      assert.equal(asked.length, count, "they all have room");
      lengthOf("another".padEnd(length, "y"));
      lengthOf(texts[0] ?? "");
      assert.equal(asked.length, count + 2);
    }
  });

  it("does not remember a text that is longer than a URL", () => {
    const { asked, lengthOf } = create();
    const long = "x".repeat(8_193);
    lengthOf(long);
    lengthOf(long);
    assert.equal(asked.length, 2);
  });
});
