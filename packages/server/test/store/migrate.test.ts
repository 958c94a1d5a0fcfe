import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { Problem } from "../../src/domain/problem.ts";
import {
  findSchemaConflict,
  MIGRATIONS,
  migrate,
  requireCurrentSchema,
  SCHEMA_VERSION,
  SchemaTooNew,
  SchemaUnreleased,
  schemaVersion,
} from "../../src/store/migrate.ts";
import { hashOf, type Migration, OtherHistory } from "../../src/store/migration-history.ts";
import { until } from "../patience.ts";
import { createTestDatabase, type TestDatabase } from "../test-database.ts";
import { createGate } from "../test-sql.ts";

describe("migrating", () => {
  let test: TestDatabase;
  beforeEach(async () => {
    test = await createTestDatabase({ template: "template0" });
  });
  afterEach(() => test.drop());

  const ALL = MIGRATIONS.map(({ name }) => name);

  async function tables(): Promise<string[]> {
    const rows = await test.database.rows<{ name: string }>(
      "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1",
    );
    return rows.map(({ name }) => name);
  }

  it("applies all migrations to an empty database, and none to an up-to-date one", async () => {
    const applied = await migrate(test.database);

    assert.deepEqual(applied, ALL);
    assert.equal(await schemaVersion(test.database), SCHEMA_VERSION);
    assert.ok((await tables()).includes("tasks"));
    assert.deepEqual(await migrate(test.database), []);
  });

  it("applies each migration once when several nodes start at the same time", async () => {
    const nodes = [test.open(1), test.open(1), test.open(1)];

    const applied = await Promise.all(nodes.map((node) => migrate(node)));

    assert.deepEqual(applied.flat().sort(), [...ALL].sort());
    assert.equal(await schemaVersion(test.database), SCHEMA_VERSION);
  });

  it("separates sandbox and live counts of a database of the first release", async () => {
    const { database } = test;
    await database.rows(MIGRATIONS[0]?.sql ?? "");
    await database.rows(
      `create table schema_migrations (
         version integer primary key, name text not null, applied_at timestamptz not null default now());
       insert into schema_migrations (version, name) values (4, 'first release');
       insert into queue_tallies (team_id, queue_id, worker_id, writer, pending, failed)
       values (1, 1, 0, 0, 5, 2), (1, 1, 7, 1, -1, 0), (1, 2, 7, 0, 1, 0);
       insert into tasks (team_id, id, queue_id, shape, status, priority, sandbox, method, url, timeout_seconds, max_retries,
                          backoff, retry_delay_seconds, run_at, created_at)
       select 1, gen_random_uuid(), queue_id, 'queue', 'pending', 5, true, 'POST', 'http://a/', 30, 3, 'fixed', 1, now(), now()
         from unnest(array[1, 1, 1, 2]) as queue_id`,
    );

    assert.deepEqual(await migrate(database), ALL.slice(1));

    const counted = await database.rows(
      `select queue_id::integer as queue, sandbox, sum(pending)::integer as pending, sum(failed)::integer as failed
         from queue_tallies group by 1, 2 order by 1, 2`,
    );
    assert.deepEqual(counted, [
      { queue: 1, sandbox: false, pending: 1, failed: 2 },
      { queue: 1, sandbox: true, pending: 3, failed: 0 },
      { queue: 2, sandbox: false, pending: 0, failed: 0 },
      { queue: 2, sandbox: true, pending: 1, failed: 0 },
    ]);
  });

  it("fills due_at, poll_at, list_key and claim_batches for existing tasks", async () => {
    const { database } = test;
    const hotRow = MIGRATIONS.findIndex(({ name }) => name === "hot row");
    for (const { sql } of MIGRATIONS.slice(0, hotRow)) await database.rows(sql);
    await database.rows(
      `insert into tasks (team_id, id, queue_id, shape, status, worker_id, priority, sandbox, method, url, timeout_seconds,
                          max_retries, backoff, retry_delay_seconds, run_at, created_at, deadline_at)
       select 1, (lpad(n::text, 8, '0') || '-0000-7000-8000-000000000000')::uuid, 1, 'queue', status, worker_id, 5, sandbox, 'POST',
              'http://a/', 30, 3, 'fixed', 1, '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z',
              case when status = 'polling' then now() end
         from (values (1, 'pending', null, false), (2, 'active', 7, false), (3, 'active', 7, false), (4, 'completed', null, false),
                      (5, 'polling', null, false), (6, 'polling', 8, false), (7, 'pending', null, true), (8, 'active', null, true),
                      (9, 'completed', null, true), (10, 'failed', null, false)) as asked(n, status, worker_id, sandbox)`,
    );

    await database.rows(MIGRATIONS[hotRow]?.sql ?? "");

    const rows = await database.rows<{ n: number; has: string }>(
      `select left(id::text, 8)::integer as n,
              concat_ws(' ', list_key, case when due_at = run_at then 'due' end, case when poll_at = run_at then 'poll' end) as has
         from tasks order by 1`,
    );
    assert.deepEqual(
      rows.map(({ has }) => has),
      [
        "pending due",
        "begun",
        "begun",
        "begun",
        "polling poll",
        "polling",
        "pending",
        "active",
        "completed",
        "failed",
      ],
    );
    const held = await database.rows(
      `select worker_id::integer as worker, array(select left(id::text, 8)::integer from unnest(task_ids) as id order by 1) as tasks
         from claim_batches order by 1`,
    );
    assert.deepEqual(held, [
      { worker: 7, tasks: [2, 3] },
      { worker: 8, tasks: [6] },
    ]);
  });

  describe("the stored history", () => {
    const history = () =>
      test.database.rows<{ version: number; hash: string | null }>(
        "select version, hash from schema_migrations order by version",
      );
    const OWN = MIGRATIONS.map((migration) => ({ version: migration.version, hash: hashOf(migration) }));

    /** As a server of the time before hashes left it, at the version of the last of `migrations`. */
    async function migrateWithoutHashes(
      migrations: readonly { version: number; name: string; sql: string }[],
    ) {
      await test.database.rows(
        `create table schema_migrations (
           version integer primary key, name text not null, applied_at timestamptz not null default now())`,
      );
      for (const { version, name, sql } of migrations) {
        await test.database.rows(sql);
        await test.database.rows("insert into schema_migrations (version, name) values ($1, $2)", [
          version,
          name,
        ]);
      }
    }

    /** The migration refuses, the command line refuses, and every table is as it was. */
    async function assertRefused(difference: RegExp): Promise<void> {
      const before = [await tables(), await catalog()];
      const refused = (error: unknown) =>
        error instanceof OtherHistory &&
        difference.test(error.message) &&
        /Nothing was changed\. Start the build that migrated it, or start this one with a new data directory/.test(
          error.message,
        );
      await assert.rejects(migrate(test.database), refused);
      await assert.rejects(requireCurrentSchema(test.database), refused);
      assert.deepEqual([await tables(), await catalog()], before);
    }

    const catalog = () =>
      test.database.rows(
        `select attrelid::regclass::text as owner, attname::text as name from pg_attribute join pg_class on attrelid = pg_class.oid
          where relnamespace = 'public'::regnamespace order by 1, 2`,
      );

    it("has the hash of every migration", async () => {
      await migrate(test.database);

      assert.deepEqual(await history(), OWN);
    });

    for (const version of [4, 13, 19]) {
      it(`gets its hashes from a database at version ${version} that has none`, async () => {
        await migrateWithoutHashes(MIGRATIONS.filter((migration) => migration.version <= version));

        await migrate(test.database);

        assert.deepEqual(await history(), OWN);
        await requireCurrentSchema(test.database);
      });
    }

    it("is refused, without changes, when a hash differs", async () => {
      await migrate(test.database);
      await test.database.rows("update schema_migrations set hash = 'another' where version = 9");
      await test.database.rows("delete from schema_migrations where version = $1", [SCHEMA_VERSION]);

      await assertRefused(/its migration 9 \("cancel and retry"\) has other SQL than this build's/);
    });

    it("is refused when it lacks a migration in the middle", async () => {
      await migrate(test.database);
      await test.database.rows("delete from schema_migrations where version = 14");

      await assertRefused(/it has migration 15 \("webhooks"\) without migration 14 \("events"\)/);
    });

    it("is refused when it has a migration that this build lacks", async () => {
      await migrate(test.database);
      await test.database.rows("insert into schema_migrations (version, name) values (8, 'elsewhere')");

      await assertRefused(/it has migration 8 \("elsewhere"\), which this build does not have/);
    });

    /** Each text that a migration had before it was edited, in the time before hashes. */
    const EDITS: readonly { version: number; reached: number; undo: string }[] = [
      { version: 4, reached: 4, undo: "alter table tasks drop column body_is_json" },
      { version: 4, reached: 19, undo: "alter table tasks drop column tags" },
      { version: 4, reached: 19, undo: "alter table tasks drop column metadata" },
      { version: 4, reached: 19, undo: "alter table idempotency_keys drop column callback_sealed" },
      { version: 4, reached: 4, undo: "alter table tasks drop constraint tasks_ended_is_let_go" },
      { version: 10, reached: 12, undo: "drop table bulks" },
      { version: 14, reached: 19, undo: "drop index listeners_by_end" },
      {
        version: 18,
        reached: 19,
        undo: "alter table tasks add constraint tasks_sandbox_never_runs check (not sandbox)",
      },
    ];
    for (const { version, reached, undo } of EDITS) {
      it(`is refused without hashes at version ${reached} after: ${undo}`, async () => {
        await migrateWithoutHashes(MIGRATIONS.filter((migration) => migration.version <= reached));
        await test.database.rows(undo);

        await assertRefused(
          new RegExp(`its migration ${version} \\(".+"\\) has other SQL than this build's`),
        );
      });
    }
  });

  describe("a database migrated by a newer version", () => {
    /** `oldestNode` null: as a version left it that stored none. */
    async function addLater(version: number, name: string, oldestNode: number | null): Promise<void> {
      await test.database.rows(
        "insert into schema_migrations (version, name, oldest_node) values ($1, $2, $3)",
        [version, name, oldestNode],
      );
    }

    async function assertRefused(message: RegExp, conflict: RegExp): Promise<void> {
      const refused = (error: unknown) => error instanceof SchemaTooNew && message.test(error.message);
      await assert.rejects(migrate(test.database), refused);
      await assert.rejects(requireCurrentSchema(test.database), refused);
      assert.match((await findSchemaConflict(test.database)) ?? "", conflict);
    }

    it("is refused and unchanged unless it allows older nodes", async () => {
      await migrate(test.database);
      await addLater(SCHEMA_VERSION + 1, "from the future", null);

      await assertRefused(
        /needs a Bellhop of schema version \d+ or later/,
        /\("from the future"\) needs nodes/,
      );

      assert.equal(await schemaVersion(test.database), SCHEMA_VERSION + 1);
    });

    it("is accepted when every later migration allows nodes of this version", async () => {
      await migrate(test.database);
      await addLater(SCHEMA_VERSION + 1, "additive", SCHEMA_VERSION);
      await addLater(SCHEMA_VERSION + 5, "for even older ones", SCHEMA_VERSION - 1);

      assert.deepEqual(await migrate(test.database), []);
      await requireCurrentSchema(test.database);
      assert.equal(await findSchemaConflict(test.database), null);
      assert.equal(await schemaVersion(test.database), SCHEMA_VERSION + 5);
    });

    it("is refused when one later migration needs newer nodes, and names that migration", async () => {
      await migrate(test.database);
      await addLater(SCHEMA_VERSION + 1, "additive", SCHEMA_VERSION);
      await addLater(SCHEMA_VERSION + 2, "another layout", SCHEMA_VERSION + 1);
      await addLater(SCHEMA_VERSION + 3, "additive again", SCHEMA_VERSION);

      await assertRefused(
        new RegExp(
          `migration ${SCHEMA_VERSION + 2} \\("another layout"\\), which needs .* ${SCHEMA_VERSION + 1} or`,
        ),
        new RegExp(
          `^version ${SCHEMA_VERSION + 3}: migration ${SCHEMA_VERSION + 2} \\("another layout"\\) needs`,
        ),
      );
    });

    it("is refused when a known migration has other SQL, even if later ones are compatible", async () => {
      await migrate(test.database);
      await addLater(SCHEMA_VERSION + 1, "additive", SCHEMA_VERSION);
      await test.database.rows("update schema_migrations set hash = 'another' where version = 9");

      await assert.rejects(migrate(test.database), OtherHistory);
    });
  });

  describe("while another transaction reads the table that the next migration changes", () => {
    const sql = "alter table tasks add column note text";
    const next = { version: SCHEMA_VERSION + 1, name: "next", sql };

    /** What the next migration came to, or "waits" if it went on waiting for the other transaction. */
    async function migrateBeside(migration: Migration): Promise<unknown> {
      await migrate(test.database);
      const gate = createGate();
      const reader = test.database.transaction(async (open) => {
        await open.rows("lock table tasks in access share mode");
        await gate.wait();
      });
      await gate.reached;
      const migrating = migrate(test.open(1), [...MIGRATIONS, migration]).catch((error: unknown) => error);
      const hasWaited = async () => {
        const [row] = await test.database.rows<{ ms: number }>(
          `select (extract(epoch from clock_timestamp() - a.query_start) * 1000)::float8 as ms from pg_locks l
             join pg_stat_activity a using (pid) where not l.granted and l.relation = 'tasks'::regclass`,
        );
        return row === undefined ? false : row.ms > 2_000;
      };
      let isOver = false;
      void migrating.then(() => {
        isOver = true;
      });
      await until(async () => isOver || (await hasWaited()));
      const result = isOver ? await migrating : "waits";
      gate.open();
      await reader;
      await migrating;
      return result;
    }

    it("gives up without changes if older nodes serve, whose statements would wait", async () => {
      const result = await migrateBeside({ ...next, oldestNode: SCHEMA_VERSION });

      assert.ok(result instanceof Problem && result.code === "database_away", String(result));
      assert.equal(await schemaVersion(test.database), SCHEMA_VERSION);
    });

    it("waits if no older nodes serve", async () => {
      assert.equal(await migrateBeside(next), "waits");

      assert.equal(await schemaVersion(test.database), SCHEMA_VERSION + 1);
    });
  });

  it("stores with each migration the oldest node version that it allows", async () => {
    await migrate(test.database);

    const stored = await test.database.rows(
      "select version, oldest_node from schema_migrations order by version",
    );
    assert.deepEqual(
      stored,
      MIGRATIONS.map(({ version, oldestNode = version }) => ({ version, oldest_node: oldestNode })),
    );
  });

  it("adds the column oldest_node to a table that lacks it", async () => {
    await migrate(test.database);
    await test.database.rows("alter table schema_migrations drop column oldest_node");

    await migrate(test.database);

    await test.database.rows("update schema_migrations set oldest_node = 4 where version = 4");
    await requireCurrentSchema(test.database);
  });

  it("reports a schema that is older than the running node's", async () => {
    await migrate(test.database);
    await test.database.rows("delete from schema_migrations where version = $1", [SCHEMA_VERSION]);

    assert.match((await findSchemaConflict(test.database)) ?? "", /^version \d+, this node needs \d+$/);
  });

  it("rolls back completely when it fails halfway, and succeeds the next time", async () => {
    // In the way of a table in the middle of the migration.
    await test.database.rows("create table tasks (not_ours integer)");
    await assert.rejects(migrate(test.database), { code: "42P07" });
    assert.deepEqual(await tables(), ["tasks"]);

    await test.database.rows("drop table tasks");
    assert.deepEqual(await migrate(test.database), ALL);
  });

  it("refuses a schema from before the first release, with advice and without changes", async () => {
    await test.database.rows(
      `create table schema_migrations (version integer primary key, name text, applied_at timestamptz);
       insert into schema_migrations values (1, 'foundation'), (2, 'direct-calls')`,
    );

    const refused = (error: unknown) =>
      error instanceof SchemaUnreleased &&
      error.message.startsWith("The database has schema version 2, from before Bellhop's first release") &&
      /new data directory or an empty database, or start the version/.test(error.message);
    await assert.rejects(migrate(test.database), refused);
    await assert.rejects(requireCurrentSchema(test.database), refused);

    assert.deepEqual(await tables(), ["schema_migrations"]);
    assert.equal(await schemaVersion(test.database), 2);
  });
});
