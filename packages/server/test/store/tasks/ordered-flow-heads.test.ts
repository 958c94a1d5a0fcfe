import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import type { Claim } from "../../../src/domain/claim.ts";
import type { TaskFlow } from "../../../src/domain/flow.ts";
import { createSubscriberMemory } from "../../../src/store/tasks/event-writes.ts";
import {
  claimFirstOfLine,
  claimOrderedTask,
  type HeadState,
} from "../../../src/store/tasks/ordered-claims.ts";
import { joinFlowTasks, resetLine } from "../../../src/store/tasks/ordered-lines.ts";
import { updateQueue } from "../../../src/store/tasks/queues.ts";
import { expireTasks } from "../../../src/store/tasks/task-deadlines.ts";
import { insertTasks } from "../../../src/store/tasks/task-intake.ts";
import { retryTask } from "../../../src/store/tasks/task-retries.ts";
import { lockLate } from "../../late-lock.ts";
import { until } from "../../patience.ts";
import { flowOf } from "../../test-flow.ts";
import { drain, FAILED, settle } from "../../test-lines.ts";
import { createGate } from "../../test-sql.ts";
import {
  claimRequest,
  live,
  newTask,
  openTestStore,
  RETRY,
  type StoredQueue,
  type TestStore,
} from "../../test-store.ts";

const AT_ONCE = { delaySeconds: 0, priority: null };

