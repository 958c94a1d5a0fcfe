import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import type { Claim } from "../../../src/domain/claim.ts";
import type { TaskFlow } from "../../../src/domain/flow.ts";
import type { NewTask } from "../../../src/domain/task.ts";
import { claimFlowTasks, type FlowClaimed } from "../../../src/store/tasks/flow-claims.ts";
import { openFlowLines } from "../../../src/store/tasks/flow-lines.ts";
import { cancelTask } from "../../../src/store/tasks/task-cancellations.ts";
import { expireTasks } from "../../../src/store/tasks/task-deadlines.ts";
import { dismissTask } from "../../../src/store/tasks/task-dismissals.ts";
import { removeExpiredTasks, removePendingTask } from "../../../src/store/tasks/task-removals.ts";
import { retryTask } from "../../../src/store/tasks/task-retries.ts";
import { reapTasks, releaseTasks } from "../../../src/store/tasks/task-returns.ts";
import { removeWorker } from "../../../src/store/tasks/workers.ts";
import { lockLate } from "../../late-lock.ts";
import { flowOf } from "../../test-flow.ts";
import { drain, FAILED, settle, WAITING } from "../../test-lines.ts";
import type { TextSql } from "../../test-sql.ts";
import { live, openTestStore, RETRY, type StoredQueue, type TestStore } from "../../test-store.ts";

