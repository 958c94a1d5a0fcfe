// Runs the tests on one real PostgreSQL: every file gets a database of its own, cloned from a migrated template.
// Arguments are test files; without any, all of them. They run as `npm run compile` left them in .build, because
// compiling while loading costs each of these processes two seconds.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, cp, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { createDatabase } from "../packages/server/dist/postgres/database.js";
import { startEmbeddedPostgres } from "../packages/server/dist/postgres/embedded.js";
import { migrate } from "../packages/server/dist/store/migrate.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const tree = join(root, ".build");
const dataDir = await mkdtemp(join(tmpdir(), "bellhop-test-"));
// Tests make databases of their own, and name none of this server's passwords.
const trustDir = await mkdtemp(join(tmpdir(), "bellhop-test-trust-"));
await chmod(trustDir, 0o755);
await writeFile(join(trustDir, "hba.conf"), "local all all trust\n", { mode: 0o644 });
const postgres = await startEmbeddedPostgres({
  dataDir,
  log: () => {},
  extraSettings: { hba_file: join(trustDir, "hba.conf") },
});
const { password: _password, ...connection } = postgres.adminConnection;
try {
  await prepareTree();
  await makeTemplate();
  process.exitCode = await runTests();
} finally {
  await postgres.stop();
  await rm(dataDir, { recursive: true, force: true });
  await rm(trustDir, { recursive: true, force: true });
}

/** What the compiler leaves alone: the packages' own descriptions, and outputs whose sources are gone. */
async function prepareTree() {
  for (const name of await readdir(join(root, "packages"))) {
    await cp(join(root, "packages", name, "package.json"), join(tree, "packages", name, "package.json"));
  }
  const outputs = (await readdir(tree, { recursive: true })).filter((name) => name.endsWith(".js"));
  for (const name of outputs) {
    if (!existsSync(join(root, name.replace(/js$/, "ts")))) await rm(join(tree, name));
  }
}

function compiled(file) {
  return join(tree, relative(root, resolve(file))).replace(/ts$/, "js");
}

async function makeTemplate() {
  const pool = new pg.Pool({ ...connection, max: 1 });
  await pool.query("create database template_house");
  const template = new pg.Pool({ ...connection, database: "template_house", max: 1 });
  await migrate(createDatabase(template));
  const { TASK_RULES } = await import(join(tree, "packages/server/test/task-rules.js"));
  await template.query(TASK_RULES);
  await template.end();
  await pool.end();
}

async function testFiles() {
  const names = (await Promise.all(["packages", "chaos", "simulation"].map(filesIn))).flat();
  refuseForgottenSuites(names);
  return names.filter((name) => name.endsWith(".test.ts")).sort();
}

async function filesIn(directory) {
  const names = await readdir(join(root, directory), { recursive: true });
  return names.filter((name) => !name.includes("node_modules")).map((name) => join(root, directory, name));
}

/** Suites share one process, and only the test file of the API loads those that it finds in its directory. */
function refuseForgottenSuites(names) {
  const home = join(root, "packages/server/test/api");
  const forgotten = names.filter((name) => name.endsWith(".suite.ts") && dirname(name) !== home);
  if (forgotten.length > 0) throw new Error(`Suites run from ${home} alone, not ${forgotten.join(", ")}`);
}

async function runTests() {
  const files = process.argv.length > 2 ? process.argv.slice(2) : await testFiles();
  const args = ["--enable-source-maps", "--test", "--test-concurrency=2", "--test-timeout=300000"];
  const child = spawn(process.execPath, [...args, ...files.map(compiled)], {
    stdio: "inherit",
    env: { ...process.env, TEST_POSTGRES: JSON.stringify(connection) },
  });
  // Whoever ends the run must not leave a PostgreSQL behind.
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => child.on("exit", (code) => resolve(code ?? 1)));
}
