import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { SERVER } from "../../packages/server/test/places.ts";
import { mutantsOf, readSources } from "./catalogue.ts";
import { EQUIVALENT } from "./equivalent.ts";
import { describeChange, lineOf, type Mutant, mutate } from "./mutant.ts";
import { drawSample } from "./sample.ts";

const BACKTICK = "`";

/** What an operator makes of a source file, in one line each. */
function made(source: string, operator: string, file = "store/tasks/example.ts"): string[] {
  return mutantsOf({ file, source })
    .filter((mutant) => mutant.operator === operator)
    .map((mutant) => mutate(source, mutant).replace(/\s+/g, " "));
}

/** The same of the text of a statement. */
function madeOfSql(text: string, operator: string): string[] {
  const [before, after] = [`const ASK = statement("ask", ${BACKTICK}`, `${BACKTICK});`];
  return made(before + text + after, operator).map((each) => each.slice(before.length, -after.length));
}

describe("operators on statements", () => {
  it("drop each part of a condition, with the word that links it", () => {
    assert.deepEqual(
      madeOfSql("select 1 from t where a = 1 and b between 2 and 3 order by c", "drop-condition"),
      ["select 1 from t where b between 2 and 3 order by c", "select 1 from t where a = 1 order by c"],
    );
  });

  it("make a lone condition true, also of a join and of a group", () => {
    assert.deepEqual(
      madeOfSql("select 1 from t join u on t.id = u.id group by x having count(*) > 1", "drop-condition"),
      [
        "select 1 from t join u on true group by x having count(*) > 1",
        "select 1 from t join u on t.id = u.id group by x having true",
      ],
    );
  });

  it("drop a condition that another text states", () => {
    assert.deepEqual(madeOfSql("select 1 from t where a = 1 and ${IS_DUE}", "drop-condition"), [
      "select 1 from t where ${IS_DUE}",
      "select 1 from t where a = 1 ",
    ]);
  });

  it("read a text that goes on with another's condition", () => {
    assert.deepEqual(made('const MORE = " and s.worker_id = $1";', "drop-condition"), ['const MORE = " ";']);
  });

  it("leave `on conflict` and `distinct from` alone", () => {
    const text =
      "insert into t values ($1) on conflict (a) do update set b = 1, c = 2 where t.b is distinct from 1";
    assert.deepEqual(madeOfSql(text, "drop-condition"), [text.replace("t.b is distinct from 1", "true")]);
    assert.deepEqual(madeOfSql(text, "drop-assignment"), [
      text.replace("b = 1, ", ""),
      text.replace(", c = 2", ""),
    ]);
  });

  it("exchange `and` and `or`, but not the `and` of `between`", () => {
    assert.deepEqual(madeOfSql("select 1 where (a or b) and c between 1 and 2", "and-or"), [
      "select 1 where (a and b) and c between 1 and 2",
      "select 1 where (a or b) or c between 1 and 2",
    ]);
  });

  it("move a boundary, but change no other sign", () => {
    assert.deepEqual(madeOfSql("select a->>'b', f(n => 1) from t where a <= 1 and b <> 2", "boundary"), [
      "select a->>'b', f(n => 1) from t where a < 1 and b <> 2",
    ]);
  });

  it("drop a lock, or only that it skips", () => {
    const text = "select 1 from t order by a limit 2 for no key update of t skip locked";
    assert.deepEqual(madeOfSql(text, "drop-lock"), ["select 1 from t order by a limit 2 "]);
    assert.deepEqual(madeOfSql(text, "drop-skip-locked"), [text.replace(" skip locked", " ")]);
    assert.deepEqual(madeOfSql(text, "drop-order"), [text.replace("order by a ", "")]);
  });

  it("swap the arms of coalesce", () => {
    assert.deepEqual(madeOfSql("select coalesce(a, max(b, c), d)", "swap-coalesce"), [
      "select coalesce(max(b, c), a, d)",
    ]);
  });

  it("take the time of the statement for a stored one, and the other way round", () => {
    const text = "select t.made_at from t where t.due_at <= now() and t.ends_at > $1";
    assert.deepEqual(madeOfSql(text, "now-for-stored"), [
      text.replace("t.due_at", "now()"),
      text.replace("t.ends_at", "now()"),
    ]);
    assert.deepEqual(madeOfSql(text, "stored-for-now"), [text.replace("now()", "t.ends_at")]);
  });

  it("read holes that follow each other", () => {
    assert.deepEqual(madeOfSql("select ${A}${B} from t where ${C}${D} < 1 and ${E}", "drop-condition"), [
      "select ${A}${B} from t where ${E}",
      "select ${A}${B} from t where ${C}${D} < 1 ",
    ]);
  });

  it("read neither comments nor quoted texts as SQL", () => {
    assert.deepEqual(madeOfSql("select 'a < b' from t -- c < d\n where e < 1", "boundary"), [
      "select 'a < b' from t -- c < d where e <= 1",
    ]);
  });

  it("name a change after its statement", () => {
    const source = `const ASK = statement("ask", ${BACKTICK}select 1 where a = 1 and b = 2${BACKTICK});`;
    const names = mutantsOf({ file: "store/a.ts", source }).map(({ name }) => name);
    assert.ok(names.includes("store/a.ts ask drop-condition 2"));
  });
});

