import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { exactNumber, parseExact, prettyText, printExact, unmarkNumbers } from "../src/data/exact-json.ts";

describe("JSON whose numbers are shown as they were written", () => {
  it("keeps every digit of a number that does not fit into 53 bits", () => {
    const text = '{"id":12345678901234567890123,"price":1.10,"small":42,"far":1e400}';
    assert.equal(printExact(parseExact(text), 0), text);
  });

  it("gives numbers that fit as numbers", () => {
    assert.deepEqual(parseExact("[1,-2.5,0,9007199254740991]"), [1, -2.5, 0, 9007199254740991]);
  });

  it("leaves digits inside of strings alone, escaped quotes and all", () => {
    const text = '{"say":"12345678901234567890 \\"99999999999999999999\\" \\\\"}';
    assert.deepEqual(parseExact(text), JSON.parse(text));
  });

  it("tells a marked number from a string", () => {
    assert.equal(exactNumber(parseExact("12345678901234567890")), "12345678901234567890");
    assert.equal(exactNumber("12345678901234567890"), null);
  });

  it("unmarks nothing but digits, whatever a foreign string begins with", () => {
    const hostile = JSON.stringify('\u0001#1,"admin":true');
    assert.equal(unmarkNumbers(hostile), hostile);
  });

  it("shows what is no JSON as it is", () => {
    assert.equal(prettyText("<html>"), "<html>");
  });
});
