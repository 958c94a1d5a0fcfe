// Compiles the server into its dist, and the SDK, by which its command line talks to servers, where a source is newer than the last
// build, and makes the API reference where openapi.json is. Run by itself it does so and ends; `run.mjs` does it before a start. All
// that is said here goes to stderr.
import { existsSync, readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { runTool } from "./page.mjs";
import { buildReference, isReferenceStale } from "./reference.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const server = join(root, "packages", "server");
const sdk = join(root, "packages", "sdk");
const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
/** Written last. */
const stamp = join(server, "dist", "start.tsbuildinfo");

/**
 * File by file, without types: `npm run check` checks those with the tests, which takes seven times as long. Both
 * produce the same JavaScript.
 */
const TRANSPILE = "--noCheck --noResolve --lib es5 --types null --declaration false".split(" ");
const NOT_INCREMENTAL = "--composite false --incremental false --tsBuildInfoFile null".split(" ");

if (resolve(process.argv[1] ?? "") === fileURLToPath(import.meta.url) && isServerStale())
  process.exitCode = await buildServer();

export function isServerStale() {
  return isCodeStale() || isReferenceStale();
}

/** A file that was removed shows in the time of its directory. */
function isCodeStale() {
  if (!existsSync(stamp)) return true;
  const builtAt = statSync(stamp).mtimeMs;
  const inputs = [server, sdk].flatMap((directory) => [
    join(directory, "src"),
    ...readdirSync(join(directory, "src"), { recursive: true }).map((name) =>
      join(directory, "src", String(name)),
    ),
    join(directory, "tsconfig.json"),
  ]);
  inputs.push(join(root, "tsconfig.base.json"));
  return inputs.some((path) => statSync(path).mtimeMs > builtAt);
}

export function hasCompiler() {
  return existsSync(compiler);
}

/** Resolves with the exit code. */
export async function buildServer() {
  const compiling = isCodeStale() ? compile() : 0;
  if (isReferenceStale()) await buildReference();
  return compiling;
}

/** A file that is changed meanwhile is newer than this build. */
async function compile() {
  if (!hasCompiler()) {
    process.stderr.write("Bellhop is not built and its packages are not installed: run npm ci first.\n");
    return 1;
  }
  const began = new Date();
  const transpile = (directory) =>
    runTool([compiler, "-p", directory, ...TRANSPILE, ...NOT_INCREMENTAL], root);
  const codes = await Promise.all([server, sdk].map(transpile));
  const failed = codes.find((code) => code !== 0);
  if (failed !== undefined) return failed ?? 1;
  writeFileSync(stamp, `${began.toISOString()}\n`);
  utimesSync(stamp, began, began);
  return 0;
}