describe("the claim of an ordered flow", () => {
  let store: TestStore;
  let workerId: number;
  let queue: StoredQueue;
  let key = "line-0";
  let keys = 0;
  before(async () => {
    store = await openTestStore();
    workerId = await store.openWorker();
  });
  beforeEach(async () => {
    queue = await store.openQueue();
    keys += 1;
    key = `line-${keys}`;
  });
  after(() => store.close());

  const flow = (limits: Partial<TaskFlow> = {}) => flowOf(key, { ordered: true, ...limits });
  const insertOne = async (task: Partial<NewTask> = {}, into = queue) =>
    (await store.insert(into, { ...flow(), ...task }))[0] as string;

  async function ask({
    by = workerId,
    queues = [queue],
    ordered = true,
    sql = store.database,
    free = 10,
    holdsHosts = false,
  }: {
    by?: number;
    queues?: readonly StoredQueue[];
    ordered?: boolean;
    sql?: TextSql;
    free?: number;
    holdsHosts?: boolean;
  } = {}): Promise<FlowClaimed> {
    const rows = await store.database.rows<{ id: number; epoch: number }>(
      "select id::float8 as id, epoch from queues where id = any($1)",
      [queues.map(({ id }) => id)],
    );
    const epochs = new Map(rows.map(({ id, epoch }) => [id, epoch]));
    return claimFlowTasks(
      sql,
      {
        teamId: queue.teamId,
        workerId: by,
        queues: queues.map(({ id, name }) => ({
          queueId: id,
          queue: name,
          epoch: epochs.get(id) ?? 0,
          free,
          holdsHosts,
        })),
        lanes: queues.map(({ id }) => ({ flow: key, queueId: id })),
        limit: 200,
        isOrdered: ordered,
      },
      0,
    );
  }
  /** Claims as a worker does, which begins the line if the line has not begun. */
  async function claim(options: Parameters<typeof ask>[0] = {}): Promise<Claim | undefined> {
    let claimed = await ask(options);
    if (claimed.flows[0]?.kind === "unopened") {
      await openFlowLines(store.database, queue.teamId, [key]);
      claimed = await ask(options);
    }
    assert.ok(claimed.claims.length <= 1);
    return claimed.claims[0];
  }
  const makeDue = (id: string) =>
    store.database.rows("update tasks set run_at = now(), flow_due_at = now() where id = $1", [id]);
  const block = () =>
    store.database.rows(
      "update flows set ordered = true, on_failure = 'block', is_stored = true where key = $1",
      [key],
    );

  it("takes one task at a time over all queues, in the order of creation, whatever the priorities", async () => {
    const other = await store.openQueue();
    const queues = [queue, other];
    const first = await insertOne({ priority: 1 });
    const second = await insertOne({ priority: 10 }, other);
    const batch = await store.insert(queue, { ...flow(), priority: 3 }, { ...flow(), priority: 7 });

    const claimed = await claim({ queues });

    assert.equal(claimed?.id, first);
    assert.equal(await claim({ queues }), undefined, "the first has not ended");
    await settle(store, claimed);
    assert.deepEqual(await drain(store, () => claim({ queues })), [second, ...batch]);
  });

  it("takes nothing by the statement for flows without order, nor the other way round", async () => {
    await insertOne();
    const [state] = (await ask({ ordered: false })).flows;
    assert.deepEqual([state?.kind, state?.claimed], ["ordered", 0]);

    await store.database.rows("update flows set ordered = false where key = $1", [key]);
    const [other] = (await ask()).flows;
    assert.deepEqual([other?.kind, other?.claimed], ["unordered", 0]);
    assert.equal((await ask({ ordered: false })).claims.length, 1);
  });

  it("waits for the queue of its first task, and names it", async () => {
    const full = await store.openQueue();
    await insertOne({}, full);
    await insertOne();
    await openFlowLines(store.database, queue.teamId, [key]);

    const claimed = await ask({ queues: [queue] });

    assert.deepEqual([claimed.claims.length, claimed.flows[0]?.kind], [0, "held"]);
    assert.equal(claimed.flows[0]?.headQueue, full.name);
  });

  for (const [what, verdict] of Object.entries({ "backs off": RETRY, "waits for a callback": WAITING }))
    it(`takes no other task while the first ${what}`, async () => {
      const first = await insertOne();
      const second = await insertOne();
      await settle(store, await claim(), verdict);

      const held = await ask();
      assert.deepEqual(
        [held.claims.length, held.flows[0]?.kind, held.flows[0]?.headQueue],
        [0, "held", undefined],
      );

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

  it("moves late tasks to their place once, even those that it cannot start yet", async () => {
    const [first, ...late] = await store.insert(
      queue,
      ...Array.from({ length: 4 }, (_, index) => ({ ...flow(), delaySeconds: 100 + index })),
    );
    assert.equal(await claim(), undefined);
    const plain = await insertOne();
    // The tasks come due in the opposite order.
    for (const [index, id] of [first, ...late].entries())
      await store.database.rows(
        "update tasks set run_at = created_at + $2 * interval '1 microsecond', flow_due_at = created_at + $2 * interval '1 microsecond' where id = $1",
        [id, 10 - index],
      );
    const held = await claim();
    assert.equal(held?.id, first);
    const [row] = await store.database.rows<{ count: number }>(
      "select count(*)::integer as count from tasks where flow = $1 and flow_due_at > created_at",
      [key],
    );
    assert.equal(row?.count, 0);
    await settle(store, held);
    assert.deepEqual(await drain(store, claim), [...late, plain]);
  });

  it("continues after a failure, or with on_failure block only once the task has completed", async () => {
    await insertOne();
    await settle(store, await claim(), FAILED);
    const next = await insertOne();
    assert.deepEqual(await drain(store, claim), [next]);

    await block();
    const blocker = await insertOne();
    const blocked = await insertOne();
    await settle(store, await claim(), FAILED);
    assert.equal(await claim(), undefined);
    const later = { delaySeconds: 600, priority: null };
    await retryTask(store.database, live(queue.teamId), blocker, later);
    assert.equal(await claim(), undefined, "its delay does not let the line go on");
    await makeDue(blocker);
    assert.deepEqual(await drain(store, claim), [blocker, blocked]);
  });

  it("continues when the failed task that blocks it is dismissed, and keeps it until then", async () => {
    await insertOne();
    await block();
    const claimed = await claim();
    await settle(store, claimed, FAILED);
    const blocker = claimed?.id ?? "";
    const blocked = await insertOne();
    const old = "0190a1b2-0000-7000-8000-000000000002";
    await store.database.rows("update flow_line_tasks set task_id = $2 where task_id = $1", [blocker, old]);
    await store.database.rows(
      "update tasks set id = $2, completed_at = now() - interval '90 days' where id = $1",
      [blocker, old],
    );
    await removeExpiredTasks(store.database, 30, 100);
    assert.equal(await claim(), undefined, "it is kept, and blocks");

    await dismissTask(store.database, live(queue.teamId), old);
    assert.deepEqual(await drain(store, claim), [blocked]);
    await removeExpiredTasks(store.database, 30, 100);
    assert.equal((await store.database.rows("select 1 from tasks where id = $1", [old])).length, 0);
  });

  for (const [how, end] of Object.entries({
    cancel: (id: string) => cancelTask(store.database, live(queue.teamId), id),
    DELETE: (id: string) => removePendingTask(store.database, live(queue.teamId), id),
    expiry: async (id: string) => {
      await store.database.rows(
        "update tasks set deadline_at = now(), expires_in_seconds = 1 where id = $1",
        [id],
      );
      await expireTasks(store.database, 10, workerId);
    },
  }))
    it(`continues after the ${how} of the first task, even with on_failure block`, async () => {
      const first = await insertOne();
      const second = await insertOne();
      await block();
      await settle(store, await claim(), RETRY);
      assert.equal(await claim(), undefined);

      await end(first);

      assert.deepEqual(await drain(store, claim), [second]);
    });

  it("gives a task to one of many racing workers, and none until its dead worker is reaped", async () => {
    const first = await insertOne();
    const second = await insertOne();
    await openFlowLines(store.database, queue.teamId, [key]);
    const others = await Promise.all(Array.from({ length: 6 }, () => store.openWorker()));

    const results = await Promise.all(
      others.map(async (by) => {
        const sql = store.open(1);
        const rounds = [await ask({ by, sql }), await ask({ by, sql }), await ask({ by, sql })];
        return rounds.flatMap(({ claims }) => claims);
      }),
    );

    const claims = results.flat();
    assert.deepEqual(
      claims.map(({ id }) => id),
      [first],
    );
    await removeWorker(store.database, claims[0]?.workerId ?? 0);
    assert.equal(await claim(), undefined, "its call may still be under way");
    await reapTasks(store.database, workerId);
    assert.deepEqual(await drain(store, claim), [first, second]);
  });

  it("takes the first task again when its claim was released unused", async () => {
    const first = await insertOne();
    const second = await insertOne();
    const claimed = await claim();
    assert.ok(claimed);
    await releaseTasks(store.database, [claimed], "not_sent", workerId);

    assert.deepEqual(await drain(store, claim), [first, second]);
  });

  it("takes nothing by a snapshot that is older than its lock", async () => {
    const limited = flow({ rate: 1, period: 60 });
    const [first] = await store.insert(queue, limited, limited);
    await openFlowLines(store.database, queue.teamId, [key]);
    let taken: Claim | undefined;

    const late = await lockLate(
      store.database,
      (sql) => ask({ sql }),
      async () => {
        taken = await claim();
        // With some plans the statement locks the flow before it reads the time, and this claim finds the flow locked.
        if (taken === undefined) return;
        await settle(store, taken, RETRY);
        await makeDue(taken.id);
      },
    );

    // In the snapshot no call has begun in the period, and the first task is due again.
    const claims = [...(taken === undefined ? [] : [taken]), ...late.claims];
    assert.deepEqual(
      claims.map(({ id }) => id),
      [first],
    );
  });

  it("passes over no task that another transaction has locked", async () => {
    const first = await insertOne();
    await insertOne();
    await openFlowLines(store.database, queue.teamId, [key]);

    await store.database.transaction(async (sql) => {
      await sql.rows("select 1 from tasks where id = $1 for update", [first]);
      const during = await ask({ sql: store.open(1) });
      assert.deepEqual([during.claims.length, during.flows[0]?.kind], [0, "busy"]);
    });

    assert.equal((await claim())?.id, first);
  });

  it("waits for all tasks that had started before the flow became ordered", async () => {
    await store.insert(queue, ...Array.from({ length: 4 }, () => flow({ ordered: null })));
    const { claims } = await ask({ ordered: false, free: 3 });
    const [active, waiting, retrying] = claims;
    await settle(store, waiting, WAITING);
    await settle(store, retrying, RETRY);
    const last = await insertOne();

    assert.equal(await claim(), undefined);
    await settle(store, active);
    await makeDue(retrying?.id ?? "");
    assert.equal(await claim(), undefined);
    await cancelTask(store.database, live(queue.teamId), waiting?.id ?? "");
    const rest = await drain(store, claim);
    assert.deepEqual([rest.length, rest[0], rest.at(-1)], [3, retrying?.id, last]);
  });

  it("begins a new line each time that it becomes ordered", async () => {
    await insertOne();
    await settle(store, await claim(), WAITING);
    await insertOne({ ...flow({ ordered: false }) });
    const [running] = (await ask({ ordered: false })).claims;
    assert.ok(running);
    await insertOne();

    assert.equal((await ask()).flows[0]?.kind, "unopened");
    assert.equal(await claim(), undefined, "what began meanwhile has not ended");
  });

  it("obeys the rate of its flow", async () => {
    const first = await insertOne(flow({ rate: 1, period: 60 }));
    await insertOne();
    const claimed = await claim();
    assert.deepEqual([claimed?.id, claimed?.startByMs], [first, 100]);
    await settle(store, claimed);

    const next = await ask();

    assert.deepEqual([next.claims.length, next.flows[0]?.kind], [0, "rated"]);
    assert.ok((next.flows[0]?.waitMs ?? 0) > 50_000);
  });

  it("waits for its first task while a circuit breaker holds that one's host", async () => {
    const first = await insertOne();
    const second = await insertOne({
      call: { method: "POST", url: "http://other.example/", headers: {}, body: "{}" },
    });
    await store.database.rows(
      `with held as (
         insert into breakers (team_id, queue_id, host, phase, failures, opened_at, until, cooldown, allowed)
         values ($1, $2, 'localhost', 'open', 20, now(), now() + interval '1 day', 30, 1))
       update queues set holds_hosts = true, epoch = epoch + 1 where team_id = $1 and id = $2`,
      [queue.teamId, queue.id],
    );
    assert.equal(await claim({ holdsHosts: true }), undefined);
    const held = await ask({ holdsHosts: true });
    assert.deepEqual(
      [held.claims.length, held.flows[0]?.kind, held.flows[0]?.headQueue],
      [0, "held", undefined],
    );

    const passed = await store.database.rows(
      "update breaker_tasks k set passed_at = now() from tasks t where t.id = $1 and k.task_id = t.id and k.fence = t.fence returning 1",
      [first],
    );
    assert.equal(passed.length, 1, "it waits for a pass as others do");
    await store.database.rows("update tasks set flow_due_at = run_at where id = $1", [first]);

    assert.deepEqual(await drain(store, () => claim({ holdsHosts: true })), [first, second]);
  });

  it("takes nothing of a paused flow", async () => {
    await insertOne();
    await openFlowLines(store.database, queue.teamId, [key]);
    await store.database.rows("update flows set paused = true where key = $1", [key]);

    const found = await ask();

    assert.deepEqual([found.claims.length, found.flows[0]?.kind], [0, "paused"]);
  });
});
