import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ensureCluster } from "../../packages/server/src/postgres/cluster.ts";
import { chooseIdentity } from "../../packages/server/src/postgres/identity.ts";
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
import { createPostgresProcess, type PostgresProcess, queryOnce } from "../../tools/postgres-process.ts";

export interface Postgres extends Pick<PostgresProcess, "kill" | "freeze" | "thaw"> {
  readonly connection: EmbeddedConnection;
  /** The file of its socket. */
  readonly socket: string;
  /** One statement on a connection of its own, past every proxy. */
  query<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>;
  start(): Promise<void>;
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
  const server = createPostgresProcess({ pgdata, runtimeDir, identity, socketDir, log });

  return {
    connection,
    socket: join(socketDir, `.s.PGSQL.${connection.port}`),
    query: (text, values) => queryOnce({ ...connection, connectionTimeoutMillis: 5_000 }, text, values),
    async start() {
      await clearSocketDir(socketDir);
      await server.start(settingFlags(connection, settings), (died) =>
        waitUntilReady(connectionTo(socketDir, NO_PASSWORDS), connection, died),
      );
    },
    kill: server.kill,
    freeze: server.freeze,
    thaw: server.thaw,
    async stop() {
      await server.stop();
      await removeSocketDir(socketDir);
    },
  };
}
