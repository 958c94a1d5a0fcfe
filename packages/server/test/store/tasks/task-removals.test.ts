import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { markQueueDeleted } from "../../../src/store/tasks/queues.ts";
import {
  foldTallies,
  removeEmptyDeletedQueues,
  removeExpiredTasks,
  removePendingOfDeletedQueues,
  removePendingTask,
  taskStatus,
} from "../../../src/store/tasks/task-removals.ts";
import { settleAttempts } from "../../../src/store/tasks/task-settlements.ts";
import { removeWorker } from "../../../src/store/tasks/workers.ts";
import {
  countBothWays,
  live,
  openTestStore,
  RETRY,
  type StoredQueue,
  settlementOf,
  type TestStore,
} from "../../test-store.ts";

const FAILED = { kind: "failed", reason: "retries_exhausted", error: "no", result: null } as const;

describe("removing tasks", () => {
  let store: TestStore;
  let workerId: number;
  before(async () => {
    store = await openTestStore();
    workerId = await store.openWorker();
  });
  after(() => store.close());
  afterEach(async () => {
    const { tallied, counted } = await countBothWays(store.database);
    assert.deepEqual(tallied, counted, "the tallies drifted");
  });

  async function exists(queue: StoredQueue, id: string | undefined): Promise<boolean> {
    return (await taskStatus(store.database, live(queue.teamId), id ?? "")) !== null;
  }

  async function age(days: number, ids: readonly string[]): Promise<string[]> {
    const rows = await store.database.rows<{ id: string }>(
      `update tasks
          set id = (lpad(to_hex((extract(epoch from now() - make_interval(days => $1)) * 1000)::bigint), 12, '0')
                    || substr(replace(id::text, '-', ''), 13))::uuid,
              created_at = created_at - make_interval(days => $1),
              completed_at = completed_at - make_interval(days => $1)
        where id = any($2) returning id`,
      [days, ids],
    );
    return rows.map((row) => row.id);
  }

  it("removes a pending task, once", async () => {
    const queue = await store.openQueue();
    const [id = ""] = await store.insert(queue, {});

    assert.ok(await removePendingTask(store.database, live(queue.teamId), id));
    assert.equal(await removePendingTask(store.database, live(queue.teamId), id), null);
    assert.deepEqual(await store.claim(queue, { workerId }), []);
  });

  it("does not wait for other removals or folding of tallies in the same queue", async () => {
    const queue = await store.openQueue();
    const [first = "", second = ""] = await store.insert(queue, {}, {}, {});
    await store.database.transaction(async (sql) => {
      assert.ok(await removePendingTask(sql, live(queue.teamId), first));
      assert.ok(await removePendingTask(store.database, live(queue.teamId), second));
      await foldTallies(store.database);
    });
    await foldTallies(store.database);

    const { tallied, counted } = await countBothWays(store.database);
    assert.deepEqual(tallied, counted);
  });

  it("tallies removals without a worker, and folding merges the rows into one", async () => {
    const queue = await store.openQueue();
    const [id = ""] = await store.insert(queue, {}, {});
    await removePendingTask(store.database, live(queue.teamId), id);
    const tallies = () =>
      store.database.rows<{ worker: number; pending: number }>(
        `select worker_id::integer as worker, sum(pending)::integer as pending from queue_tallies
          where queue_id = $1 group by worker_id`,
        [queue.id],
      );

    assert.ok((await tallies()).every(({ worker }) => worker < 0));
    await foldTallies(store.database);
    assert.deepEqual(await tallies(), [{ worker: 0, pending: 1 }]);
  });

  it("removes no active, completed or failed task, nor another team's", async () => {
    const queue = await store.openQueue();
    await store.insert(queue, {}, {}, {}, {});
    const [active, completed, failed, retried] = await store.claim(queue, { workerId });
    assert.ok(active && completed && failed && retried);
    await settleAttempts(
      store.database,
      [settlementOf(completed), settlementOf(failed, FAILED), settlementOf(retried, RETRY)],
      workerId,
    );

    for (const { id } of [active, completed, failed]) {
      assert.equal(await removePendingTask(store.database, live(queue.teamId), id), null);
    }
    const stranger = await store.openTeam();
    assert.equal(await removePendingTask(store.database, live(stranger), retried.id), null);
    assert.ok(await removePendingTask(store.database, live(queue.teamId), retried.id));
  });

  it("removes all pending tasks of a deleted queue in batches, and nothing else", async () => {
    const doomed = await store.openQueue();
    const kept = await store.openQueue();
    const stranger = await store.openQueue({}, await store.openTeam());
    await store.insert(doomed, {}, {});
    const [active, completed] = await store.claim(doomed, { workerId });
    assert.ok(active && completed);
    await settleAttempts(store.database, [settlementOf(completed)], workerId);
    await store.insert(doomed, {}, { delaySeconds: 60 }, { sandbox: true }, {}, {});
    const [sibling] = await store.insert(kept, {});
    const [foreign] = await store.insert(stranger, {});
    await markQueueDeleted(store.database, doomed.teamId, doomed.name);

    const rounds = [];
    for (let removed = -1; removed !== 0; rounds.push(removed)) {
      const only = { teamId: doomed.teamId, queueId: doomed.id };
      ({ removed } = await removePendingOfDeletedQueues(store.database, { size: 2, only }));
    }

    assert.deepEqual(rounds, [2, 2, 1, 0]);
    assert.equal(await exists(kept, sibling), true);
    assert.equal(await exists(stranger, foreign), true);
    assert.equal(await taskStatus(store.database, live(doomed.teamId), active.id), "active");
    assert.equal(await taskStatus(store.database, live(doomed.teamId), completed.id), "completed");
  });

  it("removes no tasks of another team's queue", async () => {
    const victim = await store.openQueue({}, await store.openTeam());
    const [id] = await store.insert(victim, {});
    await markQueueDeleted(store.database, victim.teamId, victim.name);
    const attacker = await store.openTeam();

    const only = { teamId: attacker, queueId: victim.id };
    assert.equal((await removePendingOfDeletedQueues(store.database, { size: 10, only })).removed, 0);
    assert.equal(await exists(victim, id), true);
  });

  it("removes what an interrupted queue deletion left behind", async () => {
    const doomed = await store.openQueue();
    await store.insert(doomed, {}, {}, {});
    await markQueueDeleted(store.database, doomed.teamId, doomed.name);

    const batch = { size: 100, only: null };
    assert.ok((await removePendingOfDeletedQueues(store.database, batch)).removed >= 3);
    assert.equal((await removePendingOfDeletedQueues(store.database, batch)).removed, 0);
  });

  it("removes ended tasks after the retention period, in batches", async () => {
    const queue = await store.openQueue();
    await store.insert(queue, ...Array.from({ length: 9 }, () => ({})));
    const claims = await store.claim(queue, { workerId });
    const [active, waitsForRetry, ...ended] = claims;
    assert.ok(active && waitsForRetry);
    await settleAttempts(
      store.database,
      [
        settlementOf(waitsForRetry, RETRY),
        ...ended.map((claim, index) => settlementOf(claim, index % 2 === 0 ? FAILED : undefined)),
      ],
      workerId,
    );
    const [young, ...old] = ended.map(({ id }) => id) as [string, ...string[]];
    const aged = await age(31, [...old, active.id, waitsForRetry.id]);
    const [ripe] = await age(29, [young]);

    const rounds = [];
    for (let removed = -1; removed !== 0; rounds.push(removed)) {
      removed = await removeExpiredTasks(store.database, 30, 4);
    }

    assert.deepEqual(rounds, [4, 2, 0]);
    assert.equal(await exists(queue, ripe), true);
    const left = await store.database.rows<{ status: string }>(
      "select status from tasks where id = any($1) order by status",
      [aged],
    );
    assert.deepEqual(
      left.map(({ status }) => status),
      ["active", "pending"],
    );
  });

  it("keeps a task that was created long ago and has just ended", async () => {
    const queue = await store.openQueue();
    await store.insert(queue, {});
    const [claim] = await store.claim(queue, { workerId });
    assert.ok(claim);
    const [aged = ""] = await age(400, [claim.id]);
    await settleAttempts(store.database, [settlementOf({ ...claim, id: aged })], workerId);

    assert.equal(await removeExpiredTasks(store.database, 30, 10), 0);
    assert.equal(await exists(queue, aged), true);
  });

  it("removes a deleted queue after an hour, once its last task is gone", async () => {
    const [empty, used] = [await store.openQueue(), await store.openQueue()];
    await store.insert(used, {});
    await store.claim(used, { workerId });
    for (const { teamId, name } of [empty, used]) await markQueueDeleted(store.database, teamId, name);
    const left = async () => {
      await removeEmptyDeletedQueues(store.database, { queues: 10, stats: 100 });
      const rows = await store.database.rows<{ id: string }>(
        "select id from queues where id = any($1) order by id",
        [[empty.id, used.id]],
      );
      return rows.map(({ id }) => Number(id));
    };

    assert.deepEqual(await left(), [empty.id, used.id]);
    await store.database.rows(
      "update queues set deleted_at = now() - interval '2 hours' where id = any($1)",
      [[empty.id, used.id]],
    );
    assert.deepEqual(await left(), [used.id]);
  });

  it("keeps the sums when it folds the tallies of removed workers", async () => {
    const queue = await store.openQueue();
    const [first, second] = [await store.openWorker(), await store.openWorker()];
    await store.insert(queue, {}, {}, {}, {});
    for (const id of [first, second]) {
      const [completed, failed] = await store.claim(queue, { workerId: id, limit: 2 });
      assert.ok(completed && failed);
      await settleAttempts(store.database, [settlementOf(completed), settlementOf(failed, FAILED)], id);
      await removeWorker(store.database, id);
      const before = (await countBothWays(store.database)).tallied;

      await foldTallies(store.database);
      await foldTallies(store.database);

      assert.deepEqual((await countBothWays(store.database)).tallied, before);
    }
    const left = await store.database.rows("select 1 from queue_tallies where worker_id = any($1)", [
      [first, second],
    ]);
    assert.deepEqual(left, []);
  });
});
