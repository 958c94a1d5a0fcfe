import pg from "pg";
import type { Logger } from "pino";
import type { Config } from "../config.ts";
import { createDatabase } from "../postgres/database.ts";
import { splitDatabaseUrl } from "../postgres/database-url.ts";
import { assertDurable, findReplicationDanger } from "../postgres/durability.ts";
import { startEmbeddedPostgres } from "../postgres/embedded.ts";
import { type ConnectionSettings, createPool } from "../postgres/pool.ts";
import { assertOwnSessions, isSilence } from "../postgres/pooler.ts";
import { createPrimary } from "../postgres/primary.ts";
import type { EmbeddedConnection } from "../postgres/socket-dir.ts";
import { newApiKey } from "../service/access/api-key-service.ts";
import { ensureOperator, makeFirstLink, mintFirstKey } from "../service/operator/operator.ts";
import { migrate } from "../store/migrate.ts";
import { removeAllNodes } from "../store/nodes.ts";
import type { Database } from "../store/sql.ts";
import { removeAllWorkers } from "../store/tasks/workers.ts";
import { openKeyFile } from "../vault/key-file.ts";
import type { KeyRing } from "../vault/key-ring.ts";
import { findMissingKeys } from "../vault/missing-keys.ts";
import { retryOnStart } from "./retry-on-start.ts";

/** Close functions, run in reverse order. */
export type Closers = (() => Promise<unknown>)[];

/** The database of a server. */
export type DatabaseSetup =
  | { readonly connection: ServerConnection; readonly dataDir: null }
  /** The embedded one, which only this server can reach. */
  | { readonly connection: EmbeddedConnection; readonly dataDir: string; readonly isNew: boolean };

type ServerConnection = Exclude<ConnectionSettings, EmbeddedConnection>;

/** As many as PostgreSQL has by default. */
const CONNECTIONS = 100;
/** For one process and the operator's commands. */
const CONNECTIONS_EACH = 25;

/** Starts the embedded database, or connects to the operator's own. */
export async function openDatabase(
  config: Config,
  log: Logger,
  closers: Closers,
  processes = 1,
): Promise<DatabaseSetup> {
  if (config.databaseUrl !== null) {
    const connection = await reachServer(config.databaseUrl, log, closers);
    await retryOnStart(
      log,
      "the first answer of PostgreSQL",
      () => assertOwnSessions(connection),
      ({ cause }) => mayPass(cause),
    );
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

/**
 * At the first contact only silence and a server that is starting are waited for. Anything else is more likely a mistake in
 * DATABASE_URL, of which the operator is told at once.
 */
function mayPass(cause: unknown): boolean {
  return cause instanceof pg.DatabaseError ? cause.code === "57P03" : isSilence(cause);
}

/** Of several servers, the writable one, now and later. */
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

/** The work that is done once per start, with any number of processes. */
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
  // Only this process can reach the embedded database: registered nodes died with the previous process.
  if (setup.dataDir !== null) {
    await retryOnStart(log, "the removal of earlier workers", () => removeAllWorkers(database));
    await retryOnStart(log, "the removal of earlier nodes", () => removeAllNodes(database));
  }
}

export function migrateOnStart(database: Database, log: Logger): Promise<string[]> {
  return retryOnStart(log, "the schema to be brought up to date", () => migrate(database));
}

/** Without configured keys, only the embedded database has a place for a generated key. */
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

/** Shown once by the first start. */
export interface FirstKeys {
  readonly firstKey: string | null;
  /** A sign-in link, created with the first key if only this machine can reach the server. */
  readonly firstLink: string | null;
}

/** Must be called after the server listens: a key created by a failing start would never be shown. */
export async function makeFirstKeys(
  database: Database,
  config: Config,
  url: string,
  log: Logger,
): Promise<FirstKeys> {
  // Not on a worker: the operator does not read its output.
  const isMade = config.apiKey === null && config.role !== "worker";
  const key = newApiKey("live");
  const firstKey = isMade
    ? await retryOnStart(log, "the first key", () => mintFirstKey(database, key))
    : null;
  const mayLink = firstKey !== null && !config.exposed;
  const link = () => makeFirstLink(database, config.publicUrl ?? url);
  return { firstKey, firstLink: mayLink ? await retryOnStart(log, "the first sign-in link", link) : null };
}

/** The name of the database, without its password. */
export function describeDatabase({ connection }: DatabaseSetup): string {
  if (!("connectionString" in connection || "primary" in connection)) return "embedded PostgreSQL";
  const isOne = "connectionString" in connection;
  const url = isOne ? connection.connectionString : connection.primary.url;
  const { host, port, database } = new pg.Client({ connectionString: url });
  return `PostgreSQL at ${isOne ? host : `${host}:${port} of several`}, database ${database}`;
}
