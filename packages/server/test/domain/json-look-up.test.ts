import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { lookUp } from "../../src/domain/json/look-up.ts";
import { PathTree } from "../../src/domain/json/path-tree.ts";
import { NO_BOUNDS, scanJson } from "../../src/domain/json/scan.ts";

/** What JSON.parse has at a path; undefined if nothing. */
function parsedAt(text: string, path: string): unknown {
  let current: unknown = JSON.parse(text);
  if (path === "") return current;
  for (const key of path.split(".")) {
    if (typeof current !== "object" || current === null) return undefined;
    if (Array.isArray(current) && !/^\d+$/.test(key)) return undefined;
    current = Object.getOwnPropertyDescriptor(current, key)?.value;
  }
  return current;
}

function at(text: string, path: string): string | null {
  const found = lookUp(text, [path]);
  assert.equal(found.kind, "json", text);
  return found.kind === "json" ? (found.values.get(path)?.text ?? null) : null;
}

function isParsed(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe("lookUp", () => {
  it("follows members of objects and indexes of arrays along a path", () => {
    const text = JSON.stringify({ assets: { videos: [{ url: "a" }, { url: "b" }] }, "": { "": 1 } });

    assert.equal(at(text, "assets.videos.1.url"), "b");
    assert.equal(at("[[1, 2]]", "0.1"), "2");
    assert.equal(at(text, "."), "1");
    assert.equal(at(text, ""), text);
  });

  it("returns null for a path without a value", () => {
    const text = '{"a":"text","list":[1,2],"none":null}';
    for (const path of [
      "b",
      "a.b",
      "a.0",
      "list.2",
      "list.-1",
      "list.x",
      "list.01",
      "list.1.5",
      "none.a",
      "..",
    ]) {
      assert.equal(at(text, path), null, path);
    }
    for (const path of ["constructor", "__proto__", "toString", "list.length", "a.length", "none"]) {
      assert.equal(at(text, path), null, path);
    }
    assert.equal(at('{"__proto__":{"id":"own"},"list":{"length":7}}', "__proto__.id"), "own");
    assert.equal(at('{"list":{"length":7}}', "list.length"), "7");
  });

  it("keeps the exact text of numbers and strings", () => {
    const large = '{"n": 12345678901234567890, "e": 1.10, "u": "\\u00e9"}';

    assert.equal(at(`{"a":{"b": ${large} }}`, "a.b"), large);
    assert.equal(at(`{"a":[{"b": ${large} }]}`, "a.0.b"), large);
    assert.equal(at('{"a":{"n":12345678901234567890}}', "a.n"), "12345678901234567890");
    assert.equal(at(` ${large} `, ""), ` ${large} `);
  });

  it("uses the last of several members with the same name, like JSON.parse", () => {
    assert.equal(at('{"a":1,"a":2}', "a"), "2");
    assert.equal(at('{"a":{"b":1},"a":{"c":2}}', "a.b"), null);
    assert.equal(at('{"a":{"b":1},"a":[]}', "a.b"), null);
    assert.equal(at('{"a":[{"b":1}],"\\u0061":[{"b":2},{"b":3}]}', "a.0.b"), "2");
  });

  it("returns only text that PostgreSQL can store, cut to the given length", () => {
    assert.equal(at('{"a":"x\\u0000y\\ud800z\\ud83d\\ude00"}', "a"), "x\uFFFDy\uFFFDz\u{1F600}");
    assert.equal(at('{"a":{"b":"\\u0000"}}', "a"), '{"b":"\\u0000"}');
    const found = lookUp('{"a":"ééé","b":{"c":1}}', ["a", "b"], 5);
    assert.deepEqual(found.kind === "json" && [...found.values], [
      ["a", { type: "string", text: "éé", cut: true }],
      ["b", { type: "object", text: '{"c":', cut: true }],
    ]);
  });

  it("reads JSON nested 200,000 levels deep", () => {
    const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;

    assert.equal(lookUp(`[${deep}]`, ["0"], 1_000_000).kind, "json");
    assert.equal(lookUp(`[${deep}`, ["0"]).kind, "not_json");
  });

  it("finds the same as JSON.parse for any text and path", () => {
    const word = fc.oneof(
      fc.constantFrom("__proto__", "constructor", "length", "0", "1", "a", "b", "", "toString"),
      fc.string(),
    );
    const path = fc.array(word, { maxLength: 4 }).map((words) => words.join("."));
    const key = fc.constantFrom('"a"', '"b"', '"\\u0061"', '"0"', '"__proto__"', '""');
    const { json } = fc.letrec<{ json: string; object: string; array: string }>((tie) => ({
      json: fc.oneof({ maxDepth: 5 }, fc.json({ maxDepth: 1 }), tie("object"), tie("array")),
      // Written by hand, so that members of one name come several times.
      object: fc
        .array(fc.tuple(key, tie("json")), { maxLength: 4 })
        .map((members) => `{${members.map(([name, value]) => ` ${name}\n:${value} `).join()}}`),
      array: fc.array(tie("json"), { maxLength: 3 }).map((elements) => `[${elements.join()}]`),
    }));
    let hits = 0;
    fc.assert(
      fc.property(json, path, (text, where) => {
        const expected = parsedAt(text, where);
        const found = lookUp(text, [where, "a.b", "a.0"], 1_000_000);
        assert.ok(found.kind === "json", text);
        const value = found.values.get(where);
        if (expected === undefined || expected === null) assert.equal(value, undefined);
        else if (typeof expected === "string")
          assert.equal(value?.text, expected.replace(/[\0\p{Cs}]/gu, "\uFFFD"));
        else assert.deepEqual(JSON.parse(value?.text ?? ""), expected);
        if (expected !== undefined) hits += 1;
      }),
      { numRuns: 3_000 },
    );
    assert.ok(hits > 300, `only ${hits} paths led anywhere`);
  });
});

describe("scanJson", () => {
  const scan = (text: string, bounds = {}) => scanJson(text, { ...NO_BOUNDS, ...bounds }, null, null);

  it("accepts exactly what JSON.parse accepts", () => {
    const texts = [
      ...[
        "",
        " ",
        "{",
        "}",
        "[",
        "]",
        "[]",
        "{}",
        " [ ] ",
        " { } ",
        "[,]",
        "[1,]",
        "{,}",
        '{"a":1,}',
        "[1 2]",
        "[1]]",
      ],
      ...[
        '{"a"}',
        '{"a":}',
        "{a:1}",
        '{"a" : 1 , "b":[ ]}',
        '{"a":1 "b":2}',
        "[}",
        "{]",
        '["a":1]',
        '{"a":1]',
        "[{}]",
      ],
      ...[
        "1",
        "-1",
        "-",
        "+1",
        "01",
        "-0",
        "0.5",
        ".5",
        "1.",
        "1.e1",
        "1e",
        "1e+",
        "1E-7",
        "1e5.5",
        "0x1",
        "--1",
        "1 1",
      ],
      ...["true", "tru", "truee", "null", "nul", "NaN", "Infinity", "undefined", "false,", "nulltrue"],
      ...[
        '"',
        '"a',
        '"a"b',
        '"\\"',
        '"\\x"',
        '"\\u12"',
        '"\\u12g4"',
        '"\\u1234"',
        '"\t"',
        '"\u0000"',
        '"\u007f"',
        '"\u2028"',
      ],
      ...[
        "\uFEFF1",
        "\u00a01",
        "\u000b1",
        "\n\r\t 1 \n",
        "<html>",
        '{"a":1}x',
        "'a'",
        "[1]//",
        '"\\/\\b\\f\\n\\r\\t\\\\"',
      ],
    ];
    for (const text of texts) assert.equal(scan(text).kind === "json", isParsed(text), JSON.stringify(text));
    fc.assert(
      fc.property(fc.json(), fc.nat(), fc.string({ maxLength: 2 }), (json, place, change) => {
        const cut = place % (json.length + 1);
        for (const text of [json, json.slice(0, cut), json.slice(0, cut) + change + json.slice(cut + 1)])
          assert.equal(scan(text).kind === "json", isParsed(text), text);
      }),
      { numRuns: 2_000 },
    );
  });

  it("counts keys and elements, and stops where a limit is exceeded", () => {
    const text = '{"a":[1,2,[3]],"b":{"c":"long"}}';

    assert.deepEqual(scan(text), { kind: "json", keys: 3, elements: 4 });
    assert.deepEqual(scan(text, { keys: 3, elements: 4, depth: 3, stringLength: 4 }).kind, "json");
    for (const [bound, most] of Object.entries({ keys: 2, elements: 3, depth: 2, stringLength: 3 }))
      assert.deepEqual(scan(text, { [bound]: most }), { kind: "too_much", bound });
    // It stops there: what comes behind is not read.
    assert.deepEqual(scan("[[[ this is no JSON", { depth: 2 }), { kind: "too_much", bound: "depth" });
  });

  it("makes fewer than three reads per character, even for a path of 300 keys", () => {
    const keys = 300;
    const deep = `${'{"k":'.repeat(keys)}"${"x".repeat(100_000)}"${"}".repeat(keys)}`;
    const tree = new PathTree();
    tree.add(Array<string>(keys).fill("k"));
    let reads = 0;
    const counted = new Proxy(Object(deep), {
      get(target, name) {
        if (name === "charCodeAt") reads += 1;
        const member = Reflect.get(target, name);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
    assert.equal(scanJson(counted, NO_BOUNDS, tree, null).kind, "json");
    assert.ok(reads < 3 * deep.length, `${reads} reads of ${deep.length} characters`);
  });
});
