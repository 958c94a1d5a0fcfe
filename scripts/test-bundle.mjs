// The built server and its command line in a few files: to find and load the 1,900 modules of `dist` and of its packages
// takes a process 1.3 of the 2.2 seconds that its start needs, and the tests start many. The code is that of
// `dist`, and every module still finds what lies beside its own file there. The tests of `npm start`, of a checkout and of
// the package run `dist` itself.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "packages", "server", "dist");
const directory = join(root, ".build", "bundle");
/** What a process or a thread runs. */
const ENTRIES = ["main", "cli/bellhop", "server/event-serializer-thread", "json/json-thread"];
const stamp = join(directory, "made-of");

/** The directory of the bundle, which is made again when anything that it is made of has changed. */
export async function bundleServer() {
  const inputs = describeInputs();
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === inputs) return directory;
  await rm(directory, { recursive: true, force: true });
  await build({
    entryPoints: ENTRIES.map((name) => join(dist, `${name}.js`)),
    outdir: directory,
    outbase: dist,
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    target: `node${process.versions.node}`,
    external: ["pg-native"],
    plugins: [{ name: "places", setup: keepPlaces }],
    logLevel: "error",
    banner: {
      js: `import * as nodeModules from "node:module"; const require = nodeModules.createRequire(${JSON.stringify(`${dist}/`)});`,
    },
  });
  await writeFile(stamp, inputs);
  return directory;
}

function describeInputs() {
  const built = ["server", "sdk"].flatMap((name) => withContents(join(root, "packages", name, "dist")));
  const files = [...built, join(root, "node_modules", ".package-lock.json"), fileURLToPath(import.meta.url)];
  const newest = Math.max(...files.map((path) => statSync(path).mtimeMs));
  return `${root} ${process.versions.node} ${files.length} files until ${newest}`;
}

function withContents(path) {
  const names = readdirSync(path, { recursive: true }).map(String);
  return names
    .filter((name) => name.endsWith(".js") && !/^(page|help)\b/.test(name))
    .map((name) => join(path, name));
}

/** Modules ask where they are. */
function keepPlaces({ onLoad }) {
  onLoad({ filter: /\.[cm]?js$/ }, async ({ path }) => {
    const source = await readFile(path, "utf8");
    if (source.includes("import.meta.url")) return { contents: placeUrls(source, path), loader: "js" };
    if (!/\b__(dir|file)name\b/.test(source)) return undefined;
    const places = `var __dirname = ${JSON.stringify(dirname(path))}, __filename = ${JSON.stringify(path)};`;
    return { contents: `${places}${source}`, loader: "js" };
  });
}

/** The modules that a process starts another process or thread with are here, all others where they were. */
function placeUrls(source, path) {
  return source
    .replace(/new URL\("([^"]+)\.js", import\.meta\.url\)/g, (text, name) => {
      const entry = relative(dist, join(dirname(path), name));
      return ENTRIES.includes(entry) ? `new URL(${urlOf(join(directory, `${entry}.js`))})` : text;
    })
    .replaceAll("import.meta.url", urlOf(path));
}

function urlOf(path) {
  return JSON.stringify(pathToFileURL(path).href);
}
