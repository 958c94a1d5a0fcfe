import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { MOST_HELD_HOSTS } from "../../../src/domain/breaker.ts";
import { heldHosts } from "../../../src/store/tasks/breaker-passes.ts";
import { recordAttempts } from "../../../src/store/tasks/breakers.ts";
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
    const failed = { settings: SETTINGS, failed: 1, total: 1, passes: [] };
    const { teamId, id: queueId } = queue;
    await recordAttempts(
      store.database,
      hosts.map((host) => ({ teamId, queueId, host, ...failed })),
    );
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
