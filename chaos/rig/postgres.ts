import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { isRunning, listDescendants } from "../../bench/process-usage.ts";
import { type ChildRun, runBinary } from "../../packages/server/src/postgres/child-run.ts";
import { ensureCluster } from "../../packages/server/src/postgres/cluster.ts";
import { chooseIdentity } from "../../packages/server/src/postgres/identity.ts";
import { clearPostmasterPid } from "../../packages/server/src/postgres/postmaster.ts";
import { waitUntilReady } from "../../packages/server/src/postgres/running-server.ts";
import { ensureRuntime, findBinaries } from "../../packages/server/src/postgres/runtime.ts";
import { type Settings, settingFlags } from "../../packages/server/src/postgres/settings.ts";
import {
  adminConnectionTo,
  clearSocketDir,
  connectionTo,
  type EmbeddedConnection,
  makeSocketDir,
  removeSocketDir,
} from "../../packages/server/src/postgres/socket-dir.ts";
import { endAtExit } from "./ending.ts";
import { signalTree } from "./signal-tree.ts";

export interface Postgres {
  readonly connection: EmbeddedConnection;
  /** The file of its socket. */
  readonly socket: string;
  /** One statement on a connection of its own, past every proxy. */
  query<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>;
  start(): Promise<void>;
  /** Kills every process of the server at once, as a power cut would. */
  kill(): Promise<void>;
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
}

const NO_PASSWORDS = { admin: "", app: "" };

/** A real PostgreSQL from the embedded binaries, in a data directory of its own, which only dies when it is told to. */
export async function createPostgres(options: {
  readonly dataDir: string;
  readonly settings: Settings;
  readonly log: (line: string) => void;
}): Promise<Postgres> {
  const { dataDir, log } = options;
  const binaries = await findBinaries();
  const identity = await chooseIdentity(join(dataDir, "pgdata"));
  const runtimeDir = await ensureRuntime(binaries, dataDir);
  const pgdata = await ensureCluster(dataDir, runtimeDir, binaries.version, identity, () => {});
  const socketDir = await makeSocketDir(identity);
  // Nodes reach it by a proxy and the rig by its socket, all as the superuser and without a password.
  const { password: _none, ...connection } = adminConnectionTo(socketDir, NO_PASSWORDS);
  const trust = join(pgdata, "chaos_hba.conf");
  writeFileSync(trust, "local all all trust\n", { mode: 0o644 });
  // When each change was committed is the backbone of the evidence.
  const settings = {
    hba_file: trust,
    track_commit_timestamp: "on",
    max_connections: "200",
    ...options.settings,
  };
  let running: ChildRun | null = null;

  const signal = (name: NodeJS.Signals) => signalTree(running?.child.pid, name);
  endAtExit(() => {
    signal("SIGKILL");
    rmSync(socketDir, { recursive: true, force: true });
  });

  return {
    connection,
    socket: join(socketDir, `.s.PGSQL.${connection.port}`),
    async query<Row extends object>(text: string, values: unknown[] = []) {
      const client = new pg.Client({ ...connection, connectionTimeoutMillis: 5_000 });
      client.on("error", () => {});
      try {
        await client.connect();
        return (await client.query<Row>(text, values)).rows;
      } finally {
        await client.end().catch(() => {});
      }
    },
    async start() {
      await clearPostmasterPid(pgdata);
      await clearSocketDir(socketDir);
      const args = ["-D", pgdata, ...settingFlags(connection, settings)];
      const run = runBinary(join(runtimeDir, "bin", "postgres"), args, identity, log);
      running = run;
      const died = new AbortController();
      run.exited.then(({ lastLines }) => died.abort(new Error(`PostgreSQL ended: ${lastLines.join(" ")}`)));
      await waitUntilReady(connectionTo(socketDir, NO_PASSWORDS), connection, died.signal);
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
      await removeSocketDir(socketDir);
    },
  };
}
