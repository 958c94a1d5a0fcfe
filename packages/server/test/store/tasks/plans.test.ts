import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { listFlows } from "../../../src/features/flow-control/store.ts";
import { dueAmong, lookForDue, queuesWithDueTasks } from "../../../src/store/tasks/due-queues.ts";
import { claimFlowTasks } from "../../../src/store/tasks/flow-claims.ts";
import { joinFlowTasks } from "../../../src/store/tasks/ordered-lines.ts";
import { readQueueDepths } from "../../../src/store/tasks/queue-depths.ts";
import { findQueue } from "../../../src/store/tasks/queues.ts";
import { claimDueTasks } from "../../../src/store/tasks/task-claims.ts";
import { insertTasks } from "../../../src/store/tasks/task-intake.ts";
import {
  countTasks,
  findTask,
  listTasks,
  readSummaries,
  readToldTasks,
} from "../../../src/store/tasks/task-reads.ts";
import { removeExpiredTasks } from "../../../src/store/tasks/task-removals.ts";
import { reapTasks } from "../../../src/store/tasks/task-returns.ts";
import { countMatches, searchTasks } from "../../../src/store/tasks/task-search.ts";
import { settleAttempts } from "../../../src/store/tasks/task-settlements.ts";
import { countTokenTasks } from "../../../src/store/vault/token-uses.ts";
import { flowOf } from "../../test-flow.ts";
import type { TextSql } from "../../test-sql.ts";
import {
  ALL_TASKS,
  claimRequest,
  explain,
  live,
  newTask,
  openTestStore,
  type StoredQueue,
  settlementOf,
  type TestStore,
  vacuumTasks,
} from "../../test-store.ts";

const MODES = ["custom", "generic"] as const;
/** Of a claim that takes 20 tasks. */
const MOST_BLOCKS_OF_FLOWS = 1_200;

/** Rows straight into the table: what matters here is only that they are many. */
async function fill(store: TestStore, queue: StoredQueue, count: number, columns: Record<string, string>) {
  const { status = "", run_at = "", flow } = columns;
  Object.assign(columns, {
    [flow === undefined ? "due_at" : "flow_due_at"]: status === "'pending'" ? run_at : "null",
    list_key: status === "'pending'" ? status : "'begun'",
  });
  const names = Object.keys(columns);
  await store.database.rows(
    `insert into tasks (team_id, id, queue_id, shape, sandbox, method, url, max_retries, backoff, retry_delay_seconds,
                        timeout_seconds, created_at, ${names.join(", ")})
     select $1, (lpad(to_hex((extract(epoch from now()) * 1000)::bigint - n), 12, '0') || '70008000' ||
                substr(md5($2::bigint || n::text), 1, 12))::uuid, $2, 'queue', false, 'POST', 'http://localhost/', 3, 'fixed', 1, 30, now(),
            ${names.map((name) => columns[name]).join(", ")}
       from generate_series(1, $3) n`,
    [queue.teamId, queue.id, count],
  );
}

const delayed = { status: "'pending'", run_at: "now() + interval '1 hour'" };
const inFlow = { ...delayed, flow: "'customer-' || n" };
const finished = { status: "'completed'", run_at: "now()", completed_at: "now()" };
const held = (workerId: number) => ({
  status: "'active'",
  run_at: "now()",
  attempt_started_at: "now()",
  worker_id: String(workerId),
  fence: "1",
  attempt_count: "1",
});

