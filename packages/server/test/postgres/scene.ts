import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import type { EmbeddedConnection } from "../../src/postgres/socket-dir.ts";

export const isRoot = process.getuid?.() === 0;

/** One logged event, with its fields beside its name. */
export type LogEntry = { event: string; [field: string]: unknown };

export function recordLog(): { entries: LogEntry[]; log: (event: string, fields: object) => void } {
  const entries: LogEntry[] = [];
  return { entries, log: (event, fields) => entries.push({ event, ...fields }) };
}

export async function makeTempDir(): Promise<string> {
  return realpath(await mkdtemp(join(tmpdir(), "bellhop-postgres-")));
}

export async function removeDir(dir: string): Promise<void> {
  await rm(dir, { recursive: true, force: true });
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

export async function query(connection: EmbeddedConnection, text: string): Promise<unknown[]> {
  const client = new Client(connection);
  await client.connect();
  try {
    return (await client.query({ text, rowMode: "array" })).rows.flat();
  } finally {
    await client.end();
  }
}

/** What a starter process says: the connection it got, or why it was refused. */
export type Word = { started: EmbeddedConnection } | { refused: string };

export type Starter = {
  child: ChildProcess;
  pid: number;
  word: Promise<Word>;
  ended: Promise<number | null>;
};

/** Another Bellhop process, as far as the database is concerned. */
export function runStarter(dataDir: string): Starter {
  const script = fileURLToPath(new URL("./starter.js", import.meta.url));
  const child = spawn(process.execPath, [script, dataDir], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  const word = new Promise<Word>((resolve, reject) => {
    createInterface({ input: child.stdout }).once("line", (line) => resolve(JSON.parse(line)));
    ended.then((code) => reject(new Error(`The starter ended with ${code} before it said a word`)));
  });
  if (child.pid === undefined) throw new Error("The starter could not be spawned");
  return { child, pid: child.pid, word, ended };
}
