import { type Config, ConfigError } from "../config.ts";
import { findDataDir } from "../postgres/data-dir.ts";
import { createDatabase } from "../postgres/database.ts";
import { explainDatabaseFailure } from "../postgres/database-failure.ts";
import { splitDatabaseUrl } from "../postgres/database-url.ts";
import { startEmbeddedPostgres } from "../postgres/embedded.ts";
import { DataDirInUse, findOwner } from "../postgres/owner-lock.ts";
import { type ConnectionSettings, createPool } from "../postgres/pool.ts";
import { createPrimary } from "../postgres/primary.ts";
import { reachRunningServer } from "../postgres/running-server.ts";
import { adminConnectionTo, connectionTo, type EmbeddedConnection } from "../postgres/socket-dir.ts";
import { migrate, requireCurrentSchema } from "../store/migrate.ts";
import type { Database } from "../store/sql.ts";

interface Reached<Connection = ConnectionSettings> {
  readonly connection: Connection;
  /** Set when the database was started for this command alone. */
  readonly stop: (() => Promise<void>) | null;
}

/**
 * Runs a command's work on the database that a server with the same settings uses: the operator's own, or the embedded
 * one, through the server that runs it, or started for the moment where none does.
 */
export async function withOperatorDatabase<T>(
  { databaseUrl, dataDir }: Pick<Config, "databaseUrl" | "dataDir">,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const { connection, stop } =
    databaseUrl === null
      ? await reachEmbedded(await findDataDir(dataDir))
      : { connection: await reachServer(databaseUrl), stop: null };
  const pool = createPool(connection, { max: 2, applicationName: "bellhop-cli", onError: () => {} });
  try {
    const database = createDatabase(pool);
    // Beside a running server the schema is that server's affair; on a database of one's own, that of its nodes.
    await (stop === null ? requireCurrentSchema(database) : migrate(database));
    return await work(database);
  } catch (error) {
    // "Try again shortly" is what a server tells its callers; an operator wants to know what to look at.
    const reason = databaseUrl === null ? null : explainDatabaseFailure(error, databaseUrl);
    throw reason === null ? error : new ConfigError(reason);
  } finally {
    await pool.end();
    await stop?.();
  }
}

/** For the moment of a command one look is enough. */
async function reachServer(databaseUrl: string): Promise<ConnectionSettings> {
  const urls = splitDatabaseUrl(databaseUrl);
  if (urls.length === 1) return { connectionString: urls[0] ?? "" };
  const primary = createPrimary(urls, () => {});
  await primary.find();
  return { primary };
}

/** As the superuser, for a backup. */
export async function withClusterAdmin<T>(
  wanted: string,
  work: (admin: EmbeddedConnection, dataDir: string) => Promise<T>,
): Promise<T> {
  const dataDir = await findDataDir(wanted);
  const { connection, stop } = await reachEmbedded(dataDir, adminConnectionTo);
  try {
    return await work(connection, dataDir);
  } finally {
    await stop?.();
  }
}

/** Of two processes that start the database at the same moment one wins the owner's lock; the other is its guest. */
async function reachEmbedded(
  dataDir: string,
  connectAs: typeof connectionTo = connectionTo,
): Promise<Reached<EmbeddedConnection>> {
  if ((await findOwner(dataDir)) === null) {
    try {
      const embedded = await startEmbeddedPostgres({ dataDir, log: () => {} });
      // Leaving by a signal would leave the database behind alone; its supervisor ends it when the process exits.
      process.once("SIGINT", () => process.exit(130));
      process.once("SIGTERM", () => process.exit(143));
      const { connection, adminConnection, stop } = embedded;
      return { connection: connectAs === adminConnectionTo ? adminConnection : connection, stop };
    } catch (error) {
      if (!(error instanceof DataDirInUse)) throw error;
    }
  }
  return { connection: await reachRunningServer(dataDir, connectAs), stop: null };
}
