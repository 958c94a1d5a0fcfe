import { chmod, cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ensureCluster } from "../../packages/server/src/postgres/cluster.ts";
import { giveTreeTo } from "../../packages/server/src/postgres/disk.ts";
import { chooseIdentity, type Identity } from "../../packages/server/src/postgres/identity.ts";
import { ensureRuntime, findBinaries } from "../../packages/server/src/postgres/runtime.ts";
import { type Settings, settingFlags } from "../../packages/server/src/postgres/settings.ts";
import { adminConnectionTo, makeSocketDir } from "../../packages/server/src/postgres/socket-dir.ts";
import { freePort } from "../../tools/free-port.ts";
import { createPostgresProcess, type PostgresProcess, queryOnce } from "../../tools/postgres-process.ts";

const HBA = "pair_hba.conf";
/** On loopback, for the length of a run: nodes, the rig and the standby, all as the superuser and without a password. */
const TRUST = ["local all", "host all", "host replication"]
  .map((kind) => `${kind} all ${kind.startsWith("host") ? "127.0.0.1/32 " : ""}trust\n`)
  .join("");

/** One PostgreSQL of a pair, on a port of loopback. */
export interface Server extends Pick<PostgresProcess, "kill" | "freeze" | "thaw"> {
  readonly port: number;
  query<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>;
  start(settings: Settings): Promise<void>;
}

/**
 * Two PostgreSQL servers from the embedded binaries: the second streams from the first, which confirms nothing that the
 * second has not on disk. Each is as its operator would set it up; nothing here is Bellhop's.
 */
export async function createPair(
  directory: string,
): Promise<{ readonly first: Server; readonly second: Server }> {
  const homes = ["first", "second"].map((name) => join(directory, name));
  for (const home of homes) {
    await mkdir(home);
    await chmod(home, 0o711);
  }
  const [one = "", other = ""] = homes;
  const binaries = await findBinaries();
  const identity = await chooseIdentity(join(one, "pgdata"));
  const runtimeDir = await ensureRuntime(binaries, one);
  const pgdata = await ensureCluster(one, runtimeDir, binaries.version, identity, () => {});
  await writeFile(join(pgdata, HBA), TRUST, { mode: 0o644 });
  // It has never been started: a copy of it is a backup.
  await cp(pgdata, join(other, "pgdata"), { recursive: true });
  await writeFile(join(other, "pgdata", "standby.signal"), "");
  await chmod(join(other, "pgdata"), 0o700);
  await giveTreeTo(identity, join(other, "pgdata"));

  const first = await createServerIn(pgdata, runtimeDir, identity);
  const second = await createServerIn(join(other, "pgdata"), runtimeDir, identity);
  await first.start({ wal_keep_size: "256MB" });
  await first.query("create database bellhop", [], "postgres");
  await second.start({
    primary_conninfo: `host=127.0.0.1 port=${first.port} user=bellhop application_name=second`,
  });
  await first.query("alter system set synchronous_standby_names = 'second'");
  await first.query("select pg_reload_conf()");
  const isInStep = async () => {
    const rows = await first.query<{ sync_state: string }>("select sync_state from pg_stat_replication");
    return rows.some(({ sync_state }) => sync_state === "sync");
  };
  while (!(await isInStep())) await sleep(20);
  return { first, second };
}

type OwnServer = Server & {
  query<Row extends object>(text: string, values?: unknown[], database?: string): Promise<Row[]>;
};

async function createServerIn(pgdata: string, runtimeDir: string, identity: Identity): Promise<OwnServer> {
  const port = await freePort();
  const socketDir = await makeSocketDir(identity);
  const server = createPostgresProcess({ pgdata, runtimeDir, identity, socketDir, log: () => {} });

  function query<Row extends object>(text: string, values: unknown[] = [], database = "bellhop") {
    const connection = {
      host: "127.0.0.1",
      port,
      user: "bellhop",
      database,
      connectionTimeoutMillis: 5_000,
    };
    return queryOnce<Row>(connection, text, values);
  }

  /** Its port may have been taken meanwhile, by a server that answers as well. */
  async function waitUntilOwn(died: AbortSignal): Promise<void> {
    for (;;) {
      died.throwIfAborted();
      const isUp = await query<{ directory: string }>(
        "select current_setting('data_directory') as directory",
        [],
        "postgres",
      ).then(
        ([row]) => row?.directory === pgdata,
        () => false,
      );
      if (isUp) return;
      await sleep(25);
    }
  }

  return {
    port,
    query,
    async start(settings) {
      const flags = settingFlags(adminConnectionTo(socketDir, { admin: "", app: "" }, port), {
        hba_file: join(pgdata, HBA),
        listen_addresses: "127.0.0.1",
        max_connections: "200",
        ...settings,
      });
      await server.start(flags, waitUntilOwn);
    },
    kill: server.kill,
    freeze: server.freeze,
    thaw: server.thaw,
  };
}
