// Runs a built file of the server in this very process: a signal to `npm start` meets no other process on its way.
// Builds first where the source is newer than the last build. All that is said here goes to stderr.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { buildPage } from "./page.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const server = join(root, "packages", "server");
const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
/** Written last by every build. */
const stamp = join(server, "dist", "tsconfig.tsbuildinfo");

const [file = "main.js", ...args] = process.argv.slice(2);
const entry = join(server, "dist", file);
if (isStale()) build();
// A start goes on without it: the API does not need it.
if (file === "main.js") buildPage();
process.argv = [process.argv[0] ?? "node", entry, ...args];
await import(pathToFileURL(entry).href);

function isStale() {
  if (!existsSync(stamp)) return true;
  const builtAt = statSync(stamp).mtimeMs;
  // The command line talks to servers by the SDK.
  const sources = [join(server, "src"), join(root, "packages", "sdk", "src")];
  const inputs = sources.flatMap((source) =>
    readdirSync(source, { recursive: true }).map((name) => join(source, String(name))),
  );
  inputs.push(join(root, "tsconfig.base.json"), join(server, "tsconfig.json"));
  return inputs.some((path) => statSync(path).mtimeMs > builtAt);
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

function say(text) {
  process.stderr.write(`${text}\n`);
}
