import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
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
