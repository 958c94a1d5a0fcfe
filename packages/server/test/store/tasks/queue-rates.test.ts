import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type BegunCall, claimAtRates } from "../../../src/store/tasks/queue-rates.ts";
import { setQueueRate } from "../../../src/store/tasks/queues.ts";
import { claimDueTasks } from "../../../src/store/tasks/task-claims.ts";
import { openTestStore, type StoredQueue, type TestStore } from "../../test-store.ts";

describe("claiming tasks of a queue with a rate", () => {
  let store: TestStore;
  let workerId: number;
  before(async () => {
    store = await openTestStore();
    workerId = await store.openWorker();
  });
  after(() => store.close());

  async function openQueue(rate: number, tasks: number): Promise<StoredQueue> {
    const queue = await store.openQueue();
    await setQueueRate(store.database, queue, { rate, ratePeriod: 60 });
    await store.insert(queue, ...Array.from({ length: tasks }, () => ({})));
    return queue;
  }

  async function claim(queue: StoredQueue, { limit = 100, begun = [] as BegunCall[], epoch = 2 } = {}) {
    const { teamId, id: queueId, name } = queue;
    return claimAtRates(
      store.database,
      teamId,
      [{ queueId, epoch, begun }],
      () => 1_000,
      (sql, permits) => {
        const most = Math.min(limit, permits.get(queueId) ?? 0);
        return claimDueTasks(sql, { teamId, queueId, queue: name, epoch, workerId, limit: most });
      },
    );
  }

  const permitsOf = ({ id }: StoredQueue) =>
    store.database.rows<{ at: Date; count: number; ago: number }>(
      `select at, count, extract(epoch from now() - at)::float8 as ago from queue_permits
        where queue_id = $1 and count > 0 order by at`,
      [id],
    );

  it("says when the next call may begin, and counts until then", async () => {
    const queue = await openQueue(2, 5);
    const first = await claim(queue);
    assert.equal(first.claims.length, 2);
    assert.deepEqual(first.rates, [{ queueId: queue.id, waitMs: 60_000 }]);
    assert.deepEqual([...new Set(first.claims.map(({ startByMs }) => startByMs))], [1_100]);
    const [{ waitMs } = { waitMs: null }] = (await claim(queue)).rates;
    assert.ok(waitMs !== null && waitMs > 59_000 && waitMs < 60_200, String(waitMs));

    await store.database.rows("update queue_permits set at = at - interval '61 s' where queue_id = $1", [
      queue.id,
    ]);
    assert.equal((await claim(queue)).claims.length, 2);
    assert.equal((await permitsOf(queue)).length, 1);
  });

  it("counts a call from its begin once that is reported, and never from later than before", async () => {
    const queue = await openQueue(3, 5);
    const [one] = (await claim(queue, { limit: 1 })).claims;
    const permitAt = one?.permitAt ?? new Date(0);
    await claim(queue, { limit: 0, begun: [{ permitAt, beganMs: -49_000 }] });
    const [moved] = await permitsOf(queue);
    assert.ok(moved !== undefined && moved.ago > 49.8 && moved.ago < 55, String(moved?.ago));

    // Told twice, or of a permit that is not known: nothing changes.
    await claim(queue, { limit: 0, begun: [{ permitAt, beganMs: 1_000 }] });
    await claim(queue, { limit: 0, begun: [{ permitAt: moved.at, beganMs: 1_000 }] });
    assert.deepEqual(
      (await permitsOf(queue)).map(({ at, count }) => ({ at, count })),
      [{ at: moved.at, count: 1 }],
    );
  });

  it("takes nothing once the queue has changed", async () => {
    const queue = await openQueue(2, 2);
    const { isCurrent, claims, rates } = await claim(queue, { epoch: 1 });
    assert.deepEqual([isCurrent, claims.length, rates.length], [false, 0, 0]);
  });
});
