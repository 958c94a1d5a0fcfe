// Between `prepack` and the packing of the server: copies the SDK into dist/sdk and lets dist/cli/sdk.js import it from there, so
// that the one file runs anywhere. `--undo`, after the packing, lets it import the workspace's SDK again, which may change; the
// copy stays until the next packing, because a command that has just begun may still load it.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const packages = fileURLToPath(new URL("../packages", import.meta.url));
const sdk = join(packages, "sdk");
const dist = join(packages, "server", "dist");
const PACKAGE = '"@bellhop/sdk"';
const COPY = '"../sdk/index.js"';

if (process.argv.includes("--undo")) importSdkFrom(PACKAGE);
else {
  mkdirSync(join(dist, "sdk"), { recursive: true });
  for (const source of readdirSync(join(sdk, "src"))) {
    const name = source.replace(/ts$/, "js");
    copyFileSync(join(sdk, "dist", name), join(dist, "sdk", name));
  }
  importSdkFrom(COPY);
}

/** By a rename: a command that starts meanwhile finds the one file or the other. */
function importSdkFrom(wanted) {
  const file = join(dist, "cli", "sdk.js");
  const text = readFileSync(file, "utf8");
  if (!text.includes(PACKAGE) && !text.includes(COPY)) throw new Error(`${file} does not import the SDK`);
  const draft = `${file}.draft`;
  writeFileSync(draft, text.replace(PACKAGE, wanted).replace(COPY, wanted));
  renameSync(draft, file);
}
