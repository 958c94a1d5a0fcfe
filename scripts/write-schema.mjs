// Writes docs/schema.sql from a database that is migrated for it. A test compares the two: test/store/schema-page.test.ts.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { createDatabase } from "../packages/server/dist/postgres/database.js";
import { startEmbeddedPostgres } from "../packages/server/dist/postgres/embedded.js";
import { migrate, SCHEMA_VERSION } from "../packages/server/dist/store/migrate.js";
import { schemaPage } from "./schema-page.mjs";

const scratch = await mkdtemp(join(tmpdir(), "bellhop-schema-"));
const postgres = await startEmbeddedPostgres({ dataDir: join(scratch, "data"), log: () => {} });
const pool = new pg.Pool({ ...postgres.adminConnection, max: 1 });
// The server may end a connection before the pool has closed it.
pool.on("error", () => {});
try {
  await pool.query("create database schema_page");
  const migrated = new pg.Pool({ ...postgres.adminConnection, database: "schema_page", max: 1 });
  migrated.on("error", () => {});
  await migrate(createDatabase(migrated, 60_000));
  const page = await schemaPage(
    async (text, values) => (await migrated.query(text, values)).rows,
    SCHEMA_VERSION,
  );
  await writeFile(new URL("../docs/schema.sql", import.meta.url), page);
  await migrated.end();
} finally {
  await pool.end();
  await postgres.stop();
  await rm(scratch, { recursive: true, force: true });
}
