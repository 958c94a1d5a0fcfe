import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { MOST_HELD_HOSTS } from "../../../src/domain/breaker.ts";
import { countAttempts } from "../../../src/store/tasks/breaker-counts.ts";
import { heldHosts } from "../../../src/store/tasks/breaker-passes.ts";
import { lockBreakers } from "../../../src/store/tasks/breakers.ts";
import { setQueueBreaker } from "../../../src/store/tasks/queues.ts";
import { openTestStore, type StoredQueue, type TestStore } from "../../test-store.ts";

const SETTINGS = { failures: 1, ratio: 0.1, within: 60, cooldown: 30 };

describe("the circuit breakers of a team", () => {
  let store: TestStore;
  let queue: StoredQueue;
  before(async () => {
    store = await openTestStore();
    queue = await store.openQueue();
    await setQueueBreaker(store.database, queue, SETTINGS);
  });
  after(() => store.close());

  it("hold back a limited number of hosts", async () => {
    const hosts = Array.from({ length: MOST_HELD_HOSTS + 2 }, (_, index) => `host-${index}.example`);
    const { teamId, id: queueId } = queue;
    const failed = { id: randomUUID(), fence: 1, beganAt: new Date(), isUp: false };
    await store.database.transaction(async (sql) => {
      const locked = await lockBreakers(sql, [{ teamId, queueId }]);
      const attempts = hosts.map((host) => ({ teamId, queueId, host, ...failed }));
      await countAttempts(sql, locked, attempts);
    });
    const held = await store.database.rows("select host from breakers where team_id = $1", [teamId]);
    assert.equal(held.length, MOST_HELD_HOSTS);
  });

  it("cost a node nothing while no task waits for their hosts", async () => {
    assert.deepEqual(await heldHosts(store.database), []);
    await store.database.rows(
      `insert into breaker_tasks (team_id, task_id, queue_id, host, priority, due_at, fence)
       values ($1, gen_random_uuid(), $2, 'host-7.example', 5, now(), 0)`,
      [queue.teamId, queue.id],
    );
    assert.deepEqual(
      (await heldHosts(store.database)).map(({ host }) => host),
      ["host-7.example"],
    );
  });
});
