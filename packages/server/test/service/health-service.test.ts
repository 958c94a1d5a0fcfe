import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createHealthService } from "../../src/service/health-service.ts";
import { watchDatabaseHealth } from "../../src/store/database-health.ts";
import { statement } from "../../src/store/sql.ts";
import { createTestDatabase, type TestDatabase } from "../test-database.ts";
import { createGate, databaseAway, watchDatabase } from "../test-sql.ts";

describe("readiness", () => {
  let test: TestDatabase;
  before(async () => {
    test = await createTestDatabase();
  });
  after(() => test.drop());

  function createScene() {
    let nowMs = 0;
    const watched = watchDatabase(test.database);
    const intake = watchDatabaseHealth(watched, () => nowMs);
    const health = createHealthService({
      sql: test.database,
      databaseHealth: { intake },
      isDispatching: () => true,
    });
    const store = () => intake.database.rows(statement("probe", "select 1"));
    const pass = (ms: number) => {
      nowMs += ms;
    };
    const database = async () => (await health.check()).checks.database;
    return { watched, store, pass, database, health };
  }

  it("ends when a statement is unanswered for over three seconds, and names its purpose", async () => {
    const { watched, store, pass, database, health } = createScene();
    await store();
    const gate = createGate();
    watched.before = gate.wait;
    const stored = store();
    await gate.reached;
    // The probe gets no answer either.
    watched.before = () => {
      throw databaseAway();
    };
    pass(3000);
    assert.equal(await database(), "ok");
    pass(1000);
    assert.deepEqual(await health.check(), {
      ready: false,
      checks: {
        database: "has not answered intake for 4 s",
        migrations: "ok",
        dispatcher: "ok",
      },
    });

    watched.before = () => {};
    gate.open();
    await stored;
    assert.equal(await database(), "ok");
  });

  it("ends while statements fail, and returns by its own probe", async () => {
    const { watched, store, pass, database } = createScene();
    watched.before = () => {
      throw databaseAway();
    };
    for (let tries = 0; tries < 3; tries += 1) {
      await assert.rejects(store());
      pass(1500);
    }
    assert.equal(await database(), "has not answered intake for 5 s");
    pass(60_000);
    assert.equal(await database(), "has not answered intake for 65 s");

    // No task comes any more that could show it: the check tries for itself.
    watched.before = () => {};
    assert.equal(await database(), "ok");
    const rows = await test.database.rows("select 1 from idempotency_keys");
    assert.equal(rows.length, 0, "and leaves nothing behind");
  });

  it("is not ended by a single lost connection", async () => {
    const { watched, store, pass, database } = createScene();
    watched.before = () => {
      watched.before = () => {};
      throw databaseAway();
    };
    await assert.rejects(store());
    pass(200);
    await store();
    pass(60_000);
    assert.equal(await database(), "ok");
  });
});
