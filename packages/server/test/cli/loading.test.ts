import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { describe, it } from "node:test";
import { SERVER } from "../places.ts";

const SOURCE = join(SERVER, "src");
/** Statements that are left when the types are gone. */
const IMPORT = /^(?:import|export) (?!type\b)(?:[^"';]*? from )?"([^"]+)"/gm;

/** What is loaded before a command of the program has begun: files, and names of packages. */
async function loadedWith(file: string, known = new Set<string>()): Promise<Set<string>> {
  if (known.has(file)) return known;
  known.add(file);
  for (const [, target = ""] of (await readFile(file, "utf8")).matchAll(IMPORT))
    if (target.startsWith(".")) await loadedWith(join(dirname(file), target), known);
    else known.add(target);
  return known;
}

describe("the bellhop command", () => {
  it("loads no server code for the commands that use the API", async () => {
    const loaded = [...(await loadedWith(join(SOURCE, "cli/commands.ts")))];
    const packages = loaded.filter((name) => !name.startsWith("/") && !name.startsWith("node:"));
    assert.deepEqual(packages.sort(), ["@bellhop/sdk", "commander"]);
    const files = loaded.filter((name) => name.startsWith("/")).map((file) => relative(SOURCE, file));
    assert.ok(files.includes("cli/user/task-commands.ts") && files.includes("cli/mcp/mcp-command.ts"));
    const rooms = files.map((file) => file.split("/")[0]);
    assert.deepEqual([...new Set(rooms)].sort(), ["cli", "domain", "version.ts"]);
  });
});
