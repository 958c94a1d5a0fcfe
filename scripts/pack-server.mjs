// The last step of `prepack` of the server: bundles it, writes the licences of what the bundle holds, and puts the package.json of
// the package in the place of the checkout's. `--undo`, after the packing, puts that back.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleServer } from "./bundle.mjs";
import { readLicence, writeNotices } from "./notices.mjs";
import { isReferenceStale } from "./reference.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const server = join(root, "packages", "server");
const manifest = join(server, "package.json");
/** The checkout's. It is there while npm packs, and after a packing that was killed. */
const kept = join(server, "package.json.kept");
const COPIES = ["README.md", "LICENSE", "THIRD-PARTY-NOTICES"];
/** The documentation and the API reference hold their code. */
const IN_PAGES = ["minisearch", "@scalar/fastify-api-reference", "@scalar/core"];

if (process.argv.includes("--undo")) undo();
else await prepare();

async function prepare() {
  if (isReferenceStale()) throw new Error("The API reference is not built");
  const { packages } = await bundleServer();
  const inPage = JSON.parse(readFileSync(join(server, "dist", "page", ".vite", "licences.json"), "utf8"));
  const paths = [...packages, ...IN_PAGES.map((name) => `node_modules/${name}`)];
  const installed = paths.map((path) => readLicence(join(root, path)));
  writeFileSync(join(server, "THIRD-PARTY-NOTICES"), writeNotices([...installed, ...inPage]));
  const checkout = readFileSync(existsSync(kept) ? kept : manifest, "utf8");
  writeFileSync(kept, checkout);
  replaceManifest(`${JSON.stringify(describePackage(JSON.parse(checkout)), null, 2)}\n`);
}

/**
 * The checkout's package is private, because packed without this step it holds nothing. What the bundle holds is not installed a second time. Only the binaries of PostgreSQL are packages of their own. The scripts stay:
 * after a packing that was killed, they are how the next one puts the checkout's package.json back.
 */
function describePackage({ dependencies, devDependencies, private: _, ...manifest }) {
  return { ...manifest, bin: { bellhop: "./dist/bundle/cli/bellhop.js" } };
}

function undo() {
  replaceManifest(readFileSync(kept, "utf8"));
  for (const path of [kept, ...COPIES.map((name) => join(server, name))]) rmSync(path);
}

/** By a rename: a server of the checkout that starts meanwhile reads the one file or the other. */
function replaceManifest(text) {
  const draft = `${manifest}.draft`;
  writeFileSync(draft, text);
  renameSync(draft, manifest);
}
