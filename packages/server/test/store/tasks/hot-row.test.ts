import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { activeTasks, removeSettledBatches } from "../../../src/store/claim-batches.ts";
import { claimDueTasks } from "../../../src/store/tasks/task-claims.ts";
import { findTask } from "../../../src/store/tasks/task-reads.ts";
import { settleAttempts } from "../../../src/store/tasks/task-settlements.ts";
import { lockLate } from "../../late-lock.ts";
import {
  claimRequest,
  live,
  openTestStore,
  type StoredQueue,
  settlementOf,
  type TestStore,
} from "../../test-store.ts";

describe("a task's row", () => {
  let store: TestStore;
  let queue: StoredQueue;
  let workerId: number;
  before(async () => {
    store = await openTestStore();
    queue = await store.openQueue();
    workerId = await store.openWorker();
    await store.database.rows("alter table tasks set (autovacuum_enabled = false)");
  });
  after(() => store.close());

  /** How many tasks were updated, and how many of them in place, by everything on this connection so far. */
  async function updates(): Promise<{ all: number; hot: number }> {
    await store.database.rows("select pg_stat_force_next_flush()");
    const [row] = await store.database.rows<{ all: number; hot: number }>(
      `select n_tup_upd::integer as all, n_tup_hot_upd::integer as hot from pg_stat_user_tables where relname = 'tasks'`,
    );
    return row ?? assert.fail();
  }

  const batches = () => store.database.rows("select * from claim_batches where worker_id = $1", [workerId]);

  it("is updated in place by a completed settlement", async () => {
    // So few that their page has room for all versions of all of them.
    await store.insert(queue, ...Array.from({ length: 5 }, () => ({})));
    const claims = await store.claim(queue, { workerId, limit: 5 });
    const earlier = await updates();

    await settleAttempts(
      store.database,
      claims.map((claim) => settlementOf(claim)),
      workerId,
    );

    const { all, hot } = await updates();
    assert.equal(all - earlier.all, 5);
    assert.equal(hot - earlier.hot, 5);
  });

  it("stores no attempt if the first one completed the task, and reads show it", async () => {
    const [id = ""] = await store.insert(queue, {});
    const [claim] = await store.claim(queue, { workerId });
    const settlement = settlementOf(claim ?? assert.fail());
    await settleAttempts(store.database, [settlement], workerId);

    const rows = await store.database.rows("select attempts from tasks where id = $1", [id]);
    assert.deepEqual(rows, [{ attempts: [] }]);
    const task = await findTask(store.database, live(queue.teamId), id);
    assert.deepEqual(task?.attempts, [settlement.attempt]);
  });

  it("is found by the claim batch of its worker until the batch is settled", async () => {
    await removeSettledBatches(store.database, workerId);
    assert.deepEqual(await batches(), []);
    const ids = await store.insert(queue, {}, {});
    const claims = await store.claim(queue, { workerId, limit: 2 });
    const active = () =>
      store.database.rows<{ id: string }>(`select t.id ${activeTasks("$1")} order by t.id`, [queue.teamId]);
    assert.deepEqual(
      await active(),
      ids.map((id) => ({ id })).sort((a, b) => (a.id < b.id ? -1 : 1)),
    );

    for (const claim of claims) {
      await removeSettledBatches(store.database, workerId);
      assert.equal((await batches()).length, 1);
      await settleAttempts(store.database, [settlementOf(claim)], workerId);
    }

    await removeSettledBatches(store.database, workerId);
    assert.deepEqual(await batches(), []);
    assert.deepEqual(await active(), []);
  });

  describe("that changes between a claim's snapshot and its lock", () => {
    /** Returns the ids that a claim takes which saw the rows as they were before `change` and locks them after it. */
    async function claimAround(change: string, id: string): Promise<string[]> {
      const { database } = store;
      const request = await claimRequest(database, queue, { workerId });
      const { claims } = await lockLate(
        database,
        (sql) => claimDueTasks(sql, request),
        () => database.rows(change, [id]),
      );
      return claims.map((each) => each.id);
    }

    it("is left to the next claim when it is still due", async () => {
      const [id = ""] = await store.insert(queue, {});

      const ids = await claimAround("update tasks set error = 'changed' where id = $1", id);

      assert.deepEqual(ids, []);
      const [claim] = await store.claim(queue, { workerId });
      assert.equal(claim?.id, id);
      assert.equal(claim?.fence, 1);
    });

    it("is not claimed when another worker has claimed it", async () => {
      const [id = ""] = await store.insert(queue, {});

      const ids = await claimAround(
        `update tasks set status = 'active', due_at = null, list_key = 'begun', worker_id = 99, fence = fence + 1,
                attempt_count = 1, attempt_started_at = now(), started_at = now()
          where id = $1`,
        id,
      );

      assert.deepEqual(ids, []);
      const rows = await store.database.rows("select worker_id::integer, fence from tasks where id = $1", [
        id,
      ]);
      assert.deepEqual(rows, [{ worker_id: 99, fence: 1 }]);
    });
  });

  it("has a statistics target of 0 or 25 for every column", async () => {
    const rows = await store.database.rows<{ column: string }>(
      `select attname as column from pg_attribute
        where attrelid = 'tasks'::regclass and attnum > 0 and not attisdropped and coalesce(attstattarget, -1) not in (0, 25)`,
    );
    assert.deepEqual(
      rows,
      [],
      "a new column of tasks needs a target of statistics: see migrations/0001-tasks.ts",
    );
  });
});
