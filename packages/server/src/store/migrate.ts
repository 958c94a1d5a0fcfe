import { foundation } from "./migrations/0001-foundation.ts";
import { directCalls } from "./migrations/0002-direct-calls.ts";
import { people } from "./migrations/0003-people.ts";
import type { Database, Sql } from "./sql.ts";

/** Numbered from 1, forward only, never edited once released. */
const MIGRATIONS: readonly { readonly name: string; readonly sql: string }[] = [
  { name: "foundation", sql: foundation },
  { name: "direct-calls", sql: directCalls },
  { name: "people", sql: people },
];

export const SCHEMA_VERSION = MIGRATIONS.length;

/** An arbitrary number that all Bellhop nodes agree on: who holds it may change the schema. */
const MIGRATION_LOCK = 7_305_813;

export class SchemaTooNew extends Error {
  constructor(found: number) {
    super(
      `The database has schema version ${found}, this Bellhop knows ${SCHEMA_VERSION}. ` +
        "Start a version of Bellhop at least as new as the one that migrated it.",
    );
    this.name = "SchemaTooNew";
  }
}

export class SchemaTooOld extends Error {
  constructor(found: number) {
    super(
      `The database has schema version ${found}, this Bellhop needs ${SCHEMA_VERSION}. ` +
        "Start the server of this version once: it brings the schema up to date.",
    );
    this.name = "SchemaTooOld";
  }
}

/** For whoever works beside a server, and leaves migrating to it: refuses a schema other than the one known here. */
export async function requireCurrentSchema(sql: Sql): Promise<void> {
  const [table] = await sql.rows<{ name: string | null }>(
    "select to_regclass('schema_migrations')::text as name",
  );
  const found = (table?.name ?? null) === null ? 0 : await schemaVersion(sql);
  if (found > SCHEMA_VERSION) throw new SchemaTooNew(found);
  if (found < SCHEMA_VERSION) throw new SchemaTooOld(found);
}

/**
 * Brings the schema up to date. Each migration commits together with its version, so a node that dies half-way
 * leaves none of it; two nodes that start at once take turns. Returns the names of what was applied.
 */
export async function migrate(database: Database): Promise<string[]> {
  const applied: string[] = [];
  for (let version = await reachVersion(database, applied); version < SCHEMA_VERSION; ) {
    version = await reachVersion(database, applied);
  }
  return applied;
}

/** Applies the next migration, if there is one, and returns the version the schema then has. */
async function reachVersion(database: Database, applied: string[]): Promise<number> {
  return database.transaction(async (sql) => {
    await sql.rows("select pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
    await sql.rows(
      `create table if not exists schema_migrations (
         version integer primary key, name text not null, applied_at timestamptz not null default now())`,
    );
    const version = await schemaVersion(sql);
    if (version > SCHEMA_VERSION) throw new SchemaTooNew(version);
    const next = MIGRATIONS[version];
    if (next === undefined) return version;
    await sql.rows(next.sql);
    await sql.rows("insert into schema_migrations (version, name) values ($1, $2)", [version + 1, next.name]);
    applied.push(next.name);
    return version + 1;
  });
}

export async function schemaVersion(sql: Sql): Promise<number> {
  const rows = await sql.rows<{ version: number }>(
    "select coalesce(max(version), 0) as version from schema_migrations",
  );
  return rows[0]?.version ?? 0;
}
