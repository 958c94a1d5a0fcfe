import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import type { Claim } from "../../../src/domain/claim.ts";
import type { QueueSettings } from "../../../src/domain/queue.ts";
import { claimOrderedTask } from "../../../src/store/tasks/ordered-claims.ts";
import { holdLineForCallbacks, resetLine } from "../../../src/store/tasks/ordered-lines.ts";
import { updateQueue } from "../../../src/store/tasks/queues.ts";
import { cancelTask } from "../../../src/store/tasks/task-cancellations.ts";
import { claimDueTasks } from "../../../src/store/tasks/task-claims.ts";
import { expireTasks } from "../../../src/store/tasks/task-deadlines.ts";
import { dismissTask } from "../../../src/store/tasks/task-dismissals.ts";
import { removeExpiredTasks, removePendingTask } from "../../../src/store/tasks/task-removals.ts";
import { retryTask } from "../../../src/store/tasks/task-retries.ts";
import { reapTasks } from "../../../src/store/tasks/task-returns.ts";
import { removeWorker } from "../../../src/store/tasks/workers.ts";
import { until } from "../../patience.ts";
import { drain, FAILED, settle, WAITING } from "../../test-lines.ts";
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

  it("takes one task at a time, in the order of creation, whatever the priorities", async () => {
    const first = await insertOne({ priority: 1 });
    const [second, third] = await store.insert(queue, { priority: 10 }, { priority: 3 });

    const claimed = await claim();

    assert.equal(claimed?.id, first);
    assert.equal(await claim(), undefined, "the first has not ended");
    await settle(store, claimed);
    assert.deepEqual(await drain(store, claim), [second, third]);
  });

  for (const [what, verdict] of Object.entries({ "backs off": RETRY, "waits for a callback": WAITING }))
    it(`takes no other task while the first ${what}`, async () => {
      const first = await insertOne();
      const second = await insertOne();
      await settle(store, await claim(), verdict);

      assert.equal(await claim(), undefined);

      if (verdict === RETRY) {
        await makeDue(first);
        const again = await claim();
        assert.equal(again?.id, first);
        await settle(store, again);
      } else await cancelTask(store.database, live(queue.teamId), first);
      assert.deepEqual(await drain(store, claim), [second]);
    });

  it("takes due delayed tasks and manually retried tasks before tasks created later", async () => {
    const failed = await insertOne();
    await settle(store, await claim(), FAILED);
    const delayed = await insertOne({ delaySeconds: 600, priority: 2 });
    const running = await insertOne();
    const claimed = await claim();
    assert.equal(claimed?.id, running, "the delayed one has not joined the line yet");
    const younger = await insertOne({ priority: 9 });
    await makeDue(delayed);
    await retryTask(store.database, live(queue.teamId), failed, { delaySeconds: 0, priority: null });
    await settle(store, claimed);

    assert.deepEqual(await drain(store, claim), [failed, delayed, younger]);
  });

  it("continues after a failure, or with on_failure block only once the task has completed", async () => {
    const passed = await insertOne();
    await settle(store, await claim(), FAILED);
    const next = await insertOne();
    assert.deepEqual(await drain(store, claim), [next]);

    queue = await openOrdered({ onFailure: "block" });
    const blocker = await insertOne();
    const blocked = await insertOne();
    await settle(store, await claim(), FAILED);
    assert.equal(await claim(), undefined);
    const later = { delaySeconds: 600, priority: null };
    await retryTask(store.database, live(queue.teamId), blocker, later);
    assert.equal(await claim(), undefined, "its delay does not let the line go on");
    await makeDue(blocker);
    assert.deepEqual(await drain(store, claim), [blocker, blocked]);
    assert.notEqual(passed, blocker);
  });

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

  it("continues when the failed task that blocks the queue is dismissed", async () => {
    queue = await openOrdered({ onFailure: "block" });
    const blocker = await insertOne();
    const blocked = await insertOne();
    await settle(store, await claim(), FAILED);
    assert.equal(await claim(), undefined);

    await dismissTask(store.database, live(queue.teamId), blocker);

    assert.deepEqual(await drain(store, claim), [blocked]);
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

  for (const [how, end] of Object.entries({
    cancel: (id: string) => cancelTask(store.database, live(queue.teamId), id),
    DELETE: (id: string) => removePendingTask(store.database, live(queue.teamId), id),
    expiry: async (id: string) => {
      // As if it had been retried by hand with an expiry that is over.
      await store.database.rows(
        "update tasks set deadline_at = now(), expires_in_seconds = 1 where id = $1",
        [id],
      );
      await expireTasks(store.database, 10, workerId);
    },
  }))
    it(`continues after the ${how} of the first task, even with on_failure block`, async () => {
      queue = await openOrdered({ onFailure: "block" });
      const first = await insertOne();
      const second = await insertOne();
      await settle(store, await claim(), RETRY);
      assert.equal(await claim(), undefined);

      await end(first);

      assert.deepEqual(await drain(store, claim), [second]);
    });

  it("gives a task to one of two racing workers, and none until its dead worker is reaped", async () => {
    const first = await insertOne();
    const second = await insertOne();
    const others = await Promise.all([store.openWorker(), store.openWorker()]);
    const request = await Promise.all(
      others.map((each) => claimRequest(store.database, queue, { workerId: each, limit: 1 })),
    );

    const results = await Promise.all(request.map((each) => claimOrderedTask(store.database, each, () => 0)));

    const claims = results.flatMap((result) => result.claims);
    assert.deepEqual(
      claims.map(({ id }) => id),
      [first],
    );
    const [dead] = claims;
    assert.ok(dead);
    await removeWorker(store.database, dead.workerId);
    assert.equal(await claim(), undefined, "its call may still be under way");
    await reapTasks(store.database, workerId);
    assert.deepEqual(await drain(store, claim), [first, second]);
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

  it("waits for all tasks that had started before the queue became ordered", async () => {
    queue = await store.openQueue({ concurrency: 5 });
    await store.insert(queue, {}, {}, {}, {});
    const [active, waiting, retrying] = await store.claim(queue, { workerId, limit: 3 });
    await settle(store, waiting, WAITING);
    await settle(store, retrying, RETRY);
    await updateQueue(store.database, queue.teamId, queue.name, { ordered: true, concurrency: 1 });
    await resetLine(store.database, { ...queue, ordered: true });

    assert.equal(await claim(), undefined);
    await settle(store, active);
    await makeDue(retrying?.id ?? "");
    assert.equal(await claim(), undefined);
    await cancelTask(store.database, live(queue.teamId), waiting?.id ?? "");
    assert.equal((await drain(store, claim)).length, 2);
  });

  it("is blocked by the failure of a task that was active when the queue became ordered", async () => {
    queue = await store.openQueue({ concurrency: 5 });
    await store.insert(queue, {}, {});
    const [active] = await store.claim(queue, { workerId, limit: 1 });
    const order = { ordered: true, concurrency: 1, onFailure: "block" } as const;
    await updateQueue(store.database, queue.teamId, queue.name, order);
    await resetLine(store.database, { ...queue, ordered: true });
    await settle(store, active, FAILED);

    assert.equal(await claim(), undefined);
  });

  it("takes nothing when the queue is no longer ordered since the slots were granted", async () => {
    await insertOne();
    const request = await claimRequest(store.database, queue, { workerId, limit: 1 });
    await updateQueue(store.database, queue.teamId, queue.name, { ordered: false });

    const { isCurrent, claims } = await claimOrderedTask(store.database, request, () => 0);

    assert.deepEqual([isCurrent, claims.length], [false, 0]);
  });
});
