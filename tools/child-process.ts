/**
 * Every process that the bench and the attacks start goes through here, so that each is ended by its id whatever happens: at the end of a
 * measurement, after a failure, and on Ctrl-C.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isRunning, listDescendants } from "./process-usage.ts";

const tree = fileURLToPath(new URL("..", import.meta.url));
/** This file runs from its source or as compiled into `.build`. */
export const repositoryRoot = tree.replace(/\.build[\\/]$/, "");

const startLimitMs = 60_000;
const stopLimitMs = 20_000;
const running = new Set<RunningProcess>();
// The last resort, if the bench itself fails: asking is all that can be done here, there is no time left to wait.
process.once("exit", () => {
  for (const { child } of running) child.kill("SIGTERM");
});

export interface RunningProcess {
  name: string;
  pid: number;
  /** What stood behind "is ready at" in its output. */
  readyAt: string;
  child: ChildProcess;
  stop(): Promise<void>;
}

export interface ProcessSpec {
  name: string;
  /** Arguments of node. */
  args: string[];
  env?: Record<string, string>;
  /** Where its output goes. A file rather than a pipe: a pipe would make the bench read while it measures. */
  logFile: string;
  /** Whether it exchanges messages with the bench. */
  ipc?: boolean;
}

/** Starts a process and waits until it says that it is ready. */
export async function startProcess(spec: ProcessSpec): Promise<RunningProcess> {
  const log = openSync(spec.logFile, "a");
  const child = spawn(process.execPath, spec.args, {
    cwd: repositoryRoot,
    env: { ...process.env, ...spec.env },
    stdio: spec.ipc ? ["ignore", log, log, "ipc"] : ["ignore", log, log],
  });
  closeSync(log);
  const { pid } = child;
  if (pid === undefined) throw new Error(`${spec.name} could not be started`);

  const started: RunningProcess = {
    name: spec.name,
    pid,
    readyAt: "",
    child,
    stop: () => stopProcess(started),
  };
  running.add(started);
  const startedAt = Date.now();
  while (started.readyAt === "") {
    await sleep(20);
    const output = readFileSync(spec.logFile, "utf8");
    started.readyAt = /is ready at (\S+)\n/.exec(output)?.[1] ?? "";
    const ended = child.exitCode !== null || child.signalCode !== null;
    if (started.readyAt === "" && (ended || Date.now() - startedAt > startLimitMs)) {
      await started.stop();
      throw new Error(
        `${spec.name} ${ended ? "ended before it was" : "did not become"} ready:\n${output.slice(-4000)}`,
      );
    }
  }
  return started;
}

async function stopProcess({ pid, child }: RunningProcess): Promise<void> {
  const ended = () => child.exitCode !== null || child.signalCode !== null;
  // Taken now: once the parent is gone, nothing tells that an orphaned postgres was ours.
  const descendants = listDescendants(pid);
  if (!ended()) child.kill("SIGTERM");
  const stopAt = Date.now() + stopLimitMs;
  while (!ended() && Date.now() < stopAt) await sleep(10);
  if (!ended()) child.kill("SIGKILL");
  for (const signal of ["SIGINT", "SIGKILL"] as const) {
    const orphans = descendants.filter(isRunning);
    for (const orphan of orphans) endOrphan(orphan.pid, signal);
    const waitUntil = Date.now() + 5000;
    while (orphans.some(isRunning) && Date.now() < waitUntil) await sleep(10);
  }
  for (const entry of running) if (entry.pid === pid) running.delete(entry);
}

function endOrphan(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended between the look and the signal.
  }
}

export async function stopAllProcesses(): Promise<void> {
  await Promise.all([...running].map((entry) => entry.stop()));
}

/** The arguments that run a file of this directory, named without its ending, as `npm run compile` left it. */
export function benchScript(file: string): string[] {
  return [`${repositoryRoot}.build/bench/${file}.js`];
}