describe("the plan of the claim", () => {
  let store: TestStore;
  let queue: StoredQueue;
  let workerId: number;
  beforeEach(async () => {
    store = await openTestStore();
    queue = await store.openQueue();
    workerId = await store.openWorker();
    await store.database.rows("alter table tasks set (autovacuum_enabled = false)");
  });
  afterEach(() => store.close());

  async function assertFewBlocks(): Promise<void> {
    await store.insert(queue, ...Array.from({ length: 20 }, () => ({ priority: 1 })));
    const request = await claimRequest(store.database, queue, { workerId, limit: 5 });
    for (const mode of MODES) {
      const plan = await explain(store.database, mode, (sql) => claimDueTasks(sql, request));
      assert.ok(plan.blocks < 300, `${mode}: ${plan.blocks} blocks by ${plan.indexes.join()}`);
    }
    assert.equal((await store.claim(queue, { workerId, limit: 1 }))[0]?.priority, 1);
  }

  it("skips 20,000 delayed tasks of a higher priority without statistics", async () => {
    await fill(store, queue, 20_000, { ...delayed, priority: "10" });
    await assertFewBlocks();
  });

  it("skips 20,000 delayed tasks of a higher priority with fresh statistics", async () => {
    await fill(store, queue, 20_000, { ...delayed, priority: "10" });
    await store.database.rows("analyze tasks");
    await assertFewBlocks();
  });

  it("skips delayed tasks that are newer than the statistics", async () => {
    await fill(store, queue, 10_000, { ...finished, priority: "5" });
    await store.database.rows("analyze tasks");
    await fill(store, queue, 10_000, { ...delayed, priority: "10" });
    await assertFewBlocks();
  });

  it("skips due tasks of a paused queue that are newer than the statistics", async () => {
    await fill(store, queue, 10_000, { ...delayed, priority: "10" });
    await store.database.rows("analyze tasks");
    const paused = await store.openQueue();
    await fill(store, paused, 10_000, { ...delayed, run_at: "now() - interval '1 hour'", priority: "10" });
    await assertFewBlocks();
  });
});

describe("the plan of the claim of flows", () => {
  let store: TestStore;
  let queue: StoredQueue;
  let workerId: number;
  beforeEach(async () => {
    store = await openTestStore();
    queue = await store.openQueue();
    workerId = await store.openWorker();
    await store.database.rows("alter table tasks set (autovacuum_enabled = false)");
  });
  afterEach(() => store.close());

  /** Ten flows and the tasks without a flow, with 20 slots. */
  async function assertFewBlocks(): Promise<void> {
    const keys = Array.from({ length: 10 }, (_, index) => `customer-${index + 1}`);
    const flows = keys.map((key) => ({ ...flowOf(key, { concurrency: 5 }), priority: 1 }));
    await store.insert(queue, ...flows, ...Array.from({ length: 20 }, () => ({ priority: 1 })));
    const asked = await claimRequest(store.database, queue, { workerId });
    for (const plain of [20, 0]) {
      const request = {
        teamId: queue.teamId,
        workerId,
        queues: [{ ...asked, free: 20, plain }],
        lanes: keys.map((flow) => ({ flow, queueId: queue.id })),
        limit: 200,
      };
      for (const mode of MODES) {
        const plan = await explain(store.database, mode, (sql) => claimFlowTasks(sql, request, 0));
        const told = `${mode}, ${plain} without a flow: ${plan.blocks} blocks by ${plan.indexes.join()}`;
        assert.ok(plan.blocks < MOST_BLOCKS_OF_FLOWS, told);
        assert.ok(!plan.scanned.includes("tasks"), told);
      }
    }
  }

  const waiting = { ...inFlow, flow: "'customer-' || n % 20" };

  it("skips 20,000 delayed tasks of a higher priority, with and without flows, without statistics", async () => {
    await fill(store, queue, 20_000, { ...delayed, priority: "10" });
    await fill(store, queue, 20_000, { ...waiting, priority: "10" });
    await assertFewBlocks();
  });

  it("skips them with fresh statistics", async () => {
    await fill(store, queue, 20_000, { ...delayed, priority: "10" });
    await fill(store, queue, 20_000, { ...waiting, priority: "10" });
    await store.database.rows("analyze tasks");
    await assertFewBlocks();
  });

  it("skips tasks of other queues and ended ones that are newer than the statistics", async () => {
    await fill(store, queue, 1_000, { ...delayed, priority: "10" });
    await store.database.rows("analyze tasks");
    const paused = await store.openQueue();
    await fill(store, paused, 10_000, { ...delayed, run_at: "now() - interval '1 hour'", priority: "10" });
    await fill(store, paused, 10_000, { ...waiting, run_at: "now() - interval '1 hour'", priority: "10" });
    await fill(store, queue, 10_000, { ...finished, priority: "5" });
    await assertFewBlocks();
  });
});

