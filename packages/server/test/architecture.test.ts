import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { pathToFileURL } from "node:url";
import { ROOT, SERVER } from "./places.ts";

/** The page has a table of the files of `server/`, and names the migrations in the line of `store/`. */
const UNLISTED = ["server/", "store/migrations/"];

it("docs/architecture.md lists every folder of the server, and no other", () => {
  const text = readFileSync(join(ROOT, "docs/architecture.md"), "utf8");
  const listing = /^```\ndomain\/[\s\S]*?^```$/m.exec(text)?.[0] ?? "";
  const listed: string[] = [];
  let layer = "";
  for (const line of listing.split("\n")) {
    const isNested = line.startsWith("  ");
    for (const [, name = ""] of line.matchAll(/(?<=^| )([a-z-]+\/)(?=,| |$)/g)) {
      if (!isNested) layer = name;
      listed.push(isNested ? layer + name : name);
    }
  }

  assert.deepEqual(
    listed.sort(),
    folders("")
      .filter((name) => !UNLISTED.includes(name))
      .sort(),
  );
});

/** With a slash at the end; two levels. */
function folders(under: string): string[] {
  const entries = readdirSync(join(SERVER, "src", under), { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => `${under}${name}/`);
  return under === "" ? names.flatMap((name) => [name, ...folders(name)]) : names;
}

it("the check of boundaries refuses objects that are filled with names from outside", async () => {
  const lint = pathToFileURL(join(ROOT, "scripts/record-writes.mjs")).href;
  const { recordAliases, recordWrites } = await import(lint);
  for (const text of [
    "const found: Record<string, string> = {};\nfound[name] = value;",
    "const found = { ...before };\nfound[name.slice(1)] ??= value;",
    'const found: Readonly<Record<string, string>> = {};\nfound[names[at] ?? ""] = value;',
    "function fill(found: Record<string, string>) {\n  found[name] = value;\n}",
    "const found = 1;\nObject.assign({}, stranger);",
  ])
    assert.deepEqual(recordWrites(text), [2], text);
  for (const text of [
    "const found = new Map();\nfound.set(name, value);",
    "const found: string[] = [];\nfound[place] = value;",
    "const found: Record<string, string> = {};\nfound.name = found[name] ?? value;",
    "const found: Record<string, string> = {};\nif (found[name] === value) return;",
    "const found: Record<string, string> = {};\n// trusted keys: of our table.\nfound[name] = value;",
  ])
    assert.deepEqual(recordWrites(text), [], text);
  const imported = "function fill(found: Headers) {\n  found[name] = value;\n}";
  assert.deepEqual(recordWrites(imported, recordAliases([])), []);
  for (const declared of [
    "export type Headers = Record<string, string>;",
    "type Headers = { [name: string]: string };",
  ])
    assert.deepEqual(recordWrites(imported, recordAliases([declared])), [2], declared);
  assert.deepEqual(recordWrites(imported, recordAliases(["type Headers = { readonly name: string };"])), []);
});

it("CHANGELOG.md has each entry once", () => {
  const entries = readFileSync(join(ROOT, "CHANGELOG.md"), "utf8").match(/^- .{60,}$/gm) ?? [];
  const seen = new Set<string>();
  const twice = entries.filter((entry) => seen.size === seen.add(entry).size);
  assert.deepEqual(twice, []);
  assert.ok(entries.length > 10, String(entries.length));
});
