// Runs a built file of the server in this very process: a signal to `npm start` meets no other process on its way.
// Builds first where the source is newer than the last build. All that is said here goes to stderr.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const server = join(root, "packages", "server");
const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
/** Written last by every build. */
const stamp = join(server, "dist", "tsconfig.tsbuildinfo");
const dashboard = join(root, "packages", "dashboard");
const page = join(server, "dist", "page", "index.html");

const [file = "main.js", ...args] = process.argv.slice(2);
const entry = join(server, "dist", file);
if (isStale(stamp, [join(server, "src")], [join(root, "tsconfig.base.json"), join(server, "tsconfig.json")]))
  build();
// Commands have no page.
if (file === "main.js" && isPageStale()) buildPage();
process.argv = [process.argv[0] ?? "node", entry, ...args];
await import(pathToFileURL(entry).href);

/** Whether something in these directories, or one of these files, is newer than what was made of them. */
function isStale(made, directories, files) {
  if (!existsSync(made)) return true;
  const builtAt = statSync(made).mtimeMs;
  const inputs = directories.flatMap((directory) =>
    readdirSync(directory, { recursive: true }).map((name) => join(directory, String(name))),
  );
  return [...inputs, ...files].some((path) => statSync(path).mtimeMs > builtAt);
}

function isPageStale() {
  const sources = [join(dashboard, "src"), join(root, "packages", "sdk", "src")];
  return isStale(page, sources, [join(dashboard, "index.html"), join(dashboard, "vite.config.ts")]);
}

function build() {
  if (!existsSync(compiler)) {
    if (existsSync(entry))
      return say("The source is newer than the build, and there is no compiler: running the build as it is.");
    say("Bellhop is not built and its packages are not installed: run npm ci first.");
    process.exit(1);
  }
  const startedAt = performance.now();
  say("Building Bellhop, a few seconds; the next start skips this …");
  // Types are checked by `npm test`, not by a start.
  const { status } = spawnSync(process.execPath, [compiler, "-b", "packages/server", "--noCheck"], {
    cwd: root,
    stdio: ["ignore", 2, 2],
  });
  if (status !== 0) process.exit(status ?? 1);
  // The compiler leaves its stamp alone when nothing that counts has changed.
  utimesSync(stamp, new Date(), new Date());
  say(`Built in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`);
}

/** A server without a page is a server: where it cannot be built, the start says so and goes on. */
function buildPage() {
  const vite = join(root, "node_modules", "vite", "bin", "vite.js");
  if (!existsSync(vite)) {
    if (!existsSync(page))
      say("The dashboard is not built, and there is no Vite to build it: starting without it.");
    return;
  }
  const startedAt = performance.now();
  say("Building the dashboard, a few seconds; the next start skips this …");
  const { status } = spawnSync(process.execPath, [vite, "build", "--logLevel", "warn"], {
    cwd: dashboard,
    stdio: ["ignore", 2, 2],
  });
  if (status !== 0) return say("The dashboard could not be built: starting without it.");
  say(`Built in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`);
}

function say(text) {
  process.stderr.write(`${text}\n`);
}
