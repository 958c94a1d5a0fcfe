// Builds the documentation into the server's dist, where a Markdown file or a part of this script is newer than the last build: a second
// of work. Run by itself it does so and ends, `--force` in any case; `run.mjs` does it before a start. A dead link is an error.
import { existsSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const target = join(root, "packages", "server", "dist", "help");
/** Written last. */
const stamp = join(target, "index.html");
const INPUTS = [
  "docs",
  "examples",
  "scripts/site",
  "README.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
];

if (
  resolve(process.argv[1] ?? "") === fileURLToPath(import.meta.url) &&
  (process.argv.includes("--force") || isSiteStale())
)
  process.exitCode = (await buildSite()) ? 0 : 1;

/** False: it is not there, or older than its source. */
export async function buildSite() {
  if (!existsSync(join(root, "node_modules", "marked"))) {
    say("What builds the documentation is not installed: going on without it. npm ci installs it.");
    return false;
  }
  const { renderSite, writeSite } = await import("./site/build.mjs");
  try {
    const { files, problems } = renderSite(root);
    if (problems.length > 0) throw new Error(problems.join("\n  "));
    writeSite(files, target);
    return true;
  } catch (error) {
    // A start goes on: where the directory is not ours to write, say.
    say(`The documentation is not built:\n  ${error.message}`);
    return false;
  }
}

/** A file that was removed shows in the time of its directory. */
export function isSiteStale() {
  if (!existsSync(join(root, "docs"))) return false;
  if (!existsSync(stamp)) return true;
  const builtAt = statSync(stamp).mtimeMs;
  return INPUTS.map((name) => join(root, name))
    .filter((path) => existsSync(path))
    .flatMap(withContents)
    .some((path) => statSync(path).mtimeMs > builtAt);
}

function withContents(path) {
  if (!statSync(path).isDirectory()) return [path];
  return [path, ...readdirSync(path, { recursive: true }).map((name) => join(path, String(name)))];
}

function say(text) {
  process.stderr.write(`${text}\n`);
}
