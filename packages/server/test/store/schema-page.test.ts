import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { it } from "node:test";
import { pathToFileURL } from "node:url";
import { migrate, SCHEMA_VERSION } from "../../src/store/migrate.ts";
import { ROOT } from "../places.ts";
import { createTestDatabase } from "../test-database.ts";

it("docs/schema.sql equals the schema of the migrations (npm run generate writes it)", async () => {
  const test = await createTestDatabase({ template: "template0" });
  const { schemaPage } = await import(pathToFileURL(join(ROOT, "scripts/schema-page.mjs")).href);
  try {
    await migrate(test.database);
    const page = await schemaPage(test.database.rows, SCHEMA_VERSION);
    assert.equal(await readFile(join(ROOT, "docs/schema.sql"), "utf8"), page);
  } finally {
    await test.drop();
  }
});
