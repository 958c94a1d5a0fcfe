import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { type Build, compile } from "./build.ts";
import { mutantsOf } from "./catalogue.ts";
import { idleRanges, readCoverage, type TestCoverage } from "./coverage.ts";
import { mutate } from "./mutant.ts";
import { scoreOf } from "./summary.ts";
import { together, tryMutant } from "./trial.ts";
import { openTypes, rememberTypes } from "./types.ts";

const range = (startOffset: number, endOffset: number, count: number) => ({ startOffset, endOffset, count });
const test = (name: string, more: Partial<TestCoverage> = {}): TestCoverage => ({
  test: name,
  seconds: 2,
  loaded: {},
  idle: {},
  texts: [],
  ...more,
});

describe("coverage", () => {
  it("keeps what no run has run", () => {
    const one = [{ ranges: [range(0, 20, 1), range(5, 10, 0)] }];
    const other = [{ ranges: [range(0, 20, 1), range(8, 15, 0)] }];
    assert.deepEqual(idleRanges(20, [one]), [[5, 10]]);
    assert.deepEqual(idleRanges(20, [one, other]), [[8, 10]]);
  });

  it("finds the tests that run a change: the file's own first, then the cheapest", () => {
    const source = "export function f(a: number) {\n  return a < 1;\n}\n";
    // Written by the compiler without the type: one segment for each of `export`, `return` and `a`.
    const text = "export function f(a) {\n  return a < 1;\n}\n";
    const mappings = "AAAA;EACE,OAAO,CAAC";
    const idle = { "engine/one.ts": [] };
    const tests = [
      test("packages/server/test/engine/slow.test.ts", { idle, seconds: 9 }),
      test("packages/server/test/engine/quick.test.ts", { idle, seconds: 1 }),
      test("packages/server/test/engine/one.test.ts", { idle, seconds: 5 }),
      test("packages/server/test/engine/idle.test.ts", { idle: { "engine/one.ts": [[20, 40]] } }),
      test("packages/server/test/engine/other.test.ts"),
    ];
    const [mutant] = mutantsOf({ file: "engine/one.ts", source }).filter(
      ({ operator }) => operator === "boundary",
    );
    assert.ok(mutant !== undefined);
    const coverage = readCoverage({
      tests,
      texts: new Map(),
      sourceOf: () => source,
      compiledOf: () => ({ text, mappings }),
    });
    assert.deepEqual(
      coverage.testsOf(mutant).map((each) => each.test.split("/").at(-1)),
      ["one.test.ts", "quick.test.ts", "slow.test.ts"],
    );
  });

  it("finds the tests that send a statement, however it was put together", () => {
    const source = "const PART = `t.due_at <= now() and t.team_id = $1`;";
    const [mutant] = mutantsOf({ file: "store/one.ts", source });
    assert.ok(mutant !== undefined);
    const coverage = readCoverage({
      tests: [test("sends", { texts: ["h1"] }), test("does not", { texts: ["h2"] })],
      texts: new Map([
        ["h1", "select 1 from tasks t where t.due_at <= now() and t.team_id = $1"],
        ["h2", "select 1 from tasks t where t.team_id = $1"],
      ]),
      sourceOf: () => source,
      compiledOf: () => ({ text: "", mappings: "" }),
    });
    assert.deepEqual(
      coverage.testsOf(mutant).map((each) => each.test),
      ["sends"],
    );
  });
});

