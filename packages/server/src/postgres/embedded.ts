import { join } from "node:path";
import { findBinaries } from "./binaries.ts";
import { runBinary } from "./child-run.ts";
import { ensureCluster } from "./cluster.ts";
import type { EmbeddedConnection } from "./connection.ts";
import { resolveDataDir } from "./data-dir.ts";
import { chooseIdentity } from "./identity.ts";
import type { Log } from "./log.ts";
import { clearOrphan } from "./orphan.ts";
import { takeOwnerLock } from "./owner-lock.ts";
import { holdOwnership } from "./ownership.ts";
import { clearPostmasterPid } from "./postmaster-pid.ts";
import { materialiseRuntime } from "./runtime.ts";
import { type Settings, settingFlags } from "./settings.ts";
import { clearSocketDir, makeSocketDir, removeSocketDir, SOCKET_PORT } from "./socket-dir.ts";
import { startSupervisor } from "./supervisor.ts";

export type EmbeddedPostgres = {
  connection: EmbeddedConnection;
  dataDir: string;
  runtimeDir: string;
  socketDir: string;
  stop(): Promise<void>;
};

export type EmbeddedOptions = {
  dataDir: string;
  log: Log;
  /** PostgreSQL settings that win over ours, for operators of larger machines. */
  extraSettings?: Settings;
};

/**
 * Failed launches after which a start gives up. With the supervisor's growing waits it is some 3 s: the
 * backends of a killed postmaster have gone by then, and what still fails then fails for good.
 */
const LAUNCHES_BEFORE_GIVING_UP = 6;

/** Starts PostgreSQL as our own child, and promises that no other Bellhop uses this data directory. */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { path: dataDir, closed } = await resolveDataDir(options.dataDir);
  if (closed !== null) options.log("postgres.data_dir_moved", { wanted: options.dataDir, dataDir, closed });
  const ownerLock = await takeOwnerLock(dataDir, options.log);
  try {
    const server = await startOwned({ ...options, dataDir });
    let stopped: Promise<void> | null = null;
    const stop = () => {
      stopped ??= server.stop().finally(() => ownerLock.release());
      return stopped;
    };
    return { ...server, stop };
  } catch (error) {
    await ownerLock.release();
    throw error;
  }
}

async function startOwned({ dataDir, log, extraSettings = {} }: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const startedAt = performance.now();
  const binaries = await findBinaries();
  const identity = await chooseIdentity(join(dataDir, "pgdata"));
  await clearOrphan(dataDir, join(dataDir, "pgdata"), log);
  const runtimeDir = await materialiseRuntime(binaries, dataDir);
  const pgdata = await ensureCluster(dataDir, runtimeDir, binaries.version, identity, log);
  const socketDir = await makeSocketDir(identity);
  const connection = { host: socketDir, port: SOCKET_PORT, user: "bellhop", database: "bellhop" } as const;

  const hopeless = new AbortController();
  let failedLaunches = 0;
  let started = false;
  const supervisor = startSupervisor({
    log,
    async prepare() {
      await clearPostmasterPid(pgdata);
      await clearSocketDir(socketDir);
    },
    spawn() {
      const args = ["-D", pgdata, ...settingFlags(socketDir, SOCKET_PORT, extraSettings)];
      const onLine = (line: string) => log("postgres.log", { line });
      return runBinary(join(runtimeDir, "bin", "postgres"), args, identity, onLine);
    },
    onExit(exit) {
      failedLaunches += 1;
      if (started || failedLaunches < LAUNCHES_BEFORE_GIVING_UP) return;
      hopeless.abort(new Error(`The embedded PostgreSQL does not start: ${exit.lastLines.join(" ")}`));
    },
  });
  async function stopServer(): Promise<void> {
    await supervisor.stop();
    await removeSocketDir(socketDir);
  }

  try {
    const ownership = await holdOwnership(connection, dataDir, hopeless.signal, log);
    started = true;
    log("postgres.started", { dataDir, socketDir, durationMs: Math.round(performance.now() - startedAt) });
    const stop = () => ownership.stop().finally(stopServer);
    return { connection, dataDir, runtimeDir, socketDir, stop };
  } catch (error) {
    await stopServer();
    throw error;
  }
}
