import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { SERVER } from "../packages/server/test/places.ts";
import { createTestDatabase, type TestDatabase } from "../packages/server/test/test-database.ts";
import { copyServer } from "./rig/plants.ts";
import { runRollingUpgrade } from "./rolling-upgrade.ts";

const DIST = join(SERVER, "dist");
const END_OF_LIST = "export const SCHEMA_VERSION =";

/** What migrations that only add may do, to the tables that every statement of a node uses. */
const ADDITIVE = [
  "alter table tasks add column upgrade_note text",
  "alter table queues add column upgrade_count integer not null default 0",
  "alter table workers add column upgrade_note text; create table upgrade_notes (note text not null)",
];

/** This build with a further migration, as the next release has one. Returns its main file. */
function buildNext(directory: string, migration: string): Promise<string> {
  const edit = {
    file: "store/migrate.js",
    find: END_OF_LIST,
    replace: `${migration}\n${END_OF_LIST}`,
  };
  return copyServer(DIST, directory, { edits: [edit] });
}

const add = (version: number, name: string, sql: string, oldestNode: string) =>
  `MIGRATIONS.push({ version: ${version}, name: "${name}", sql: "${sql}", ${oldestNode} });`;
const additive = [
  "const oldestNode = MIGRATIONS.at(-1).version;",
  ...ADDITIVE.map((sql, index) => add(9001 + index, "additive", sql, "oldestNode")),
].join("\n");
const LAST = 9000 + ADDITIVE.length;

describe("a rolling upgrade", () => {
  let test: TestDatabase;
  let directory: string;
  before(async () => {
    test = await createTestDatabase({ template: "template0" });
    directory = await mkdtemp(join(tmpdir(), "bellhop-upgrade-"));
  });
  after(async () => {
    await test.drop();
    await rm(directory, { recursive: true, force: true });
  });

  it("to a release with an additive migration refuses no request, loses no task and keeps two of three nodes ready", async () => {
    const { violations, lines } = await runRollingUpgrade({
      connection: test.connection,
      from: join(DIST, "main.js"),
      to: await buildNext(join(directory, "additive"), additive),
      directory,
      seconds: 0.3,
      say: () => {},
    });
    assert.deepEqual(violations, [], lines.join("\n"));
    assert.match(lines[0] ?? "", new RegExp(`→ ${LAST}$`));
  });
});
