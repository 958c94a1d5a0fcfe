import { join } from "node:path";
import { runBinary } from "./child-run.ts";
import { ensureCluster } from "./cluster.ts";
import { NO_LOCK, prepareLock } from "./cluster-lock.ts";
import { resolveDataDir } from "./data-dir.ts";
import { exists } from "./disk.ts";
import { chooseIdentity } from "./identity.ts";
import type { Log } from "./log.ts";
import { clearOrphan } from "./orphan.ts";
import { takeOwnerLock } from "./owner-lock.ts";
import { openPasswords } from "./passwords.ts";
import { clearPostmasterPid } from "./postmaster.ts";
import { hasState, waitUntilReady } from "./running-server.ts";
import { ensureRuntime, findBinaries } from "./runtime.ts";
import { type Settings, settingFlags } from "./settings.ts";
import {
  adminConnectionTo,
  clearSocketDir,
  connectionTo,
  type EmbeddedConnection,
  makeSocketDir,
  removeSocketDir,
} from "./socket-dir.ts";
import { sayWhatIsAwaited } from "./start-waits.ts";
import { startSupervisor } from "./supervisor.ts";

export type EmbeddedPostgres = {
  connection: EmbeddedConnection;
  /** The superuser's connection, for tests and manual use. */
  adminConnection: EmbeddedConnection;
  dataDir: string;
  /** The directory had no data before. */
  isNew: boolean;
  runtimeDir: string;
  socketDir: string;
  stop(): Promise<void>;
};

export type EmbeddedOptions = {
  dataDir: string;
  log: Log;
  /** PostgreSQL settings that override ours, for operators of larger machines. */
  extraSettings?: Settings;
};

/**
 * A start gives up after this many failed launches. With the supervisor's growing waits that is about 3 s: the backends
 * of a killed postmaster have exited by then, and later failures are permanent.
 */
const LAUNCHES_BEFORE_GIVING_UP = 6;

/** Starts PostgreSQL as our own child, and guarantees that no other Bellhop uses this data directory. */
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
  const isNew = !(await exists(join(dataDir, "pgdata")));
  const identity = await chooseIdentity(join(dataDir, "pgdata"));
  await clearOrphan(dataDir, join(dataDir, "pgdata"), log);
  const runtimeDir = await sayWhatIsAwaited(log, "the binaries of PostgreSQL to be put in place", () =>
    ensureRuntime(binaries, dataDir),
  );
  const pgdata = await sayWhatIsAwaited(log, "initdb to make the database, and the disk to store it", () =>
    ensureCluster(dataDir, runtimeDir, binaries.version, identity, log),
  );
  const socketDir = await makeSocketDir(identity);
  const passwords = await openPasswords(dataDir);
  const connection = connectionTo(socketDir, passwords);
  const adminConnection = adminConnectionTo(socketDir, passwords);
  // The operator's own pg_hba.conf decides about access.
  const lock =
    extraSettings.hba_file === undefined
      ? await prepareLock({ pgdata, identity, admin: adminConnection })
      : NO_LOCK;

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
      const args = ["-D", pgdata, ...settingFlags(connection, { ...lock.settings, ...extraSettings })];
      const onLine = (line: string) => log("postgres.log", { line });
      return runBinary(join(runtimeDir, "bin", "postgres"), args, identity, onLine);
    },
    onExit(exit) {
      failedLaunches += 1;
      if (started || failedLaunches < LAUNCHES_BEFORE_GIVING_UP) return;
      hopeless.abort(new Error(`The embedded PostgreSQL does not start: ${exit.lastLines.join(" ")}`));
    },
  });
  async function stop(): Promise<void> {
    await supervisor.stop();
    await removeSocketDir(socketDir);
  }

  try {
    await sayWhatIsAwaited(log, "PostgreSQL to start and to set its password", () =>
      lock.close(hopeless.signal),
    );
    await sayWhatIsAwaited(log, "PostgreSQL to accept connections", () =>
      waitUntilReady(connection, adminConnection, hopeless.signal),
    );
    started = true;
    log("postgres.started", { dataDir, socketDir, durationMs: Math.round(performance.now() - startedAt) });
    return { connection, adminConnection, dataDir, isNew, runtimeDir, socketDir, stop };
  } catch (error) {
    await stop();
    // Class 28: a password or role that the cluster does not know; the next start sets it again.
    if (hasState(error, "28")) await lock.forget();
    throw error;
  }
}
