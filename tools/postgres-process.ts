import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { type ChildRun, runBinary } from "../packages/server/src/postgres/child-run.ts";
import type { Identity } from "../packages/server/src/postgres/identity.ts";
import { clearPostmasterPid } from "../packages/server/src/postgres/postmaster.ts";
import { endAtExit } from "./ending.ts";
import { isRunning, listDescendants } from "./process-usage.ts";
import { signalTree } from "./signal-tree.ts";

/** A PostgreSQL server that only dies when it is told to: the same data directory through any number of processes. */
export interface PostgresProcess {
  /** Returns once `isReady` says so. Throws if the process ends before. */
  start(flags: readonly string[], isReady: (died: AbortSignal) => Promise<void>): Promise<void>;
  /** Kills every process of the server at once, as a power cut would. */
  kill(): Promise<void>;
  /** Stops every process of it without closing a connection, as a host does that hangs. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
}

export function createPostgresProcess(options: {
  readonly pgdata: string;
  readonly runtimeDir: string;
  readonly identity: Identity;
  readonly socketDir: string;
  readonly log: (line: string) => void;
}): PostgresProcess {
  const { pgdata, runtimeDir, identity, socketDir } = options;
  let running: ChildRun | null = null;
  const signal = (name: NodeJS.Signals) => signalTree(running?.child.pid, name);
  endAtExit(() => {
    signal("SIGKILL");
    rmSync(socketDir, { recursive: true, force: true });
  });
  return {
    async start(flags, isReady) {
      await clearPostmasterPid(pgdata);
      const args = ["-D", pgdata, ...flags];
      const run = runBinary(join(runtimeDir, "bin", "postgres"), args, identity, options.log);
      running = run;
      const died = new AbortController();
      run.exited.then(({ lastLines }) => died.abort(new Error(`PostgreSQL ended: ${lastLines.join(" ")}`)));
      await isReady(died.signal);
    },
    async kill() {
      const victims = listDescendants(running?.child.pid ?? -1);
      signal("SIGKILL");
      await running?.exited;
      while (victims.some(isRunning)) await sleep(5);
      running = null;
    },
    freeze: () => signal("SIGSTOP"),
    thaw: () => signal("SIGCONT"),
    async stop() {
      signal("SIGCONT");
      running?.child.kill("SIGINT");
      const slow = setTimeout(() => signal("SIGKILL"), 10_000);
      await running?.exited;
      clearTimeout(slow);
      running = null;
    },
  };
}

/** One statement on a connection of its own. */
export async function queryOnce<Row extends object>(
  connection: pg.ClientConfig,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client(connection);
  client.on("error", () => {});
  try {
    await client.connect();
    return (await client.query<Row>(text, [...values])).rows;
  } finally {
    await client.end().catch(() => {});
  }
}
