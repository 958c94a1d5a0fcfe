// The built server and its command line in a few files, with the packages that they use: what `npm pack` puts into the package
// and what the tests start. To find and load the 1,900 modules of `dist` and of its packages takes a process 1.3 of the 2.2 seconds
// that its start needs. The bundle lies in `dist`, where its modules find the pages and package.json as before.
import { existsSync, readFileSync, statSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { builtinModules } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "packages", "server", "dist");
const directory = join(dist, "bundle");
const record = join(directory, "made-of.json");
/** What a process or a thread runs. */
const ENTRIES = ["main", "cli/bellhop", "server/event-serializer-thread", "json/json-thread"];
/** Loaded where it is installed, which it never is with Bellhop. */
const LEFT_OUT = ["pg-native"];
const TARGET = "node20.19";

/** Modules of packages that name their place and do without it. */
const PLACELESS = new Set([
  // A comment.
  "commander/lib/command.js",
  // Names itself in stacks, where it can.
  "undici/index.js",
  // The worker threads of log transports: the server's log has none.
  "pino/lib/transport.js",
  "thread-stream/index.js",
]);

/** Makes the bundle again where anything that it is made of has changed. */
export async function bundleServer() {
  const made = readRecord();
  if (made !== null && isCurrent(made)) return { directory, packages: made.packages };
  await rm(directory, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ENTRIES.map((name) => join(dist, `${name}.js`)),
    outdir: directory,
    outbase: dist,
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    target: TARGET,
    charset: "utf8",
    external: LEFT_OUT,
    plugins: [{ name: "places", setup: keepPlaces }],
    metafile: true,
    logLevel: "error",
    banner: {
      js: `import * as nodeModules from "node:module";
const require = nodeModules.createRequire(import.meta.url), distUrl = import.meta.url.slice(0, import.meta.url.lastIndexOf("bundle/"));`,
    },
  });
  refuseImports(metafile);
  const inputs = Object.keys(metafile.inputs);
  const packages = [...new Set(inputs.map(packageOf).filter((path) => path !== null))].sort();
  const others = [join("node_modules", ".package-lock.json"), relative(root, fileURLToPath(import.meta.url))];
  const times = Object.fromEntries([...inputs, ...others].map((path) => [path, timeOf(path)]));
  await writeFile(record, JSON.stringify({ packages, times }));
  return { directory, packages };
}

function readRecord() {
  return existsSync(record) ? JSON.parse(readFileSync(record, "utf8")) : null;
}

function isCurrent({ times }) {
  return Object.entries(times).every(([path, time]) => timeOf(path) === time);
}

function timeOf(path) {
  return statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? null;
}

/** The directory of the package that a file of the bundle comes from; null for Bellhop's own. */
function packageOf(path) {
  return /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? null;
}

/** A package that is not in the bundle would be missing where Bellhop is installed. */
function refuseImports({ outputs }) {
  const imports = Object.values(outputs).flatMap((output) =>
    output.imports.filter(({ external }) => external),
  );
  const known = new Set([...LEFT_OUT, ...builtinModules]);
  const missing = imports
    .map(({ path }) => path)
    .filter((path) => !path.startsWith("node:") && !known.has(path));
  if (missing.length > 0) throw new Error(`Not in the bundle: ${missing.join(", ")}`);
}

/** Modules ask where they are. */
function keepPlaces({ onLoad }) {
  onLoad({ filter: /\.[cm]?js$/ }, async ({ path }) => {
    const name = path.split("node_modules/").at(-1);
    const source = await readFile(path, "utf8");
    if (!/\bimport\.meta\b|\b__(dir|file)name\b|\brequire\.resolve\b/.test(source)) return undefined;
    if (path.startsWith(dist)) return { contents: placeUrls(source, relative(dist, path)), loader: "js" };
    if (PLACELESS.has(name)) return undefined;
    throw new Error(`${name} asks where it is: bundle.mjs has to say what it finds there`);
  });
}

/** The modules that a process starts another process or thread with are in the bundle, all other files where they were. */
function placeUrls(source, place) {
  const placed = source
    .replace(/new URL\("([^"]+)\.js", import\.meta\.url\)/g, (_text, name) => {
      const entry = join(dirname(place), name);
      if (!ENTRIES.includes(entry))
        throw new Error(`${place} starts ${entry}, which bundle.mjs does not name`);
      return `new URL("bundle/${entry}.js", distUrl)`;
    })
    .replaceAll("import.meta.url", `new URL("${place}", distUrl).href`);
  if (placed.includes("import.meta"))
    throw new Error(`${place} asks for its place other than by import.meta.url`);
  return placed;
}
