import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { endAtExit } from "../../tools/ending.ts";
import { signalTree } from "../../tools/signal-tree.ts";
import type { Life } from "../checker/history.ts";
import { now } from "./clock.ts";

/** A start that takes longer hangs: it is ended, and the checker told. */
const LONGEST_START_MS = 40_000;
const LONGEST_STOP_MS = 20_000;

export interface Node {
  readonly index: number;
  readonly url: string;
  readonly lives: readonly Life[];
  readonly pid: number | null;
  /** Starts a process, again until one is ready: a start on a database that is away ends by itself. */
  start(): Promise<void>;
  kill(): Promise<void>;
  /** Asks it to stop, and waits until it has; one that does not is killed. */
  stop(): Promise<void>;
  pause(): void;
  resume(): void;
}

type Draft = { -readonly [Field in keyof Life]: Life[Field] };

/** One node: the same address through any number of processes, each with the settings of its start. */
export function createNode(options: {
  readonly index: number;
  readonly main: string;
  readonly port: number;
  readonly env: Readonly<Record<string, string>>;
  readonly logFile: string;
  /** So many files the process may open; left out: as many as the runner. */
  readonly fileLimit?: number;
}): Node {
  const { index } = options;
  const lives: Draft[] = [];
  let child: ChildProcess | null = null;
  // With the database that it may have started.
  endAtExit(() => signalTree(child?.pid, "SIGKILL"));

  function launch(): { life: Draft; ready: Promise<boolean> } {
    const log = openSync(options.logFile, "a");
    const { fileLimit } = options;
    // prlimit becomes the process that it is told to run.
    const limited = fileLimit === undefined ? [] : ["prlimit", `--nofile=${fileLimit}:${fileLimit}`];
    const [program, ...args] = [...limited, process.execPath, options.main];
    const started = spawn(program, args, {
      env: { PATH: process.env.PATH ?? "", ...options.env, PORT: String(options.port) },
      stdio: ["ignore", "pipe", log],
    });
    closeSync(log);
    const life: Draft = {
      node: index,
      pid: started.pid ?? -1,
      startedAt: now(),
      readyAt: null,
      askedAt: null,
      endedAt: null,
      killed: false,
      exitCode: null,
    };
    lives.push(life);
    child = started;
    const ready = new Promise<boolean>((resolve) => {
      started.stdout?.on("data", (text: Buffer) => {
        if (!text.toString().includes("is ready at")) return;
        life.readyAt = now();
        resolve(true);
      });
      started.once("exit", (code) => {
        life.endedAt = now();
        life.exitCode = code;
        if (child === started) child = null;
        resolve(false);
      });
    });
    return { life, ready };
  }

  /** Of that process: another may be started by somebody else as soon as it has ended. */
  async function ended(process: ChildProcess): Promise<void> {
    while (child === process) await sleep(5);
  }

  async function kill(): Promise<void> {
    const life = lives.at(-1);
    if (child === null || life === undefined) return;
    life.killed = true;
    const process = child;
    process.kill("SIGKILL");
    await ended(process);
  }

  return {
    index,
    url: `http://127.0.0.1:${options.port}`,
    lives,
    get pid() {
      return child?.pid ?? null;
    },
    async start() {
      while (child === null) {
        const { ready } = launch();
        const slow = setTimeout(() => void kill(), LONGEST_START_MS);
        const isReady = await ready;
        clearTimeout(slow);
        if (!isReady) await sleep(300);
      }
    },
    kill,
    async stop() {
      const life = lives.at(-1);
      if (child === null || life === undefined) return;
      life.askedAt = now();
      const process = child;
      process.kill("SIGTERM");
      const slow = setTimeout(() => {
        life.killed = true;
        process.kill("SIGKILL");
      }, LONGEST_STOP_MS);
      await ended(process);
      clearTimeout(slow);
    },
    pause: () => void child?.kill("SIGSTOP"),
    resume: () => void child?.kill("SIGCONT"),
  };
}
