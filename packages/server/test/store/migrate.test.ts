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
  schemaVersion,
} from "../../src/store/migrate.ts";
import {
  hashOf,
  MadeBeforeRelease,
  type Migration,
  OtherHistory,
} from "../../src/store/migration-history.ts";
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

  const catalog = () =>
    test.database.rows(
      `select attrelid::regclass::text as owner, attname::text as name from pg_attribute join pg_class on attrelid = pg_class.oid
        where relnamespace = 'public'::regnamespace order by 1, 2`,
    );

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

  describe("the stored history", () => {
    const later = (offset: number, name: string) => ({
      version: SCHEMA_VERSION + offset,
      name,
      sql: `create table ${name} (id integer)`,
      // So that this build, which does not have it, accepts it.
      oldestNode: SCHEMA_VERSION,
    });
    const SECOND = later(2, "second");
    const THIRD = later(3, "third");
    const KNOWN = [...MIGRATIONS, SECOND, THIRD];

    /** The migration refuses, and every table is as it was. */
    async function assertRefused(known: readonly Migration[], difference: RegExp): Promise<void> {
      const before = await catalog();
      await assert.rejects(migrate(test.database, known), (error) => isRefusal(error, difference));
      assert.deepEqual(await catalog(), before);
    }

    const isRefusal = (error: unknown, difference: RegExp) =>
      error instanceof OtherHistory &&
      difference.test(error.message) &&
      /Nothing was changed\. Start the build that migrated it, or start this one with a new data directory/.test(
        error.message,
      );

    it("has the hash and the oldest node version of every migration", async () => {
      await migrate(test.database, [...MIGRATIONS, SECOND]);

      const rows = await test.database.rows(
        'select version, hash, oldest_node as "oldestNode" from schema_migrations order by version',
      );
      assert.deepEqual(
        rows,
        [...MIGRATIONS, SECOND].map((migration: Migration) => ({
          version: migration.version,
          hash: hashOf(migration),
          oldestNode: migration.oldestNode ?? migration.version,
        })),
      );
    });

    it("is refused, without changes, when a hash differs", async () => {
      await migrate(test.database, [...MIGRATIONS, SECOND]);
      const changed = { ...SECOND, sql: `${SECOND.sql} -- edited` };

      await assertRefused(
        [...MIGRATIONS, changed, THIRD],
        /its migration \d+ \("second"\) has other SQL than this build's/,
      );
    });

    it("is refused by the command line too", async () => {
      await migrate(test.database);
      await test.database.rows("update schema_migrations set hash = 'another' where version = $1", [
        SCHEMA_VERSION,
      ]);

      await assert.rejects(requireCurrentSchema(test.database), (error) =>
        isRefusal(error, /has other SQL than this build's/),
      );
    });

    it("is refused when it lacks a migration in the middle", async () => {
      await migrate(test.database, [...MIGRATIONS, THIRD]);

      await assertRefused(KNOWN, /it has migration \d+ \("third"\) without migration \d+ \("second"\)/);
    });

    it("is refused when it has a migration that this build lacks", async () => {
      await migrate(test.database, [...MIGRATIONS, later(1, "elsewhere")]);

      await assertRefused(KNOWN, /it has migration \d+ \("elsewhere"\), which this build does not have/);
    });
  });

  describe("a database of a build from before the first release", () => {
    /** The histories that such builds left, and the columns that their tables had. */
    const HISTORIES: readonly [name: string, columns: string, rows: string][] = [
      [
        "at version 50, with hashes",
        "name text not null, hash text, oldest_node integer,",
        `(4, 'first release', 'cdfa', 4), (5, 'nodes', '63fc', 5), (50, 'schedule portions', '8d73', 26)`,
      ],
      ["at version 42, without hashes", "name text not null,", "(4, 'first release'), (42, 'ordered flows')"],
      ["at version 4", "name text not null, hash text,", "(4, 'first release', null)"],
      ["at version 2", "name text,", "(1, 'foundation'), (2, 'direct-calls')"],
      ["at version 1", "name text,", "(1, 'foundation')"],
    ];
    for (const [name, columns, rows] of HISTORIES) {
      it(`is refused and unchanged: ${name}`, async () => {
        await test.database.rows(
          `create table schema_migrations (version integer primary key, ${columns} applied_at timestamptz not null default now());
           create table tasks (team_id integer);
           insert into schema_migrations values ${rows}`,
        );
        const stored = () => test.database.rows("select * from schema_migrations order by version");
        const before = [await catalog(), await stored()];

        const refused = (error: unknown) =>
          error instanceof MadeBeforeRelease &&
          error.message ===
            "The database was made by a build of Bellhop from before its first release and cannot be brought up to date: " +
              "start with a new data directory or an empty database, or start the build that made it.";
        await assert.rejects(migrate(test.database), refused);
        await assert.rejects(requireCurrentSchema(test.database), refused);

        assert.deepEqual([await catalog(), await stored()], before);
      });
    }
  });

  describe("a database migrated by a newer version", () => {
    async function addLater(version: number, name: string, oldestNode: number): Promise<void> {
      await test.database.rows(
        "insert into schema_migrations (version, name, hash, oldest_node) values ($1, $2, 'unknown', $3)",
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
      await addLater(SCHEMA_VERSION + 1, "from the future", SCHEMA_VERSION + 1);

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
      await test.database.rows("update schema_migrations set hash = 'another' where version = $1", [
        SCHEMA_VERSION,
      ]);

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
});