describe("the trial of a mutant", () => {
  it("builds a program that does something else", async () => {
    const source =
      'import type { A } from "./a.ts";\nexport const isMore = (a: A, b: number): boolean => a > b;\n';
    const [mutant] = mutantsOf({ file: "domain/one.ts", source });
    assert.ok(mutant !== undefined);
    const load = async (text: string) =>
      import(`data:text/javascript,${encodeURIComponent(await compile(text))}`);
    assert.equal((await load(source)).isMore(1, 1), false);
    assert.equal((await load(mutate(source, mutant))).isMore(1, 1), true);
  });

  it("is caught by a test that fails for it, and survives where none does", async (t) => {
    const directory = mkdtempSync(join(tmpdir(), "mutants-"));
    t.after(() => rmSync(directory, { recursive: true }));
    mkdirSync(join(directory, ".build"));
    const built = join(directory, ".build/more.mjs");
    writeFileSync(
      join(directory, ".build/more.test.js"),
      `import("node:test").then(async ({ it }) => {
        const { isMore } = await import("./more.mjs");
        it("is more", () => { if (!isMore(2, 1) || isMore(1, 2)) throw new Error("wrong"); });
      });`,
    );
    const build: Build = {
      directory,
      async put(_file, text) {
        writeFileSync(built, await compile(text));
        return null;
      },
      restore: () => rmSync(built),
    };
    const source = "export const isMore = (a: number, b: number) => (a > b ? true : false);\n";
    const mutants = mutantsOf({ file: "domain/more.ts", source });
    const outcomeOf = async (operator: string) => {
      const mutant = mutants.find((each) => each.operator === operator);
      assert.ok(mutant !== undefined);
      const effort = { seconds: 60, isWhole: false, seeds: 0 };
      const tools = {
        build,
        check: { refusal: async () => null, stop: async () => {} },
        mayShare: () => true,
      };
      const { kind, by } = await tryMutant(
        mutant,
        mutate(source, mutant),
        [test("more.test.ts")],
        effort,
        tools,
      );
      return `${kind}: ${by}`;
    };
    assert.equal(await outcomeOf("negate"), "caught: more.test.ts: is more");
    // Its test asks for no equal numbers.
    assert.equal(await outcomeOf("boundary"), "survived: 1 of 1 test files");
  });

  it("is no bug where the compiler refuses it, but for what is no longer used", (t) => {
    const directory = mkdtempSync(join(tmpdir(), "mutants-"));
    t.after(() => rmSync(directory, { recursive: true }));
    const config = join(directory, "tsconfig.json");
    const options = { noLib: true, noUnusedLocals: true, strict: true, types: [] };
    writeFileSync(config, JSON.stringify({ compilerOptions: options, files: ["a.ts", "b.ts"] }));
    for (const name of ["a.ts", "b.ts"]) writeFileSync(join(directory, name), "export const one = 1;\n");
    const types = openTypes(config);
    t.after(() => types.close());
    const refusal = (name: string, text: string) => types.refusal(join(directory, name), text);
    assert.match(refusal("a.ts", 'export const one: number = "1";') ?? "", /^2322 /);
    assert.match(refusal("a.ts", "export const one = ;") ?? "", /^1109 /);
    assert.equal(refusal("a.ts", "const two = 2;\nexport const one = 1;"), null);
    assert.equal(refusal("b.ts", "export const one = 2;"), null);
  });

  it("asks the compiler once for the same text, also in a later run", (t) => {
    const directory = mkdtempSync(join(tmpdir(), "mutants-"));
    t.after(() => rmSync(directory, { recursive: true }));
    const asked: string[] = [];
    const refusal = (path: string, source: string) => {
      asked.push(`${path} ${source}`);
      return source === "bad" ? "2322" : null;
    };
    const open = () => rememberTypes(join(directory, "types.json"), () => ({ refusal, close: () => {} }));
    for (const run of [open, open]) {
      const types = run();
      for (const text of ["good", "bad", "good"])
        assert.equal(types.refusal("a.ts", text), text === "bad" ? "2322" : null);
      types.close();
    }
    assert.deepEqual(asked, ["a.ts good", "a.ts bad"]);
  });

  it("imports what the compiler has written", async () => {
    assert.match(
      await compile('import { a } from "./a.ts";\nexport { b } from "../b.ts";\na();'),
      /"\.\/a\.js"[\s\S]*"\.\.\/b\.js"/,
    );
  });

  it("runs quick test files together, the first and those that need it alone", () => {
    const tests = ["a", "b", "c", "alone", "d"].map((name) => test(`${name}.test.ts`, { seconds: 3 }));
    const groups = together(tests, (name) => !name.startsWith("alone"));
    assert.deepEqual(
      groups.map((group) => group.map((each) => each.test[0]).join("")),
      ["a", "bc", "a", "d"],
    );
  });

  it("counts what is no bug neither for nor against the tests", () => {
    const [mutant] = mutantsOf({ file: "domain/one.ts", source: "x = a < b;" });
    assert.ok(mutant !== undefined);
    const judged = (["caught", "survived", "uncovered", "equivalent", "invalid", "caught"] as const).map(
      (kind) => ({
        mutant,
        outcome: { kind, by: "", seconds: 0 },
      }),
    );
    assert.equal(scoreOf(judged), 50);
    assert.equal(scoreOf([]), null);
  });
});
