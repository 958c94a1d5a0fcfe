import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import { pino } from "pino";
import { Problem } from "../../src/domain/problem.ts";
import { createPool } from "../../src/postgres/pool.ts";
import { errorFields } from "../../src/server/error-fields.ts";
import { createTestDatabase, type TestDatabase } from "../test-database.ts";

const SECRET = "canary-of-a-body";

describe("an error in the log", () => {
  let test: TestDatabase;
  let lines: string[];
  before(async () => {
    test = await createTestDatabase();
    await test.database.rows("create table notes (text text check (length(text) < 3), number integer)");
  });
  after(() => test.drop());

  const log = () => {
    lines = [];
    return pino({ serializers: { err: errorFields } }, { write: (line: string) => lines.push(line) });
  };

  it("contains no secret of a lost connection (promise G)", async () => {
    const logger = log();
    await new Promise<void>((resolve) => {
      const pool = createPool(test.connection, {
        max: 1,
        applicationName: "victim",
        onError(err) {
          logger.warn({ err }, "database.connection_lost");
          if ("client" in err) pool.end().then(resolve);
        },
      });
      pool.query("select pg_backend_pid() as pid").then(({ rows }) => endBackend(test, rows[0].pid));
    });

    assert.equal(lines.join("").includes("secretKey"), false, lines.join(""));
    assert.equal(lines.join("").includes('"code":"57P01"'), true, lines.join(""));
  });

  it("does not quote the values of a failed statement (promise G)", async () => {
    const logger = log();
    for (const statement of [
      "insert into notes (text) values ($1)",
      "insert into notes (number) values ($1::text::integer)",
    ]) {
      await test.database.rows(statement, [SECRET]).catch((err) => logger.error({ err }, "failed"));
    }

    assert.equal(lines.length, 2);
    assert.equal(lines.join("").includes(SECRET), false, lines.join(""));
    assert.equal(lines.join("").includes("23514"), true);
    assert.equal(lines.join("").includes("22P02"), true);
  });

  it("has its type, message, stack and cause", () => {
    log().error({ err: new Problem("database_away", {}, { cause: new RangeError("too far") }) }, "failed");
    const { err } = JSON.parse(lines[0] ?? "");

    assert.equal(err.type, "Problem");
    assert.equal(err.message, "The database cannot be reached, try again shortly");
    assert.equal(err.cause.message, "too far");
    assert.match(err.stack, /^ {4}at .*error-log/);
  });
});

async function endBackend({ connection }: TestDatabase, pid: number): Promise<void> {
  const client = new pg.Client(connection);
  await client.connect();
  await client.query("select pg_terminate_backend($1)", [pid]);
  await client.end();
}
