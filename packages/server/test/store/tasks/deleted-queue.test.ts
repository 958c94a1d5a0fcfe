import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Claim } from "../../../src/domain/claim.ts";
import { acquireSlots } from "../../../src/store/tasks/queue-slots.ts";
import { markQueueDeleted } from "../../../src/store/tasks/queues.ts";
import { findTask } from "../../../src/store/tasks/task-reads.ts";
import { removePendingOfDeletedQueues } from "../../../src/store/tasks/task-removals.ts";
import { reapTasks, releaseTasks } from "../../../src/store/tasks/task-returns.ts";
import { settleAttempts } from "../../../src/store/tasks/task-settlements.ts";
import { removeWorker } from "../../../src/store/tasks/workers.ts";
import { until } from "../../patience.ts";
import type { TextSql } from "../../test-sql.ts";
import {
  live,
  openTestStore,
  RETRY,
  type StoredQueue,
  settlementOf,
  type TestStore,
} from "../../test-store.ts";

describe("a task that returns to its queue while the queue is deleted", () => {
  let store: TestStore;
  let workerId: number;
  before(async () => {
    store = await openTestStore();
    workerId = await store.openWorker();
  });
  after(() => store.close());

  async function claimOne(): Promise<{ queue: StoredQueue; claim: Claim }> {
    const queue = await store.openQueue();
    await store.insert(queue, { onCompleteUrl: "http://localhost/told" });
    const claimer = await store.openWorker();
    const [claim] = await store.claim(queue, { workerId: claimer });
    assert.ok(claim);
    return { queue, claim };
  }

  async function oneWaits(): Promise<void> {
    await until(async () => {
      const rows = await store.database.rows(
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return rows.length > 0;
    });
  }

  const ways: Record<string, (sql: TextSql, claim: Claim) => Promise<unknown>> = {
    "a retry": (sql, claim) => settleAttempts(sql, [settlementOf(claim, RETRY)], workerId),
    "a release": (sql, claim) => releaseTasks(sql, [claim], "sent", workerId),
    "the reaper": async (sql, claim) => {
      await removeWorker(sql, claim.workerId);
      await reapTasks(sql, workerId);
    },
  };
  for (const [way, giveBack] of Object.entries(ways)) {
    it(`by ${way} fails with a notification when the deletion commits first`, async () => {
      const { queue, claim } = await claimOne();
      let gaveBack: Promise<unknown> | null = null;
      await store.database.transaction(async (sql) => {
        await markQueueDeleted(sql, queue.teamId, queue.name);
        gaveBack = giveBack(store.database, claim);
        await oneWaits();
      });
      await gaveBack;

      const task = await findTask(store.database, live(claim.teamId), claim.id);
      assert.deepEqual([task?.status, task?.failureReason], ["failed", "queue_deleted"]);
      const told = await store.database.rows("select 1 from notifications where task_id = $1", [claim.id]);
      assert.equal(told.length, 1);
    });

    it(`by ${way} is removed with the queue when the deletion commits second`, async () => {
      const { queue, claim } = await claimOne();
      let deleted: ReturnType<typeof markQueueDeleted> | null = null;
      await store.database.transaction(async (sql) => {
        await giveBack(sql, claim);
        deleted = markQueueDeleted(store.database, queue.teamId, queue.name);
        await oneWaits();
      });
      await deleted;
      const only = { teamId: queue.teamId, queueId: queue.id };

      assert.equal((await removePendingOfDeletedQueues(store.database, { size: 10, only })).removed, 1);
    });
  }

  it("does not wait for a worker that is acquiring slots", async () => {
    const { queue, claim } = await claimOne();
    await store.database.transaction(async (sql) => {
      await sql.rows("select 1 from queues where id = $1 for no key update", [queue.id]);
      await settleAttempts(store.database, [settlementOf(claim, RETRY)], workerId);
    });
    const request = { teamId: queue.teamId, queue: queue.name, using: null };
    const [grant] = await acquireSlots(store.database, workerId, [request]);
    assert.ok(grant);
  });
});
