import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it, mock } from "node:test";
import pg from "pg";
import { pino } from "pino";
import { Problem } from "../../src/domain/problem.ts";
import { sayWhatIsAwaited } from "../../src/postgres/start-waits.ts";
import { retryOnStart } from "../../src/server/retry-on-start.ts";
import { type SilentProxy, startSilentProxy } from "../silent-proxy.ts";
import { createTestDatabase, type TestDatabase } from "../test-database.ts";
import { type ServerProcess, startServer } from "./server-process.ts";

describe("a first start whose database is slow or loses connections", () => {
  let test: TestDatabase;
  let proxy: SilentProxy;
  let server: ServerProcess | null;

  beforeEach(async () => {
    server = null;
    test = await createTestDatabase({ template: "template1" });
    proxy = await startSilentProxy(test.connection);
  });
  afterEach(async () => {
    await proxy.close();
    server?.signal("SIGKILL");
    await server?.exited;
    await test.drop();
  });

  const start = async () => {
    const { user, database } = test.connection;
    server = await startServer({ DATABASE_URL: `postgres://${user}@127.0.0.1:${proxy.port}/${database}` });
    return server;
  };

  for (const way of ["request", "answer"] as const)
    it(`is ready although the ${way} of every statement is lost once`, async () => {
      // The first contact with a DATABASE_URL is not repeated: a wrong one is to be told at once.
      const lost = proxy.loseEachOnce(way, "bellhop-start");
      await start();

      const texts = [...lost].join("\n");
      for (const part of [
        "current_setting('fsync')",
        "pg_advisory_xact_lock",
        "create table tasks",
        "insert into schema_migrations",
        "commit",
        "insert into teams",
        "insert into workers",
      ])
        assert.ok(texts.includes(part), part);
    });

  it("is ready although PostgreSQL accepts the first connection and does not answer it", async () => {
    // The driver's own deadline for a connection, and ours for a statement.
    const held = [proxy.stallNext("bellhop-start", "answer"), proxy.stallNext("pg_backend_pid", "answer")];
    await start();
    await Promise.all(held);
  });

  it("is ready although PostgreSQL does not answer the first statements", async () => {
    const held = ["current_setting('fsync')", "insert into schema_migrations", "insert into workers"].map(
      (text) => proxy.stallNext(text, "answer"),
    );
    await start();
    await Promise.all(held);
  });
});

describe("a step of a start", () => {
  const away = () => new Problem("database_away", {}, { cause: new Error("no answer") });
  const log = pino({ level: "silent" });
  let nowMs = 0;
  before(() => {
    mock.method(performance, "now", () => nowMs);
  });
  after(() => mock.restoreAll());

  it("is retried for a minute while the database is away, and then fails", async () => {
    let tries = 0;
    const done = await retryOnStart(log, "a row", async () => {
      tries += 1;
      nowMs += 10_000;
      if (tries < 6) throw away();
      return "stored";
    });
    assert.equal(done, "stored");
    await assert.rejects(
      retryOnStart(log, "a row", async () => {
        nowMs += 60_001;
        throw away();
      }),
      { code: "database_away" },
    );
  });

  it("fails at once for another reason", async () => {
    let tries = 0;
    const work = async () => {
      tries += 1;
      throw new pg.DatabaseError("no such table", 0, "error");
    };
    await assert.rejects(retryOnStart(log, "a row", work), /no such table/);
    assert.equal(tries, 1);
  });

  it("is logged after 3 s and then every 10 s until it has ended", async (context) => {
    context.mock.timers.enable({ apis: ["setTimeout"] });
    const said: unknown[] = [];
    let end = () => {};
    const step = sayWhatIsAwaited(
      (event, fields) => said.push([event, fields]),
      "initdb",
      () =>
        new Promise<void>((resolve) => {
          end = resolve;
        }),
    );
    const pass = (ms: number) => {
      nowMs += ms;
      context.mock.timers.tick(ms);
    };
    pass(2_999);
    assert.deepEqual(said, []);
    pass(1);
    pass(10_000);
    end();
    await step;
    pass(60_000);
    assert.deepEqual(said, [
      ["start.waiting", { for: "initdb", seconds: 3 }],
      ["start.waiting", { for: "initdb", seconds: 13 }],
    ]);
  });
});
