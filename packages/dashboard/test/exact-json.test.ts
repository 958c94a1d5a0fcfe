import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { exactNumber, parseExact, prettyText, printExact, unmarkNumbers } from "../src/data/exact-json.ts";

describe("exact JSON numbers", () => {
  it("keep every digit of a number that does not fit into 53 bits", () => {
    const text = '{"id":12345678901234567890123,"price":1.10,"small":42,"far":1e400}';
    assert.equal(printExact(parseExact(text), 0), text);
  });

  it("are plain numbers when they fit", () => {
    assert.deepEqual(parseExact("[1,-2.5,0,9007199254740991]"), [1, -2.5, 0, 9007199254740991]);
  });

  it("are not found inside strings, even with escaped quotes", () => {
    const text = '{"say":"12345678901234567890 \\"99999999999999999999\\" \\\\"}';
    assert.deepEqual(parseExact(text), JSON.parse(text));
  });

  it("are recognized, and strings of the same digits are not", () => {
    assert.equal(exactNumber(parseExact("12345678901234567890")), "12345678901234567890");
    assert.equal(exactNumber("12345678901234567890"), null);
  });

  it("are not injected by a string that begins like a marked number", () => {
    const hostile = JSON.stringify('\u0001#1,"admin":true');
    assert.equal(unmarkNumbers(hostile), hostile);
  });

  it("do not affect text that is not JSON", () => {
    assert.equal(prettyText("<html>"), "<html>");
  });
});
