import { startEmbeddedPostgres } from "../../packages/server/dist/postgres/embedded.js";

/** The PostgreSQL that Bellhop starts for itself, with the settings that it has there: fsync on, a socket. */
export async function startPostgres(dataDir) {
  const postgres = await startEmbeddedPostgres({ dataDir, log: () => {} });
  return { connection: postgres.connection, stop: postgres.stop };
}