describe("the plan of the count of tasks that name a vault token", () => {
  it("reads no more open tasks than its limit, with old and with new statistics", async () => {
    const store = await openTestStore();
    try {
      const queue = await store.openQueue();
      await store.database.rows("alter table tasks set (autovacuum_enabled = false)");
      await fill(store, queue, 3_000, { ...finished, priority: "5" });
      await store.database.rows("analyze tasks");
      await fill(store, await store.openQueue(), 10_000, { ...delayed, priority: "5" });
      for (const statistics of ["old", "new"]) {
        for (const mode of MODES) {
          const plan = await explain(store.database, mode, (sql) =>
            countTokenTasks(sql, live(queue.teamId), "tok_01k9z3mxe5f8hrk3yv5pzq8c2d", 100),
          );
          assert.ok(plan.blocks < 300, `${statistics}, ${mode}: ${plan.blocks} by ${plan.indexes.join()}`);
        }
        await store.database.rows("analyze tasks");
      }
    } finally {
      await store.close();
    }
  });
});

describe("the plan of the search for tasks with a flow that have no row in the line of their queue", () => {
  it("reads no tasks without a flow, with old and with new statistics", async () => {
    const store = await openTestStore();
    try {
      const queue = await store.openQueue();
      await store.database.rows("alter table tasks set (autovacuum_enabled = false)");
      await fill(store, queue, 10_000, { ...finished, priority: "5" });
      await fill(store, await store.openQueue(), 1_000, { ...inFlow, priority: "5" });
      for (const statistics of ["old", "new"]) {
        for (const mode of MODES) {
          const plan = await explain(store.database, mode, (sql) =>
            joinFlowTasks(sql, { teamId: queue.teamId, queueId: queue.id }),
          );
          assert.ok(plan.blocks < 100, `${statistics}, ${mode}: ${plan.blocks} by ${plan.indexes.join()}`);
        }
        await store.database.rows("analyze tasks");
      }
    } finally {
      await store.close();
    }
  });
});

describe("the plan of the count of a tag's tasks", () => {
  const MOST = 10_000;

  it("reads each index page once for a frequent tag, with old and with new statistics", async () => {
    const store = await openTestStore();
    try {
      const queue = await store.openQueue();
      await store.database.rows("alter table tasks set (autovacuum_enabled = false)");
      await store.database.rows("alter table task_tags set (autovacuum_enabled = false)");
      await fill(store, queue, 3_000, { ...finished, priority: "5" });
      await store.database.rows("analyze tasks, task_tags");
      await fill(store, await store.openQueue({}, queue.teamId), 24_000, { ...finished, priority: "5" });
      // Every second task has the tag, as in the worst case that is promised anything.
      await store.database.rows(
        `insert into task_tags (team_id, tag, task_id)
         select team_id, 'often', id from (select team_id, id, row_number() over (order by id) as n from tasks) t
          where n % 2 = 0`,
      );
      for (const statistics of ["old", "new"]) {
        for (const filter of [{}, { statuses: ["completed"] as const }, { hosts: ["localhost"] }]) {
          const wanted = { ...ALL_TASKS, tags: ["often"], ...filter };
          for (const mode of MODES) {
            const plan = await explain(store.database, mode, (sql) =>
              countMatches(sql, queue.teamId, wanted, MOST),
            );
            const told = `${statistics}, ${mode}: ${plan.blocks} blocks by ${plan.indexes.join()}`;
            // A join would read four pages for each of the 10,000.
            assert.ok(plan.blocks < 5_000, told);
            assert.deepEqual(plan.scanned, [], told);
          }
          const counted = await countMatches(store.database, queue.teamId, wanted, MOST);
          assert.deepEqual(counted, { total: MOST, isWhole: false });
        }
        await store.database.rows("analyze tasks, task_tags");
      }
    } finally {
      await store.close();
    }
  });
});

describe("the plan of the settlement", () => {
  let store: TestStore;
  let queue: StoredQueue;
  let workerId: number;
  beforeEach(async () => {
    store = await openTestStore();
    queue = await store.openQueue();
    workerId = await store.openWorker();
    await store.insert(queue, {}, {}, {});
  });
  afterEach(() => store.close());

  const statisticsOf: Record<string, () => Promise<unknown>> = {
    "no statistics at all": async () => {},
    "statistics of the empty table": async () => store.database.rows("analyze tasks"),
  };
  for (const [statistics, prepare] of Object.entries(statisticsOf)) {
    it(`finds its rows by their key among 10,000 active ones, with ${statistics}`, async () => {
      const claims = await store.claim(queue, { workerId });
      const settlements = claims.map((claim) => settlementOf(claim));
      await store.database.rows("alter table tasks set (autovacuum_enabled = false)");
      await prepare();
      await fill(store, queue, 10_000, { ...held(workerId), priority: "5" });

      for (const mode of MODES) {
        const plan = await explain(store.database, mode, (sql) => settleAttempts(sql, settlements, workerId));
        assert.ok(plan.indexes.includes("tasks_pkey"), `${mode}: ${plan.indexes.join()}`);
        assert.ok(plan.blocks < 200, `${mode}: ${plan.blocks} blocks`);
      }
    });
  }
});

