import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { createTaskChanges } from "../../../src/domain/task-changes.ts";
import { findBulk, insertBulk, insertPortion, stopBulk } from "../../../src/features/bulk-actions/store.ts";
import { type BulkWorker, createBulkWorker } from "../../../src/features/bulk-actions/worker.ts";
import { createTestClock, type TestClock } from "../../test-clock.ts";
import { createTestDatabase, type TestDatabase } from "../../test-database.ts";
import type { TextDatabase } from "../../test-sql.ts";

const REACH = { teamId: 1, environment: "live" } as const;

describe("a bulk worker", () => {
  let test: TestDatabase;
  let clock: TestClock;
  let database: TextDatabase;
  let worker: BulkWorker;
  before(async () => {
    test = await createTestDatabase();
    clock = await createTestClock(test);
    database = clock.open(2);
    worker = createBulkWorker({
      database,
      changes: createTaskChanges(),
      reopening: async () => null,
      follow: async () => {},
    });
  });
  after(() => test.drop());

  /** Of tasks that are gone: each of them is skipped when its turn comes. */
  async function start(rate: number): Promise<string> {
    const id = randomUUID();
    await insertBulk(database, REACH, { id, action: "delete", rate, matched: 10_000 });
    for (let number = 0; number < 10; number += 1)
      await insertPortion(database, REACH.teamId, id, number, Array.from({ length: 1_000 }, randomUUID));
    await database.rows("update bulks set next_at = clock_timestamp() where id = $1", [id]);
    return id;
  }
  const countOf = async (id: string) => (await findBulk(database, REACH, id))?.skipped ?? 0;

  /** Rounds until none is due, as the actor makes them. */
  async function work(): Promise<number> {
    for (;;) {
      const napMs = await worker.workOnce();
      if (napMs > 0) return napMs;
    }
  }

  for (const rate of [1_000, 333, 50, 7]) {
    it(`keeps a rate of ${rate} tasks a second although every turn is late`, async () => {
      const id = await start(rate);
      let passedMs = 0;
      while (passedMs < 5_000) {
        const lateMs = 1 + ((passedMs * 7) % 40);
        const napMs = (await work()) + lateMs;
        passedMs += napMs;
        await clock.advance(napMs);
      }
      await work();
      const expected = (rate * passedMs) / 1000;
      const count = await countOf(id);
      assert.ok(count >= expected * 0.97, `${count} of ${expected}`);
      assert.ok(count <= expected + Math.max(1, rate / 10) + 1, `${count} of ${expected}`);
      await stopBulk(database, REACH, id);
    });
  }

  it("catches up at most one second's worth after an outage", async () => {
    const id = await start(50);
    await work();
    const before = await countOf(id);
    await clock.advance(60_000);
    await work();
    const made = (await countOf(id)) - before;
    assert.ok(made >= 50 && made <= 60, String(made));
    await stopBulk(database, REACH, id);
  });
});
