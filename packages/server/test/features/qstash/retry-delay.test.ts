import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import {
  compileRetryDelay,
  defaultRetryDelayMs,
  ExpressionError,
  retryDelayMs,
} from "../../../src/features/qstash/domain-retry-delay.ts";

/** An expression in the language, and the same in JavaScript. */
interface Written {
  readonly text: string;
  readonly script: string;
}

const NAMES = ["sqrt", "abs", "exp", "floor", "ceil", "round"];
const { tree: expression } = fc.letrec<{ tree: Written; leaf: Written }>((tie) => ({
  leaf: fc.oneof(
    fc.constant({ text: "retried", script: "retried" }),
    fc.nat(100_000).map((figure) => ({ text: String(figure), script: String(figure) })),
    fc
      .tuple(fc.nat(999), fc.nat(999))
      .map(([whole, rest]) => ({ text: `${whole}.${rest}`, script: `${whole}.${rest}` })),
  ),
  tree: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    tie("leaf"),
    fc.tuple(tie("tree"), fc.constantFrom("+", "-", "*", "/"), tie("tree")).map(([left, sign, right]) => ({
      text: `(${left.text}) ${sign}(${right.text})`,
      script: `(${left.script}) ${sign} (${right.script})`,
    })),
    tie("tree").map(({ text, script }) => ({ text: `-(${text})`, script: `-(${script})` })),
    fc.tuple(fc.constantFrom(...NAMES), tie("tree")).map(([name, { text, script }]) => ({
      text: `${name}( ${text} )`,
      script: `Math.${name}(${script})`,
    })),
    fc.tuple(fc.constantFrom("pow", "min", "max"), tie("tree"), tie("tree")).map(([name, left, right]) => ({
      text: `${name}(${left.text},${right.text})`,
      script: `Math.${name}(${left.script}, ${right.script})`,
    })),
  ),
}));

describe("the expression of a retry delay", () => {
  it("has the value that JavaScript gives it, within 0 and a day", () => {
    fc.assert(
      fc.property(expression, fc.nat(20), ({ text, script }, retried) => {
        fc.pre(text.length <= 500);
        const reference: number = new Function("retried", `return ${script}`)(retried);
        assert.equal(compileRetryDelay(text)(retried), reference, text);
        const ms = retryDelayMs(text, retried);
        assert.ok(Number.isInteger(ms) && ms >= 0 && ms <= 86_400_000);
      }),
      { numRuns: 500 },
    );
  });

  it("is refused where it is anything else, in bounded time", () => {
    const bad = [
      "",
      "retried retried",
      "2 ** 3",
      "2 * -3",
      "process",
      "constructor(1)",
      "pow(1)",
      "min()",
      "1e3",
      "(1",
      "0x10",
    ];
    for (const text of [
      ...bad,
      "sqrt(1, 2)",
      `${"(".repeat(33)}1${")".repeat(33)}`,
      "1".repeat(501),
      "1 + ",
      "a.b",
      "é",
    ])
      assert.throws(() => compileRetryDelay(text), ExpressionError, text);
    fc.assert(
      fc.property(fc.string({ maxLength: 600 }), (text) => {
        try {
          compileRetryDelay(text);
        } catch (error) {
          assert.ok(error instanceof ExpressionError);
        }
      }),
    );
  });

  it("is 0 if it is no number or below 0, and a day at most", () => {
    assert.deepEqual(
      ["0 / 0", "-5", "1 / 0", "pow(10, 30)", "sqrt(-(1))", "1000 * (1 + retried)"].map((text) =>
        retryDelayMs(text, 2),
      ),
      [0, 0, 86_400_000, 86_400_000, 0, 3000],
    );
    assert.deepEqual([1, 2, 3, 9].map(defaultRetryDelayMs), [12_182, 148_413, 1_808_042, 86_400_000]);
  });
});
