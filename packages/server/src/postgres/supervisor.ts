import { setTimeout as sleep } from "node:timers/promises";
import type { ChildRun, Exit } from "./child-run.ts";
import type { Log } from "./log.ts";
import { stopPostmaster } from "./postmaster.ts";

export type Supervisor = { stop(): Promise<void> };

type Deps = {
  /** Cleans up after a dead postmaster; runs before each spawn. */
  prepare(): Promise<void>;
  spawn(): ChildRun;
  /** Called after each unexpected exit. */
  onExit(exit: Exit): void;
  log: Log;
};

const FIRST_WAIT_MS = 100;
/** A longer wait would only delay the recovery. */
const LONGEST_WAIT_MS = 10_000;
/** A postmaster that ran this long was healthy: its exit is a new failure. */
const HEALTHY_AFTER_MS = 60_000;

/** Keeps a postmaster running: after an unexpected exit it is restarted, with growing waits. */
export function startSupervisor({ prepare, spawn, onExit, log }: Deps): Supervisor {
  const stopping = new AbortController();
  let running: ChildRun | null = null;

  // If the process exits without stop(), because of a bug, the database must not be left behind.
  const onProcessExit = () => running?.child.kill("SIGINT");
  process.on("exit", onProcessExit);

  async function runOnce(): Promise<Exit | null> {
    await prepare();
    if (stopping.signal.aborted) return null;
    running = spawn();
    const exit = await running.exited;
    running = null;
    return stopping.signal.aborted ? null : exit;
  }

  async function run(): Promise<void> {
    let waitMs = FIRST_WAIT_MS;
    while (!stopping.signal.aborted) {
      const startedAt = performance.now();
      const exit = await runOnce().catch(toExit);
      if (exit === null) return;
      if (performance.now() - startedAt > HEALTHY_AFTER_MS) waitMs = FIRST_WAIT_MS;
      log("postgres.exited", { code: exit.code, signal: exit.signal, restartInMs: waitMs });
      onExit(exit);
      await sleep(waitMs, undefined, { signal: stopping.signal }).catch(() => {});
      waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
    }
  }

  const ended = run();

  async function stop(): Promise<void> {
    stopping.abort();
    const child = running?.child;
    if (child?.pid !== undefined) {
      await stopPostmaster(child.pid, async () => child.exitCode === null && child.signalCode === null);
    }
    await ended;
    process.off("exit", onProcessExit);
  }
  return { stop };
}

function toExit(error: unknown): Exit {
  return { code: null, signal: null, lastLines: [error instanceof Error ? error.message : String(error)] };
}
