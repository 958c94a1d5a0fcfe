// The PostgreSQL that tests run on: one server, where every test file has databases of its own, cloned from a migrated template.
import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { createDatabase } from "../packages/server/dist/postgres/database.js";
import { startEmbeddedPostgres } from "../packages/server/dist/postgres/embedded.js";
import { migrate } from "../packages/server/dist/store/migrate.js";

/** `tree` has the compiled tests. Sets what the processes of test files read from their environment. */
export async function startTestServer(scratch, tree) {
  // Tests make databases of their own, and name none of this server's passwords.
  const hbaFile = join(scratch, "hba.conf");
  await writeFile(hbaFile, "local all all trust\n", { mode: 0o644 });
  const dataDir = join(scratch, "server");
  await makeDataDir(dataDir);
  process.env.TEST_DATA_DIR = join(scratch, "data");
  execFileSync("cp", ["-a", dataDir, process.env.TEST_DATA_DIR]);
  const postgres = await startEmbeddedPostgres({
    dataDir,
    log: () => {},
    // To compress what nobody will read costs more than to write it.
    extraSettings: { hba_file: hbaFile, wal_compression: "off" },
  });
  const { password: _password, ...connection } = postgres.adminConnection;
  process.env.TEST_POSTGRES = JSON.stringify(connection);
  return { ...postgres, makeTemplate: () => makeTemplate(connection, tree) };
}

/** As the first start of a server leaves it: to make one, and to migrate its database, takes longer than most tests do. */
async function makeDataDir(dataDir) {
  const postgres = await startEmbeddedPostgres({ dataDir, log: () => {} });
  const pool = new pg.Pool({ ...postgres.connection, max: 1 });
  // The pool ends before its connection does, which the stop may break.
  pool.on("error", () => {});
  await migrate(createDatabase(pool));
  await pool.end();
  await postgres.stop();
}

async function makeTemplate(connection, tree) {
  const pool = new pg.Pool({ ...connection, max: 1 });
  await pool.query("create database template_server");
  const template = new pg.Pool({ ...connection, database: "template_server", max: 1 });
  await migrate(createDatabase(template));
  const { TASK_RULES } = await import(join(tree, "packages/server/test/task-rules.js"));
  await template.query(TASK_RULES);
  await template.end();
  // A database with another session cannot be cloned.
  await pool.query("alter database template_server with allow_connections false");
  await pool.end();
}
