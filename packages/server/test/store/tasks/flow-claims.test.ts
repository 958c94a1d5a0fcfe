import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { claimFlowTasks, type FlowClaimed } from "../../../src/store/tasks/flow-claims.ts";
import { releasePlaces } from "../../../src/store/tasks/flow-places.ts";
import { reapTasks, releaseTasks } from "../../../src/store/tasks/task-returns.ts";
import { settleAttempts } from "../../../src/store/tasks/task-settlements.ts";
import { removeWorker } from "../../../src/store/tasks/workers.ts";
import { lockLate } from "../../late-lock.ts";
import { flowOf } from "../../test-flow.ts";
import type { TextSql } from "../../test-sql.ts";
import { openTestStore, RETRY, type StoredQueue, settlementOf, type TestStore } from "../../test-store.ts";

describe("claiming the tasks of flows", () => {
  let store: TestStore;
  let workerId: number;
  before(async () => {
    store = await openTestStore();
    workerId = await store.openWorker();
  });
  after(() => store.close());

  async function claim(
    queues: readonly StoredQueue[],
    keys: readonly string[],
    {
      worker = workerId,
      free = 100,
      full = [],
      database = store.database,
    }: { worker?: number; free?: number; full?: readonly StoredQueue[]; database?: TextSql } = {},
  ): Promise<FlowClaimed> {
    const rows = await store.database.rows<{ id: number; epoch: number }>(
      "select id::float8 as id, epoch from queues where id = any($1)",
      [queues.map(({ id }) => id)],
    );
    return claimFlowTasks(
      database,
      {
        teamId: queues[0]?.teamId ?? 0,
        workerId: worker,
        queues: queues.map((queue) => ({
          queueId: queue.id,
          queue: queue.name,
          epoch: rows.find((row) => row.id === queue.id)?.epoch ?? 0,
          free: full.includes(queue) ? 0 : free,
        })),
        lanes: keys.flatMap((key) => queues.map(({ id }) => ({ flow: key, queueId: id }))),
        limit: 200,
      },
      0,
    );
  }

  const idsOf = ({ claims }: FlowClaimed) => claims.map(({ id }) => id);
  const kindsOf = ({ flows }: FlowClaimed) => flows.map(({ kind }) => kind);

  it("takes as many as the flow has places, over its queues, by priority and due time", async () => {
    const queues = [await store.openQueue(), await store.openQueue()] as const;
    const limited = flowOf("order", { concurrency: 3 });
    const [low, first] = await store.insert(queues[0], { ...limited, priority: 1 }, limited);
    const [high, second] = await store.insert(queues[1], { ...limited, priority: 9 }, limited);

    const claimed = await claim(queues, ["order"]);

    assert.deepEqual(idsOf(claimed), [high, first, second]);
    assert.deepEqual(kindsOf(claimed), ["full"]);
    assert.equal((await claim(queues, ["order"])).claims.length, 0);
    const [settled] = claimed.claims;
    assert.ok(settled !== undefined);
    await settleAttempts(store.database, [settlementOf(settled)], workerId);
    assert.deepEqual(idsOf(await claim(queues, ["order"])), [low]);
  });

  it("never takes more than the places when many workers claim at once", async () => {
    const queue = await store.openQueue();
    await store.insert(queue, ...Array.from({ length: 40 }, () => flowOf("race", { concurrency: 3 })));
    const databases = Array.from({ length: 8 }, () => store.open(1));

    const rounds = await Promise.all(
      databases.map(async (database) => {
        const taken: string[] = [];
        for (let round = 0; round < 5; round += 1)
          taken.push(...idsOf(await claim([queue], ["race"], { database, free: 2 })));
        return taken;
      }),
    );

    assert.equal(rounds.flat().length, 3);
  });

  it("takes nothing by a count that is older than its lock", async () => {
    const queue = await store.openQueue();
    const tasks = await store.insert(queue, flowOf("late", { concurrency: 1 }), flowOf("late"));
    let taken: string[] = [];

    const late = await lockLate(
      store.database,
      (database) => claim([queue], ["late"], { database }),
      async () => {
        taken = idsOf(await claim([queue], ["late"]));
      },
    );

    assert.deepEqual(taken, [tasks[0]]);
    assert.deepEqual(idsOf(late), []);
    assert.deepEqual(kindsOf(late), ["busy"]);
  });

  it("takes no task of a queue without free slots, and passes over it", async () => {
    const [busy, idle] = [await store.openQueue(), await store.openQueue()];
    await store.insert(busy, { ...flowOf("passed", { concurrency: 1 }), priority: 10 });
    const [other] = await store.insert(idle, flowOf("passed"));

    assert.deepEqual(idsOf(await claim([idle], ["passed"])), [other]);
  });

  it("gives the place back when the attempt is settled, released or reaped", async () => {
    const queue = await store.openQueue();
    const dead = await store.openWorker();
    await store.insert(queue, ...Array.from({ length: 4 }, () => flowOf("back", { concurrency: 1 })));

    const [settled] = (await claim([queue], ["back"])).claims;
    assert.ok(settled !== undefined);
    await settleAttempts(store.database, [settlementOf(settled, RETRY)], workerId);
    const [released] = (await claim([queue], ["back"])).claims;
    assert.ok(released !== undefined);
    await releaseTasks(store.database, [released], "not_sent", workerId);
    const [lost] = (await claim([queue], ["back"], { worker: dead })).claims;
    assert.ok(lost !== undefined);
    await removeWorker(store.database, dead);
    assert.equal((await claim([queue], ["back"])).claims.length, 0);
    await reapTasks(store.database, workerId);

    assert.equal((await claim([queue], ["back"])).claims.length, 1);
    const [holds] = await store.database.rows<{ count: number }>(
      "select count(*)::integer as count from flow_holds where flow = 'back'",
    );
    assert.equal(holds?.count, 1);
  });

  it("takes nothing of a paused flow", async () => {
    const queue = await store.openQueue();
    await store.insert(queue, flowOf("paused"));
    await store.database.rows(
      "update flows set paused_until = now() + interval '1 minute' where key = 'paused'",
    );

    const found = await claim([queue], ["paused"]);

    assert.deepEqual([found.claims.length, kindsOf(found)], [0, ["paused"]]);
    assert.ok((found.flows[0]?.waitMs ?? 0) > 50_000);
  });

  it("keeps the place of a task until it has ended if the flow holds tasks", async () => {
    const queue = await store.openQueue();
    await store.insert(queue, flowOf("jobs", { concurrency: 1 }), flowOf("jobs"));
    await store.database.rows("update flows set hold = 'task' where key = 'jobs'");
    const [first] = (await claim([queue], ["jobs"])).claims;
    assert.ok(first !== undefined);
    await settleAttempts(
      store.database,
      [settlementOf(first, { kind: "retry", waitMs: 0, error: "-" })],
      workerId,
    );
    await releasePlaces(store.database, [{ claim: { ...first, flow: "jobs" }, beganMsAgo: null }]);

    const again = (await claim([queue], ["jobs"])).claims;

    assert.deepEqual(
      again.map(({ id }) => id),
      [first.id],
    );
    const [second] = again;
    assert.ok(second !== undefined);
    await settleAttempts(store.database, [settlementOf(second)], workerId);
    assert.equal((await claim([queue], ["jobs"])).claims.length, 1);
  });

  it("takes a new task for a free place beside one that has kept its place", async () => {
    const queue = await store.openQueue();
    const [kept, ...others] = await store.insert(
      queue,
      ...Array.from({ length: 3 }, () => flowOf("beside", { concurrency: 2 })),
    );
    await store.database.rows("update flows set hold = 'task' where key = 'beside'");
    const [first] = (await claim([queue], ["beside"], { free: 1 })).claims;
    assert.ok(first !== undefined);
    await settleAttempts(store.database, [settlementOf(first, RETRY)], workerId);
    await store.database.rows(
      "update tasks set run_at = created_at, flow_due_at = created_at where id = $1",
      [kept],
    );

    const claimed = await claim([queue], ["beside"], { free: 2 });

    assert.deepEqual(idsOf(claimed), [kept, others[0]]);
    assert.deepEqual(kindsOf(claimed), ["full"]);
  });

  it("leaves a flow open while only tasks that have kept their places start", async () => {
    const queue = await store.openQueue();
    const [kept] = await store.insert(queue, flowOf("left", { concurrency: 2 }));
    await store.database.rows("update flows set hold = 'task' where key = 'left'");
    const [first] = (await claim([queue], ["left"])).claims;
    assert.ok(first !== undefined);
    await settleAttempts(store.database, [settlementOf(first, RETRY)], workerId);
    await store.database.rows("update tasks set run_at = now(), flow_due_at = now() where id = $1", [kept]);

    const claimed = await claim([queue], ["left"]);

    assert.deepEqual([idsOf(claimed), kindsOf(claimed)], [[kept], ["open"]]);
  });

  it("gives a permit to the next task while the one that has kept its place has no slot in its queue", async () => {
    const [full, idle] = [await store.openQueue(), await store.openQueue()];
    const limited = flowOf("no-slot", { rate: 1, period: 60 });
    const [kept] = await store.insert(full, limited);
    const [next] = await store.insert(idle, limited);
    await store.database.rows("update flows set hold = 'task' where key = 'no-slot'");
    const [first] = (await claim([full], ["no-slot"])).claims;
    assert.ok(first !== undefined);
    await settleAttempts(store.database, [settlementOf(first, RETRY)], workerId);
    await store.database.rows(
      `with permits as (update flow_holds set permit_at = null where flow = 'no-slot')
       update tasks set run_at = created_at, flow_due_at = created_at where id = $1`,
      [kept],
    );

    const claimed = await claim([full, idle], ["no-slot"], { full: [full] });

    assert.deepEqual(idsOf(claimed), [next]);
  });

  it("gives a permit to the higher priority, whether a task has kept its place or not", async () => {
    const queue = await store.openQueue();
    const limited = flowOf("either", { rate: 1, period: 60, concurrency: 2 });
    const [kept] = await store.insert(queue, limited);
    await store.database.rows("update flows set hold = 'task' where key = 'either'");
    const [first] = (await claim([queue], ["either"])).claims;
    assert.ok(first !== undefined);
    await settleAttempts(store.database, [settlementOf(first, RETRY)], workerId);
    await store.database.rows(
      `with permits as (update flow_holds set permit_at = null where flow = 'either')
       update tasks set run_at = created_at, flow_due_at = created_at where id = $1`,
      [kept],
    );
    const [high] = await store.insert(queue, { ...limited, priority: 9 });

    assert.deepEqual(idsOf(await claim([queue], ["either"])), [high]);
  });

  it("keeps the figures of the newest task, each by itself, and writes nothing if they hold already", async () => {
    const queue = await store.openQueue();
    const figures = () =>
      store.database.rows(
        `select task_concurrency as c, task_rate as r, task_period as p, xmin::text as version from flows where key = 'figures'`,
      );
    await store.insert(
      queue,
      flowOf("figures", { concurrency: 3 }),
      flowOf("figures", { rate: 5, period: 2 }),
    );
    const [before] = await figures();
    await store.insert(queue, flowOf("figures", { concurrency: 3 }), flowOf("figures"));
    assert.deepEqual(await figures(), [before]);
    assert.deepEqual({ ...before, version: null }, { c: 3, r: 5, p: 2, version: null });
    await store.insert(queue, flowOf("figures", { concurrency: 4 }));
    assert.deepEqual(
      (await figures()).map((row) => ({ ...row, version: null })),
      [{ c: 4, r: 5, p: 2, version: null }],
    );
  });
});
