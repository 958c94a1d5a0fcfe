// Prepares a release and tries it: `npm run release -- --dry-run`. Packs both packages as npm would publish them, checks what is in the
// files, writes their SHA-256 and an SBOM into release/, and starts them in empty directories on every Node that we support.
// Publishing is a command for a person, printed at the end. `--node 22,24` tries fewer versions, `--node none` none.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readNotices } from "./notices.mjs";
import { checkContents, checkTypes, lint, listFiles } from "./release/check.mjs";
import { keepShipped } from "./release/sbom.mjs";
import { measureNpx, tryPackages } from "./release/try.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const out = join(root, "release");
const PACKAGES = [
  { name: "bellhop", directory: "packages/server", hasTypes: false },
  { name: "@bellhop/sdk", directory: "packages/sdk", hasTypes: true },
];
/** Besides the one that runs this. */
const NODES = ["22", "24", "26"];

if (!process.argv.includes("--dry-run")) {
  console.error("Nothing is published from here: npm run release -- --dry-run makes the files and says how.");
  process.exit(2);
}

rmSync(out, { recursive: true, force: true });
mkdirSync(out);
const tarballs = [];
for (const { name, directory, hasTypes } of PACKAGES) {
  say(`Packing ${name} …`);
  const file = pack(name);
  const { version } = JSON.parse(readFileSync(join(root, directory, "package.json"), "utf8"));
  const files = await listFiles(file);
  const complaints = [
    ...checkContents(name, files, root),
    ...(await lint(file)),
    ...(hasTypes ? await checkTypes(file) : []),
  ];
  if (complaints.length > 0) fail(`${name} is not fit to be published:\n${complaints.join("\n")}`);
  const bytes = readFileSync(file).length;
  say(
    `  ${files.size} files, ${(bytes / 1e6).toFixed(1)} MB: contents, publint${hasTypes ? ", types" : ""} fine`,
  );
  tarballs.push({ name, version, file, files });
}
writeChecksums(writeSbom());
const wanted = readNodes();
for await (const trial of tryPackages(tarballs, wanted)) say(`  ${trial}`);
if (wanted !== null) say(`  ${await measureNpx(tarballs[0].file)}`);
say(`Everything is in ${out}. To publish, with the rights to do so:`);
for (const { file } of tarballs) say(`  npm publish --access public --provenance ${file}`);

function pack(name) {
  const args = ["pack", "--silent", "--ignore-scripts=false", `--pack-destination=${out}`, "-w", name];
  const printed = execFileSync("npm", args, {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  return join(out, printed.trim().split("\n").at(-1));
}

function writeSbom() {
  const [{ version, files }] = tarballs;
  const file = join(out, `bellhop-${version}.cdx.json`);
  const args = ["sbom", "--sbom-format=cyclonedx", "--package-lock-only"];
  const text = execFileSync("npm", args, { cwd: root, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  const { optionalDependencies } = JSON.parse(String(files.get("package.json")));
  const sbom = keepShipped(JSON.parse(text), [
    ...tarballs,
    ...Object.entries(optionalDependencies).map(([name, exact]) => ({ name, version: exact })),
    ...readNotices(String(files.get("THIRD-PARTY-NOTICES"))),
  ]);
  writeFileSync(file, `${JSON.stringify(sbom, null, 2)}\n`);
  say(`  SBOM: ${sbom.components.length} components`);
  return file;
}

/** As `sha256sum --check SHA256SUMS` reads it. */
function writeChecksums(sbom) {
  const lines = [...tarballs.map(({ file }) => file), sbom].map((file) => {
    const sum = createHash("sha256").update(readFileSync(file)).digest("hex");
    return `${sum}  ${file.slice(out.length + 1)}\n`;
  });
  writeFileSync(join(out, "SHA256SUMS"), lines.join(""));
}

function readNodes() {
  const at = process.argv.indexOf("--node");
  const given = at < 0 ? undefined : process.argv[at + 1];
  if (given === "none") return null;
  return given === undefined ? NODES : given.split(",");
}

function say(text) {
  process.stdout.write(`${text}\n`);
}

function fail(text) {
  console.error(text);
  process.exit(1);
}