describe("operators on TypeScript", () => {
  const made = (source: string, operator: string) => madeOf(source, operator);

  it("negate conditions and drop guards", () => {
    assert.deepEqual(made("function f(a) { if (a) return 1; return 2; }", "negate"), [
      "function f(a) { if (!(a)) return 1; return 2; }",
    ]);
    assert.deepEqual(made("function f(a) { if (a) return 1; return 2; }", "drop-guard"), [
      "function f(a) { ; return 2; }",
    ]);
  });

  it("exchange signs, but join no texts with a minus", () => {
    assert.deepEqual(made("x = a < b && c;", "boundary"), ["x = a <= b && c;"]);
    assert.deepEqual(made("x = a < b && c;", "and-or"), ["x = a < b || c;"]);
    assert.deepEqual(made('x = a + "s"; y = b + c;', "plus-minus"), ['x = a + "s"; y = b - c;']);
  });

  it("drop calls and the wait for them, but not what is written to a log", () => {
    assert.deepEqual(made("async function f() { await g(1); log.info(2); }", "drop-call"), [
      "async function f() { ; log.info(2); }",
    ]);
    assert.deepEqual(made("async function f() { await g(1); }", "drop-await"), [
      "async function f() { void g(1); }",
    ]);
  });

  it("change small numbers by one, and no types", () => {
    assert.deepEqual(made("const most: 3 | 4 = 3, large = 60_000;", "off-by-one"), [
      "const most: 3 | 4 = 4, large = 60_000;",
    ]);
  });

  it("empty blocks, and return in the middle of a function", () => {
    assert.deepEqual(made("function f() { a(); b(); c(); }", "empty-block"), ["function f() {}"]);
    assert.deepEqual(made("function f() { a(); b(); c(); }", "return-early"), [
      "function f() { a(); b(); return; c(); }",
    ]);
  });

  it("take either side of ?? alone", () => {
    assert.deepEqual(made("x = a ?? b;", "drop-fallback"), ["x = (a);"]);
    assert.deepEqual(made("x = a ?? b;", "only-fallback"), ["x = (b);"]);
  });
});

function madeOf(source: string, operator: string): string[] {
  return made(source, operator, "engine/example.ts");
}

describe("the names and the sample", () => {
  const source = "function f(a, b) { return a < b && b < 2; }\nconst g = (a) => (a > 1 ? a + 1 : a - 1);";
  const mutants = ["engine/one.ts", "domain/two.ts", "domain/three.ts"].flatMap((file) =>
    mutantsOf({ file, source }),
  );
  const namesOf = (drawn: readonly Mutant[]) => drawn.map(({ name }) => name);

  it("gives each mutant a name of its own, which a change elsewhere leaves as it is", () => {
    assert.equal(new Set(namesOf(mutants)).size, mutants.length);
    const before = namesOf(mutantsOf({ file: "engine/one.ts", source }));
    const after = namesOf(mutantsOf({ file: "engine/one.ts", source: `const h = (c) => c < 3;\n${source}` }));
    assert.deepEqual(
      before.filter((name) => !after.includes(name)),
      [],
    );
    assert.ok(before.includes("engine/one.ts f boundary 2"));
  });

  it("draws the same for the same seed, whatever the order of the files, and other ones for another seed", () => {
    const drawn = namesOf(drawSample(mutants, { size: 10, seed: 7 }));
    assert.deepEqual(namesOf(drawSample([...mutants].reverse(), { size: 10, seed: 7 })), drawn);
    assert.deepEqual(namesOf(drawSample(mutants, { size: 6, seed: 7 })), drawn.slice(0, 6));
    assert.notDeepEqual(namesOf(drawSample(mutants, { size: 10, seed: 8 })), drawn);
  });

  it("draws the next for one that is refused", () => {
    const isRefused = ({ operator }: Mutant) => operator === "boundary";
    const whole = drawSample(mutants, { size: mutants.length, seed: 7 });
    assert.deepEqual(
      drawSample(mutants, { size: 5, seed: 7, isRefused }),
      whole.filter((mutant) => !isRefused(mutant)).slice(0, 5),
    );
  });

  it("draws from each folder and each operator in turn", () => {
    const drawn = drawSample(mutants, { size: 8, seed: 3 });
    assert.equal(drawn.filter(({ file }) => file.startsWith("engine/")).length, 4);
    assert.equal(new Set(drawn.map(({ file, operator }) => file.slice(0, 3) + operator)).size, 8);
  });

  it("says what a mutant does in one line", () => {
    const mutant = mutants.find(({ name }) => name === "engine/one.ts f and-or 1");
    assert.ok(mutant !== undefined);
    assert.equal(describeChange(source, mutant), "&& → ||");
  });
});

describe("the mutants that are judged to be equivalent", () => {
  for (const { name, line, reason } of EQUIVALENT) {
    it(`still are what was judged: ${name}`, () => {
      const file = name.split(" ")[0] ?? "";
      const [own] = readSources(join(SERVER, "src"), [file]);
      assert.ok(own !== undefined, `${file} is no longer there`);
      const mutant = mutantsOf(own).find((each) => each.name === name);
      assert.ok(mutant !== undefined, "the operator no longer makes it");
      assert.ok(own.source.split("\n")[lineOf(own.source, mutant.start) - 1]?.includes(line));
      assert.notEqual(reason, "");
    });
  }
});
