import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it, mock } from "node:test";
import pg from "pg";
import { createDatabase } from "../../src/postgres/database.ts";
import { createPool } from "../../src/postgres/pool.ts";
import { type Database, statement, Unstorable } from "../../src/store/sql.ts";
import { createTestDatabase, type TestDatabase } from "../test-database.ts";

const READ = statement(
  "read_kinds",
  `select $1::integer as number, $2::text as text, $3::timestamptz as at, $4::jsonb as object, $5::bytea as bytes,
          $6::boolean as truth, $7::text[] as list, null::text as nothing`,
  { prepared: true },
);
const COUNT = statement("count_to", "select n as value from generate_series(1, $1::integer) n", {
  prepared: true,
});
const ADD = statement("add_seat", "insert into seats values ($1::integer)", { prepared: true });
const DIVIDE = statement("divide", "select 10 / $1::integer as part", { prepared: true });

describe("a prepared statement", () => {
  let test: TestDatabase;
  let pool: pg.Pool;
  let database: Database;
  let sent: string[];

  before(async () => {
    test = await createTestDatabase();
    await test.database.rows("create table seats (id integer primary key)");
    pool = createPool(test.connection, { max: 1, applicationName: "test", onError: () => {} });
    database = createDatabase(pool, 60_000);
    for (const message of ["parse", "describe", "execute"] as const) {
      const send = pg.Connection.prototype[message];
      mock.method(pg.Connection.prototype, message, function (this: pg.Connection, ...args: unknown[]) {
        sent.push(message);
        return Reflect.apply(send, this, args);
      });
    }
  });
  beforeEach(() => {
    sent = [];
  });
  after(async () => {
    mock.restoreAll();
    await pool.end();
    await test.drop();
  });

  it("returns the same values as the driver's own query, for every kind", async () => {
    const at = new Date("2030-01-31T09:00:00.123Z");
    const values = [7, 'say "hi" \\ é😀', at, { a: [1, "two"] }, Buffer.from([0, 255]), true, ["a", null]];
    const client = await pool.connect();
    const expected = await client.query(READ.text, values).finally(() => client.release());
    const rows = await database.rows(READ, values);
    assert.deepEqual(rows, [{ ...expected.rows[0] }]);
    assert.deepEqual(rows, [
      {
        number: 7,
        text: 'say "hi" \\ é😀',
        at,
        object: { a: [1, "two"] },
        bytes: Buffer.from([0, 255]),
        truth: true,
        list: ["a", null],
        nothing: null,
      },
    ]);
  });

  it("is parsed and described at its first execution on a connection, and only executed after that", async () => {
    const numbers = [1, 2, 3].map((value) => ({ value }));
    assert.deepEqual(await database.rows(COUNT, [3]), numbers);
    assert.deepEqual(sent, ["parse", "describe", "execute"]);
    assert.deepEqual(await database.rows(COUNT, [2]), numbers.slice(0, 2));
    assert.deepEqual(await database.rows(COUNT, [0]), []);
    assert.deepEqual(sent.slice(3), ["execute", "execute"]);
  });

  it("may return no columns", async () => {
    assert.deepEqual(await database.rows(ADD, [1]), []);
    assert.deepEqual(await database.rows(ADD, [2]), []);
    assert.deepEqual(sent, ["parse", "describe", "execute", "execute"]);
    assert.deepEqual(
      await database.rows<{ id: number }>(statement("seats", "select id from seats order by id")),
      [{ id: 1 }, { id: 2 }],
    );
  });

  it("works on the same connection after its first execution failed", async () => {
    await database.transaction(async (sql) => {
      await sql.rows(statement("savepoint", "savepoint before"));
      await assert.rejects(sql.rows(DIVIDE, [0]), pg.DatabaseError);
      await sql.rows(statement("back", "rollback to before"));
      assert.deepEqual(await sql.rows(DIVIDE, [5]), [{ part: 2 }]);
      assert.deepEqual(await sql.rows(DIVIDE, [2]), [{ part: 5 }]);
    });
    assert.deepEqual(sent, ["parse", "describe", "execute", "describe", "execute", "execute"]);
  });

  it("is prepared again on the next connection after an error", async () => {
    await assert.rejects(database.rows(DIVIDE, [0]), Unstorable);
    assert.deepEqual(await database.rows(DIVIDE, [5]), [{ part: 2 }]);
    assert.deepEqual(sent.slice(-3), ["parse", "describe", "execute"]);
  });
});