describe("the plan of the list of flows", () => {
  it("looks no flow up by itself whose tasks and calls were counted to put the list in order", async () => {
    const store = await openTestStore();
    try {
      const queue = await store.openQueue();
      const due = {
        status: "'pending'",
        run_at: "now() - interval '1 minute'",
        flow: "'customer-' || n % 900",
        priority: "5",
      };
      await fill(store, queue, 2_000, due);
      await store.database.rows(
        "insert into flows (team_id, sandbox, key, task_concurrency) select $1, false, 'customer-' || n, 5 from generate_series(0, 899) n",
        [queue.teamId],
      );
      await vacuumTasks(store.database, "vacuum analyze");
      const page = { search: null, limit: 1_001, offset: 0 };
      const flows = await listFlows(store.database, live(queue.teamId), page);
      assert.equal(flows.length, 900);
      assert.equal(
        flows.reduce((sum, { waiting }) => sum + waiting, 0),
        2_000,
      );
      for (const mode of MODES) {
        const plan = await explain(store.database, mode, (sql) => listFlows(sql, live(queue.teamId), page));
        assert.ok(plan.blocks < 3_000, `${mode}: ${plan.blocks} blocks by ${plan.indexes.join()}`);
      }
    } finally {
      await store.close();
    }
  });
});

describe("the plans of statements that write events", () => {
  let store: TestStore;
  before(async () => {
    store = await openTestStore();
    await store.database.rows("alter table listeners set (autovacuum_enabled = false)");
    await store.database.rows(
      "insert into listeners (team_id, until) select n + 1000, 'infinity' from generate_series(1, 10000) n",
    );
  });
  after(() => store.close());

  for (const statistics of ["no statistics", "fresh statistics"]) {
    it(`find a subscribed team by its key among 10,000, with ${statistics}`, async () => {
      if (statistics === "fresh statistics") await store.database.rows("analyze listeners");
      const queue = await store.openQueue();
      const workerId = await store.openWorker();
      await store.insert(queue, {}, {}, {});
      const settlements = (await store.claim(queue, { workerId })).map((claim) => settlementOf(claim));
      await store.insert(queue, {}, {}, {});
      const request = await claimRequest(store.database, queue, { workerId });
      const submissions = [{ task: newTask(queue), reservation: null }];
      const writes: Record<string, (sql: TextSql) => Promise<unknown>> = {
        settle: (sql) => settleAttempts(sql, settlements, workerId),
        claim: (sql) => claimDueTasks(sql, request),
        insert: (sql) => insertTasks(sql, submissions, 0),
      };
      for (const [name, write] of Object.entries(writes)) {
        for (const mode of MODES) {
          const plan = await explain(store.database, mode, write);
          assert.ok(!plan.scanned.includes("listeners"), `${name}, ${mode}: all listeners are read`);
          for (const index of ["listeners_pkey", "listeners_by_end"])
            assert.ok(plan.indexes.includes(index), `${name}, ${mode}: ${plan.indexes.join()}`);
        }
      }
    });
  }
});

