import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { parseJsonText, readPath, textAt } from "../../src/domain/poll/json-path.ts";

describe("readPath", () => {
  it("follows members and indexes", () => {
    const value = { assets: { videos: [{ url: "a" }, { url: "b" }] }, "": { "": 1 } };

    assert.equal(readPath(value, "assets.videos.1.url"), "b");
    assert.equal(readPath([[1, 2]], "0.1"), 2);
    assert.equal(readPath(value, "."), 1);
    assert.equal(readPath(value, ""), value);
  });

  it("finds nothing where nothing is", () => {
    for (const path of ["b", "a.b", "a.0", "list.2", "list.-1", "list.x", "list.1.5", "none.a", "..", "a."]) {
      assert.equal(readPath({ a: "text", list: [1, 2], none: null }, path), undefined, path);
    }
    for (const value of [undefined, null, "text", 1, true]) assert.equal(readPath(value, "a"), undefined);
  });

  it("sees own properties only", () => {
    for (const path of [
      "constructor",
      "__proto__",
      "toString",
      "a.constructor.name",
      "list.length",
      "a.length",
    ]) {
      assert.equal(readPath({ a: "text", list: [1] }, path), undefined, path);
    }
    assert.equal(
      readPath(JSON.parse('{"__proto__":{"id":"own"},"list":{"length":7}}'), "__proto__.id"),
      "own",
    );
    assert.equal(readPath(JSON.parse('{"list":{"length":7}}'), "list.length"), 7);
  });

  it("never throws and never yields what is not in the answer, whatever the path", () => {
    const word = fc.oneof(
      fc.constantFrom("__proto__", "constructor", "prototype", "length", "0", "a", "", "toString", "valueOf"),
      fc.string(),
    );
    const path = fc.array(word, { maxLength: 4 }).map((words) => words.join("."));
    fc.assert(
      fc.property(fc.json(), path, (text, where) => {
        const found = readPath(JSON.parse(text), where);

        assert.notEqual(typeof found, "function");
        if (found !== undefined) assert.ok(JSON.stringify(JSON.parse(text)).includes(JSON.stringify(found)));
      }),
      { numRuns: 400 },
    );
  });
});

describe("textAt", () => {
  const at = (text: string, path: string) => {
    const json = parseJsonText(text);
    assert.ok(json !== null, text);
    return textAt(json, path);
  };

  it("a value is serialised as text, a string as itself", () => {
    assert.equal(at('{"a":"text"}', "a"), "text");
    assert.equal(at('{"a":""}', "a"), "");
    assert.equal(at('{"a":["x"]}', "a"), '["x"]');
    assert.equal(at('{"a":{"b":false}}', "a.b"), "false");
    assert.equal(at('{"a":[{"b":1}]}', "a.0"), '{"b":1}');
  });

  it("keeps what JSON.parse would lose, as far as the way leads through objects", () => {
    const large = '{"n": 12345678901234567890, "e": 1.10, "u": "\\u00e9"}';

    assert.equal(at(`{"a":{"b": ${large} }}`, "a.b"), large);
    assert.equal(at('{"a":{"n":12345678901234567890}}', "a.n"), "12345678901234567890");
    assert.equal(at(` ${large} `, ""), ` ${large} `);
  });

  it("takes null for nothing", () => {
    assert.equal(at('{"a":null}', "a"), null);
    assert.equal(at('{"a":null}', "a.b"), null);
    assert.equal(at("null", ""), null);
  });

  it("yields only text that PostgreSQL can hold", () => {
    assert.equal(at('{"a":"x\\u0000y\\ud800z\\ud83d\\ude00"}', "a"), "x\uFFFDy\uFFFDz\u{1F600}");
    assert.equal(at('{"a":{"b":"\\u0000"}}', "a"), '{"b":"\\u0000"}');
  });

  it("survives an answer that is nested deeper than the stack is high", () => {
    const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;

    assert.equal(at(`{"a":${deep}}`, "a"), deep);
    assert.equal(at(`[${deep}]`, "0"), null);
  });

  it("agrees with JSON.parse", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom("a", "b", "__proto__"), fc.jsonValue()), (object) => {
        for (const [key, value] of Object.entries(object)) {
          const text = at(JSON.stringify(object), key);
          if (value === null) assert.equal(text, null);
          else if (typeof value !== "string")
            assert.deepEqual(JSON.parse(text ?? ""), JSON.parse(JSON.stringify(value)));
        }
      }),
    );
  });
});

describe("parseJsonText", () => {
  it("takes anything else for no JSON", () => {
    for (const text of ["", "{", "<html>", '{"a":1}x', "undefined"])
      assert.equal(parseJsonText(text), null, text);
  });
});
