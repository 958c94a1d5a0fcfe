import { createReadStream, createWriteStream } from "node:fs";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pipeline } from "node:stream/promises";
import type { History } from "./checker/history.ts";

/** One line each: a long run has hundreds of thousands. */
const LISTS = ["answers", "seen", "changes", "faults", "lives", "latencies", "lags", "crowded"] as const;

export async function keepEvidence(directory: string, history: History, verdict: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const list of LISTS) {
    const lines = history[list].map((entry: unknown) => `${JSON.stringify(entry)}\n`);
    await pipeline(lines, createWriteStream(join(directory, `${list}.jsonl`)));
  }
  const { beganAt, calmAt, endedAt, rest, readers, receivers, spells, breakers, sandbox, vault } = history;
  const frame = { beganAt, calmAt, endedAt, rest, readers, receivers, spells, breakers, sandbox, vault };
  await writeFile(join(directory, "rest.json"), JSON.stringify(frame));
  await writeFile(join(directory, "verdict.txt"), `${verdict}\n`);
}

export async function keepLogs(directory: string, logDir: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  await cp(logDir, join(directory, "logs"), { recursive: true });
}

export async function readEvidence(directory: string): Promise<History> {
  // Written by keepEvidence, which was given a history.
  const frame = JSON.parse(await readFile(join(directory, "rest.json"), "utf8")) as History;
  const lists = await Promise.all(
    LISTS.map(async (list) => [list, await readLines(join(directory, `${list}.jsonl`))]),
  );
  return { ...frame, ...Object.fromEntries(lists) };
}

async function readLines(file: string): Promise<unknown[]> {
  const entries: unknown[] = [];
  for await (const line of createInterface({ input: createReadStream(file) })) entries.push(JSON.parse(line));
  return entries;
}
