import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import type { Claim } from "../../../src/domain/claim.ts";
import type { TaskFlow } from "../../../src/domain/flow.ts";
import type { NewTask } from "../../../src/domain/task.ts";
import { claimFlowTasks, type FlowClaimed } from "../../../src/store/tasks/flow-claims.ts";
import { openFlowLines } from "../../../src/store/tasks/flow-lines.ts";
import { retryTask } from "../../../src/store/tasks/task-retries.ts";
import { lockLate } from "../../late-lock.ts";
import { flowOf } from "../../test-flow.ts";
import { drain, FAILED, settle } from "../../test-lines.ts";
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
    lines = [key],
  }: {
    by?: number;
    queues?: readonly StoredQueue[];
    ordered?: boolean;
    sql?: TextSql;
    free?: number;
    holdsHosts?: boolean;
    lines?: readonly string[];
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
        lanes: lines.flatMap((flow) => queues.map(({ id }) => ({ flow, queueId: id }))),
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
      `update breaker_tasks k set passed_at = b.until from tasks t join breakers b on b.team_id = t.team_id and b.queue_id = t.queue_id
        where t.id = $1 and k.task_id = t.id and k.fence = t.fence returning 1`,
      [first],
    );
    assert.equal(passed.length, 1, "it waits for a pass as others do");
    await store.database.rows("update tasks set flow_due_at = run_at where id = $1", [first]);

    assert.deepEqual(await drain(store, () => claim({ holdsHosts: true })), [first, second]);
  });

  it("gives a slot to the line whose first task has the highest priority, and then to the one that is due first", async () => {
    const lane = (of: string) => flowOf(`${key}-${of}`, { ordered: true });
    const [low] = await store.insert(queue, { ...lane("low"), priority: 1 });
    const [late] = await store.insert(queue, { ...lane("late"), delaySeconds: 60 });
    const [usual] = await store.insert(queue, lane("usual"));
    const [high] = await store.insert(queue, { ...lane("high"), priority: 9 });
    await makeDue(late as string);
    const lines = ["low", "late", "usual", "high"].map((of) => `${key}-${of}`);
    await openFlowLines(store.database, queue.teamId, lines);

    const turns: (string | undefined)[] = [];
    for (let turn = 0; turn < 4; turn += 1)
      turns.push(...(await ask({ free: 1, lines })).claims.map(({ id }) => id));

    assert.deepEqual(turns, [high, usual, late, low]);
  });

  it("is not held by a task that a retry by hand has given another flow", async () => {
    const moved = await insertOne();
    const next = await insertOne();
    await settle(store, await claim(), FAILED);
    const other = `${key}-other`;
    await retryTask(store.database, live(queue.teamId), moved, { delaySeconds: 0, priority: null });
    // As a retry with a corrected call does, before the line has looked again.
    await store.insert(queue, flowOf(other));
    await store.database.rows("update tasks set flow = $2 where id = $1", [moved, other]);
    const { claims } = await ask({ ordered: false, lines: [other] });
    assert.ok(claims.some(({ id }) => id === moved));

    assert.equal((await claim())?.id, next);
  });

  it("takes nothing of a paused flow", async () => {
    await insertOne();
    await openFlowLines(store.database, queue.teamId, [key]);
    await store.database.rows("update flows set paused = true where key = $1", [key]);

    const found = await ask();

    assert.deepEqual([found.claims.length, found.flows[0]?.kind], [0, "paused"]);
  });
});
