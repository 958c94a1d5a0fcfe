// Runs a built file of the server in this very process: a signal to `npm start` meets no other process on its way.
// Builds first what is older than its source, the server and the dashboard side by side. All that is said here goes to stderr.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { buildServer, hasCompiler, isServerStale } from "./build-server.mjs";
import { buildPage, isPageStale } from "./page.mjs";
import { buildSite, isSiteStale } from "./site.mjs";

const [file = "main.js", ...args] = process.argv.slice(2);
const entry = fileURLToPath(new URL(join("..", "packages", "server", "dist", file), import.meta.url));
await buildWhatIsStale();
process.argv = [process.argv[0] ?? "node", entry, ...args];
await import(pathToFileURL(entry).href);

async function buildWhatIsStale() {
  const builds = [];
  if (isServerStale()) builds.push(["the server", rebuildServer]);
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

async function rebuildServer() {
  if (!hasCompiler() && existsSync(entry))
    return say("The source is newer than the build, and there is no compiler: running the build as it is.");
  const code = await buildServer();
  if (code !== 0) process.exit(code);
}

function say(text) {
  process.stderr.write(`${text}\n`);
}
