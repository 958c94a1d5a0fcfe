import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { listenTo } from "../../../src/store/tasks/event-reads.ts";
import { claimDueTasks } from "../../../src/store/tasks/task-claims.ts";
import { insertTasks } from "../../../src/store/tasks/task-intake.ts";
import { settleAttempts } from "../../../src/store/tasks/task-settlements.ts";
import { type WatchedDatabase, watchDatabase } from "../../test-sql.ts";
import {
  claimRequest,
  newTask,
  openTestStore,
  type StoredQueue,
  settlementOf,
  type TestStore,
} from "../../test-store.ts";

describe("a statement on every task's way", () => {
  let store: TestStore;
  let sql: WatchedDatabase;
  let queue: StoredQueue;
  let workerId: number;
  beforeEach(async () => {
    store = await openTestStore();
    sql = watchDatabase(store.database);
    queue = await store.openQueue();
    workerId = await store.openWorker();
  });
  afterEach(() => store.close());

  async function runTask(): Promise<void> {
    await insertTasks(sql, [{ task: newTask(queue), reservation: null }], workerId);
    const { claims } = await claimDueTasks(sql, await claimRequest(store.database, queue, { workerId }));
    assert.equal(claims.length, 1);
    const settled = await settleAttempts(
      sql,
      claims.map((claim) => settlementOf(claim)),
      workerId,
    );
    assert.equal(settled[0]?.status, "completed");
  }
  const told = async () => (await store.database.rows("select 1 from events")).length;
  const sent = () => sql.sent.splice(0);

  it("is the short one while none listens, and does nothing twice", async () => {
    await runTask();

    assert.deepEqual(sent(), ["insert_tasks_plain", "claim_due_tasks", "settle_attempts_completed"]);
    assert.equal(await told(), 0);
  });

  it("tells from the moment on that a team is listened to, and goes on as the one that tells", async () => {
    await listenTo(store.database, [queue.teamId]);
    await runTask();

    assert.deepEqual(sent(), [
      "insert_tasks_plain",
      "insert_tasks_plain_telling",
      "claim_due_tasks_telling",
      "settle_attempts_completed_telling",
    ]);
    assert.equal(await told(), 3);
  });

  it("tells nothing of the teams that are not listened to, and each task moves once all the same", async () => {
    const other = await store.openQueue({}, await store.openTeam());
    await listenTo(store.database, [other.teamId]);
    await runTask();
    await runTask();

    assert.equal(await told(), 0);
    const rows = await store.database.rows<{ attempts: number }>(
      "select jsonb_array_length(attempts) as attempts from tasks",
    );
    assert.deepEqual(rows, [{ attempts: 1 }, { attempts: 1 }]);
  });
});
