// Runs the tests on one real PostgreSQL, where every test file has databases of its own, cloned from a migrated template.
// Arguments are test files; without any, all of them. They run as `npm run compile` left them in .build, because
// compiling while loading costs each of these processes two seconds. `--times` tells at the end what each process took.
import { setMaxListeners } from "node:events";
import { existsSync } from "node:fs";
import { cp, readdir, readFile, rm } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { finished } from "node:stream/promises";
import { run } from "node:test";
import { spec, tap } from "node:test/reporters";
import { fileURLToPath } from "node:url";
import { bundleServer } from "./bundle.mjs";
import { describeFailures } from "./test-failures.mjs";
import { planProcesses } from "./test-processes.mjs";
import { makeScratch, removeScratch } from "./test-scratch.mjs";
import { startTestServer } from "./test-server.mjs";
import { cpuSecondsOf, readTimes } from "./test-times.mjs";

/** Node 20 optimizes the HTTP parser of `fetch` at the first answer, which takes longer than most processes use it. */
const FETCH_FLAGS = process.version.startsWith("v20.") ? ["--wasm-tiering-budget=2000000000"] : [];
const root = fileURLToPath(new URL("..", import.meta.url));
const tree = join(root, ".build");
const named = process.argv.slice(2).filter((argument) => argument !== "--times");
const hasTimes = process.argv.includes("--times");
const unknown = named.filter((file) => !existsSync(compiled(file)));
if (unknown.length > 0) {
  console.error(`No compiled test (npm run compile) of this name: ${unknown.join(", ")}`);
  process.exit(2);
}
// Read by every process as it starts, which costs it a tenth of a second: nothing here asks a server elsewhere.
delete process.env.NODE_EXTRA_CA_CERTS;
const scratch = await makeScratch();
const postgres = await startTestServer(scratch, tree);
try {
  await prepareTree();
  process.env.TEST_BUNDLE = (await bundleServer()).directory;
  await postgres.makeTemplate();
  await runTests();
} finally {
  await postgres.stop();
  await removeScratch(scratch);
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

async function testFiles() {
  const names = (
    await Promise.all(["packages", "chaos", "explore", "simulation", "prove", "tools"].map(filesIn))
  ).flat();
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
  const entries =
    named.length > 0 ? named.map(compiled) : await planProcesses((await testFiles()).map(compiled), tree);
  const times = join(scratch, "times");
  // Handed on to the process of each file.
  process.execArgv.push("--enable-source-maps", ...FETCH_FLAGS);
  if (hasTimes) {
    process.env.TEST_TIMES = times;
    process.execArgv.push("--import", new URL("test-times.mjs", import.meta.url).href);
  }
  const ended = new AbortController();
  setMaxListeners(0, ended.signal);
  // A run that is interrupted must not leave a PostgreSQL behind.
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => ended.abort());
  const began = performance.now();
  const events = run({
    files: entries,
    concurrency: availableParallelism() + 1,
    // Of one process: against hanging alone, also on a machine that is busy with much else.
    timeout: 1_200_000,
    signal: ended.signal,
  });
  const failures = [];
  events.on("test:fail", (failure) => {
    process.exitCode = 1;
    failures.push(failure);
  });
  const report = events.compose(process.stdout.isTTY ? new spec() : tap);
  report.pipe(process.stdout, { end: false });
  await finished(report);
  if (!process.stdout.isTTY) process.stdout.write(describeFailures(failures, root));
  if (hasTimes) await printTimes(times, (performance.now() - began) / 1000);
}

async function printTimes(file, wall) {
  const times = await readTimes(file);
  const pid = (await readFile(join(postgres.dataDir, "pgdata/postmaster.pid"), "utf8")).split("\n")[0];
  const database = cpuSecondsOf(pid);
  const all = times.reduce((sum, { cpu }) => sum + cpu, 0);
  const seconds = (value) => value.toFixed(1).padStart(8);
  const rows = times.map(({ file, cpu, wall }) => `${seconds(cpu)}${seconds(wall)}  ${relative(tree, file)}`);
  const sums = [
    `${seconds(database)}${seconds(wall)}  the PostgreSQL of all`,
    `${seconds(all + database)}${seconds(wall)}  in all`,
  ];
  process.stderr.write(`\n     CPU    wall  (seconds)\n${[...rows, ...sums].join("\n")}\n`);
}
