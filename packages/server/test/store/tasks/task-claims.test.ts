import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type NewTask, NO_FOLLOW_UP } from "../../../src/domain/task.ts";
import { markQueueDeleted, setQueuePaused, updateQueue } from "../../../src/store/tasks/queues.ts";
import { claimDueTasks, claimFromQueues } from "../../../src/store/tasks/task-claims.ts";
import { removePendingTask } from "../../../src/store/tasks/task-removals.ts";
import { removeWorker } from "../../../src/store/tasks/workers.ts";
import type { TextSql } from "../../test-sql.ts";
import { claimRequest, live, openTestStore, type StoredQueue, type TestStore } from "../../test-store.ts";

describe("claiming due tasks", () => {
  let store: TestStore;
  let workerId: number;
  before(async () => {
    store = await openTestStore();
    workerId = await store.openWorker();
  });
  after(() => store.close());

  const minutesAgo = (minutes: number): Partial<NewTask> => ({
    runAt: new Date(Date.now() - minutes * 60_000),
  });

  it("takes tasks by priority, then by due time, then by creation", async () => {
    const queue = await store.openQueue();
    const due = minutesAgo(10).runAt ?? null;
    const [low, later, created1, created2, earlier, high] = await store.insert(
      queue,
      { priority: 1, ...minutesAgo(60) },
      { ...minutesAgo(1) },
      { runAt: due },
      { runAt: due },
      { ...minutesAgo(30) },
      { priority: 10, ...minutesAgo(0) },
    );

    const claims = await store.claim(queue, { workerId });

    assert.deepEqual(
      claims.map(({ id }) => id),
      [high, earlier, created1, created2, later, low],
    );
  });

  it("takes no more than the limit, first in order", async () => {
    const queue = await store.openQueue();
    const ids = await store.insert(queue, { priority: 2 }, { priority: 9 }, { priority: 5 }, { priority: 9 });

    const claims = await store.claim(queue, { workerId, limit: 3 });

    assert.deepEqual(
      claims.map(({ id }) => id),
      [ids[1], ids[3], ids[2]],
    );
    assert.equal((await store.claim(queue, { workerId })).length, 1);
  });

  it("takes tasks of several queues at once, by priority and within the limit of each", async () => {
    const queues = await Promise.all([store.openQueue(), store.openQueue(), store.openQueue()]);
    const [one, two, three] = queues;
    const ofOne = await store.insert(one, { priority: 2 }, { priority: 9 }, { priority: 5 });
    const ofTwo = await store.insert(two, {}, { priority: 10 });
    const requests = await Promise.all(
      [two, three, one].map((queue) => claimRequest(store.database, queue, { workerId, limit: 2 })),
    );

    const claimed = await claimFromQueues(store.database, requests);

    assert.deepEqual(
      claimed.map(({ isCurrent, claims }) => [isCurrent, claims.map(({ id }) => id)]),
      [
        [true, [ofTwo[1], ofTwo[0]]],
        [true, []],
        [true, [ofOne[1], ofOne[2]]],
      ],
    );
    assert.deepEqual(
      claimed.flatMap(({ claims }) => claims.map(({ queueId, fence }) => [queueId, fence])),
      [two, two, one, one].map(({ id }) => [id, 1]),
    );
    assert.deepEqual(
      await Promise.all(queues.map(async (queue) => (await store.claim(queue, { workerId })).length)),
      [1, 0, 0],
    );
  });

  it("takes nothing of those of several queues that have changed, nor for a removed worker", async () => {
    const [changed, same] = [await store.openQueue(), await store.openQueue()];
    for (const queue of [changed, same]) await store.insert(queue, {});
    const requestOf = (queue: StoredQueue, own: number) =>
      claimRequest(store.database, queue, { workerId: own, limit: 5 });
    const requests = [await requestOf(changed, workerId), await requestOf(same, workerId)];
    await setQueuePaused(store.database, changed.teamId, changed.name, true);
    const gone = await store.openWorker();
    await removeWorker(store.database, gone);

    const late = await claimFromQueues(store.database, [await requestOf(same, gone)]);
    const claimed = await claimFromQueues(store.database, requests);

    const found = [...late, ...claimed].map(({ isCurrent, claims }) => [isCurrent, claims.length]);
    assert.deepEqual(found, [
      [false, 0],
      [false, 0],
      [true, 1],
    ]);
  });

  it("returns the fence, the attempt number and everything that the call needs", async () => {
    const queue = await store.openQueue({
      maxRetries: 7,
      backoff: "fixed",
      retryDelaySeconds: 4,
      retryMaxDelaySeconds: 60,
      noRetryStatuses: [410],
      timeoutSeconds: 9,
    });
    const call = {
      method: "PUT",
      url: "http://localhost/x",
      headers: { "x-a": "1" },
      body: '{"n":1.0}',
    } as const;
    const [id] = await store.insert(queue, { call, priority: 8 });

    const [claim] = await store.claim(queue, { workerId });

    assert.deepEqual(
      { ...claim, attemptStartedAt: undefined },
      {
        teamId: queue.teamId,
        id,
        queueId: queue.id,
        queue: queue.name,
        shape: "queue",
        priority: 8,
        workerId,
        fence: 1,
        attempt: 1,
        attemptStartedAt: undefined,
        failures: 0,
        call,
        maxRetries: 7,
        backoff: "fixed",
        retryDelaySeconds: 4,
        retryMaxDelaySeconds: 60,
        noRetryStatuses: [410],
        timeoutSeconds: 9,
        follow: NO_FOLLOW_UP,
        bodyIsJson: false,
        sign: false,
        callbackSealed: null,
        message: null,
        flow: null,
        startByMs: null,
        permitAt: null,
        scheduledFor: null,
      },
    );
  });

  it("takes no sandbox tasks, delayed tasks, or tasks of other queues and teams", async () => {
    const queue = await store.openQueue();
    const sibling = await store.openQueue();
    const stranger = await store.openQueue({}, await store.openTeam());
    await store.insert(queue, { sandbox: true }, { delaySeconds: 60 });
    await store.insert(sibling, {});
    await store.insert(stranger, {});

    assert.deepEqual(await store.claim(queue, { workerId }), []);
    assert.equal((await store.claim(stranger, { workerId })).length, 1);
    assert.deepEqual(await store.claim(stranger, { workerId, teamId: queue.teamId }), []);
  });

  const changes = {
    paused: (sql, { teamId, name }) => setQueuePaused(sql, teamId, name, true),
    "given another concurrency": (sql, { teamId, name }) =>
      updateQueue(sql, teamId, name, { concurrency: 1 }),
    deleted: (sql, { teamId, name }) => markQueueDeleted(sql, teamId, name),
  } satisfies Record<string, (sql: TextSql, queue: StoredQueue) => Promise<unknown>>;
  for (const [changed, change] of Object.entries(changes)) {
    it(`takes nothing and reports the request as outdated when the queue was ${changed}`, async () => {
      const queue = await store.openQueue();
      await store.insert(queue, {});
      const request = await claimRequest(store.database, queue, { workerId });
      await change(store.database, queue);

      assert.deepEqual(await claimDueTasks(store.database, request), {
        isCurrent: false,
        claims: [],
        waitsMs: [],
      });
    });
  }

  it("takes nothing and reports the request as outdated when the worker was removed", async () => {
    const queue = await store.openQueue();
    await store.insert(queue, {});
    const dead = await store.openWorker();
    await removeWorker(store.database, dead);
    const request = await claimRequest(store.database, queue, { workerId: dead });

    assert.deepEqual(await claimDueTasks(store.database, request), {
      isCurrent: false,
      claims: [],
      waitsMs: [],
    });
  });

  it("takes no task that is due half a second later", async () => {
    const queue = await store.openQueue();
    await store.insert(queue, {});
    const request = await claimRequest(store.database, queue, { workerId });

    // The database's clock is frozen inside a transaction.
    await store.database.transaction(async (sql) => {
      await sql.rows(
        "update tasks set run_at = now() + interval '500 ms', due_at = now() + interval '500 ms' where queue_id = $1",
        [queue.id],
      );
      assert.deepEqual((await claimDueTasks(sql, request)).claims, []);
    });
  });

  it("takes nothing and reports the request as current when the queue is empty", async () => {
    const queue = await store.openQueue();
    const request = await claimRequest(store.database, queue, { workerId });

    assert.deepEqual(await claimDueTasks(store.database, request), {
      isCurrent: true,
      claims: [],
      waitsMs: [],
    });
  });

  it("never gives a task to two workers that claim concurrently", async () => {
    const queue = await store.openQueue();
    const ids = await store.insert(queue, ...Array.from({ length: 200 }, () => ({})));
    const workers = await Promise.all([1, 2, 3, 4].map(() => store.openWorker()));
    const connections = store.open(4);

    const claimed: string[] = [];
    await Promise.all(
      workers.map(async (id) => {
        const request = await claimRequest(store.database, queue, { workerId: id, limit: 7 });
        for (let empty = false; !empty; ) {
          const { claims } = await claimDueTasks(connections, request);
          claimed.push(...claims.map((claim) => claim.id));
          empty = claims.length === 0;
        }
      }),
    );

    assert.equal(claimed.length, 200);
    assert.deepEqual(new Set(claimed), new Set(ids));
  });

  it("never takes a task that is deleted concurrently: exactly one of the two succeeds", async () => {
    const queue = await store.openQueue();
    const ids = await store.insert(queue, ...Array.from({ length: 100 }, () => ({})));
    const request = await claimRequest(store.database, queue, { workerId, limit: 10 });
    const connections = store.open(4);

    const claimed: string[] = [];
    const claimAll = async () => {
      for (let round = 0; round < 20; round += 1) {
        const { claims } = await claimDueTasks(connections, request);
        claimed.push(...claims.map((claim) => claim.id));
      }
    };
    const [deleted] = await Promise.all([
      Promise.all(
        [...ids].reverse().map(async (id) => {
          const gone = await removePendingTask(connections, live(queue.teamId), id);
          return gone ? [id] : [];
        }),
      ),
      claimAll(),
    ]);
    claimed.push(...(await store.claim(queue, { workerId })).map((claim) => claim.id));

    assert.equal(claimed.length + deleted.flat().length, 100);
    assert.deepEqual(new Set([...claimed, ...deleted.flat()]), new Set(ids));
  });
});
