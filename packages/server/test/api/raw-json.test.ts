import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { sliceMember } from "../../src/domain/raw-json.ts";

describe("sliceMember", () => {
  it("keeps what JSON.parse would lose: large numbers, spaces, escapes and duplicate keys", () => {
    const source = '{ "n": 12345678901234567890.10, "u":"\\u00e9\\/" ,\n"d":1,"d":2, "__proto__": {} }';

    assert.equal(sliceMember(`{"a":1,"payload": ${source} ,"z":[]}`, "payload"), source);
  });

  it("takes the last of several members of the same name, as JSON.parse does", () => {
    assert.equal(sliceMember('{"payload":{"a":1},"payload":{"b":2}}', "payload"), '{"b":2}');
  });

  it("finds a key that is spelled with escapes", () => {
    assert.equal(sliceMember('{"\\u0070ayload":{"a":1}}', "payload"), '{"a":1}');
    assert.equal(sliceMember('{"a\\b":1}', "a\\b"), undefined);
  });

  it("looks only at the top level, and not into strings", () => {
    assert.equal(
      sliceMember('{"a":{"payload":1},"b":"\\"payload\\":2}","c":[{"payload":3}]}', "payload"),
      undefined,
    );
  });

  it("finds nothing in an empty object", () => {
    assert.equal(sliceMember(" { } ", "payload"), undefined);
  });

  it("returns the exact text of the member for arbitrary JSON around it", () => {
    const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/);
    const members = fc.array(
      fc.tuple(fc.constantFrom("a", "payload", "pay\\load", 'q"', "é"), fc.json(), space, space),
    );
    fc.assert(
      fc.property(members, space, (entries, pad) => {
        const text = `${pad}{${entries.map(([key, value, before, after]) => `${before}${JSON.stringify(key)}${after}:${before}${value}${after}`).join(",")}${pad}}`;
        const expected = entries.findLast(([key]) => key === "payload")?.[1].trim();

        assert.equal(sliceMember(text, "payload"), expected);
      }),
      { numRuns: 2000 },
    );
  });

  it("handles deep, escaped and repeated input of a megabyte", () => {
    const deep = `${"[".repeat(500_000)}${"]".repeat(500_000)}`;
    const escapes = JSON.stringify("\\".repeat(500_000));
    const repeated = `{${'"payload":1,'.repeat(80_000)}"payload":2}`;

    assert.equal(sliceMember(`{"payload":${deep}}`, "payload"), deep);
    assert.equal(sliceMember(`{"a":${escapes},"payload":1}`, "payload"), "1");
    assert.equal(sliceMember(repeated, "payload"), "2");
  });
});
