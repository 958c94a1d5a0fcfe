/** The embedded PostgreSQL in a process of its own, for scenarios in which several nodes, or the bench itself, use it. */
import { startEmbeddedPostgres } from "../packages/server/src/postgres/embedded.ts";

const postgres = await startEmbeddedPostgres({
  dataDir: process.env.BENCH_DATA_DIR ?? "",
  log: (event, fields) => console.log(event, JSON.stringify(fields)),
});
const { user, password = "", host, port, database } = postgres.connection;
const query = new URLSearchParams({ host, port: String(port) });
console.log(
  `PostgreSQL is ready at postgres://${user}:${encodeURIComponent(password)}@/${database}?${query}`,
);

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  // Not once: the second of two signals would end this process before PostgreSQL is stopped.
  process.on(signal, () => void postgres.stop().then(() => process.exit(0)));
}
