import { type Config, ConfigError } from "../config.ts";
import { Problem } from "../domain/problem.ts";
import { DataDirInUse } from "../postgres/data-dir-in-use.ts";
import { createDatabase } from "../postgres/database.ts";
import { startEmbeddedPostgres } from "../postgres/embedded.ts";
import { findDataDir } from "../postgres/existing-data.ts";
import { findOwner } from "../postgres/owner-lock.ts";
import { type ConnectionSettings, createPool } from "../postgres/pool.ts";
import { reachRunningServer } from "../postgres/running-server.ts";
import { migrate, requireCurrentSchema } from "../store/migrate.ts";
import type { Database } from "../store/sql.ts";

interface Reached {
  readonly connection: ConnectionSettings;
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
      : { connection: { connectionString: databaseUrl }, stop: null };
  const pool = createPool(connection, { max: 2, applicationName: "bellhop-cli", onError: () => {} });
  try {
    const database = createDatabase(pool);
    // Beside a running server the schema is that server's affair; on a database of one's own, that of its nodes.
    await (stop === null ? requireCurrentSchema(database) : migrate(database));
    return await work(database);
  } catch (error) {
    throw explain(error, databaseUrl !== null);
  } finally {
    await pool.end();
    await stop?.();
  }
}

/** Who starts a database at the same moment as we wins or loses by the owner's lock; the loser becomes a guest. */
async function reachEmbedded(dataDir: string): Promise<Reached> {
  if ((await findOwner(dataDir)) === null) {
    try {
      const embedded = await startEmbeddedPostgres({ dataDir, log: () => {} });
      // Leaving by a signal would leave the database behind alone; its supervisor ends it when the process exits.
      process.once("SIGINT", () => process.exit(130));
      process.once("SIGTERM", () => process.exit(143));
      return { connection: embedded.connection, stop: embedded.stop };
    } catch (error) {
      if (!(error instanceof DataDirInUse)) throw error;
    }
  }
  return { connection: await reachRunningServer(dataDir), stop: null };
}

/** "Try again shortly" is what a server tells its callers; an operator wants to know what to look at. */
function explain(error: unknown, isOwn: boolean): unknown {
  if (!(error instanceof Problem) || error.code !== "database_away" || !isOwn) return error;
  const { cause } = error;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : null;
  return new ConfigError(
    `The database of DATABASE_URL cannot be reached${code === null ? "" : ` (${code})`}`,
  );
}
