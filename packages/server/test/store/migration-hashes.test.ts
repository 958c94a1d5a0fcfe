import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { MIGRATIONS } from "../../src/store/migrate.ts";
import type { Migration } from "../../src/store/migration-history.ts";
import { ROOT } from "../places.ts";

interface Script {
  readonly HASHES: string;
  migrationHashes(migrations: readonly Migration[], committed: string): string;
}

describe("the committed hashes of migrations", async () => {
  const { HASHES, migrationHashes }: Script = await import(join(ROOT, "scripts/migration-hashes.mjs"));
  const committed = readFileSync(join(ROOT, HASHES), "utf8");
  const next = { version: 9998, name: "next", sql: "select 1" };
  const last = { version: 9999, name: "last", sql: "select 2" };

  it("match the migrations in the source", () => {
    assert.equal(migrationHashes(MIGRATIONS, committed), committed);
  });

  it("get a line for a new migration, and keep the others", () => {
    const written = migrationHashes([...MIGRATIONS, next], committed);
    assert.match(written.slice(committed.length), /^9998 [0-9a-f]{64} next\n$/);
    assert.ok(written.startsWith(committed));
  });

  const CHANGES: readonly [string, (migration: Migration) => readonly Migration[]][] = [
    ["edited", (migration) => [{ ...migration, sql: `${migration.sql} ` }]],
    ["renamed", (migration) => [{ ...migration, name: "another name" }]],
    ["renumbered", (migration) => [{ ...migration, version: 9997 }]],
    ["removed", () => []],
  ];
  for (const [change, apply] of CHANGES) {
    it(`refuse a migration that was ${change}, and name it`, () => {
      const pushed = migrationHashes([...MIGRATIONS, next, last], committed);
      assert.throws(
        () => migrationHashes([...MIGRATIONS, ...apply(next), last], pushed),
        /^Error: These migrations [\s\S]*\n9998 \w+ next\n/,
      );
    });
  }
});
