import {
  type Applied,
  type Migration,
  prepareHistory,
  readApplied,
  readHistory,
  recordMigration,
  refuseOtherHistory,
} from "./migration-history.ts";
import { identity } from "./migrations/0004-identity.ts";
import { tasks } from "./migrations/0004-tasks.ts";
import { vault } from "./migrations/0004-vault.ts";
import { nodes } from "./migrations/0005-nodes.ts";
import { sandbox } from "./migrations/0006-sandbox.ts";
import { limits } from "./migrations/0007-limits.ts";
import { cancelAndRetry } from "./migrations/0009-cancel-and-retry.ts";
import { lists } from "./migrations/0010-lists.ts";
import { schedules } from "./migrations/0012-schedules.ts";
import { scheduleFirings } from "./migrations/0013-schedule-firings.ts";
import { events } from "./migrations/0014-events.ts";
import { webhooks } from "./migrations/0015-webhooks.ts";
import { simulations } from "./migrations/0016-simulations.ts";
import { queueStats } from "./migrations/0017-queue-stats.ts";
import { leanTasks } from "./migrations/0018-lean-tasks.ts";
import { tokenUses } from "./migrations/0019-token-uses.ts";
import { sandboxTokens } from "./migrations/0020-sandbox-tokens.ts";
import { sandboxClocks } from "./migrations/0021-sandbox-clocks.ts";
import { eventOrder } from "./migrations/0022-event-order.ts";
import { grantedScopes } from "./migrations/0024-granted-scopes.ts";
import { hotRow } from "./migrations/0026-hot-row.ts";
import { flows } from "./migrations/0027-flows.ts";
import { endingsAndDeduplication } from "./migrations/0028-endings-and-deduplication.ts";
import { messages } from "./migrations/0029-messages.ts";
import { alerts } from "./migrations/0030-alerts.ts";
import { dismissingBulks } from "./migrations/0031-dismissing-bulks.ts";
import { breakers } from "./migrations/0032-breakers.ts";
import { orderedQueues } from "./migrations/0033-ordered-queues.ts";
import { taskStatistics } from "./migrations/0034-task-statistics.ts";
import { queueNames } from "./migrations/0039-queue-names.ts";
import { queueRates } from "./migrations/0040-queue-rates.ts";
import { nodeLoopLag } from "./migrations/0041-node-loop-lag.ts";
import { orderedFlows } from "./migrations/0042-ordered-flows.ts";
import { schedulePortions } from "./migrations/0050-schedule-portions.ts";
import { type Database, type Sql, statement } from "./sql.ts";

/**
 * Versions 1 to 3 were layouts before the first release. The first migration creates the whole schema; there is no
 * upgrade from those versions.
 */
const FIRST_VERSION = 4;

/**
 * In version order, forward only, never edited: `npm run generate` records the hash of a new one, and `npm run check`
 * fails if the hash of an old one changed. A migration of one statement has its text here, a longer one has a file.
 */
export const MIGRATIONS: readonly Migration[] = [
  { version: FIRST_VERSION, name: "first release", sql: identity + tasks + vault },
  { version: 5, name: "nodes", sql: nodes },
  { version: 6, name: "sandbox apart", sql: sandbox },
  { version: 7, name: "limits", sql: limits },
  { version: 9, name: "cancel and retry", sql: cancelAndRetry },
  { version: 10, name: "lists", sql: lists },
  { version: 12, name: "schedules", sql: schedules },
  { version: 13, name: "schedule firings", sql: scheduleFirings },
  { version: 14, name: "events", sql: events },
  { version: 15, name: "webhooks", sql: webhooks },
  { version: 16, name: "simulations", sql: simulations },
  { version: 17, name: "queue stats", sql: queueStats },
  { version: 18, name: "lean tasks", sql: leanTasks },
  { version: 19, name: "token uses", sql: tokenUses },
  { version: 20, name: "sandbox tokens", sql: sandboxTokens },
  { version: 21, name: "sandbox clocks", sql: sandboxClocks },
  { version: 22, name: "event order", sql: eventOrder },
  { version: 24, name: "granted scopes", sql: grantedScopes },
  { version: 26, name: "hot row", sql: hotRow },
  { version: 27, name: "flows", sql: flows },
  { version: 28, name: "endings and deduplication", sql: endingsAndDeduplication, oldestNode: 26 },
  { version: 29, name: "messages", sql: messages, oldestNode: 26 },
  { version: 30, name: "alerts", sql: alerts, oldestNode: 26 },
  { version: 31, name: "dismissing bulks", sql: dismissingBulks, oldestNode: 26 },
  { version: 32, name: "breakers", sql: breakers, oldestNode: 26 },
  { version: 33, name: "ordered queues", sql: orderedQueues, oldestNode: 26 },
  { version: 34, name: "task statistics", sql: taskStatistics, oldestNode: 26 },
  { version: 39, name: "queue names", sql: queueNames, oldestNode: 26 },
  { version: 40, name: "queue rates", sql: queueRates, oldestNode: 26 },
  { version: 41, name: "node loop lag", sql: nodeLoopLag, oldestNode: 26 },
  { version: 42, name: "ordered flows", sql: orderedFlows, oldestNode: 26 },
  { version: 50, name: "schedule portions", sql: schedulePortions, oldestNode: 26 },
];

export const SCHEMA_VERSION = MIGRATIONS.at(-1)?.version ?? FIRST_VERSION;

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

export class SchemaUnreleased extends Error {
  constructor(found: number) {
    super(
      `The database has schema version ${found}, from before Bellhop's first release, ` +
        "which cannot be brought up to date. Start with a new data directory or an empty database, " +
        "or start the version of Bellhop that made this one.",
    );
    this.name = "SchemaUnreleased";
  }
}

/** For a command that works beside a server and does not migrate: refuses a schema that this build cannot work on. */
export async function requireCurrentSchema(sql: Sql): Promise<void> {
  const applied = (await readHistory(sql)) ?? [];
  const found = applied.at(-1)?.version ?? 0;
  refuseForeignVersion(applied);
  await refuseOtherHistory(sql, applied, MIGRATIONS);
  if (found < SCHEMA_VERSION) throw new SchemaTooOld(found);
}

/** Accepts later migrations that allow nodes of this version. */
function refuseForeignVersion(applied: readonly Applied[]): void {
  const found = applied.at(-1)?.version ?? 0;
  const barrier = findBarrier(applied);
  if (barrier !== undefined) throw new SchemaTooNew(barrier);
  if (found > 0 && found < FIRST_VERSION) throw new SchemaUnreleased(found);
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
    const history = await readHistory(sql);
    const version = history?.at(-1)?.version ?? 0;
    refuseForeignVersion(history ?? []);
    await refuseOtherHistory(sql, history ?? [], migrations);
    await prepareHistory(sql, history, migrations);
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