describe("the claim of an ordered queue whose first task has a flow", () => {
  let store: TestStore;
  let workerId: number;
  let queue: StoredQueue;
  let flows = 0;
  before(async () => {
    store = await openTestStore();
    workerId = await store.openWorker();
  });
  beforeEach(async () => {
    flows += 1;
    queue = await store.openQueue({ ordered: true, concurrency: 1 });
  });
  after(() => store.close());

  const flow = (limits: Partial<TaskFlow> = {}) => flowOf(`flow-${flows}`, limits);
  const insertOne = async (task: Parameters<TestStore["insert"]>[1] = {}, to = queue) =>
    (await store.insert(to, { ...flow(), ...task }))[0] as string;
  const request = (by = workerId, of = queue) => claimRequest(store.database, of, { workerId: by, limit: 1 });
  async function ask(by = workerId): Promise<{ claim: Claim | undefined; head: HeadState | undefined }> {
    const { claims, head } = await claimOrderedTask(store.database, await request(by), () => 0);
    return { claim: claims[0], head };
  }
  const claim = async () => (await ask()).claim;
  const makeDue = (id: string) =>
    store.database.rows(
      `with due as (update tasks set run_at = now(), flow_due_at = now() where id = $1)
       update line_tasks set created_at = now() where task_id = $1 and retries < 0`,
      [id],
    );

  it("takes tasks with and without a flow in the order of creation", async () => {
    const ids = [
      await insertOne({ priority: 1 }),
      await insertOne({ flow: null, priority: 9 }),
      await insertOne({ ...flow({ ordered: true }), priority: 5 }),
      await insertOne({ flow: null, priority: 10 }),
      await insertOne({ priority: 10 }),
    ];

    assert.deepEqual(await drain(store, claim), ids);
  });

  it("takes it once when many workers claim at once", async () => {
    await insertOne();
    await insertOne({ flow: null });
    const workers = await Promise.all(Array.from({ length: 6 }, () => store.openWorker()));
    const requests = await Promise.all(workers.map((worker) => request(worker)));

    const found = await Promise.all(requests.map((each) => claimOrderedTask(store.database, each, () => 0)));

    assert.equal(found.flatMap(({ claims }) => claims).length, 1);
  });

  it("takes nothing while its flow is full, and says so", async () => {
    const other = await store.openQueue({ ordered: true, concurrency: 1 });
    await insertOne(flow({ concurrency: 1 }), other);
    const [first] = (await claimOrderedTask(store.database, await request(workerId, other), () => 0)).claims;
    const ids = [await insertOne(), await insertOne({ flow: null })];

    const { claim: claimed, head } = await ask();

    assert.deepEqual([claimed, head?.kind, head?.flow], [undefined, "full", `flow-${flows}`]);
    await settle(store, first);
    assert.deepEqual(await drain(store, claim), ids);
  });

  it("takes a task of an ordered flow only if it is the first there too", async () => {
    const other = await store.openQueue({ concurrency: 5 });
    await insertOne(flow({ ordered: true }), other);
    const own = await insertOne();

    const { claim: claimed, head } = await ask();

    assert.deepEqual([claimed, head?.kind, head?.headQueue], [undefined, "held", other.name]);
    await store.database.rows("update flows set ordered = false where key = $1", [`flow-${flows}`]);
    assert.deepEqual(await drain(store, claim), [own]);
  });

  it("takes it again before any other after a failed attempt", async () => {
    const [first, second] = [await insertOne(), await insertOne({ flow: null })];
    await settle(store, await claim(), RETRY);
    assert.equal(await claim(), undefined);

    await makeDue(first);

    assert.deepEqual(await drain(store, claim), [first, second]);
  });

  it("takes delayed tasks at the place of their creation, and waits for none before it is due", async () => {
    const delayed = [await insertOne({ delaySeconds: 600 }), await insertOne({ delaySeconds: 700 })];
    const first = await insertOne();
    const running = await claim();
    assert.equal(running?.id, first);
    const second = await insertOne();
    await makeDue(delayed[0] ?? "");
    await settle(store, running);

    assert.deepEqual(await drain(store, claim), [delayed[0], second]);
    const [row] = await store.database.rows<{ count: number }>(
      "select count(*)::integer as count from line_tasks where task_id = $1",
      [delayed[1]],
    );
    assert.equal(row?.count, 1, "what is not due keeps its row");
  });

  it("keeps the order of creation when more tasks come due at once than one look moves", async () => {
    const delayed = Array.from({ length: 1_005 }, (_, index) => ({
      ...flow(),
      delaySeconds: 3_000 - index,
    }));
    const ids = await store.insert(queue, ...delayed);
    const last = await insertOne();
    await store.database.rows(
      `with due as (
         update tasks set run_at = run_at - interval '2999 seconds', flow_due_at = flow_due_at - interval '2999 seconds'
          where queue_id = $1 and run_at > now())
       update line_tasks set created_at = created_at - interval '2999 seconds' where queue_id = $1 and retries < 0`,
      [queue.id],
    );
    await until(async () => {
      const rows = "select 1 from tasks where queue_id = $1 and run_at > now()";
      return (await store.database.rows(rows, [queue.id])).length === 0;
    });

    const first = await claim();

    assert.equal(first?.id, ids.toSorted()[0]);
    await settle(store, first);
    assert.equal((await claim())?.id, ids.toSorted()[1]);
    assert.ok(last);
  });

  it("takes a task that was retried by hand while a claim removed it from the line", async () => {
    const failed = await insertOne();
    await settle(store, await claim(), FAILED);
    const expired = await insertOne({ expiresInSeconds: 60 });
    await store.database.rows("update tasks set deadline_at = now() where id = $1", [expired]);
    await expireTasks(store.database, 100, workerId);
    const last = await insertOne();
    const asked = await request();

    const { claims } = await lockLate(
      store.database,
      (sql) => claimFirstOfLine(sql, asked, () => 0, createSubscriberMemory()),
      async () => {
        for (const id of [expired, failed]) await retryTask(store.database, live(queue.teamId), id, AT_ONCE);
      },
    );

    for (const one of claims) await settle(store, one);
    const order = [...claims.map(({ id }) => id), ...(await drain(store, claim))];
    assert.deepEqual(order.toSorted(), [expired, failed, last].toSorted());
  });

  it("lines up what waits when its queue becomes ordered, and what is stored at that moment", async () => {
    queue = await store.openQueue({ concurrency: 5 });
    const ids = [await insertOne({ priority: 1 }), await insertOne({ priority: 9 })];
    const task = { ...newTask(queue), ...flow(), priority: 5 };
    const gate = createGate();
    const inserted = store.database.transaction(async (sql) => {
      await insertTasks(sql, [{ task, reservation: null }], 0);
      await gate.wait();
    });
    await gate.reached;
    await updateQueue(store.database, queue.teamId, queue.name, { ordered: true, concurrency: 1 });
    assert.equal(await resetLine(store.database, { ...queue, ordered: true }), true);
    gate.open();
    await inserted;
    const younger = await insertOne({ priority: 10 });

    const { teamId, id: queueId } = queue;
    assert.equal(await joinFlowTasks(store.database, { teamId, queueId }), 1);

    assert.deepEqual(await drain(store, claim), [...ids, task.id, younger]);
  });
});
