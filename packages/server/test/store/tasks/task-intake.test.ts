import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { PROVIDER_CATALOG } from "../../../src/domain/poll/provider-catalog.ts";
import { type NewTask, NO_FOLLOW_UP } from "../../../src/domain/task.ts";
import { createdTaskOf } from "../../../src/domain/task-copies.ts";
import { markQueueDeleted, setQueuePaused, updateQueue } from "../../../src/store/tasks/queues.ts";
import { insertedRow } from "../../../src/store/tasks/task-columns.ts";
import { findAccepted, insertTasks, type Submission } from "../../../src/store/tasks/task-intake.ts";
import { findTask } from "../../../src/store/tasks/task-reads.ts";
import { removeWorker } from "../../../src/store/tasks/workers.ts";
import { live, newTask, openTestStore, type StoredQueue, type TestStore } from "../../test-store.ts";

describe("inserting tasks", () => {
  let store: TestStore;
  let workerId: number;
  before(async () => {
    store = await openTestStore();
    workerId = await store.openWorker();
  });
  after(() => store.close());

  async function insert(
    queue: StoredQueue,
    task: Partial<NewTask>,
    reservation: Submission["reservation"] = null,
  ) {
    const submission = { task: { ...newTask(queue), ...task }, reservation };
    const [accepted] = await insertTasks(store.database, [submission], workerId);
    return { id: submission.task.id, accepted };
  }

  it("copies the queue's settings to a task that has none of its own", async () => {
    const queue = await store.openQueue({ maxRetries: 2, backoff: "fixed", timeoutSeconds: 7 });
    const plain = await insert(queue, {});
    const own = await insert(queue, { maxRetries: 0, backoff: "exponential", timeoutSeconds: 1 });

    const settings = async (id: string) => {
      const task = await findTask(store.database, live(queue.teamId), id);
      return [task?.maxRetries, task?.backoff, task?.timeoutSeconds];
    };
    assert.deepEqual(await settings(plain.id), [2, "fixed", 7]);
    assert.deepEqual(await settings(own.id), [0, "exponential", 1]);

    await updateQueue(store.database, queue.teamId, queue.name, {
      maxRetries: 9,
      backoff: "exponential",
      timeoutSeconds: 60,
    });
    assert.deepEqual(await settings(plain.id), [2, "fixed", 7]);
  });

  it("stores every field of the request, and reads it back unchanged", async () => {
    const queue = await store.openQueue();
    const said: Partial<NewTask> = {
      shape: "direct",
      call: { method: "PUT", url: "http://localhost/é", headers: { "X-A": "b" }, body: " text\n" },
      priority: 9,
      onCompleteUrl: "http://localhost/done",
      sign: true,
      tags: ["signup", 'a "quoted", {braced} one'],
      metadata: { order: "4711", "": "" },
      maxRetries: 7,
      backoff: "fixed",
      timeoutSeconds: 11,
      sandbox: true,
    };
    const { pollConfig = null } = PROVIDER_CATALOG[0] ?? {};
    const ways: Partial<NewTask>[] = [
      { follow: { ...NO_FOLLOW_UP, provider: "fal", pollConfig } },
      { follow: { ...NO_FOLLOW_UP, waitForCallback: true, maxWaitSeconds: 77 } },
    ];
    for (const way of ways) {
      const { id, accepted } = await insert(queue, { ...said, ...way });
      assert.ok(accepted);

      const stored = await findTask(store.database, live(queue.teamId), id);
      const task = { ...newTask(queue), ...said, ...way, id };
      const shown = { call: task.call, callback: null };
      const { callback, replayed, joined, ...created } = createdTaskOf(task, accepted, shown);
      assert.deepEqual(stored, { ...created, polls: null, notifications: null, retriedWith: null });
    }
  });

  it("omits the fields that a task does not set from the inserted row", async () => {
    const row = JSON.stringify(insertedRow(newTask(await store.openQueue()), null));

    assert.deepEqual(Object.keys(JSON.parse(row)), [
      "team_id",
      "id",
      "queue",
      "delay_seconds",
      "shape",
      "priority",
      "sandbox",
      "method",
      "url",
      "body",
    ]);
  });

  it("makes a task due at once, after its delay, or at its runAt", async () => {
    const queue = await store.openQueue();
    const runAt = new Date("2040-01-02T03:04:05.678Z");
    const now = (await insert(queue, {})).accepted;
    const delayed = (await insert(queue, { delaySeconds: 90 })).accepted;
    const timed = (await insert(queue, { runAt })).accepted;

    assert.equal(Number(now?.runAt) - Number(now?.createdAt), 0);
    assert.equal(Number(delayed?.runAt) - Number(delayed?.createdAt), 90_000);
    assert.deepEqual(timed?.runAt, runAt);
  });

  it("makes a task active with its first attempt under a valid reservation", async () => {
    const queue = await store.openQueue();

    const { id, accepted } = await insert(queue, {}, { queueId: queue.id, epoch: 1 });

    assert.equal(accepted?.handedOff, true);
    const task = await findTask(store.database, live(queue.teamId), id);
    assert.equal(task?.status, "active");
    assert.deepEqual(
      task?.attempts.map(({ number, status }) => [number, status]),
      [[1, "active"]],
    );
    assert.deepEqual(task?.startedAt, accepted?.createdAt);
  });

  it("leaves a task pending under an outdated or foreign reservation", async () => {
    const queue = await store.openQueue();
    const other = await store.openQueue();
    await setQueuePaused(store.database, queue.teamId, queue.name, true);

    const stale = await insert(queue, {}, { queueId: queue.id, epoch: 1 });
    const foreign = await insert(queue, {}, { queueId: other.id, epoch: 2 });

    assert.equal(stale.accepted?.handedOff, false);
    assert.equal(foreign.accepted?.handedOff, false);
  });

  it("leaves a task pending when the worker's row was removed", async () => {
    const queue = await store.openQueue();
    const dead = await store.openWorker();
    await removeWorker(store.database, dead);
    const submission = { task: newTask(queue), reservation: { queueId: queue.id, epoch: 1 } };

    const [accepted] = await insertTasks(store.database, [submission], dead);

    assert.equal(accepted?.handedOff, false);
  });

  it("refuses a deleted, foreign or unknown queue, and stores the others of the batch", async () => {
    const queue = await store.openQueue();
    const deleted = await store.openQueue();
    const foreign = await store.openQueue({}, await store.openTeam());
    await markQueueDeleted(store.database, deleted.teamId, deleted.name);
    const targets = [
      queue,
      deleted,
      { ...foreign, teamId: queue.teamId },
      { ...queue, name: "nowhere" },
      foreign,
    ];

    const accepted = await insertTasks(
      store.database,
      targets.map((target) => ({ task: newTask(target), reservation: null })),
      workerId,
    );

    assert.deepEqual(
      accepted.map((each) => each?.queueId ?? null),
      [queue.id, null, null, null, foreign.id],
    );
  });

  it("never makes a sandbox task active, even with a reservation", async () => {
    const queue = await store.openQueue();

    const { accepted } = await insert(queue, { sandbox: true }, { queueId: queue.id, epoch: 1 });

    assert.equal(accepted?.handedOff, false);
  });

  it("stores the call unchanged, whatever characters it has", async () => {
    const queue = await store.openQueue();
    const call = {
      method: "PATCH",
      url: "https://example.com/a?b=%00&c=ü#d",
      headers: { "X-Odd": "caf\xe9", "x-quote": `"'\\` },
      body: '{"n": 12345678901234567890.10, "u": "\\u0000", "z": "\u{1f6ce}\u2028"}',
    } as const;

    const { id } = await insert(queue, { call });

    assert.deepEqual((await findTask(store.database, live(queue.teamId), id))?.call, call);
  });

  it("can be checked afterwards for each task: stored or not", async () => {
    const queue = await store.openQueue();
    const { id } = await insert(queue, {});

    const answers = await findAccepted(store.database, [{ ...newTask(queue), id }, newTask(queue)], workerId);

    assert.deepEqual(
      answers.map((answer) => answer?.queueId ?? null),
      [queue.id, null],
    );
    assert.equal(answers[0]?.handedOff, false);
  });

  it("does not mistake another worker's claim of the task for its own hand-off", async () => {
    const queue = await store.openQueue();
    const { id } = await insert(queue, {});
    const other = await store.openWorker();
    assert.equal((await store.claim(queue, { workerId: other })).length, 1);

    const [answer] = await findAccepted(store.database, [{ ...newTask(queue), id }], workerId);

    assert.equal(answer?.handedOff, false);
  });

  it("does not mistake a claim of its own for a hand-off", async () => {
    const queue = await store.openQueue();
    const { id } = await insert(queue, {});
    assert.equal((await store.claim(queue, { workerId })).length, 1);

    const [answer] = await findAccepted(store.database, [{ ...newTask(queue), id }], workerId);

    assert.equal(answer?.handedOff, false);
  });

  it("recognizes a stored task that this worker was handed", async () => {
    const queue = await store.openQueue();
    const { id } = await insert(queue, {}, { queueId: queue.id, epoch: 1 });

    const [answer] = await findAccepted(store.database, [{ ...newTask(queue), id }], workerId);

    assert.equal(answer?.handedOff, true);
  });
});
