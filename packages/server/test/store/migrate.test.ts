import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import {
  MIGRATIONS,
  migrate,
  requireCurrentSchema,
  SCHEMA_VERSION,
  SchemaTooNew,
  SchemaUnreleased,
  schemaVersion,
} from "../../src/store/migrate.ts";
import { createTestDatabase, type TestDatabase } from "../test-database.ts";

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

  it("brings an empty database up to date, and an up-to-date one nowhere", async () => {
    const applied = await migrate(test.database);

    assert.deepEqual(applied, ALL);
    assert.equal(await schemaVersion(test.database), SCHEMA_VERSION);
    assert.ok((await tables()).includes("tasks"));
    assert.deepEqual(await migrate(test.database), []);
  });

  it("is done once when several nodes start at the same time on an empty database", async () => {
    const nodes = [test.open(1), test.open(1), test.open(1)];

    const applied = await Promise.all(nodes.map((node) => migrate(node)));

    assert.deepEqual(applied.flat().sort(), [...ALL].sort());
    assert.equal(await schemaVersion(test.database), SCHEMA_VERSION);
  });

  it("counts what the first release had in the sandbox apart from the rest", async () => {
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

  it("refuses a database that a newer version has migrated, and leaves it alone", async () => {
    await migrate(test.database);
    await test.database.rows("insert into schema_migrations (version, name) values ($1, 'from the future')", [
      SCHEMA_VERSION + 1,
    ]);

    await assert.rejects(migrate(test.database), SchemaTooNew);

    assert.equal(await schemaVersion(test.database), SCHEMA_VERSION + 1);
  });

  it("leaves nothing behind when it breaks off half-way, and succeeds the next time", async () => {
    // In the way of a table in the middle of the migration.
    await test.database.rows("create table tasks (not_ours integer)");
    await assert.rejects(migrate(test.database), { code: "42P07" });
    assert.deepEqual(await tables(), ["tasks"]);

    await test.database.rows("drop table tasks");
    assert.deepEqual(await migrate(test.database), ALL);
  });

  it("refuses a layout from before the first release, says what to do, and leaves it alone", async () => {
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
