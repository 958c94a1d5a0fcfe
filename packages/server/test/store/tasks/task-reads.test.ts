import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { QUEUE_DEFAULTS } from "../../../src/domain/queue.ts";
import type { TaskFilter } from "../../../src/domain/task-filter.ts";
import { findQueue, insertQueue, listQueues, markQueueDeleted } from "../../../src/store/tasks/queues.ts";
import { countTasks, findTask, listTasks } from "../../../src/store/tasks/task-reads.ts";
import { settleAttempts } from "../../../src/store/tasks/task-settlements.ts";
import {
  ALL_TASKS,
  live,
  openTestStore,
  type StoredQueue,
  settlementOf,
  type TestStore,
} from "../../test-store.ts";

describe("reading tasks", () => {
  let store: TestStore;
  let teamId: number;
  let errands: StoredQueue;
  let letters: StoredQueue;
  let ids: string[];
  before(async () => {
    store = await openTestStore();
    teamId = await store.openTeam();
    errands = await store.openQueue({}, teamId);
    letters = await store.openQueue({}, teamId);
    const stranger = await store.openQueue({}, await store.openTeam());
    const workerId = await store.openWorker();
    ids = [
      ...(await store.insert(errands, {}, {}, {})),
      ...(await store.insert(letters, {}, {})),
      ...(await store.insert(errands, {}, {})),
    ];
    await store.insert(stranger, {}, {});
    const [completed] = await store.claim(errands, { workerId, limit: 2 });
    assert.ok(completed);
    await settleAttempts(store.database, [settlementOf(completed)], workerId);
  });
  after(() => store.close());

  type Asked = Partial<Pick<TaskFilter, "queue" | "statuses">>;

  async function list(
    filter: Asked,
    page: { limit?: number; offset?: number; after?: string; order?: "asc" } = {},
  ): Promise<number[]> {
    const tasks = await listTasks(
      store.database,
      teamId,
      { ...ALL_TASKS, ...filter },
      { limit: 100, offset: 0, after: null, order: "desc", ...page },
    );
    return tasks.map(({ id }) => ids.indexOf(id));
  }

  const count = (filter: Asked) => countTasks(store.database, teamId, { ...ALL_TASKS, ...filter });

  it("lists only the team's tasks, newest first", async () => {
    assert.deepEqual(await list({}), [6, 5, 4, 3, 2, 1, 0]);
    assert.equal(await count({}), 7);
  });

  it("lists and counts by queue, by status and by both", async () => {
    const cases = [
      [{ queue: errands.name }, [6, 5, 2, 1, 0]],
      [{ queue: letters.name }, [4, 3]],
      [{ statuses: ["completed"] }, [0]],
      [{ statuses: ["active"] }, [1]],
      [{ statuses: ["pending"] }, [6, 5, 4, 3, 2]],
      [{ queue: errands.name, statuses: ["pending"] }, [6, 5, 2]],
      [{ queue: letters.name, statuses: ["failed"] }, []],
      [{ statuses: ["active", "completed"] }, [1, 0]],
      [{ queue: errands.name, statuses: ["completed", "pending"] }, [6, 5, 2, 0]],
      [{ queue: "nowhere" }, []],
    ] as const;
    for (const [filter, expected] of cases) {
      assert.deepEqual(await list(filter), expected, JSON.stringify(filter));
      assert.equal(await count(filter), expected.length, JSON.stringify(filter));
    }
  });

  it("pages by offset and by cursor through the same list", async () => {
    assert.deepEqual(await list({}, { limit: 3, offset: 2 }), [4, 3, 2]);
    assert.deepEqual(await list({}, { limit: 3, after: ids[5] ?? "" }), [4, 3, 2]);
    assert.deepEqual(await list({ queue: errands.name }, { limit: 2, offset: 2 }), [2, 1]);
    assert.deepEqual(await list({ queue: errands.name }, { limit: 2, after: ids[5] ?? "" }), [2, 1]);
    assert.deepEqual(await list({}, { limit: 3, offset: 7 }), []);
    assert.deepEqual(await list({}, { limit: 3, offset: 2, order: "asc" }), [2, 3, 4]);
    assert.deepEqual(await list({ queue: errands.name }, { after: ids[1] ?? "", order: "asc" }), [2, 5, 6]);
  });

  it("lists the tasks of a deleted queue under its name, next to those of its successor", async () => {
    const queue = await store.openQueue({}, teamId);
    const [old = ""] = await store.insert(queue, {});
    await markQueueDeleted(store.database, teamId, queue.name);
    await insertQueue(store.database, teamId, queue.name, QUEUE_DEFAULTS);
    const [fresh = ""] = await store.insert(queue, {});
    ids.push(old, fresh);

    assert.deepEqual(await list({ queue: queue.name }), [8, 7]);
    assert.equal(await count({ queue: queue.name }), 2);
    assert.equal((await findQueue(store.database, live(teamId), queue.name))?.stats.pending, 1);
  });

  it("does not find another team's task", async () => {
    const [id = ""] = ids;
    assert.notEqual(await findTask(store.database, live(teamId), id), null);
    assert.equal(await findTask(store.database, live(teamId + 1), id), null);
  });

  it("shows a queue's stats by state, and the queues of the team by name", async () => {
    assert.deepEqual((await findQueue(store.database, live(teamId), errands.name))?.stats, {
      pending: 3,
      active: 1,
      waiting: 0,
      polling: 0,
      completed: 1,
      failed: 0,
      cancelled: 0,
    });
    const names = (await listQueues(store.database, live(teamId))).map(({ name }) => name);
    assert.deepEqual(names, [...names].sort());
    assert.ok(names.includes(errands.name) && names.includes(letters.name));
    assert.equal((await listQueues(store.database, live(await store.openTeam()))).length, 0);
  });
});
