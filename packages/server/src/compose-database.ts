import pg from "pg";
import type { Logger } from "pino";
import type { Config } from "./config.ts";
import { createDatabase } from "./postgres/database.ts";
import { splitDatabaseUrl } from "./postgres/database-url.ts";
import { assertDurable, findReplicationDanger } from "./postgres/durability.ts";
import { startEmbeddedPostgres } from "./postgres/embedded.ts";
import { type ConnectionSettings, createPool } from "./postgres/pool.ts";
import { assertOwnSessions } from "./postgres/pooler.ts";
import { createPrimary } from "./postgres/primary.ts";
import type { EmbeddedConnection } from "./postgres/socket-dir.ts";
import { retryOnStart } from "./retry-on-start.ts";
import { newApiKey } from "./service/access/api-key-service.ts";
import { ensureOperator, makeFirstLink, mintFirstKey } from "./service/operator/operator.ts";
import { migrate } from "./store/migrate.ts";
import { removeAllNodes } from "./store/nodes.ts";
import type { Database } from "./store/sql.ts";
import { removeAllWorkers } from "./store/tasks/workers.ts";
import { openKeyFile } from "./vault/key-file.ts";
import type { KeyRing } from "./vault/key-ring.ts";
import { findMissingKeys } from "./vault/missing-keys.ts";

/** What is to be closed, in the reverse order. */
export type Closers = (() => Promise<unknown>)[];

/** The database that a server stands on. */
export type DatabaseSetup =
  | { readonly connection: ServerConnection; readonly dataDir: null }
  /** The embedded one, which no other server can reach. */
  | { readonly connection: EmbeddedConnection; readonly dataDir: string; readonly isNew: boolean };

type ServerConnection = Exclude<ConnectionSettings, EmbeddedConnection>;

/** As many as PostgreSQL has by default. */
const CONNECTIONS = 100;
/** Of one process, and some for the operator's commands. */
const CONNECTIONS_EACH = 25;

/** Starts the embedded database, or finds the operator's own. */
export async function openDatabase(
  config: Config,
  log: Logger,
  closers: Closers,
  processes = 1,
): Promise<DatabaseSetup> {
  if (config.databaseUrl !== null) {
    const connection = await reachServer(config.databaseUrl, log, closers);
    await assertOwnSessions(connection);
    return { connection, dataDir: null };
  }
  const { connection, dataDir, isNew, stop } = await startEmbeddedPostgres({
    dataDir: config.dataDir,
    log: (event, fields) => log[event === "postgres.log" ? "debug" : "info"](fields, event),
    extraSettings: { max_connections: String(Math.max(CONNECTIONS, processes * CONNECTIONS_EACH)) },
  });
  closers.push(stop);
  return { connection, dataDir, isNew };
}

/** Of several servers, the one that can be written to, now and from now on. */
async function reachServer(databaseUrl: string, log: Logger, closers: Closers): Promise<ServerConnection> {
  const urls = splitDatabaseUrl(databaseUrl);
  if (urls.length === 1) return { connectionString: urls[0] ?? "" };
  const primary = createPrimary(urls, (event, fields) => log.warn(fields, event));
  await primary.find();
  primary.watch();
  closers.push(primary.stop);
  return { primary };
}

/** For the few statements of a start. */
export function openStartDatabase(setup: DatabaseSetup, log: Logger, closers: Closers): Database {
  const pool = createPool(setup.connection, {
    max: 1,
    applicationName: "bellhop-start",
    onError: (err) => log.warn({ use: "start", err }, "database.connection_lost"),
  });
  closers.push(() => pool.end());
  return createDatabase(pool);
}

/** Everything that is done once in a start, however many processes it has. */
export async function prepareDatabase(
  database: Database,
  setup: DatabaseSetup,
  config: Config,
  log: Logger,
): Promise<void> {
  const allowUnsafe = config.allowUnsafeDatabase;
  const dangers = await retryOnStart(log, "the settings of PostgreSQL", () =>
    assertDurable(database, { allowUnsafe }),
  );
  const ofReplication =
    "primary" in setup.connection
      ? await retryOnStart(log, "the standbys of PostgreSQL", () => findReplicationDanger(database))
      : null;
  for (const danger of [...dangers, ...(ofReplication === null ? [] : [ofReplication])])
    log.warn({ danger }, "database.unsafe");
  for (const name of await migrateOnStart(database, log)) log.info({ migration: name }, "schema.migrated");
  await retryOnStart(log, "the operator's team and key", () =>
    ensureOperator(database, config.apiKey, config.ownerEmail),
  );
  // Nobody else can reach the embedded database: who is registered there died with the process before this one.
  if (setup.dataDir !== null) {
    await retryOnStart(log, "the removal of earlier workers", () => removeAllWorkers(database));
    await retryOnStart(log, "the removal of earlier nodes", () => removeAllNodes(database));
  }
}

export function migrateOnStart(database: Database, log: Logger): Promise<string[]> {
  return retryOnStart(log, "the schema to be brought up to date", () => migrate(database));
}

/** Without keys of the operator's own, only the embedded database has a place to keep one that it makes itself. */
export async function chooseKeyRing(
  { vaultKeys }: Config,
  { dataDir }: DatabaseSetup,
): Promise<KeyRing | null> {
  if (vaultKeys === "off") return null;
  return vaultKeys ?? (dataDir === null ? null : openKeyFile(dataDir));
}

/** The ids of the keys that stored credentials need and this server does not have; also logged. */
export async function reportMissingKeys(
  database: Database,
  config: Config,
  setup: DatabaseSetup,
  log: Logger,
): Promise<readonly string[]> {
  const keyRing = await chooseKeyRing(config, setup);
  const missing = await retryOnStart(log, "the vault's keys", () => findMissingKeys(database, keyRing));
  if (missing.length > 0) log.error({ keys: missing }, "vault.keys_missing");
  return missing;
}

/** What the first start shows once. */
export interface FirstKeys {
  readonly firstKey: string | null;
  /** Into the dashboard, made with the first key where only this machine reaches the server. */
  readonly firstLink: string | null;
}

/** To be called by a server that listens: a key that is made by a start which then fails would never be shown. */
export async function makeFirstKeys(
  database: Database,
  config: Config,
  url: string,
  log: Logger,
): Promise<FirstKeys> {
  // Not by a worker: its output is not where one looks for it.
  const isMade = config.apiKey === null && config.role !== "worker";
  const key = newApiKey("live");
  const firstKey = isMade
    ? await retryOnStart(log, "the first key", () => mintFirstKey(database, key))
    : null;
  const mayLink = firstKey !== null && !config.exposed;
  const link = () => makeFirstLink(database, config.publicUrl ?? url);
  return { firstKey, firstLink: mayLink ? await retryOnStart(log, "the first sign-in link", link) : null };
}

/** Names the database, without a password. */
export function describeDatabase({ connection }: DatabaseSetup): string {
  if (!("connectionString" in connection || "primary" in connection)) return "embedded PostgreSQL";
  const isOne = "connectionString" in connection;
  const url = isOne ? connection.connectionString : connection.primary.url;
  const { host, port, database } = new pg.Client({ connectionString: url });
  return `PostgreSQL at ${isOne ? host : `${host}:${port} of several`}, database ${database}`;
}
