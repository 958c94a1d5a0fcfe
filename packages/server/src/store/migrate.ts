import {
  type Applied,
  createHistory,
  type Migration,
  readApplied,
  readHistory,
  recordMigration,
  refuseOtherHistory,
} from "./migration-history.ts";
import { events } from "./migrations/0001-events.ts";
import { features } from "./migrations/0001-features.ts";
import { gates } from "./migrations/0001-gates.ts";
import { identity } from "./migrations/0001-identity.ts";
import { keys } from "./migrations/0001-keys.ts";
import { tasks } from "./migrations/0001-tasks.ts";
import { vault } from "./migrations/0001-vault.ts";
import { type Database, type Sql, statement } from "./sql.ts";

/**
 * In version order, forward only, never edited: `npm run generate` records the hash of a new one, and `npm run check`
 * fails if the hash of an old one changed. A migration of one statement has its text here, a longer one has a file. The
 * first one creates the whole schema. Its name distinguishes it from version 1 of a build from before the first release.
 */
export const MIGRATIONS: readonly Migration[] = [
  { version: 1, name: "baseline", sql: identity + tasks + keys + gates + events + features + vault },
];

export const SCHEMA_VERSION = MIGRATIONS.at(-1)?.version ?? 0;

/**
 * Older nodes serve while such a migration runs. Their statements queue behind its wait for a lock and time out after
 * 1.2 s: so the migration gives up first, and the start retries it.
 */
const LOCK_WAIT_BESIDE_OLDER_NODES = statement("limit_lock_wait", "set local lock_timeout = '500ms'");

/** An advisory lock number shared by all nodes: its holder may change the schema. */
const MIGRATION_LOCK = 7_305_813;

export class SchemaTooNew extends Error {
  constructor({ version, name, oldestNode }: Applied) {
    super(
      `The database has migration ${version} ("${name}"), which needs a Bellhop of schema version ${oldestNode} or later; ` +
        `this one has ${SCHEMA_VERSION}. Start a version of Bellhop at least as new as the one that migrated the database.`,
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

/** For a command that works beside a server and does not migrate: refuses a schema that this build cannot work on. */
export async function requireCurrentSchema(sql: Sql): Promise<void> {
  const applied = (await readHistory(sql, MIGRATIONS)) ?? [];
  const found = applied.at(-1)?.version ?? 0;
  refuseNewerSchema(applied);
  refuseOtherHistory(applied, MIGRATIONS);
  if (found < SCHEMA_VERSION) throw new SchemaTooOld(found);
}

/** Accepts later migrations that allow nodes of this version. */
function refuseNewerSchema(applied: readonly Applied[]): void {
  const barrier = findBarrier(applied);
  if (barrier !== undefined) throw new SchemaTooNew(barrier);
}

/** The first migration on which nodes of this build may not serve. */
function findBarrier(applied: readonly Applied[]): Applied | undefined {
  return applied.find(({ version, oldestNode }) => version > SCHEMA_VERSION && oldestNode > SCHEMA_VERSION);
}

/** Why a running node of this build may not serve on the database's schema; null if it may. */
export async function findSchemaConflict(sql: Sql): Promise<string | null> {
  const applied = await readApplied(sql);
  const found = applied.at(-1)?.version ?? 0;
  if (found < SCHEMA_VERSION) return `version ${found}, this node needs ${SCHEMA_VERSION}`;
  const barrier = findBarrier(applied);
  if (barrier === undefined) return null;
  const { version, name, oldestNode } = barrier;
  return `version ${found}: migration ${version} ("${name}") needs nodes of schema version ${oldestNode} or later, this one has ${SCHEMA_VERSION}`;
}

/**
 * Updates the schema. Each migration commits together with its version, so a node that crashes half-way leaves nothing
 * behind; concurrent nodes migrate one at a time. Returns the names of the applied migrations.
 */
export async function migrate(
  database: Database,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<string[]> {
  const applied: string[] = [];
  while (await migrateOnce(database, migrations, applied)) {}
  return applied;
}

const LIFT_TIMEOUTS = statement(
  "lift_timeouts",
  "set local lock_timeout = 0; set local statement_timeout = 0",
);

const LOCK_MIGRATIONS = statement("lock_migrations", "select pg_advisory_xact_lock($1)", {
  patience: "migration",
});

/** Applies the next migration. False if there is none. */
async function migrateOnce(
  database: Database,
  migrations: readonly Migration[],
  applied: string[],
): Promise<boolean> {
  return database.transaction(async (sql) => {
    await sql.rows(LIFT_TIMEOUTS);
    await sql.rows(LOCK_MIGRATIONS, [MIGRATION_LOCK]);
    const history = await readHistory(sql, migrations);
    const version = history?.at(-1)?.version ?? 0;
    refuseNewerSchema(history ?? []);
    refuseOtherHistory(history ?? [], migrations);
    if (history === null) await createHistory(sql);
    const next = migrations.find((migration) => migration.version > version);
    if (next === undefined) return false;
    if ((next.oldestNode ?? next.version) < next.version) await sql.rows(LOCK_WAIT_BESIDE_OLDER_NODES);
    await sql.rows(statement(`migration_${next.version}`, next.sql, { patience: "migration" }));
    await recordMigration(sql, next);
    applied.push(next.name);
    return true;
  });
}

const READ_SCHEMA_VERSION = statement(
  "read_schema_version",
  "select coalesce(max(version), 0) as version from schema_migrations",
);

export async function schemaVersion(sql: Sql): Promise<number> {
  const rows = await sql.rows<{ version: number }>(READ_SCHEMA_VERSION);
  return rows[0]?.version ?? 0;
}
