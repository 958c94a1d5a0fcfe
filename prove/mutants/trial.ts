import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../../tools/run-command.ts";
import { type Catch, isStatementFile, simulate } from "../stages.ts";
import type { Build } from "./build.ts";
import type { TestCoverage } from "./coverage.ts";
import type { Mutant } from "./mutant.ts";
import type { Outcome } from "./outcomes.ts";
import type { StatementCheck } from "./statement-check.ts";
import { compiledTest, failureIn, runTestFile } from "./test-run.ts";

/** How far a mutant is followed. */
export interface Effort {
  /** For the tests that cover it. */
  readonly seconds: number;
  /** All tests, where those have passed. */
  readonly isWhole: boolean;
  /** Of the simulation, last. None: no simulation. */
  readonly seeds: number;
}

const WHOLE_SECONDS = 1_800;
/** A run that takes so much longer than without a mutant has no end. */
const NO_END_FACTOR = 4;
const NO_END_SECONDS = 20;
/** What the files of one process may take together: the more, the fewer starts of processes; the fewer, the sooner a failure ends it. */
const TOGETHER_SECONDS = 6;
/** The start of a process, which files that share it do once. */
const START_SECONDS = 1;

export interface Tools {
  readonly build: Build;
  readonly check: StatementCheck;
  readonly mayShare: (test: string) => boolean;
}

/** Builds the mutant and runs what may catch it, the cheapest first, until something does. */
export async function tryMutant(
  mutant: Mutant,
  source: string,
  tests: readonly TestCoverage[],
  effort: Effort,
  { build, check, mayShare }: Tools,
): Promise<Outcome> {
  const beganMs = performance.now();
  const end = (kind: Outcome["kind"], by: string): Outcome => ({
    kind,
    by,
    seconds: (performance.now() - beganMs) / 1000,
  });
  /** Every test fails for what is no SQL. */
  const caughtBy = async (by: string): Promise<Outcome> => {
    const complaint = mutant.sql === null ? null : await check.refusal(build.directory);
    return complaint === null ? end("caught", by) : end("invalid", complaint);
  };
  if (tests.length === 0 && !effort.isWhole && effort.seeds === 0) return end("uncovered", "");
  const refusal = await build.put(mutant.file, source);
  if (refusal !== null) return end("invalid", refusal);
  try {
    let run = 0;
    for (const files of together(tests, mayShare)) {
      const isOver = performance.now() - beganMs > effort.seconds * 1000;
      if (isOver) break;
      const caught = await runTogether(build.directory, files);
      if (caught !== null) return await caughtBy(caught);
      run += files.length;
    }
    const whole = effort.isWhole ? await runWhole(build.directory) : null;
    if (whole !== null) return await caughtBy(`all tests: ${whole}`);
    const isSimulated = effort.seeds > 0 && !isStatementFile(mutant.file);
    const broken = isSimulated ? await simulate(build.directory, effort.seeds) : null;
    if (broken !== null) return end("caught", `simulation: ${broken}`);
    const further = `${effort.isWhole ? ", all tests" : ""}${isSimulated ? `, ${effort.seeds} seeds` : ""}`;
    if (tests.length === 0) return end("uncovered", further.slice(2));
    return end("survived", `${run} of ${tests.length} test files${further}`);
  } finally {
    build.restore();
  }
}

/** In their order: the first by itself, the others so many to a process as are quick. */
export function together(
  tests: readonly TestCoverage[],
  mayShare: (test: string) => boolean,
): TestCoverage[][] {
  const groups: TestCoverage[][] = [];
  let seconds = Number.POSITIVE_INFINITY;
  for (const test of tests) {
    const canJoin = mayShare(compiledTest(test.test)) && groups.length > 1;
    const own = Math.max(0, test.seconds - START_SECONDS);
    if (canJoin && seconds + own <= TOGETHER_SECONDS) {
      groups.at(-1)?.push(test);
      seconds += own;
    } else {
      groups.push([test]);
      seconds = mayShare(compiledTest(test.test)) ? own : Number.POSITIVE_INFINITY;
    }
  }
  return groups;
}

/** What fails in company runs by itself once more: files that do not go together would catch every mutant. */
async function runTogether(directory: string, tests: readonly TestCoverage[]): Promise<Catch> {
  const [only, ...others] = tests;
  if (only !== undefined && others.length === 0) return runAlone(directory, only);
  const entry = "shared/mutant.js";
  mkdirSync(join(directory, ".build/shared"), { recursive: true });
  writeFileSync(
    join(directory, ".build", entry),
    tests.map(({ test }) => `import "../${compiledTest(test)}";\n`).join(""),
  );
  const ran = await runTestFile({ directory, entry, seconds: mostSeconds(tests) });
  if (failureIn(ran) === null) return null;
  const named = tests.filter(({ test }) => ran.output.includes(`${compiledTest(test)}:`));
  for (const test of named.length > 0 ? named : tests) {
    const failure = await runAlone(directory, test);
    if (failure !== null) return failure;
  }
  return null;
}

async function runAlone(directory: string, test: TestCoverage): Promise<Catch> {
  const entry = compiledTest(test.test);
  const failure = failureIn(await runTestFile({ directory, entry, seconds: mostSeconds([test]) }));
  return failure === null ? null : `${test.test}: ${failure}`;
}

function mostSeconds(tests: readonly TestCoverage[]): number {
  return NO_END_SECONDS + NO_END_FACTOR * tests.reduce((sum, { seconds }) => sum + seconds, 0);
}

/** A suite that fails in the copy without a mutant would catch every one. Builds the pages that some of its tests look at. */
export async function requireWhole(directory: string): Promise<void> {
  for (const script of ["scripts/page.mjs", "scripts/site.mjs"])
    await runCommand({ command: process.execPath, args: [script], cwd: directory, seconds: WHOLE_SECONDS });
  const failure = await runWhole(directory);
  if (failure !== null) throw new Error(`All tests must pass before the first mutant: ${failure}`);
}

async function runWhole(directory: string): Promise<Catch> {
  return failureIn(
    await runCommand({
      command: process.execPath,
      args: ["scripts/test.mjs"],
      cwd: directory,
      seconds: WHOLE_SECONDS,
      isEnough: (line) => /^ *location: '/.test(line),
    }),
  );
}
