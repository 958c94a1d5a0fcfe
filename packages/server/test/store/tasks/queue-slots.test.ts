import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { acquireSlots, releaseSlots, type SlotGrant } from "../../../src/store/tasks/queue-slots.ts";
import { markQueueDeleted, setQueuePaused, updateQueue } from "../../../src/store/tasks/queues.ts";
import { removeWorker } from "../../../src/store/tasks/workers.ts";
import { until } from "../../patience.ts";
import { openTestStore, type StoredQueue, type TestStore } from "../../test-store.ts";

const LOCK_WAIT =
  "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";

/** A request of a worker without calls in flight. */
const named = ({ teamId, name }: StoredQueue) => ({ teamId, queue: name, using: null });

describe("slots of a queue", () => {
  let store: TestStore;
  before(async () => {
    store = await openTestStore();
  });
  after(() => store.close());

  async function acquire(queue: StoredQueue, workerId: number, inFlight = 0): Promise<SlotGrant> {
    const using = { queueId: queue.id, inFlight };
    const [grant] = await acquireSlots(store.database, workerId, [{ ...named(queue), using }]);
    assert.ok(grant);
    return grant;
  }

  async function granted(queue: StoredQueue): Promise<number> {
    const [row] = await store.database.rows<{ sum: number }>(
      "select coalesce(sum(slots), 0)::integer as sum from queue_slots where queue_id = $1",
      [queue.id],
    );
    return row?.sum ?? 0;
  }

  const openWorkers = (count: number) => Promise.all(Array.from({ length: count }, () => store.openWorker()));

  it("are all granted to the only worker that asks", async () => {
    const queue = await store.openQueue({ concurrency: 7 });
    const [worker = 0] = await openWorkers(1);

    const { version, ...grant } = await acquire(queue, worker);
    assert.match(version ?? "", /^\d+$/);
    assert.deepEqual(grant, {
      queueId: queue.id,
      epoch: 1,
      concurrency: 7,
      paused: false,
      ordered: false,
      rate: null,
      breaker: null,
      holdsHosts: false,
      slots: 7,
      starved: false,
      overdrawn: false,
    });
  });

  it("never exceed the concurrency in total when many workers ask at once", async () => {
    const connections = store.open(8);
    for (const concurrency of [1, 2, 5, 50]) {
      const queue = await store.openQueue({ concurrency });
      const workers = await openWorkers(8);
      for (let round = 0; round < 3; round += 1) {
        await Promise.all(workers.map((workerId) => acquireSlots(connections, workerId, [named(queue)])));
        const sum = await granted(queue);
        assert.ok(sum > 0 && sum <= concurrency, `${sum} of ${concurrency} in round ${round}`);
      }
    }
  });

  it("are counted under the lock of the queue's row", async () => {
    const queue = await store.openQueue({ concurrency: 1 });
    const [first = 0, second = 0] = await openWorkers(2);
    const [others, watcher] = [store.open(1), store.open(1)];
    const asking = await store.database.transaction(async (sql) => {
      await sql.rows("select 1 from queues where id = $1 for no key update", [queue.id]);
      let isAnswered = false;
      const asked = acquireSlots(others, second, [named(queue)]).then(([grant]) => {
        isAnswered = true;
        return grant?.slots;
      });
      // On another connection: a transaction keeps what it has read of pg_stat_activity.
      await until(async () => isAnswered || (await watcher.rows(LOCK_WAIT)).length > 0);
      assert.equal(isAnswered, false);
      await sql.rows("insert into queue_slots (team_id, queue_id, worker_id, slots) values ($1, $2, $3, 1)", [
        queue.teamId,
        queue.id,
        first,
      ]);
      return { asked };
    });
    assert.equal(await asking.asked, 0);
  });

  it("are shared equally by two workers once the first one asks again", async () => {
    const queue = await store.openQueue({ concurrency: 5 });
    const [first = 0, second = 0] = await openWorkers(2);
    await acquire(queue, first);

    const before = await acquire(queue, second);
    assert.deepEqual([before.slots, before.starved], [0, true]);
    const shared = await acquire(queue, first);
    const after = await acquire(queue, second);

    assert.deepEqual([shared.slots, after.slots], [3, 2]);
    assert.deepEqual([shared.starved, after.starved], [false, false]);
  });

  it("give every worker its share, for any number of workers", async () => {
    for (const [workerCount, concurrency] of [
      [2, 5],
      [3, 4],
      [3, 8],
      [3, 10],
      [4, 5],
      [8, 50],
    ] as const) {
      const queue = await store.openQueue({ concurrency });
      const workers = await openWorkers(workerCount);
      for (let round = 0; round < 2; round += 1) {
        for (const worker of workers) await acquire(queue, worker);
      }

      const grants = [];
      for (const worker of workers) grants.push(await acquire(queue, worker));

      const share = Math.floor(concurrency / workerCount);
      const slots = grants.map((grant) => grant.slots);
      assert.equal(await granted(queue), concurrency, `all of ${concurrency} are in use: ${slots}`);
      assert.ok(Math.min(...slots) >= share, `${concurrency} among ${workerCount}: ${slots}`);
      assert.ok(grants.every(({ starved, overdrawn }) => !starved && !overdrawn));
    }
  });

  it("are not taken from a worker that uses them; its grant is marked overdrawn", async () => {
    const queue = await store.openQueue({ concurrency: 4 });
    const [busy = 0, other = 0] = await openWorkers(2);
    await acquire(queue, busy);
    await acquire(queue, other);

    const full = await acquire(queue, busy, 4);
    assert.deepEqual([full.slots, full.overdrawn], [4, true]);
    assert.equal((await acquire(queue, other)).starved, true);

    const fewer = await acquire(queue, busy, 3);
    assert.deepEqual([fewer.slots, fewer.overdrawn], [3, true]);
    assert.equal((await acquire(queue, other)).slots, 1);
    const settled = await acquire(queue, busy, 2);
    assert.deepEqual([settled.slots, settled.overdrawn], [2, false]);
    assert.equal((await acquire(queue, other)).slots, 2);
  });

  it("shrink with the concurrency, down to the calls in flight", async () => {
    const queue = await store.openQueue({ concurrency: 10 });
    const [first = 0, second = 0] = await openWorkers(2);
    await acquire(queue, first);
    await acquire(queue, second);
    await acquire(queue, first, 5);
    await acquire(queue, second, 5);
    await updateQueue(store.database, queue.teamId, queue.name, { concurrency: 2 });

    const lowered = await acquire(queue, first, 5);
    assert.deepEqual([lowered.slots, lowered.overdrawn, lowered.concurrency], [5, true, 2]);
    assert.equal((await acquire(queue, second, 0)).slots, 0);
    assert.equal((await acquire(queue, first, 0)).slots, 1);
    assert.equal((await acquire(queue, second, 0)).slots, 1);
    assert.equal(await granted(queue), 2);
  });

  it("grow in a new epoch when the concurrency is raised", async () => {
    const queue = await store.openQueue({ concurrency: 1 });
    const [worker = 0] = await openWorkers(1);
    await acquire(queue, worker);
    await updateQueue(store.database, queue.teamId, queue.name, { concurrency: 9 });

    const grant = await acquire(queue, worker);

    assert.deepEqual([grant.slots, grant.epoch], [9, 2]);
  });

  it("are free again when their worker is removed", async () => {
    const queue = await store.openQueue({ concurrency: 3 });
    const [dying = 0, other = 0] = await openWorkers(2);
    await acquire(queue, dying, 3);
    assert.equal((await acquire(queue, other)).slots, 0);

    await removeWorker(store.database, dying);

    assert.equal((await acquire(queue, other)).slots, 3);
  });

  it("are not granted to a removed worker", async () => {
    const queue = await store.openQueue({ concurrency: 3 });
    const [dead = 0] = await openWorkers(1);
    await removeWorker(store.database, dead);

    assert.equal((await acquire(queue, dead, 2)).slots, 0);
    assert.equal(await granted(queue), 0);
  });

  it("can be returned for each queue separately", async () => {
    const [quiet, kept] = [
      await store.openQueue({ concurrency: 3 }),
      await store.openQueue({ concurrency: 3 }),
    ];
    const [worker = 0, other = 0] = await openWorkers(2);
    const grant = await acquire(quiet, worker);
    await acquire(kept, worker);

    await releaseSlots(store.database, worker, [{ ...grant, teamId: quiet.teamId }]);

    assert.equal((await acquire(quiet, other)).slots, 3);
    assert.equal((await acquire(kept, other)).slots, 0);
  });

  it("stay granted when a late release names an earlier grant", async () => {
    const queue = await store.openQueue({ concurrency: 3 });
    const [worker = 0, other = 0] = await openWorkers(2);
    const early = { ...(await acquire(queue, worker)), teamId: queue.teamId };
    const again = { ...(await acquire(queue, worker)), teamId: queue.teamId };

    await releaseSlots(store.database, worker, [early]);
    assert.equal((await acquire(queue, other)).slots, 0, "all of them are in use");
    await releaseSlots(store.database, worker, [again]);
    assert.equal((await acquire(queue, other)).slots, 3);
  });

  it("are granted with the queue's pause and epoch", async () => {
    const queue = await store.openQueue();
    const [worker = 0] = await openWorkers(1);
    await setQueuePaused(store.database, queue.teamId, queue.name, true);

    const grant = await acquire(queue, worker);

    assert.deepEqual([grant.paused, grant.epoch], [true, 2]);
  });

  it("of a deleted or unknown queue are not granted", async () => {
    const queue = await store.openQueue();
    const [workerId = 0] = await openWorkers(1);
    await markQueueDeleted(store.database, queue.teamId, queue.name);

    const asked = [named(queue), { ...named(queue), queue: "nowhere" }];
    assert.deepEqual(await acquireSlots(store.database, workerId, asked), [null, null]);
  });

  it("of many queues are granted in one request, each with its own limits", async () => {
    const queues = await Promise.all([3, 1, 7, 2].map((concurrency) => store.openQueue({ concurrency })));
    const [first = 0, second = 0] = await openWorkers(2);
    const [one, , three, four] = queues as [StoredQueue, StoredQueue, StoredQueue, StoredQueue];
    await acquire(three, first, 7);
    await acquire(four, first);

    const asked = [four, one, three].map(named);
    const grants = await acquireSlots(store.database, second, [
      ...asked,
      { ...named(one), queue: "nowhere" },
      { ...named(one), teamId: one.teamId + 1_000 },
    ]);

    assert.deepEqual(
      grants.map((grant) => grant && [grant.queueId, grant.slots, grant.starved]),
      [[four.id, 0, true], [one.id, 3, false], [three.id, 0, true], null, null],
    );
    assert.deepEqual(await Promise.all(queues.map(granted)), [3, 0, 7, 2]);
  });

  it("of many queues are requested without a deadlock, whatever their order", async () => {
    const queues = [await store.openQueue(), await store.openQueue()] as const;
    const [first = 0, second = 0] = await openWorkers(2);
    const [others, watcher] = [store.open(1), store.open(1)];
    const asking = await store.database.transaction(async (sql) => {
      await sql.rows("select 1 from queues where id = $1 for no key update", [queues[0].id]);
      const asked = acquireSlots(others, second, [named(queues[1]), named(queues[0])]);
      await until(async () => (await watcher.rows(LOCK_WAIT)).length > 0);
      // It waits for the first queue, so it does not hold the second.
      assert.ok((await acquire(queues[1], first)).slots > 0);
      return { asked };
    });
    assert.equal((await asking.asked).length, 2);
  });

  it("of many queues are granted or refused as a whole if the worker is being removed", async () => {
    const [known, fresh] = [await store.openQueue(), await store.openQueue()];
    const [worker = 0] = await openWorkers(1);
    await acquire(known, worker);
    const [others, watcher] = [store.open(1), store.open(1)];
    const asking = await store.database.transaction(async (sql) => {
      await sql.rows("select 1 from workers where id = $1 for update", [worker]);
      const asked = acquireSlots(others, worker, [named(known), named(fresh)]);
      await until(async () => (await watcher.rows(LOCK_WAIT)).length > 0);
      // The request holds no row that the removal needs: each would wait for the other.
      await sql.rows("select 1 from queue_slots where worker_id = $1 for update nowait", [worker]);
      await sql.rows("delete from workers where id = $1", [worker]);
      return { asked };
    });
    assert.deepEqual(
      (await asking.asked).map((grant) => grant && [grant.slots, grant.version]),
      [
        [0, null],
        [0, null],
      ],
    );
    assert.deepEqual([await granted(known), await granted(fresh)], [0, 0]);
  });

  it("of a queue that replaced another are not used by calls of the old one", async () => {
    const old = await store.openQueue({ concurrency: 2 });
    const [workerId = 0] = await openWorkers(1);
    await acquire(old, workerId, 2);
    await store.database.rows("update queues set name = 'gone', deleted_at = now() where id = $1", [old.id]);
    await store.database.rows(
      `insert into queues (team_id, name, concurrency, max_retries, backoff, retry_delay_seconds, timeout_seconds)
       values ($1, $2, 2, 3, 'fixed', 1, 30)`,
      [old.teamId, old.name],
    );

    const grant = await acquire(old, workerId, 3);

    assert.notEqual(grant.queueId, old.id);
    assert.deepEqual([grant.slots, grant.overdrawn], [2, false]);
  });
});
