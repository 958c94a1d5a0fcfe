import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import type pg from "pg";
import { Problem } from "../../src/domain/problem.ts";
import { createDatabase } from "../../src/postgres/database.ts";
import { createListener } from "../../src/postgres/listener.ts";
import { createPool, endPool } from "../../src/postgres/pool.ts";
import { statement } from "../../src/store/sql.ts";
import { until } from "../patience.ts";
import { type SilentProxy, startSilentProxy } from "../silent-proxy.ts";
import { createTestDatabase, type TestDatabase } from "../test-database.ts";
import { acceptText, type TextDatabase } from "../test-sql.ts";

/** Shorter than a node's own, so that the tests are; longer than a busy machine takes for a statement. */
const STATEMENT_MS = 1_000;

describe("a connection that stops answering without closing", () => {
  let test: TestDatabase;
  let proxy: SilentProxy;
  let pool: pg.Pool;
  let database: TextDatabase;
  before(async () => {
    test = await createTestDatabase();
    await test.database.rows("create table guests (name text)");
  });
  after(() => test.drop());
  beforeEach(async () => {
    proxy = await startSilentProxy(test.connection);
    pool = createPool(connection(), { max: 1, applicationName: "desk", onError: () => {} });
    database = acceptText(createDatabase(pool, STATEMENT_MS));
    await patient().rows("select 1");
  });
  afterEach(async () => {
    await endPool(pool);
    await proxy.close();
  });

  /** For what is not to be refused. */
  const patient = () => acceptText(createDatabase(pool, 60_000));
  const connection = () => ({
    connectionString: `postgres://${test.connection.user}@127.0.0.1:${proxy.port}/${test.connection.database}`,
  });

  async function refusedInTime(asked: Promise<unknown>): Promise<void> {
    const beganMs = performance.now();
    await assert.rejects(asked, (error: unknown) => {
      assert.ok(error instanceof Problem, String(error));
      assert.deepEqual([error.code, error.retryAfterSeconds], ["database_away", 1]);
      return true;
    });
    const tookMs = performance.now() - beganMs;
    assert.ok(tookMs >= STATEMENT_MS * 0.9, `${tookMs} ms: it was given its time`);
    assert.ok(tookMs < STATEMENT_MS * 10, `${tookMs} ms`);
  }

  it("is closed when a statement times out, and the next statement gets a new one", async () => {
    proxy.silenceUse("desk");
    await refusedInTime(database.rows("select 1"));

    assert.deepEqual(await patient().rows("select 2 as two"), [{ two: 2 }]);
    assert.equal(proxy.links.length, 2);
  });

  it("does not deliver a late answer to a later statement", async () => {
    void proxy.stallNext("select 'late'", "answer");
    await refusedInTime(database.rows("select 'late' as answer"));
    const asked = patient().rows("select 'mine' as answer");
    proxy.release();

    assert.deepEqual(await asked, [{ answer: "mine" }]);
  });

  it("ends its transaction, so that others get its lock in time", async () => {
    await patient().rows("insert into guests values ('first')");
    void proxy.stallNext("commit", "request");
    await refusedInTime(database.transaction((sql) => sql.rows("update guests set name = 'second'")));

    // The server still waits for the commit, with the row locked.
    const names = await patient().rows("select name from guests");
    assert.deepEqual(names, [{ name: "first" }]);
    const waiting = acceptText(createDatabase(pool)).rows("update guests set name = 'third' returning name");
    assert.deepEqual(await waiting, [{ name: "third" }]);
    proxy.release();
    assert.deepEqual(await patient().rows("select name from guests"), [{ name: "third" }]);
  });

  it("is refused in time when it is new, and works again when the network is back", async () => {
    proxy.silence();
    await refusedInTime(database.rows("select 1"));
    await refusedInTime(database.rows("select 1"));
    await refusedInTime(database.transaction((sql) => sql.rows("select 1")));
    proxy.release();

    let rows: object[] | null = null;
    await until(async () => {
      rows = await database.rows("select 2 as two").catch(() => null);
      return rows !== null;
    });
    assert.deepEqual(rows, [{ two: 2 }]);
  });

  it("frees its place in the pool when it hangs during setup", async () => {
    await endPool(pool);
    pool = createPool(connection(), { max: 1, applicationName: "new", onError: () => {} });
    database = acceptText(createDatabase(pool, STATEMENT_MS));
    void proxy.stallNext("plan_cache_mode", "answer");
    await refusedInTime(database.rows("select 1"));

    // The pool's only place is free again once the connection's own time is over.
    for (let tries = 1; ; tries += 1) {
      if ((await database.rows("select 1").catch(() => null)) !== null) break;
      assert.ok(tries < 20, "the pool found its place again");
    }
  });

  it("gets more time for a statement with more patience", async () => {
    const slow = statement("slow", `select pg_sleep(${(STATEMENT_MS * 2) / 1000}), 'page' as page`, {
      patience: "list",
    });
    assert.equal((await database.rows<{ page: string }>(slow))[0]?.page, "page");
  });

  it("does not prevent the pool from ending", async () => {
    await patient().rows("select 1");
    proxy.silence();
    const stuck = assert.rejects(patient().rows("select 1"));
    await new Promise(setImmediate);
    await endPool(pool);
    await stuck;

    assert.equal(pool.totalCount, 0);
    pool = createPool(connection(), { max: 1, applicationName: "desk", onError: () => {} });
  });

  it("is not assumed after the process was frozen: an answer that has arrived is read", async () => {
    const asked = database.rows("select 1 as one");
    await new Promise(setImmediate);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STATEMENT_MS * 2);

    assert.deepEqual(await asked, [{ one: 1 }]);
  });
});

describe("a listener whose connection stops answering", () => {
  let test: TestDatabase;
  let proxy: SilentProxy;
  before(async () => {
    test = await createTestDatabase();
    proxy = await startSilentProxy(test.connection);
  });
  after(async () => {
    await proxy.close();
    await test.drop();
  });

  it("reconnects, reports it and receives notifications again", async () => {
    const heard: string[] = [];
    let connections = 0;
    const { user, database } = test.connection;
    const listener = createListener({
      connection: { connectionString: `postgres://${user}@127.0.0.1:${proxy.port}/${database}` },
      channel: "server",
      beatMs: 50,
      onMessage(message) {
        heard.push(message);
      },
      onConnected() {
        connections += 1;
      },
    });
    await until(() => connections > 0);
    const before = connections;
    proxy.silenceUse("bellhop-listen");
    await until(() => connections > before);
    // On a busy machine it may take a late answer for silence, and connect once more.
    await until(async () => {
      await test.database.rows("select pg_notify('server', 'hello')");
      return heard.length > 0;
    });
    assert.equal(heard[0], "hello");

    proxy.silence();
    const beganMs = performance.now();
    await listener.stop();
    assert.ok(performance.now() - beganMs < 10_000, "stopping does not wait for it either");
  });
});
