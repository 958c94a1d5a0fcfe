import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import fc from "fast-check";
import { toParameter } from "../../src/postgres/array-literal.ts";
import { createTestDatabase, type TestDatabase } from "../test-database.ts";

describe("an array as a parameter", () => {
  let test: TestDatabase;
  before(async () => {
    test = await createTestDatabase();
  });
  after(() => test.drop());

  async function stored(type: string, value: unknown): Promise<unknown> {
    const [row] = await test.database.rows<{ stored: unknown }>(`select $1::${type}[] as stored`, [value]);
    return row?.stored;
  }

  const texts = [
    "",
    "null",
    "NULL",
    "a b",
    "{a,b}",
    "a,b",
    'say "hi"',
    "C:\\temp\\new",
    "\\n",
    '\\"',
    "two\nlines\tand a tab",
    "\u0001\u007f",
    "é € 😀 \u2028",
    '{"json":"a\\"b","nested":{"path":"C:\\\\"}}',
    null,
  ];

  it("keeps every text", async () => {
    assert.deepEqual(await stored("text", texts), texts);
    for (const text of texts) assert.deepEqual(await stored("text", [text]), [text]);
  });

  it("keeps any text", async () => {
    const character = fc.constantFrom("\\", '"', "{", "}", ",", " ", "n", "u", "\n", "\t", "é", "😀", "0");
    const text = fc.array(character, { maxLength: 8 }).map((characters) => characters.join(""));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(text), { minLength: 1, maxLength: 50 }), async (values) => {
        assert.deepEqual(await stored("text", values), values);
      }),
      { numRuns: 100 },
    );
  });

  it("keeps numbers, booleans, an empty array, bytes and nested arrays", async () => {
    assert.deepEqual(await stored("integer", [1, -2, null]), [1, -2, null]);
    assert.deepEqual(await stored("float8", [0.1, 1e300, Number.NaN]), [0.1, 1e300, Number.NaN]);
    assert.deepEqual(await stored("boolean", [true, false, null]), [true, false, null]);
    assert.deepEqual(await stored("text", []), []);
    assert.deepEqual(await stored("bytea", [Buffer.from([0, 255])]), [Buffer.from([0, 255])]);
    assert.deepEqual(await stored("integer", [[1], [2]]), [[1], [2]]);
  });

  it("is encoded here unless only the driver can", () => {
    assert.equal(toParameter(["a", 1, true, null, '"\\']), '{"a",1,true,null,"\\"\\\\"}');
    for (const left of [["a\nb"], [new Date(0)], [[1]], [Number.NaN], "text", null, Buffer.from("a")])
      assert.equal(toParameter(left), left);
  });
});
