// npm run new -- feature|field|setting <name>: writes a skeleton with its test, and adds it to the lists that name it.
// CONTRIBUTING.md says what comes next.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { newFeature } from "./new/feature.mjs";
import { newField } from "./new/field.mjs";
import { newSetting } from "./new/setting.mjs";

const KINDS = { feature: newFeature, field: newField, setting: newSetting };
const root = fileURLToPath(new URL("..", import.meta.url));

const [kind, name = ""] = process.argv.slice(2);
if (!Object.hasOwn(KINDS, kind ?? "") || !/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name)) {
  console.error(
    "Usage: npm run new -- feature|field|setting <name>, where the name is in lower case with hyphens: retry-budgets",
  );
  process.exit(2);
}

try {
  const camel = name.replace(/-(.)/g, (_, letter) => letter.toUpperCase());
  const { written, changed, next } = KINDS[kind](name, {
    camel,
    Pascal: camel[0].toUpperCase() + camel.slice(1),
    snake: name.replaceAll("-", "_"),
    root,
    server: `${root}packages/server`,
  });
  // All of it is made before any of it is written: a list that looks different leaves nothing half done.
  const files = { ...written };
  for (const [path, changes] of Object.entries(changed)) files[path] = applyTo(path, changes);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  execFileSync(`${root}node_modules/.bin/biome`, ["check", "--write", ...Object.keys(files)], {
    cwd: root,
    stdio: "ignore",
  });
  const listed = (paths) => Object.keys(paths).map((path) => `  ${path.slice(root.length)}\n`);
  console.log(`Wrote\n${listed(written).join("")}Changed\n${listed(changed).join("")}\nNext: ${next}`);
} catch (error) {
  console.error(error.message);
  process.exit(1);
}

/** Each change: where to insert, an empty match of a pattern, and the text or a function of the indentation that returns it. */
function applyTo(path, changes) {
  return changes.reduce(
    (text, [where, added]) => {
      if (text.search(where) < 0)
        throw new Error(`${path.slice(root.length)} has no place like ${where}: add it by hand`);
      return text.replace(where, (_, indent = "") => (typeof added === "string" ? added : added(indent)));
    },
    readFileSync(path, "utf8"),
  );
}
