import { createHash } from "node:crypto";
import { type Sql, statement } from "./sql.ts";

/** One step of the schema. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
  /**
   * The lowest schema version whose nodes may serve on a database with this migration. Default: its own version, so
   * that older nodes become unready. A migration may name an older version if it only adds, locks at most one existing
   * table (a test checks), holds that lock for a time that does not grow with the rows, and newer nodes understand what
   * older ones write meanwhile.
   */
  readonly oldestNode?: number;
}

/** A migration that this database has. */
export interface Applied {
  readonly version: number;
  readonly name: string;
  readonly hash: string;
  readonly oldestNode: number;
}

/** The versions of such a database have other meanings than those of this build, and its history may have other columns. */
export class MadeBeforeRelease extends Error {
  override readonly name = "MadeBeforeRelease";
  constructor() {
    super(
      "The database was made by a build of Bellhop from before its first release and cannot be brought up to date: " +
        "start with a new data directory or an empty database, or start the build that made it.",
    );
  }
}

/** The migrations of this database differ from those of this build, so further ones cannot be applied safely. */
export class OtherHistory extends Error {
  override readonly name = "OtherHistory";
  constructor(difference: string) {
    super(
      `The database was migrated by another build of Bellhop: ${difference}. Nothing was changed. ` +
        "Start the build that migrated it, or start this one with a new data directory or an empty database.",
    );
  }
}

/**
 * The hash of the whole SQL text, including comments and spaces. `scripts/migration-hashes.mjs` compares it with the
 * committed ones.
 */
export function hashOf({ sql }: Migration): string {
  return createHash("sha256").update(sql).digest("hex");
}

const FIND_HISTORY = statement("find_history", "select to_regclass('schema_migrations')::text as name");

const READ_FIRST_MIGRATION = statement(
  "read_first_migration",
  "select version, name from schema_migrations order by version limit 1",
);

/**
 * The applied migrations in version order; null if the table does not exist. Refuses a history that does not begin with the
 * first migration of `known`. Only reads.
 */
export async function readHistory(sql: Sql, known: readonly Migration[]): Promise<readonly Applied[] | null> {
  const [table] = await sql.rows<{ name: string | null }>(FIND_HISTORY);
  if ((table?.name ?? null) === null) return null;
  const [first] = await sql.rows<{ version: number; name: string }>(READ_FIRST_MIGRATION);
  const isOwn = first?.version === known[0]?.version && first?.name === known[0]?.name;
  if (first !== undefined && !isOwn) throw new MadeBeforeRelease();
  return readApplied(sql);
}

const READ_APPLIED = statement(
  "read_applied",
  `select version, name, hash, oldest_node as "oldestNode" from schema_migrations order by version`,
);

export function readApplied(sql: Sql): Promise<readonly Applied[]> {
  return sql.rows<Applied>(READ_APPLIED);
}

/** Refuses differences from `known`; later migrations are not compared. */
export function refuseOtherHistory(applied: readonly Applied[], known: readonly Migration[]): void {
  for (const [index, { version, name, hash }] of applied.entries()) {
    const expected = known[index];
    if (expected === undefined) break;
    if (expected.version > version)
      throw new OtherHistory(`it has migration ${version} ("${name}"), which this build does not have`);
    if (expected.version < version)
      throw new OtherHistory(
        `it has migration ${version} ("${name}") without migration ${expected.version} ("${expected.name}")`,
      );
    if (hash !== hashOf(expected))
      throw new OtherHistory(`its migration ${version} ("${name}") has other SQL than this build's`);
  }
}

const CREATE_HISTORY = statement(
  "create_history",
  `create table schema_migrations (
     version integer primary key, name text not null, hash text not null, oldest_node integer not null,
     applied_at timestamptz not null default now())`,
);

export async function createHistory(sql: Sql): Promise<void> {
  await sql.rows(CREATE_HISTORY);
}

const RECORD_MIGRATION = statement(
  "record_migration",
  "insert into schema_migrations (version, name, hash, oldest_node) values ($1, $2, $3, $4)",
);

export async function recordMigration(sql: Sql, migration: Migration): Promise<void> {
  const { version, name, oldestNode = version } = migration;
  await sql.rows(RECORD_MIGRATION, [version, name, hashOf(migration), oldestNode]);
}
