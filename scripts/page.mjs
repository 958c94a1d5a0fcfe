// Builds the dashboard into the server's dist, where its source or that of the SDK is newer than the last build. Run by
// itself it does so and ends; `run.mjs` does it before a start. All that is said here goes to stderr.
import { spawnSync } from "node:child_process";
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

if (resolve(process.argv[1] ?? "") === fileURLToPath(import.meta.url)) process.exitCode = buildPage() ? 0 : 1;

/** False: it is not there, or older than its source. */
export function buildPage() {
  if (!isStale()) return true;
  if (!existsSync(builder)) {
    say(
      "The dashboard is not built, and what builds it is not installed: going on without it. npm ci installs it.",
    );
    return false;
  }
  const startedAt = performance.now();
  say("Building the dashboard, some seconds; the next start skips this …");
  const { status } = spawnSync(process.execPath, [builder, "build", "--logLevel", "error"], {
    cwd: dashboard,
    stdio: ["ignore", 2, 2],
  });
  if (status === 0) say(`Built in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`);
  else say("The dashboard could not be built.");
  return status === 0;
}

/** A file that was removed shows in the time of its directory. */
function isStale() {
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