describe("the plans of reads", () => {
  let store: TestStore;
  let queue: StoredQueue;
  before(async () => {
    store = await openTestStore();
    queue = await store.openQueue();
    await store.database.rows("alter table tasks set (autovacuum_enabled = false)");
    await fill(store, queue, 10_000, { ...delayed, priority: "5" });
    await store.database.rows("analyze tasks");
    await store.database.rows(
      "update tasks set status = 'completed', due_at = null, list_key = 'begun', run_at = now(), completed_at = now()",
    );
    await vacuumTasks(store.database, "vacuum");
    await store.insert(queue, { tags: ["seldom"] }, { delaySeconds: 60 });
  });
  after(() => store.close());

  const page = { limit: 21, offset: 0, after: null, order: "desc" } as const;
  const reads = {
    "the first page of all tasks": (sql) => listTasks(sql, queue.teamId, ALL_TASKS, page),
    "the first page of a queue": (sql) =>
      listTasks(sql, queue.teamId, { ...ALL_TASKS, queue: queue.name }, page),
    "the first page of a state": (sql) =>
      listTasks(sql, queue.teamId, { ...ALL_TASKS, statuses: ["completed"] }, page),
    "the first page of a state that hardly any task has": (sql) =>
      listTasks(sql, queue.teamId, { ...ALL_TASKS, queue: queue.name, statuses: ["pending"] }, page),
    "the first page of the sandbox": (sql) =>
      listTasks(sql, queue.teamId, { ...ALL_TASKS, sandbox: true }, page),
    "the first page of a state of the sandbox": (sql) =>
      listTasks(sql, queue.teamId, { ...ALL_TASKS, sandbox: true, statuses: ["completed"] }, page),
    "the tasks of a tag": (sql) =>
      searchTasks(sql, queue.teamId, { ...ALL_TASKS, tags: ["seldom"] }, { ...page, most: 1000 }),
    "the tasks of several tags": (sql) =>
      searchTasks(sql, queue.teamId, { ...ALL_TASKS, tags: ["seldom", "often"] }, { ...page, most: 1000 }),
    "a bounded number of tasks for those with an entry in their metadata": (sql) =>
      searchTasks(sql, queue.teamId, { ...ALL_TASKS, metadata: { order: "4711" } }, { ...page, most: 100 }),
    "the dismissed tasks": (sql) =>
      searchTasks(sql, queue.teamId, { ...ALL_TASKS, dismissed: true }, { ...page, most: 100 }),
    "a bounded number of tasks for those of a host": (sql) =>
      searchTasks(sql, queue.teamId, { ...ALL_TASKS, hosts: ["a.test"] }, { ...page, most: 100 }),
    "the tasks of a host in a state that hardly any task has": (sql) =>
      searchTasks(
        sql,
        queue.teamId,
        { ...ALL_TASKS, hosts: ["a.test"], statuses: ["pending"] },
        { ...page, most: 100 },
      ),
    "the tasks that a search has found": (sql) =>
      readSummaries(sql, queue.teamId, ["00000000-0000-7000-8000-000000000000"]),
    "the tasks that events tell of": (sql) =>
      readToldTasks(sql, queue.teamId, new Map([["00000000-0000-7000-8000-000000000000", queue.name]])),
    "a count": (sql) => countTasks(sql, queue.teamId, ALL_TASKS),
    "a count of one state of a queue": (sql) =>
      countTasks(sql, queue.teamId, { ...ALL_TASKS, queue: queue.name, statuses: ["completed"] }),
    "a queue's stats": (sql) => findQueue(sql, live(queue.teamId), queue.name),
    "one task": (sql) => findTask(sql, live(queue.teamId), "00000000-0000-7000-8000-000000000000"),
    "the queues that came due, and the time until the next delayed task": (sql) =>
      lookForDue(sql, Date.now(), 1000),
    "the queues with due tasks": (sql) => queuesWithDueTasks(sql),
    "the open tasks that name a vault token": (sql) =>
      countTokenTasks(sql, live(queue.teamId), "tok_01k9z3mxe5f8hrk3yv5pzq8c2d", 10_000),
    "the depths of the queues": (sql) => readQueueDepths(sql, 100),
    "which of these queues have due tasks": (sql) => dueAmong(sql, [{ teamId: 1, queue: "queue-1" }]),
    "the tasks of dead workers": (sql) => reapTasks(sql, 1),
    "the tasks that have expired": (sql) => removeExpiredTasks(sql, 30, 100),
  } satisfies Record<string, (sql: Parameters<typeof findTask>[0]) => Promise<unknown>>;

  for (const statistics of ["of before they ended", "new"]) {
    describe(`with statistics ${statistics}`, () => {
      before(async () => {
        if (statistics === "new") await vacuumTasks(store.database, "vacuum analyze");
      });

      for (const [name, read] of Object.entries(reads)) {
        it(`read ${name} without scanning 10,000 finished tasks`, async () => {
          for (const mode of MODES) {
            const plan = await explain(store.database, mode, read);
            assert.ok(!plan.scanned.includes("tasks"), `${mode}: tasks read from end to end`);
            assert.ok(plan.blocks < 150, `${mode}: ${plan.blocks} blocks by ${plan.indexes.join()}`);
          }
        });
      }
    });
  }
});
