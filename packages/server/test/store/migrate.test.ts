import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import {
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

  async function tables(): Promise<string[]> {
    const rows = await test.database.rows<{ name: string }>(
      "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1",
    );
    return rows.map(({ name }) => name);
  }

  it("brings an empty database up to date, and an up-to-date one nowhere", async () => {
    const applied = await migrate(test.database);

    assert.deepEqual(applied, ["first release", "cancel and retry"]);
    assert.equal(await schemaVersion(test.database), SCHEMA_VERSION);
    assert.ok((await tables()).includes("tasks"));
    assert.deepEqual(await migrate(test.database), []);
  });

  it("is done once when several nodes start at the same time on an empty database", async () => {
    const nodes = [test.open(1), test.open(1), test.open(1)];

    const applied = await Promise.all(nodes.map((node) => migrate(node)));

    assert.deepEqual(applied.flat().sort(), ["cancel and retry", "first release"]);
    assert.equal(await schemaVersion(test.database), SCHEMA_VERSION);
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
    assert.deepEqual(await migrate(test.database), ["first release", "cancel and retry"]);
  });

  it("carries over what a database of the first release holds", async () => {
    await migrate(test.database, 4);
    await test.database.rows(
      `insert into teams (id, name, plan) overriding system value values (1, 'Team', 'free');
       insert into queues (team_id, name, concurrency, max_retries, backoff, retry_delay_seconds, timeout_seconds)
       values (1, 'old', 5, 3, 'fixed', 1, 30);
       insert into tasks (team_id, id, queue_id, shape, status, priority, sandbox, method, url, timeout_seconds,
                          max_retries, backoff, retry_delay_seconds, run_at, created_at, completed_at, deadline_at)
       select 1, gen_random_uuid(), 1, 'queue', status, 5, false, 'POST', 'http://a.test', 30, 3, 'fixed', 1, now(), now(),
              case when status in ('completed', 'failed') then now() end, case when status = 'waiting' then now() end
         from unnest('{pending,waiting,completed,failed}'::text[]) status`,
    );

    assert.deepEqual(await migrate(test.database), ["cancel and retry"]);

    const rows = await test.database.rows("select status from tasks where retries = 0 order by 1");
    assert.equal(rows.length, 4);
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
