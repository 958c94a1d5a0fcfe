import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { MOST_HELD_HOSTS } from "../../../src/domain/breaker.ts";
import { countAttempts } from "../../../src/store/tasks/breaker-counts.ts";
import { heldHosts, passTasks } from "../../../src/store/tasks/breaker-passes.ts";
import { lockBreakers } from "../../../src/store/tasks/breakers.ts";
import { claimFlowTasks } from "../../../src/store/tasks/flow-claims.ts";
import { openFlowLines } from "../../../src/store/tasks/flow-lines.ts";
import { holdTasks } from "../../../src/store/tasks/held-hosts.ts";
import { setQueueBreaker } from "../../../src/store/tasks/queues.ts";
import { lockLate } from "../../late-lock.ts";
import { watchDatabase } from "../../test-sql.ts";
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

describe("a task that a claim takes out while its breaker is removed", () => {
  let store: TestStore;
  let workerId: number;
  before(async () => {
    store = await openTestStore();
    workerId = await store.openWorker();
  });
  after(() => store.close());

  /** A queue whose breaker closes, and for whose host no task waits. */
  async function openClosing(): Promise<StoredQueue> {
    const queue = await store.openQueue();
    await setQueueBreaker(store.database, queue, SETTINGS);
    await store.database.rows(
      `with closing as (
         insert into breakers (team_id, queue_id, host, phase, failures, opened_at, until, cooldown, allowed)
         values ($1, $2, 'localhost', 'closing', 1, now(), now(), 30, 2))
       update queues set holds_hosts = true, epoch = epoch + 1 where id = $2`,
      [queue.teamId, queue.id],
    );
    return queue;
  }
  const pass = ({ teamId, id: queueId, name }: StoredQueue, database = store.database) =>
    passTasks(database, { teamId, queueId, host: "localhost", queue: name, waitMs: 0 });
  const isDue = async (id: string) =>
    (
      await store.database.rows(
        "select 1 from tasks where id = $1 and (due_at is not null or flow_due_at is not null)",
        [id],
      )
    ).length === 1;

  it("is left as it is if the breaker was removed before", async () => {
    const queue = await openClosing();
    const [id = ""] = await store.insert(queue, {});
    const held = await lockLate(
      store.database,
      (sql) => holdTasks(sql, queue.teamId, queue.id),
      () => pass(queue),
    );
    assert.equal(held, 0);
    assert.equal(await isDue(id), true);
  });

  it("keeps the breaker, which then lets it go, if the removal has looked for tasks before", async () => {
    const queue = await openClosing();
    const [id = ""] = await store.insert(queue, {});
    const database = watchDatabase(store.database);
    let held = 0;
    database.after = async (statement) => {
      if (statement === "pass_tasks" && held === 0)
        held = await holdTasks(store.database, queue.teamId, queue.id);
    };
    const { isPartial } = await pass(queue, database);
    assert.deepEqual([held, isPartial, await isDue(id)], [1, true, false]);
    await pass(queue);
    assert.equal(await isDue(id), true);
  });

  it("is left as it is as the head of an ordered flow", async () => {
    const { teamId, id: queueId, name } = await openClosing();
    const flow = { key: "line", concurrency: null, rate: null, period: null, ordered: true };
    const queue = { teamId, id: queueId, name };
    const [id = ""] = await store.insert(queue, { flow });
    await openFlowLines(store.database, teamId, ["line"]);
    const [row] = await store.database.rows<{ epoch: number }>("select epoch from queues where id = $1", [
      queueId,
    ]);
    const asked = {
      ...{ teamId, workerId, limit: 10, isOrdered: true, lanes: [{ flow: "line", queueId }] },
      queues: [{ queueId, queue: name, epoch: row?.epoch ?? 0, free: 1, holdsHosts: true }],
    };
    const { claims } = await lockLate(
      store.database,
      (sql) => claimFlowTasks(sql, asked, 0),
      () => pass(queue),
    );
    assert.equal(claims.length, 0);
    assert.equal(await isDue(id), true);
  });
});
