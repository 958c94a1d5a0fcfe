// Builds the dashboard into the server's dist, where its source or that of the SDK is newer than the last build. Run by
// itself it does so and ends; `run.mjs` does it before a start. All that is said here goes to stderr.
import { spawn } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const dashboard = join(root, "packages", "dashboard");
const builder = join(root, "node_modules", "vite", "bin", "vite.js");
/** Written by every build. */
const stamp = join(root, "packages", "server", "dist", "page", "index.html");
const INPUTS = [
  join(dashboard, "src"),
  join(dashboard, "index.html"),
  join(dashboard, "vite.config.ts"),
  join(dashboard, "package.json"),
  join(root, "packages", "sdk", "src"),
];

if (resolve(process.argv[1] ?? "") === fileURLToPath(import.meta.url))
  process.exitCode = (await main()) ? 0 : 1;

async function main() {
  if (!isPageStale()) return true;
  const startedAt = performance.now();
  say("Building the dashboard, some seconds …");
  const isBuilt = await buildPage();
  if (isBuilt) say(`Built in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`);
  return isBuilt;
}

/** False: it is not there, or older than its source. */
export async function buildPage() {
  if (!existsSync(builder)) {
    say(
      "The dashboard is not built, and what builds it is not installed: going on without it. npm ci installs it.",
    );
    return false;
  }
  const code = await runTool([builder, "build", "--logLevel", "error"], dashboard);
  if (code !== 0) say("The dashboard could not be built.");
  return code === 0;
}

/** Runs a program of Node's; what it prints goes to stderr. Gives its exit code, null where a signal ended it. */
export function runTool(args, cwd) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd, stdio: ["ignore", 2, 2] });
    child.once("error", reject);
    child.once("exit", resolve);
  });
}

/** A file that was removed shows in the time of its directory. */
export function isPageStale() {
  if (!existsSync(dashboard)) return false;
  if (!existsSync(stamp)) return true;
  const builtAt = statSync(stamp).mtimeMs;
  return INPUTS.flatMap(withContents).some((path) => statSync(path).mtimeMs > builtAt);
}

function withContents(path) {
  if (!statSync(path).isDirectory()) return [path];
  return [path, ...readdirSync(path, { recursive: true }).map((name) => join(path, String(name)))];
}

function say(text) {
  process.stderr.write(`${text}\n`);
}
