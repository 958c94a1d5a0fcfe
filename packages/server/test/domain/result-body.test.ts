import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { cutToBytes } from "../../src/domain/result-body.ts";

describe("cutToBytes", () => {
  it("keeps a text of exactly the limit, and cuts a byte more", () => {
    assert.deepEqual(cutToBytes("x".repeat(1000), 1000), { text: "x".repeat(1000), cut: false });
    assert.deepEqual(cutToBytes("x".repeat(1001), 1000), { text: "x".repeat(1000), cut: true });
  });

  it("never cuts inside a character", () => {
    for (const character of ["é", "€", "\u{1f6ce}"]) {
      const head = "x".repeat(1001 - Buffer.byteLength(character));
      assert.deepEqual(cutToBytes(head + character + character, 1000), { text: head, cut: true }, character);
    }
  });

  it("keeps the longest part that fits, of any text", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("a", "é", "€", "\u{1f6ce}", "\n"), { minLength: 1, maxLength: 7 }),
        (pattern) => {
          const whole = pattern.join("").repeat(400);
          const { text, cut } = cutToBytes(whole, 1000);
          const bytes = Buffer.from(text, "utf8");
          assert.ok(bytes.length <= 1000);
          assert.ok(whole.startsWith(text));
          assert.equal(cut, text !== whole);
          const next = String.fromCodePoint(whole.codePointAt(text.length) ?? 0);
          if (cut) assert.ok(bytes.length + Buffer.byteLength(next) > 1000);
          assert.ok(!bytes.toString("utf8").includes("\ufffd"));
        },
      ),
    );
  });
});
