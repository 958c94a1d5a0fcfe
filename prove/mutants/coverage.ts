import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Mutant } from "./mutant.ts";
import { compiledOffset, readSourceMap } from "./source-map.ts";

/** From an offset of a compiled file to another. */
export type Range = readonly [start: number, end: number];

/** What a test file runs. */
export interface TestCoverage {
  /** Below the checkout, as it is written. */
  readonly test: string;
  readonly seconds: number;
  /** Of each compiled file that it loads, by its path below .build: the hash of its text. */
  readonly loaded: Readonly<Record<string, string>>;
  /** Of each file of the server that it loads, below packages/server/src: what it does not run. */
  readonly idle: Readonly<Record<string, readonly Range[]>>;
  /** The hashes of the statements that it sends. */
  readonly texts: readonly string[];
}

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** Whether nothing that the test file loads has changed since. */
export function isCurrent({ loaded }: TestCoverage, tree: string): boolean {
  return Object.entries(loaded).every(([file, hash]) => {
    const path = join(tree, file);
    return existsSync(path) && hashOf(readFileSync(path, "utf8")) === hash;
  });
}

interface V8Function {
  readonly ranges: readonly {
    readonly startOffset: number;
    readonly endOffset: number;
    readonly count: number;
  }[];
}

/** What none of several runs of a compiled file has run. An inner range says more than the one around it. */
export function idleRanges(length: number, runs: readonly (readonly V8Function[])[]): Range[] {
  const hasRun = new Uint8Array(length);
  for (const functions of runs) {
    const own = new Uint8Array(length);
    const ranges = functions
      .flatMap((each) => each.ranges)
      .sort((one, other) => one.startOffset - other.startOffset || other.endOffset - one.endOffset);
    for (const { startOffset, endOffset, count } of ranges)
      own.fill(count > 0 ? 1 : 0, startOffset, endOffset);
    for (let at = 0; at < length; at += 1) if (own[at] === 1) hasRun[at] = 1;
  }
  const idle: Range[] = [];
  let start = -1;
  for (let at = 0; at <= length; at += 1) {
    const isIdle = at < length && hasRun[at] === 0;
    if (isIdle && start === -1) start = at;
    if (!isIdle && start !== -1) {
      idle.push([start, at]);
      start = -1;
    }
  }
  return idle;
}

/** Which test files run what a mutant changes. */
export interface Coverage {
  testsOf(mutant: Mutant): TestCoverage[];
}

/** A shorter piece of SQL is in too many statements. */
const SHORTEST_PIECE = 12;

export function readCoverage(options: {
  readonly tests: readonly TestCoverage[];
  /** The statements by their hashes. */
  readonly texts: ReadonlyMap<string, string>;
  readonly sourceOf: (file: string) => string;
  /** The compiled text of a source file, and its map. */
  readonly compiledOf: (file: string) => { readonly text: string; readonly mappings: string };
}): Coverage {
  const { tests, texts, sourceOf, compiledOf } = options;

  function bySending(piece: string): TestCoverage[] {
    const sent = new Set([...texts].filter(([, text]) => text.includes(piece)).map(([hash]) => hash));
    return tests.filter((test) => test.texts.some((hash) => sent.has(hash)));
  }

  function byRunning({ file, probe }: Mutant): TestCoverage[] {
    const { text, mappings } = compiledOf(file);
    const offset = compiledOffset(readSourceMap(mappings), sourceOf(file), text, probe);
    return tests.filter(({ idle }) => {
      const ranges = idle[file];
      return (
        ranges !== undefined &&
        (offset === null || !ranges.some(([start, end]) => start <= offset && offset < end))
      );
    });
  }

  return {
    testsOf(mutant) {
      const piece = mutant.sql ?? "";
      return inOrder(piece.trim().length < SHORTEST_PIECE ? byRunning(mutant) : bySending(piece), mutant);
    },
  };
}

/** The file's own tests first, then the cheapest. */
function inOrder(tests: readonly TestCoverage[], { file }: Mutant): TestCoverage[] {
  const own = file.replace(/ts$/, "test.ts");
  const rank = ({ test }: TestCoverage) => (test.endsWith(`/test/${own}`) ? 0 : 1);
  return [...tests].sort((one, other) => rank(one) - rank(other) || one.seconds - other.seconds);
}
