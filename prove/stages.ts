import { runCommand } from "../tools/run-command.ts";
import type { Plant } from "./plant.ts";

/** In the order in which they are tried: the cheapest first. */
export const STAGES = ["tests", "simulation", "chaos"] as const;
export type Stage = (typeof STAGES)[number];

/** What caught a bug; null where nothing did. */
export type Catch = string | null;

const TEST_SECONDS = 120;
const SIMULATION_SECONDS = 150;
const CHAOS_SECONDS = 240;
/** Longer than the runs of a build without a bug take: what does not end by then fails a test by its time limit. */
export const NO_END = "does not end";

const FAILED_TEST = /^ *not ok \d+ - (.*)$/;

/** One file after the other, until one fails. On the PostgreSQL that `startTests` has started. */
export async function runTests(directory: string, tests: readonly string[]): Promise<Catch> {
  const endMs = performance.now() + TEST_SECONDS * 1000;
  for (const test of tests) {
    const { code, output, isLate } = await runCommand({
      command: process.execPath,
      args: ["--test-reporter=tap", `.build/packages/server/test/${test.replace(/ts$/, "js")}`],
      cwd: directory,
      seconds: Math.max(1, (endMs - performance.now()) / 1000),
      isEnough: (line) => FAILED_TEST.test(line),
    });
    const failed = output.split("\n").find((line) => FAILED_TEST.test(line));
    const name = failed === undefined ? undefined : FAILED_TEST.exec(failed)?.[1];
    if (name !== undefined) return name;
    if (isLate) return `${NO_END}: ${test}`;
    if (code !== 0) return `ends with ${code}: ${test}`;
  }
  return null;
}

/** With faults, by so many seeds. */
export async function simulate(directory: string, seeds: number): Promise<Catch> {
  const run = (...args: string[]) =>
    runCommand({
      command: process.execPath,
      args: ["simulation/run.mjs", ...args],
      cwd: directory,
      seconds: SIMULATION_SECONDS,
      isEnough: (line) => /^seed \d+ broke a promise/.test(line),
    });
  const { code, output, isLate } = await run("--seeds", String(seeds));
  const seed = /^seed (\d+) broke a promise/m.exec(output)?.[1];
  if (seed !== undefined) return `${violationIn((await run("--seed", seed)).output)} (seed ${seed})`;
  if (isLate) return NO_END;
  return code === 0 ? null : `the simulation ends with ${code}`;
}

async function storm(directory: string, seconds: number): Promise<Catch> {
  const { code, output, isLate } = await runCommand({
    command: process.execPath,
    args: ["chaos/run.mjs", "--minutes", String(seconds / 60), "--seed", "7"],
    cwd: directory,
    seconds: CHAOS_SECONDS,
  });
  // Exit code 3: the machine was too slow for the run to be judged.
  if (code === 0 || code === 3) return null;
  return isLate ? NO_END : violationIn(output);
}

function violationIn(output: string): string {
  return /VIOLATED \d+ times: (.*)/.exec(output)?.[1] ?? "a violation";
}

export interface Effort {
  readonly seeds: number;
  readonly chaosSeconds: number;
}

/** Statements are not simulated: a model of them is, which the tests compare with the real ones. */
export function isStatementFile(file: string): boolean {
  return file.startsWith("store/tasks/");
}

export function isTried(stage: Stage, { file }: Plant): boolean {
  return stage !== "simulation" || !isStatementFile(file);
}

export function tryStage(stage: Stage, directory: string, plant: Plant, effort: Effort): Promise<Catch> {
  if (stage === "tests") return runTests(directory, plant.tests);
  return stage === "simulation" ? simulate(directory, effort.seeds) : storm(directory, effort.chaosSeconds);
}
