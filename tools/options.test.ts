import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readOptions } from "./options.ts";

const KINDS = { count: "text", share: "text", only: "text", quick: "flag" } as const;
const read = (...args: string[]) => readOptions(args, KINDS);

describe("the options of a tool", () => {
  it("are null, false or the initial number if they are not given", () => {
    const given = read();
    assert.equal(given.text("only"), null);
    assert.equal(given.names("only", ["a"]), null);
    assert.equal(given.flag("quick"), false);
    assert.equal(given.number("count", { initial: 0, max: 9, isWhole: true }), 0);
  });

  it("are read by their kind", () => {
    const given = read("--count", "7", "--share", "0.5", "--only", "a,b", "--quick");
    assert.equal(given.number("count", { initial: 1, max: 9, isWhole: true }), 7);
    assert.equal(given.number("share", { initial: 1, max: 1 }), 0.5);
    assert.deepEqual(given.names("only", ["a", "b"]), ["a", "b"]);
    assert.equal(given.flag("quick"), true);
  });

  for (const wrong of ["0", "-1", "10", "1.5", "x", ""])
    it(`refuse "${wrong}" as an integer from 1 to 9, and name the option`, () => {
      const count = () => read(`--count=${wrong}`).number("count", { initial: 1, max: 9, isWhole: true });
      assert.throws(count, { message: "--count must be an integer from 1 to 9" });
    });

  it("refuse a name that is unknown, and list the known ones", () => {
    const only = () => read("--only", "a,c").names("only", ["a", "b"]);
    assert.throws(only, { message: '--only: "c" is none of a, b' });
  });

  it("refuse an option that does not exist", () => {
    assert.throws(() => read("--slow"), /--slow/);
  });

  it("throw an error without a message for --help, so that only the usage is printed", () => {
    assert.throws(() => read("--help"), { message: "" });
  });
});
