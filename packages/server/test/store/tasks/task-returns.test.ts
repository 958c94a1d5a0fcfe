import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Claim } from "../../../src/domain/claim.ts";
import type { Task } from "../../../src/domain/task.ts";
import { markQueueDeleted } from "../../../src/store/tasks/queues.ts";
import { findTask } from "../../../src/store/tasks/task-reads.ts";
import { heldTasks, reapTasks, releaseTasks } from "../../../src/store/tasks/task-returns.ts";
import { removeExpiredWorkers, removeWorker, renewWorker } from "../../../src/store/tasks/workers.ts";
import { live, openTestStore, type StoredQueue, type TestStore } from "../../test-store.ts";

describe("releasing tasks", () => {
  let store: TestStore;
  let workerId: number;
  before(async () => {
    store = await openTestStore();
    workerId = await store.openWorker();
  });
  after(() => store.close());

  async function found(queue: StoredQueue, id: string): Promise<Task> {
    const task = await findTask(store.database, live(queue.teamId), id);
    assert.ok(task);
    return task;
  }

  /** A worker claims the task and dies with it. */
  async function loseWorker(queue: StoredQueue): Promise<void> {
    const dying = await store.openWorker();
    assert.equal((await store.claim(queue, { workerId: dying })).length, 1);
    await removeWorker(store.database, dying);
    await reapTasks(store.database, workerId);
  }

  it("reaps the tasks of removed workers only", async () => {
    const queue = await store.openQueue();
    const dying = await store.openWorker();
    const ids = await store.insert(queue, {}, {});
    await store.claim(queue, { workerId: dying, limit: 1 });
    const [kept] = await store.claim(queue, { workerId, limit: 1 });
    await removeWorker(store.database, dying);

    const returned = await reapTasks(store.database, workerId);

    const { teamId, name, id: queueId } = queue;
    assert.deepEqual(returned, [
      {
        teamId,
        id: ids[0],
        queue: name,
        queueId,
        flow: null,
        status: "pending",
        failure: null,
        notify: false,
        hasFailureCallback: false,
      },
    ]);
    assert.deepEqual(
      (await heldTasks(store.database, workerId)).map(({ id }) => id),
      [kept?.id],
    );
    assert.deepEqual(await reapTasks(store.database, workerId), []);
  });

  it("closes the attempt as interrupted, without using a retry", async () => {
    const queue = await store.openQueue({ maxRetries: 0 });
    const [id = ""] = await store.insert(queue, {});
    await loseWorker(queue);

    const task = await found(queue, id);
    assert.equal(task.status, "pending");
    assert.deepEqual(
      task.attempts.map(({ number, status, responseCode, phase }) => ({
        number,
        status,
        responseCode,
        phase,
      })),
      [{ number: 1, status: "interrupted", responseCode: null, phase: "sent" }],
    );
    const [claim] = await store.claim(queue, { workerId });
    assert.equal(claim?.failures, 0);
    assert.equal(claim?.attempt, 2);
  });

  it("keeps a task's position in its queue", async () => {
    const queue = await store.openQueue();
    const [first] = await store.insert(queue, {});
    await store.insert(queue, {});
    const dying = await store.openWorker();
    await store.claim(queue, { workerId: dying, limit: 1 });
    await removeWorker(store.database, dying);
    await reapTasks(store.database, workerId);

    assert.equal((await store.claim(queue, { workerId, limit: 1 }))[0]?.id, first);
  });

  it("fails a task after three workers died during its attempts", async () => {
    const queue = await store.openQueue();
    const [id = ""] = await store.insert(queue, {});

    await loseWorker(queue);
    await loseWorker(queue);
    assert.equal((await found(queue, id)).status, "pending");
    await loseWorker(queue);

    const task = await found(queue, id);
    assert.equal(task.status, "failed");
    assert.equal(task.failureReason, "worker_lost");
    assert.notEqual(task.completedAt, null);
    assert.deepEqual(
      task.attempts.map(({ number, status }) => [number, status]),
      [
        [1, "interrupted"],
        [2, "interrupted"],
        [3, "interrupted"],
      ],
    );
  });

  it("releases a task any number of times when its workers stop normally", async () => {
    const queue = await store.openQueue();
    const [id = ""] = await store.insert(queue, {});
    for (let stop = 0; stop < 5; stop += 1) {
      const [claim] = await store.claim(queue, { workerId });
      await releaseTasks(store.database, [claim as Claim], "not_sent", workerId);
    }

    const task = await found(queue, id);
    assert.equal(task.status, "pending");
    assert.equal(task.attempts.length, 5);
    assert.equal(task.attempts[0]?.phase, "not_sent");
  });

  it("releases a task only with the fence of its claim", async () => {
    const queue = await store.openQueue();
    await store.insert(queue, {});
    const [claim] = await store.claim(queue, { workerId });
    const stale = { ...(claim as Claim), fence: 7 };

    assert.deepEqual(await releaseTasks(store.database, [stale], "sent", workerId), []);
    assert.equal((await releaseTasks(store.database, [claim as Claim], "sent", workerId)).length, 1);
    assert.deepEqual(await releaseTasks(store.database, [claim as Claim], "sent", workerId), []);
  });

  it("changes nothing when the task is already pending with the given fence", async () => {
    const queue = await store.openQueue();
    const [id = ""] = await store.insert(queue, {});
    const [claim] = await store.claim(queue, { workerId });
    await releaseTasks(store.database, [claim as Claim], "sent", workerId);
    const before = await found(queue, id);

    const pending = { ...(claim as Claim), fence: (claim?.fence ?? 0) + 1 };
    assert.deepEqual(await releaseTasks(store.database, [pending], "sent", workerId), []);
    assert.deepEqual(await found(queue, id), before);
  });

  it("fails a task that is released into a deleted queue", async () => {
    const queue = await store.openQueue();
    const [id = ""] = await store.insert(queue, {});
    const [claim] = await store.claim(queue, { workerId });
    await markQueueDeleted(store.database, queue.teamId, queue.name);

    const [returned] = await releaseTasks(store.database, [claim as Claim], "sent", workerId);

    assert.deepEqual([returned?.status, returned?.failure], ["failed", "queue_deleted"]);
    assert.equal((await found(queue, id)).failureReason, "queue_deleted");
  });

  it("removes workers whose lease has expired by the database's clock, and no others", async () => {
    const expired = await store.openWorker(-1);
    const alive = await store.openWorker(13_000);

    const removed = await removeExpiredWorkers(store.database);

    assert.ok(removed.includes(expired));
    assert.ok(!removed.includes(alive));
    assert.equal(await renewWorker(store.database, expired, 60_000), null);
    assert.notEqual(await renewWorker(store.database, alive, 60_000), null);
  });

  it("renews an expired lease whose worker was not removed yet", async () => {
    const late = await store.openWorker(-1000);

    assert.notEqual(await renewWorker(store.database, late, 60_000), null);
    assert.ok(!(await removeExpiredWorkers(store.database)).includes(late));
  });

  it("releases the tasks of a dead worker in batches of 500", async () => {
    const queue = await store.openQueue();
    const dying = await store.openWorker();
    await store.insert(queue, ...Array.from({ length: 600 }, () => ({})));
    await store.claim(queue, { workerId: dying, limit: 600 });
    await removeWorker(store.database, dying);

    const rounds = [];
    for (let count = -1; count !== 0; rounds.push(count)) {
      count = (await reapTasks(store.database, workerId)).length;
    }

    assert.deepEqual(rounds, [500, 100, 0]);
  });
});
