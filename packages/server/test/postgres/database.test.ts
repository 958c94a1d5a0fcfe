import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import { createTestDatabase, type TestDatabase } from "../test-database.ts";

describe("two that wait for each other", () => {
  let test: TestDatabase;
  let other: pg.Client;

  before(async () => {
    test = await createTestDatabase();
    await test.database.rows("create table seats (id integer primary key, taken integer not null)");
    await test.database.rows("insert into seats values (1, 0), (2, 0)");
    other = new pg.Client(test.connection);
    await other.connect();
  });
  after(async () => {
    await other.end();
    await test.drop();
  });

  const TAKE_SECOND_THEN_FIRST = `with second as materialized (select id from seats where id = 2 for update)
    update seats s set taken = taken + 1 from second where s.id = 1 and second.id = 2 returning taken`;

  /** Takes the first seat, lets `work` take the second and wait for the first, and wants the second too. */
  async function cross(work: () => Promise<unknown>): Promise<unknown> {
    await other.query("begin");
    // The one under test is to be the one that PostgreSQL undoes.
    await other.query("set local deadlock_timeout = '1min'");
    await other.query("update seats set taken = 0 where id = 1");
    const working = work();
    await oneWaits();
    await other.query("update seats set taken = 0 where id = 2");
    await other.query("commit");
    return working;
  }

  async function oneWaits(): Promise<void> {
    for (;;) {
      const { rows } = await other.query(
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      if (rows.length > 0) return;
    }
  }

  it("a statement that was undone is made again", async () => {
    assert.deepEqual(await cross(() => test.database.rows(TAKE_SECOND_THEN_FIRST)), [{ taken: 1 }]);
  });

  it("a transaction that was undone is made again, from its beginning", async () => {
    let begun = 0;
    const done = await cross(() =>
      test.database.transaction(async (sql) => {
        begun += 1;
        await sql.rows("select 1 from seats where id = 2 for update");
        return sql.rows("update seats set taken = taken + 1 where id = 1 returning taken");
      }),
    );

    assert.deepEqual(done, [{ taken: 1 }]);
    assert.equal(begun, 2);
  });
});
