import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import { Problem } from "../../src/domain/problem.ts";
import { createDatabase } from "../../src/postgres/database.ts";
import { createPool } from "../../src/postgres/pool.ts";
import { Unstorable } from "../../src/store/sql.ts";
import { until } from "../patience.ts";
import { createTestDatabase, type TestDatabase } from "../test-database.ts";
import { acceptText, type TextDatabase } from "../test-sql.ts";

describe("a deadlock", () => {
  let test: TestDatabase;
  let pool: pg.Pool;
  let other: pg.Client;
  let watcher: pg.Client;

  before(async () => {
    test = await createTestDatabase();
    await test.database.rows("create table seats (id integer primary key, taken integer not null)");
    await test.database.rows("insert into seats values (1, 0), (2, 0)");
    await test.database.rows(`alter database ${test.connection.database} set deadlock_timeout = '200ms'`);
    pool = new pg.Pool({ ...test.connection, max: 1 });
    [other, watcher] = [new pg.Client(test.connection), new pg.Client(test.connection)];
    await Promise.all([other.connect(), watcher.connect()]);
  });
  after(async () => {
    await Promise.all([other.end(), watcher.end(), pool.end()]);
    await test.drop();
  });

  const WAIT_AT_THE_GATE = "select pg_advisory_xact_lock(1) as passed";
  const TAKE_SECOND_THEN_FIRST = `with second as materialized (select id from seats where id = 2 for update),
    gate as materialized (${WAIT_AT_THE_GATE} from second)
    update seats s set taken = taken + 1 from gate where s.id = 1 and gate.passed is not null returning taken`;

  /**
   * Takes the first place, lets `work` take the second, wants the second too, and then lets `work` want the first: who asks
   * last is the one that finds out, and is undone. A busy machine may take its time for it.
   */
  async function cross(work: (database: TextDatabase) => Promise<unknown>): Promise<unknown> {
    await watcher.query("select pg_advisory_lock(1)");
    await other.query("begin");
    await other.query("set local deadlock_timeout = '10min'");
    await other.query("update seats set taken = 0 where id = 1");
    const working = work(acceptText(createDatabase(pool, 480_000)));
    await waiting(1);
    const wanting = other.query("update seats set taken = 0 where id = 2");
    await waiting(2);
    await watcher.query("select pg_advisory_unlock(1)");
    await wanting;
    await other.query("commit");
    return working;
  }

  async function waiting(count: number): Promise<void> {
    await until(async () => {
      const { rows } = await watcher.query(
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return rows.length === count;
    });
  }

  it("is retried by repeating the statement", async () => {
    assert.deepEqual(await cross((database) => database.rows(TAKE_SECOND_THEN_FIRST)), [{ taken: 1 }]);
  });

  it("is retried by repeating the whole transaction", async () => {
    let begun = 0;
    const done = await cross((database) =>
      database.transaction(async (sql) => {
        begun += 1;
        await sql.rows("select 1 from seats where id = 2 for update");
        await sql.rows(WAIT_AT_THE_GATE);
        return sql.rows("update seats set taken = taken + 1 where id = 1 returning taken");
      }),
    );

    assert.deepEqual(done, [{ taken: 1 }]);
    // More than twice where it had the second place again before the other, which waited for it, was awake.
    assert.ok(begun >= 2, `begun ${begun} times`);
  });
});

describe("a database that is temporarily unavailable", () => {
  let test: TestDatabase;
  before(async () => {
    test = await createTestDatabase();
  });
  after(() => test.drop());

  const raise = (code: string) =>
    test.database.rows(`do $$ begin raise exception 'as told' using errcode = '${code}'; end $$`);

  for (const [code, meaning] of Object.entries({
    "53100": "its disk is full",
    "53200": "its memory is used up",
    "53300": "it has no connection left",
    "58030": "it cannot read or write a file",
    "57P03": "it is starting or stopping",
    "57014": "it gave up a statement that took too long",
    "55P03": "it gave up the wait for a lock",
    "25006": "it is read-only",
  }))
    it(`answers 503 with Retry-After when ${meaning} (${code})`, async () => {
      await assert.rejects(raise(code), (error: unknown) => {
        assert.ok(error instanceof Problem);
        assert.deepEqual([error.code, error.status, error.retryAfterSeconds], ["database_away", 503, 1]);
        return true;
      });
    });

  it("is distinguished from one that refuses an invalid statement", async () => {
    await assert.rejects(raise("23514"), pg.DatabaseError);
    await assert.rejects(raise("22021"), Unstorable);
  });
});

describe("a connection to a server with other defaults", () => {
  it("turns JIT compilation off for its own statements, and reads what is committed", async () => {
    const test = await createTestDatabase();
    const { database } = test.connection;
    await test.database.rows(`alter database ${database} set jit = on`);
    await test.database.rows(
      `alter database ${database} set default_transaction_isolation = 'repeatable read'`,
    );
    const pool = createPool(test.connection, { max: 1, applicationName: "jit", onError: () => {} });
    try {
      assert.deepEqual((await pool.query("show jit")).rows, [{ jit: "off" }]);
      const { rows } = await pool.query("show transaction_isolation");
      assert.deepEqual(rows, [{ transaction_isolation: "read committed" }]);
    } finally {
      await pool.end();
      await test.drop();
    }
  });
});

describe("query results", () => {
  let test: TestDatabase;

  before(async () => {
    test = await createTestDatabase();
  });
  after(() => test.drop());

  it("have the names and values of their columns in every row", async () => {
    const rows = await test.database.rows(
      'select n as "theNumber", nullif(n, 2) as other from generate_series(1, 2) n',
    );
    assert.deepEqual(rows, [
      { theNumber: 1, other: 1 },
      { theNumber: 2, other: null },
    ]);
  });

  it("have a Date object of its own for each timestamp, even for equal ones", async () => {
    const [row] = await test.database.rows<{ one: Date; other: Date; later: Date; never: number }>(
      `select t as one, t as other, t + interval '1 ms' as later, 'infinity'::timestamptz as never
         from (select '2026-11-16 06:00:00.25+00'::timestamptz) s(t)`,
    );
    assert.ok(row);
    assert.deepEqual(
      [row.one.toISOString(), row.other.toISOString(), row.later.toISOString(), row.never],
      [
        "2026-11-16T06:00:00.250Z",
        "2026-11-16T06:00:00.250Z",
        "2026-11-16T06:00:00.251Z",
        Number.POSITIVE_INFINITY,
      ],
    );
    assert.notEqual(row.one, row.other);
  });

  it("are empty for a text of several statements", async () => {
    assert.deepEqual(await test.database.rows("select 1; select 2"), []);
  });
});
