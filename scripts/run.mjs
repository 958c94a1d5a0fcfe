// Runs a built file of the server in this very process: a signal to `npm start` meets no other process on its way.
// Builds first what is older than its source, the server and the dashboard side by side. All that is said here goes to stderr.
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { buildPage, isPageStale, runTool } from "./page.mjs";
import { buildSite, isSiteStale } from "./site.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const server = join(root, "packages", "server");
const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
/** Written last: by a start that builds, and by the compiler's own build. */
const stamp = join(server, "dist", "start.tsbuildinfo");
const stamps = [stamp, join(server, "dist", "tsconfig.tsbuildinfo")];

/** File by file, without types: `npm test` checks those, which takes seven times as long. The same JavaScript comes of both. */
const TRANSPILE = "--noCheck --noResolve --lib es5 --types null --declaration false".split(" ");
const NOT_INCREMENTAL = "--composite false --incremental false --tsBuildInfoFile null".split(" ");

const [file = "main.js", ...args] = process.argv.slice(2);
const entry = join(server, "dist", file);
await buildWhatIsStale();
process.argv = [process.argv[0] ?? "node", entry, ...args];
await import(pathToFileURL(entry).href);

async function buildWhatIsStale() {
  const builds = [];
  if (isStale()) builds.push(["the server", buildServer]);
  // A start goes on without these: the API does not need them.
  if (file === "main.js" && isPageStale()) builds.push(["the dashboard", buildPage]);
  const isHelpStale = file === "main.js" && isSiteStale();
  if (builds.length === 0) {
    if (isHelpStale) await buildSite();
    return;
  }
  const startedAt = performance.now();
  const names = builds.map(([name]) => name).join(" and ");
  say(`Building ${names}, some seconds; the next start skips this …`);
  const building = Promise.all(builds.map(([, build]) => build()));
  // A second of this process, while others do the rest.
  if (isHelpStale) await buildSite();
  await building;
  say(`Built in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`);
}

function isStale() {
  const built = stamps.filter(existsSync).map((path) => statSync(path).mtimeMs);
  if (built.length === 0) return true;
  // The command line talks to servers by the SDK.
  const sources = [join(server, "src"), join(root, "packages", "sdk", "src")];
  const inputs = sources.flatMap((source) =>
    readdirSync(source, { recursive: true }).map((name) => join(source, String(name))),
  );
  inputs.push(join(root, "tsconfig.base.json"), join(server, "tsconfig.json"));
  return inputs.some((path) => statSync(path).mtimeMs > Math.max(...built));
}

async function buildServer() {
  if (!existsSync(compiler)) {
    if (existsSync(entry))
      return say("The source is newer than the build, and there is no compiler: running the build as it is.");
    say("Bellhop is not built and its packages are not installed: run npm ci first.");
    process.exit(1);
  }
  const compile = (name) =>
    runTool([compiler, "-p", join("packages", name), ...TRANSPILE, ...NOT_INCREMENTAL], root);
  const builtAt = new Date().toISOString();
  const codes = await Promise.all(["server", "sdk"].map(compile));
  const failed = codes.find((code) => code !== 0);
  if (failed !== undefined) process.exit(failed ?? 1);
  writeFileSync(stamp, `${builtAt}\n`);
}

function say(text) {
  process.stderr.write(`${text}\n`);
}
