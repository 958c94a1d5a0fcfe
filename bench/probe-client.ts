import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { repositoryRoot } from "../tools/child-process.ts";
import { probeSignal } from "./probe-signal.ts";

/** The arguments of node that load the probe into a subject. */
export const probeArgs = ["--import", `${repositoryRoot}.build/bench/probe.js`];

const answerLimitMs = 10_000;

/** What one task makes of JavaScript's memory. */
export interface ProbeCounts {
  allocatedKb: number;
  promises: number;
}

export interface ProbedProcess {
  pid: number;
  logFile: string;
}

/** Runs `count` tasks twice by `work`, and counts in the process what they allocate, then how many promises they make. */
export async function probe(
  { pid, logFile }: ProbedProcess,
  count: number,
  work: () => Promise<unknown>,
): Promise<ProbeCounts> {
  async function countNext(): Promise<number> {
    const number = (readFileSync(logFile, "utf8").match(/^Probe \d+ has begun$/gm)?.length ?? 0) + 1;
    process.kill(pid, probeSignal);
    await readAnswer(logFile, new RegExp(`^Probe ${number} has (begun)$`, "m"));
    await work();
    process.kill(pid, probeSignal);
    return Number(await readAnswer(logFile, new RegExp(`^Probe ${number} counted (\\d+)$`, "m"))) / count;
  }
  return { allocatedKb: (await countNext()) / 1024, promises: await countNext() };
}

async function readAnswer(logFile: string, pattern: RegExp): Promise<string> {
  const giveUpAt = Date.now() + answerLimitMs;
  while (Date.now() < giveUpAt) {
    const answer = pattern.exec(readFileSync(logFile, "utf8"))?.[1];
    if (answer !== undefined) return answer;
    await sleep(20);
  }
  throw new Error(`the probe gave no answer in ${logFile}`);
}
