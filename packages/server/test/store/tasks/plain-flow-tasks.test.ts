import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { makeClaim } from "../../../src/domain/claim.ts";
import type { TaskFlow } from "../../../src/domain/flow.ts";
import type { NewTask } from "../../../src/domain/task.ts";
import type { Sql } from "../../../src/store/sql.ts";
import { claimFlowTasks } from "../../../src/store/tasks/flow-claims.ts";
import { type Accepted, insertTasks } from "../../../src/store/tasks/task-intake.ts";
import { reapTasks } from "../../../src/store/tasks/task-returns.ts";
import { settleAttempts } from "../../../src/store/tasks/task-settlements.ts";
import { removeWorker } from "../../../src/store/tasks/workers.ts";
import { lockLate } from "../../late-lock.ts";
import { flowOf } from "../../test-flow.ts";
import { type WatchedDatabase, watchDatabase } from "../../test-sql.ts";
import {
  countBothWays,
  newTask,
  openTestStore,
  type StoredQueue,
  settlementOf,
  type TestStore,
} from "../../test-store.ts";

const STATEMENT = "insert_flow_tasks_plain";

describe("a batch of plain tasks with flows", () => {
  let store: TestStore;
  let sql: WatchedDatabase;
  let queue: StoredQueue;
  let workerId: number;
  before(async () => {
    store = await openTestStore();
    sql = watchDatabase(store.database);
    queue = await store.openQueue();
    workerId = await store.openWorker();
  });
  after(() => store.close());

  /** Each task has a slot. */
  async function insert(database: Sql, ...tasks: readonly Partial<NewTask>[]): Promise<Accepted[]> {
    const submissions = tasks.map((task) => ({
      task: { ...newTask(queue), ...task },
      reservation: { queueId: queue.id, epoch: 1 },
    }));
    return (await insertTasks(database, submissions, workerId)).flatMap((accepted) => accepted ?? []);
  }

  /** A key is known once a task with that key was stored. */
  const know = (key: string, { concurrency = null }: Partial<TaskFlow> = {}) =>
    store.database.rows(
      "insert into flows (team_id, sandbox, key, task_concurrency) values ($1, false, $2, $3)",
      [queue.teamId, key, concurrency],
    );

  const begun = (accepted: readonly Accepted[]) => accepted.map(({ handedOff }) => handedOff);
  const holds = (key: string) =>
    store.database.rows<{ id: string; fence: number }>(
      "select task_id as id, fence from flow_holds where flow = $1 order by task_id",
      [key],
    );
  const claim = (key: string) =>
    claimFlowTasks(
      store.database,
      {
        teamId: queue.teamId,
        workerId,
        queues: [{ queueId: queue.id, queue: queue.name, epoch: 1, free: 100 }],
        lanes: [{ flow: key, queueId: queue.id }],
        limit: 200,
      },
      0,
    );

  it("begins as many as the flow has places, by priority, and leaves the others to a claim", async () => {
    await know("places", { concurrency: 2 });
    sql.sent.length = 0;

    const accepted = await insert(
      sql,
      flowOf("places"),
      { ...flowOf("places"), priority: 9 },
      flowOf("places"),
      {},
    );

    assert.deepEqual(sql.sent, [STATEMENT]);
    assert.deepEqual(begun(accepted), [true, true, false, true]);
    const [first, second] = accepted;
    assert.deepEqual(
      new Set(await holds("places")),
      new Set([
        { id: first?.id, fence: 1 },
        { id: second?.id, fence: 1 },
      ]),
    );
    assert.deepEqual((await claim("places")).flows[0]?.kind, "full");
    const counts = await countBothWays(store.database);
    assert.deepEqual(counts.tallied, counts.counted);
  });

  it("begins any number of a flow without limits, and takes a place for each", async () => {
    await know("free");

    assert.deepEqual(begun(await insert(store.database, flowOf("free"), flowOf("free"))), [true, true]);
    assert.equal((await holds("free")).length, 2);
  });

  it("begins none of a key that is new, and others of its batch", async () => {
    await know("known");

    assert.deepEqual(begun(await insert(store.database, flowOf("new"), flowOf("known"))), [false, true]);
    assert.equal((await claim("new")).claims.length, 1);
  });

  it("begins none where a known key carries another figure, and keeps the figure of the newest task", async () => {
    await know("figures", { concurrency: 5 });
    await know("beside");

    const changed = [
      flowOf("figures", { concurrency: 7 }),
      flowOf("figures", { concurrency: 2 }),
      flowOf("beside"),
    ];
    assert.deepEqual(begun(await insert(store.database, ...changed)), [false, false, false]);

    const rows = await store.database.rows(
      "select task_concurrency as concurrency from flows where key = $1",
      ["figures"],
    );
    assert.deepEqual(rows, [{ concurrency: 2 }]);
  });

  it("begins none while another task of the flow waits, due or not", async () => {
    await know("waiting");
    await store.insert(queue, { ...flowOf("waiting"), delaySeconds: 60 });

    assert.deepEqual(begun(await insert(store.database, flowOf("waiting"))), [false]);
  });

  for (const [name, change] of Object.entries({
    "has a rate": "rate = 5, period = 1",
    "is ordered": "ordered = true",
    "is paused": "paused = true",
    "is paused for some time": "paused_until = now() + interval '1 minute'",
    "holds its places until tasks end": "hold = 'task'",
    "is full": "concurrency = 0",
  }))
    it(`begins none of a flow that ${name}`, async () => {
      await know(name);
      await store.database.rows(`update flows set ${change} where key = $1`, [name]);
      sql.sent.length = 0;

      assert.deepEqual(begun(await insert(sql, flowOf(name))), [false]);
      assert.deepEqual(sql.sent, [STATEMENT]);
      assert.deepEqual(await holds(name), []);
    });

  it("refuses the task that finds too many of its flow waiting", async () => {
    await know("bounded");
    await store.database.rows("update flows set max_waiting = 1 where key = 'bounded'");

    assert.equal((await insert(store.database, flowOf("bounded"), flowOf("bounded"))).length, 1);
  });

  it("puts a task of an ordered queue into its line", async () => {
    const line = await store.openQueue({ ordered: true, concurrency: 1 });
    const submission = { task: { ...newTask(line), ...flowOf("line") }, reservation: null };

    const [accepted] = await insertTasks(store.database, [submission], workerId);

    assert.equal(accepted?.handedOff, false);
    const rows = await store.database.rows("select begun from line_tasks where task_id = $1", [accepted?.id]);
    assert.deepEqual(rows, [{ begun: false }]);
  });

  it("is stored as pending when its slots have another epoch", async () => {
    await know("epoch");
    const submission = {
      task: { ...newTask(queue), ...flowOf("epoch") },
      reservation: { queueId: queue.id, epoch: 2 },
    };

    const [accepted] = await insertTasks(store.database, [submission], workerId);

    assert.equal(accepted?.handedOff, false);
    assert.equal((await claim("epoch")).claims.length, 1);
  });

  it("never begins more than the places when many connections insert and claim at once", async () => {
    await know("race", { concurrency: 3 });
    const databases = Array.from({ length: 8 }, () => store.open(1));

    const rounds = await Promise.all(
      databases.map(async (database) => {
        let count = 0;
        for (let round = 0; round < 5; round += 1) {
          count += begun(await insert(database, flowOf("race"), flowOf("race"))).filter(Boolean).length;
          count += (await claim("race")).claims.length;
        }
        return count;
      }),
    );

    assert.equal(
      rounds.reduce((sum, each) => sum + each, 0),
      3,
    );
  });

  it("begins nothing by a count that is older than its lock", async () => {
    await know("late", { concurrency: 1 });
    let first: Accepted[] = [];

    const late = await lockLate(
      store.database,
      (database) => insert(database, flowOf("late")),
      async () => {
        first = await insert(store.database, flowOf("late"));
      },
    );

    assert.deepEqual(begun(first), [true]);
    assert.deepEqual(begun(late), [false]);
  });

  it("goes back to its flow when its worker is gone, and its place is free again", async () => {
    await know("gone", { concurrency: 1 });
    const dead = await store.openWorker();
    const submission = {
      task: { ...newTask(queue), ...flowOf("gone") },
      reservation: { queueId: queue.id, epoch: 1 },
    };
    const [accepted] = await insertTasks(store.database, [submission], dead);
    assert.equal(accepted?.handedOff, true);
    await removeWorker(store.database, dead);
    await reapTasks(store.database, workerId);

    const { claims } = await claim("gone");

    assert.deepEqual(
      claims.map(({ id, fence }) => ({ id, fence })),
      await holds("gone"),
    );
    assert.equal(claims[0]?.id, accepted?.id);
  });

  /** The claim that the worker has after the insert. */
  function claimOf({ id, queueId, ...settings }: Accepted, key: string) {
    const task = { ...newTask(queue), id };
    const attempt = {
      fence: 1,
      attempt: 1,
      attemptStartedAt: settings.createdAt,
      failures: 0,
      callbackSealed: null,
      scheduledFor: null,
    };
    const place = { teamId: queue.teamId, queueId, queue: queue.name, workerId };
    return { ...makeClaim(task, settings, place, attempt), flow: key };
  }

  it("gives the place back in the statement that settles the call, only with a valid claim", async () => {
    await know("ended", { concurrency: 1 });
    const [accepted] = await insert(store.database, flowOf("ended"));
    assert.ok(accepted?.handedOff);
    const held = claimOf(accepted, "ended");

    const late = settlementOf({ ...held, fence: 2 });
    assert.deepEqual(await settleAttempts(store.database, [late], workerId), [null]);
    assert.equal((await holds("ended")).length, 1);

    const [settled] = await settleAttempts(store.database, [settlementOf(held)], workerId);
    assert.equal(settled?.hasLeftFlow, true);
    assert.deepEqual(await holds("ended"), []);
    assert.deepEqual(begun(await insert(store.database, flowOf("ended"))), [true]);
  });

  it("keeps a permit that no report has confirmed when it settles the call", async () => {
    await insert(store.database, flowOf("rated", { rate: 1, period: 60 }));
    const { claims } = await claim("rated");
    const [held] = claims;
    assert.ok(held !== undefined);

    const [settled] = await settleAttempts(store.database, [settlementOf(held)], workerId);

    assert.equal(settled?.status, "completed");
    assert.equal(settled?.hasLeftFlow, false);
    await insert(store.database, flowOf("rated"));
    assert.deepEqual((await claim("rated")).claims, []);
  });
});
