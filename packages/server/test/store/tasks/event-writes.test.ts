import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { listenTo, readEvents } from "../../../src/store/tasks/event-reads.ts";
import { createSubscriberMemory, type SubscriberMemory } from "../../../src/store/tasks/event-writes.ts";
import { claimDueTasks } from "../../../src/store/tasks/task-claims.ts";
import { insertTasks } from "../../../src/store/tasks/task-intake.ts";
import { settleAttempts } from "../../../src/store/tasks/task-settlements.ts";
import { untilEventsAreReadable } from "../../event-log.ts";
import { type WatchedDatabase, watchDatabase } from "../../test-sql.ts";
import {
  claimRequest,
  newTask,
  openTestStore,
  type StoredQueue,
  settlementOf,
  type TestStore,
} from "../../test-store.ts";

describe("a statement of the hot path", () => {
  let store: TestStore;
  let sql: WatchedDatabase;
  let queue: StoredQueue;
  let workerId: number;
  let memory: SubscriberMemory;
  beforeEach(async () => {
    store = await openTestStore();
    memory = createSubscriberMemory();
    sql = watchDatabase(store.database);
    queue = await store.openQueue();
    workerId = await store.openWorker();
  });
  afterEach(() => store.close());

  async function runTask(): Promise<void> {
    await insertTasks(sql, [{ task: newTask(queue), reservation: null }], workerId, 0, memory);
    const request = await claimRequest(store.database, queue, { workerId });
    const { claims } = await claimDueTasks(sql, request, memory);
    assert.equal(claims.length, 1);
    const settlements = claims.map((claim) => settlementOf(claim));
    const settled = await settleAttempts(sql, settlements, workerId, memory);
    assert.equal(settled[0]?.status, "completed");
  }
  const told = async () => (await store.database.rows("select 1 from events")).length;
  const sent = () => sql.sent.splice(0);

  it("is the variant without events while no team is subscribed, and is sent once", async () => {
    await runTask();

    assert.deepEqual(sent(), ["insert_tasks_plain_alike", "claim_due_tasks", "settle_attempts_completed"]);
    assert.equal(await told(), 0);
  });

  it("writes events once a team is subscribed, and is then the variant with events", async () => {
    await listenTo(store.database, [queue.teamId]);
    await runTask();

    assert.deepEqual(sent(), [
      "insert_tasks_plain_alike",
      "insert_tasks_with_events",
      "claim_due_tasks_with_events",
      "settle_attempts_completed_with_events",
    ]);
    assert.equal(await told(), 3);
    await runTask();
    assert.equal(sent()[0], "insert_tasks_plain_alike_with_events");
  });

  it("is sent twice at most when the queue of a new task is gone", async () => {
    const idempotency = { key: "k", requestHash: "00", callbackSealed: null };
    for (const task of [
      newTask(queue),
      { ...newTask(queue), idempotency },
      { ...newTask(queue), maxRetries: 1 },
    ]) {
      const gone = { task: { ...task, queue: "gone" }, reservation: null };
      assert.deepEqual(await insertTasks(sql, [gone], workerId), [null]);
      assert.equal(sent().length, 2);
    }
  });

  it("writes no events for unsubscribed teams, and changes each task once", async () => {
    const other = await store.openQueue({}, await store.openTeam());
    await listenTo(store.database, [other.teamId]);
    await runTask();
    await runTask();

    assert.equal(await told(), 0);
    const rows = await store.database.rows("select attempt_count as attempts, fence from tasks");
    assert.deepEqual(rows, [
      { attempts: 1, fence: 2 },
      { attempts: 1, fence: 2 },
    ]);
  });

  it("writes one entry with ids for identical tasks, and the own fields of others", async () => {
    await listenTo(store.database, [queue.teamId]);
    const runAt = "2026-01-01T00:00:00+00:00";
    const [one, other, tagged, failing] = [newTask(queue), newTask(queue), newTask(queue), newTask(queue)];
    const tasks = [one, other, { ...tagged, tags: ["eu"] }, failing];
    await insertTasks(
      sql,
      tasks.map((task) => ({ task, reservation: null })),
      workerId,
    );
    await store.database.rows("update tasks set run_at = $1, due_at = $1 where id = $2", [runAt, tagged.id]);
    const { claims } = await claimDueTasks(sql, await claimRequest(store.database, queue, { workerId }));
    const failed = { kind: "failed", result: null, error: "Gone", reason: "not_retryable" } as const;
    await settleAttempts(
      sql,
      claims.map((claim) => settlementOf(claim, claim.id === failing.id ? failed : undefined)),
      workerId,
    );

    const place = { teamId: queue.teamId, position: { xid: "0", seq: "0", index: 0, atMs: 0 } };
    await untilEventsAreReadable(store.database);
    const { pages } = await readEvents(store.database, [place], 100);
    const told = pages.flatMap(({ rows }) => rows).flatMap(({ entries }) => entries);
    const endOf = ({ id }: { id: string }) => told.filter((entry) => entry[1] === id).at(-1);
    assert.equal(told.length, 12);
    const shared = await store.database.rows(
      `select json_array_length(ids)::integer as many from events cross join lateral (select entries #> '{0,1}' as ids) entry
        where entries #>> '{0,0}' = 'task.completed' and json_typeof(ids) = 'array'`,
    );
    assert.deepEqual(shared, [{ many: 2 }]);
    assert.deepEqual(endOf(one), ["task.completed", one.id, "queue", "completed"]);
    assert.deepEqual(endOf(other), ["task.completed", other.id, "queue", "completed"]);
    assert.deepEqual(endOf(tagged), [
      ...["task.completed", tagged.id, "queue", "completed", runAt, null, null],
      ["eu"],
    ]);
    assert.deepEqual(endOf(failing)?.slice(0, 4), ["task.failed", failing.id, "queue", "failed"]);
    assert.deepEqual(endOf(failing)?.slice(5), ["Gone", "not_retryable", null]);
  });
});
