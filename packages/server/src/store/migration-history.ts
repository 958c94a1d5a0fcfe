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

/** A migration that this database has. The hash is null if an old Bellhop applied it without storing one. */
export interface Applied {
  readonly version: number;
  readonly name: string;
  readonly hash: string | null;
  /** Its own version where none is stored. */
  readonly oldestNode: number;
  /** Whether the table has every column that this build writes. */
  readonly isComplete: boolean;
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

/** The applied migrations in version order; null if the table does not exist. Reads tables with and without hashes. */
export async function readHistory(sql: Sql): Promise<readonly Applied[] | null> {
  const [table] = await sql.rows<{ name: string | null }>(FIND_HISTORY);
  return (table?.name ?? null) === null ? null : readApplied(sql);
}

const READ_APPLIED = statement(
  "read_applied",
  `select version, name, stored ->> 'hash' as hash, coalesce((stored ->> 'oldest_node')::integer, version) as "oldestNode",
          stored ?& array['hash', 'oldest_node'] as "isComplete"
     from schema_migrations as applied, to_jsonb(applied) as stored
    order by version`,
);

export function readApplied(sql: Sql): Promise<readonly Applied[]> {
  return sql.rows<Applied>(READ_APPLIED);
}

/** Refuses differences from `known`; later migrations are not compared. Only reads. */
export async function refuseOtherHistory(
  sql: Sql,
  applied: readonly Applied[],
  known: readonly Migration[],
): Promise<void> {
  for (const [index, { version, name, hash }] of applied.entries()) {
    const expected = known[index];
    if (expected === undefined) break;
    if (expected.version > version)
      throw new OtherHistory(`it has migration ${version} ("${name}"), which this build does not have`);
    if (expected.version < version)
      throw new OtherHistory(
        `it has migration ${version} ("${name}") without migration ${expected.version} ("${expected.name}")`,
      );
    if (hash !== null && hash !== hashOf(expected)) throw edited(version, name);
  }
  if (applied.every(({ hash }) => hash !== null)) return;
  const reached = applied.at(-1)?.version ?? 0;
  const [first] = await sql.rows<{ version: number }>(EDITED_MIGRATIONS, [reached]);
  if (first !== undefined)
    throw edited(first.version, applied.find(({ version }) => version === first.version)?.name ?? "");
}

function edited(version: number, name: string): OtherHistory {
  return new OtherHistory(`its migration ${version} ("${name}") has other SQL than this build's`);
}

/**
 * Migrations that were edited after a release without hashes: the objects that each edit added or removed show which
 * text ran here. `until`: a later migration drops the object.
 */
const EDITED_MIGRATIONS = statement(
  "edited_migrations",
  `
  select version
    from (values
      (4, 1000, to_regclass('tasks'), 'column', 'body_is_json', true),
      (4, 1000, to_regclass('tasks'), 'column', 'tags', true),
      (4, 1000, to_regclass('tasks'), 'column', 'metadata', true),
      (4, 1000, to_regclass('idempotency_keys'), 'column', 'callback_sealed', true),
      (4, 18, to_regclass('tasks'), 'constraint', 'tasks_ended_is_let_go', true),
      (10, 1000, to_regclass('bulks'), 'column', 'rate', true),
      (14, 1000, to_regclass('listeners'), 'index', 'listeners_by_end', true),
      (18, 1000, to_regclass('tasks'), 'constraint', 'tasks_sandbox_never_runs', false)
    ) as mark (version, until, owner, kind, name, is_there)
   where $1 >= version and $1 < until
     and is_there <> case kind
       when 'column' then exists (select from pg_attribute where attrelid = owner and attname = mark.name)
       when 'index' then exists (select from pg_index join pg_class on oid = indexrelid
                                  where indrelid = owner and relname = mark.name)
       else exists (select from pg_constraint where conrelid = owner and conname = mark.name)
     end
   order by version
   limit 1`,
);

const CREATE_HISTORY = statement(
  "create_history",
  `create table schema_migrations (
     version integer primary key, name text not null, hash text, oldest_node integer,
     applied_at timestamptz not null default now())`,
);

const ADD_HISTORY_COLUMNS = statement(
  "add_history_columns",
  `alter table schema_migrations add column if not exists hash text, add column if not exists oldest_node integer`,
);

const ADD_MISSING_HASHES = statement(
  "add_missing_hashes",
  `update schema_migrations as applied set hash = known.hash
     from unnest($1::integer[], $2::text[]) as known (version, hash)
    where applied.version = known.version and applied.hash is null`,
);

/**
 * Creates the table of applied migrations, or adds its missing columns. A table without hashes gets those of `known`,
 * which it was compared with.
 */
export async function prepareHistory(
  sql: Sql,
  applied: readonly Applied[] | null,
  known: readonly Migration[],
): Promise<void> {
  if (applied === null) {
    await sql.rows(CREATE_HISTORY);
    return;
  }
  if (!applied.every(({ isComplete }) => isComplete)) await sql.rows(ADD_HISTORY_COLUMNS);
  if (applied.every(({ hash }) => hash !== null)) return;
  await sql.rows(ADD_MISSING_HASHES, [known.map(({ version }) => version), known.map(hashOf)]);
}

const RECORD_MIGRATION = statement(
  "record_migration",
  "insert into schema_migrations (version, name, hash, oldest_node) values ($1, $2, $3, $4)",
);

export async function recordMigration(sql: Sql, migration: Migration): Promise<void> {
  const { version, name, oldestNode = version } = migration;
  await sql.rows(RECORD_MIGRATION, [version, name, hashOf(migration), oldestNode]);
}
