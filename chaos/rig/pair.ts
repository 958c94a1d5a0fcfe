import { randomInt } from "node:crypto";
import { rmSync } from "node:fs";
import { chmod, cp, mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { isRunning, listDescendants } from "../../bench/process-usage.ts";
import { type ChildRun, runBinary } from "../../packages/server/src/postgres/child-run.ts";
import { ensureCluster } from "../../packages/server/src/postgres/cluster.ts";
import { giveTreeTo } from "../../packages/server/src/postgres/disk.ts";
import { chooseIdentity, type Identity } from "../../packages/server/src/postgres/identity.ts";
import { clearPostmasterPid } from "../../packages/server/src/postgres/postmaster.ts";
import { ensureRuntime, findBinaries } from "../../packages/server/src/postgres/runtime.ts";
import { type Settings, settingFlags } from "../../packages/server/src/postgres/settings.ts";
import { adminConnectionTo, makeSocketDir } from "../../packages/server/src/postgres/socket-dir.ts";
import { endAtExit } from "./ending.ts";
import { signalTree } from "./signal-tree.ts";

const HBA = "pair_hba.conf";
/** On loopback, for the length of a run: nodes, the rig and the standby, all as the superuser and without a password. */
const TRUST = ["local all", "host all", "host replication"]
  .map((kind) => `${kind} all ${kind.startsWith("host") ? "127.0.0.1/32 " : ""}trust\n`)
  .join("");

/** One PostgreSQL of a pair, on a port of loopback. */
export interface Server {
  readonly port: number;
  query<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>;
  start(settings: Settings): Promise<void>;
  /** Kills every process of it at once, as a power cut would. */
  kill(): Promise<void>;
  /** Stops every process of it without closing a connection, as a host does that hangs. */
  freeze(): void;
  thaw(): void;
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
  let running: ChildRun | null = null;

  const signal = (name: NodeJS.Signals) => signalTree(running?.child.pid, name);
  endAtExit(() => {
    signal("SIGKILL");
    rmSync(socketDir, { recursive: true, force: true });
  });

  async function query<Row extends object>(text: string, values: unknown[] = [], database = "bellhop") {
    const client = new pg.Client({
      host: "127.0.0.1",
      port,
      user: "bellhop",
      database,
      connectionTimeoutMillis: 5_000,
    });
    client.on("error", () => {});
    try {
      await client.connect();
      return (await client.query<Row>(text, values)).rows;
    } finally {
      await client.end().catch(() => {});
    }
  }

  return {
    port,
    query,
    async start(settings) {
      await clearPostmasterPid(pgdata);
      const flags = settingFlags(adminConnectionTo(socketDir, { admin: "", app: "" }, port), {
        hba_file: join(pgdata, HBA),
        listen_addresses: "127.0.0.1",
        max_connections: "200",
        ...settings,
      });
      const run = runBinary(
        join(runtimeDir, "bin", "postgres"),
        ["-D", pgdata, ...flags],
        identity,
        () => {},
      );
      running = run;
      let end: string | null = null;
      run.exited.then(({ lastLines }) => {
        end = lastLines.join(" ");
      });
      for (;;) {
        if (end !== null) throw new Error(`PostgreSQL ended: ${end}`);
        // Its port may have been taken meanwhile, by a server that answers as well.
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
    },
    freeze: () => signal("SIGSTOP"),
    thaw: () => signal("SIGCONT"),
    async kill() {
      const victims = listDescendants(running?.child.pid ?? -1);
      signal("SIGKILL");
      await running?.exited;
      while (victims.some(isRunning)) await sleep(5);
      running = null;
    },
  };
}

/** Below those that the system gives to connections: one of them would be in use again before a server has started. */
const PORTS = { from: 20_000, to: 32_000 } as const;
const given = new Set<number>();

/** Of loopback, and never the same twice. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS.from, PORTS.to);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
