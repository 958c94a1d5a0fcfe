import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import type { Claim } from "../../../src/domain/claim.ts";
import type { QueueSettings } from "../../../src/domain/queue.ts";
import { claimOrderedTask } from "../../../src/store/tasks/ordered-claims.ts";
import { holdLineForCallbacks } from "../../../src/store/tasks/ordered-lines.ts";
import { updateQueue } from "../../../src/store/tasks/queues.ts";
import { cancelTask } from "../../../src/store/tasks/task-cancellations.ts";
import { claimDueTasks } from "../../../src/store/tasks/task-claims.ts";
import { removeExpiredTasks } from "../../../src/store/tasks/task-removals.ts";
import { until } from "../../patience.ts";
import { drain, FAILED, settle } from "../../test-lines.ts";
import {
  claimRequest,
  live,
  openTestStore,
  RETRY,
  type StoredQueue,
  type TestStore,
} from "../../test-store.ts";

describe("the claim of an ordered queue", () => {
  let store: TestStore;
  let workerId: number;
  let queue: StoredQueue;
  before(async () => {
    store = await openTestStore();
    workerId = await store.openWorker();
  });
  beforeEach(async () => {
    queue = await openOrdered();
  });
  after(() => store.close());

  const openOrdered = (settings: Partial<QueueSettings> = {}) =>
    store.openQueue({ ordered: true, concurrency: 1, ...settings });
  const claim = async (by = workerId): Promise<Claim | undefined> => {
    const request = await claimRequest(store.database, queue, { workerId: by, limit: 1 });
    const { claims, isCurrent } = await claimOrderedTask(store.database, request, () => 0);
    assert.equal(isCurrent, true);
    return claims[0];
  };
  const insertOne = async (task: Parameters<TestStore["insert"]>[1] = {}) =>
    (await store.insert(queue, task))[0] as string;
  /** The task is due from now on, whenever it was meant to be. */
  const makeDue = (id: string) =>
    store.database.rows("update tasks set run_at = now(), due_at = now() where id = $1", [id]);

  it("starts no other task before the callbacks of an ended message have ended", async () => {
    const other = await store.openQueue({}, queue.teamId);
    const first = await insertOne();
    const second = await insertOne();
    const [early, last] = await store.insert(other, {}, {});
    await settle(store, await claim(), RETRY);
    await holdLineForCallbacks(store.database, { teamId: queue.teamId, queueId: queue.id }, [
      early as string,
    ]);
    await makeDue(first);
    const again = await claim();
    assert.equal(again?.id, first, "the callback of its first attempt does not delay its second");
    await settle(store, again);
    await holdLineForCallbacks(store.database, { teamId: queue.teamId, queueId: queue.id }, [last as string]);

    assert.equal(await claim(), undefined);
    const request = await claimRequest(store.database, other, { workerId, limit: 2 });
    const { claims } = await claimDueTasks(store.database, request);
    assert.deepEqual(claims.map(({ id }) => id).sort(), [early, last].sort());
    await settle(store, claims[0]);
    assert.equal(await claim(), undefined);
    await updateQueue(store.database, queue.teamId, queue.name, { onFailure: "block" });
    await settle(store, claims[1], FAILED);
    assert.deepEqual(await drain(store, claim), [second], "a callback that failed blocks nothing");
  });

  it("is blocked by a failed task that is kept beyond the retention period", async () => {
    queue = await openOrdered({ onFailure: "block" });
    const blocker = await insertOne();
    await settle(store, await claim(), FAILED);
    const old = "0190a1b2-0000-7000-8000-000000000001";
    await store.database.rows("update line_tasks set task_id = $2 where task_id = $1", [blocker, old]);
    await store.database.rows(
      "update tasks set id = $2, completed_at = now() - interval '90 days' where id = $1",
      [blocker, old],
    );
    const count = async () => (await store.database.rows("select 1 from tasks where id = $1", [old])).length;

    await removeExpiredTasks(store.database, 30, 100);
    assert.equal(await count(), 1);

    await updateQueue(store.database, queue.teamId, queue.name, { onFailure: "continue" });
    await removeExpiredTasks(store.database, 30, 100);
    assert.equal(await count(), 0);
  });

  it("waits for a task that another transaction has locked", async () => {
    const first = await insertOne();
    const second = await insertOne();
    const claims: Promise<Claim | undefined>[] = [];
    await store.database.transaction(async (sql) => {
      await cancelTask(sql, live(queue.teamId), first);
      claims.push(claim());
      await until(async () => {
        const waits = await store.database.rows(
          "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        );
        return waits.length > 0;
      });
    });
    assert.equal((await claims[0])?.id, second, "the first was cancelled meanwhile");
  });

  it("takes nothing when the queue is no longer ordered since the slots were granted", async () => {
    await insertOne();
    const request = await claimRequest(store.database, queue, { workerId, limit: 1 });
    await updateQueue(store.database, queue.teamId, queue.name, { ordered: false });

    const { isCurrent, claims } = await claimOrderedTask(store.database, request, () => 0);

    assert.deepEqual([isCurrent, claims.length], [false, 0]);
  });
});
