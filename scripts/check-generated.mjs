// Some files are written from the source. Compares the committed ones with what the source says now; `--write` brings
// them up to date. Needs a build.
import { readFileSync, writeFileSync } from "node:fs";
import { generatePython } from "../clients/python/generate.mjs";
import { generate } from "../packages/sdk/scripts/generate.mjs";
import { WRITTEN_URL } from "../packages/server/dist/api/openapi/reference.js";
import { PROBLEMS } from "../packages/server/dist/domain/problem.js";
import { buildOpenApiDocument } from "../packages/server/dist/server/openapi-document.js";
import { SETTINGS } from "../packages/server/dist/settings.js";
import { MIGRATIONS } from "../packages/server/dist/store/migrate.js";
import { VERSION } from "../packages/server/dist/version.js";
import { errorPage } from "./error-page.mjs";
import { HASHES, migrationHashes } from "./migration-hashes.mjs";

const document = await buildOpenApiDocument(VERSION, WRITTEN_URL);
const generated = {
  "openapi.json": `${JSON.stringify(document, null, 2)}\n`,
  "docs/settings.md": settingsPage(),
  "docs/errors.md": errorPage(PROBLEMS),
  [HASHES]: addedHashes(),
};
for (const [name, text] of Object.entries(await generate(JSON.parse(generated["openapi.json"])))) {
  generated[`packages/sdk/src/${name}`] = text;
}
for (const [name, text] of Object.entries(generatePython(document))) {
  generated[`clients/python/bellhop/${name}`] = text;
}

for (const [name, text] of Object.entries(generated)) {
  const file = new URL(`../${name}`, import.meta.url);
  if (process.argv.includes("--write")) writeFileSync(file, text);
  else if (read(file) !== text) {
    console.error(`${name} is not what the source says: run npm run generate`);
    process.exitCode = 1;
  }
}

/** Ends here where a migration was edited: no other file is written from such a source. */
function addedHashes() {
  try {
    return migrationHashes(MIGRATIONS, read(new URL(`../${HASHES}`, import.meta.url)));
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}

function settingsPage() {
  const rows = Object.values(SETTINGS).map(
    ({ name, fallback, about, secret }) =>
      `| \`${name}\`${secret ? ` or \`${name}_FILE\`` : ""} | ${fallback === null ? "" : `\`${fallback}\``} | ${about} |`,
  );
  return `# Settings

Environment variables, read once at the start. An empty one counts as unset. An unknown \`BELLHOP_\` variable stops the
start, so that a typo cannot go unnoticed.

<a id="exposed"></a>
A server is *exposed* when it listens on more than loopback, has a \`BELLHOP_PUBLIC_URL\` that is not loopback, or a
\`BELLHOP_TRUST_PROXY\`. Some defaults depend on it; the banner says what is in force and why.

| name | default | |
|---|---|---|
${rows.join("\n")}
`;
}

function read(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
