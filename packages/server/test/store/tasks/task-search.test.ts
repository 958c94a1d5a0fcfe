import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { TaskFilter } from "../../../src/domain/task-filter.ts";
import { removePendingTask } from "../../../src/store/tasks/task-removals.ts";
import { countMatches, searchTasks } from "../../../src/store/tasks/task-search.ts";
import { settleAttempts } from "../../../src/store/tasks/task-settlements.ts";
import { ALL_TASKS, live, openTestStore, settlementOf, type TestStore } from "../../test-store.ts";

describe("searching tasks", () => {
  let store: TestStore;
  let teamId: number;
  let ids: string[];
  const call = (url: string) => ({ call: { method: "POST", url, headers: {}, body: null } as const });

  before(async () => {
    store = await openTestStore();
    teamId = await store.openTeam();
    const errands = await store.openQueue({}, teamId);
    const letters = await store.openQueue({}, teamId);
    const stranger = await store.openQueue({}, await store.openTeam());
    ids = await store.insert(
      errands,
      { tags: ["a"], ...call("https://One.test:8443/x") },
      call("http://[::1]:80/one.test"),
      { tags: ["a", "b"], ...call("http://\\/one.test?x") },
      { sandbox: true, tags: ["a"], ...call("https://one.test/") },
    );
    ids.push(
      ...(await store.insert(letters, { tags: ["a"], priority: 9 }, {}, call("https://one.test.uk/"))),
    );
    await store.insert(stranger, { tags: ["a"], ...call("https://one.test/") });
    const workerId = await store.openWorker();
    const [claim] = await store.claim(letters, { workerId, limit: 1 });
    assert.ok(claim);
    const result = { statusCode: 500, headers: {}, body: "", duration: 5 };
    await settleAttempts(
      store.database,
      [
        settlementOf(claim, {
          kind: "failed",
          reason: "retries_exhausted",
          error: "Card 7_a declined",
          result,
        }),
      ],
      workerId,
    );
  });
  after(() => store.close());

  const search = async (filter: Partial<TaskFilter>, most = 1000, limit = 1000) => {
    const found: number[] = [];
    let after: string | null = null;
    do {
      const page: { ids: readonly string[]; next: string | null } = await searchTasks(
        store.database,
        teamId,
        { ...ALL_TASKS, ...filter },
        { order: "desc", after, limit, most },
      );
      assert.ok(page.ids.length <= limit);
      found.push(...page.ids.map((id) => ids.indexOf(id)));
      after = page.next;
    } while (after !== null);
    return found;
  };

  const CASES: readonly (readonly [Partial<TaskFilter>, readonly number[]])[] = [
    [{ tags: ["a"] }, [4, 2, 0]],
    [{ tags: ["b"] }, [2]],
    [{ tags: ["a"], queue: "queue-1" }, [2, 0]],
    [{ tags: ["a"], statuses: ["failed", "completed"] }, [4]],
    [{ tags: ["a"], sandbox: true }, [3]],
    [{ tags: ["c"] }, []],
    [{ hosts: ["one.test"] }, [2, 0]],
    [{ hosts: ["[::1]"] }, [1]],
    [{ hosts: ["one.test"], queue: "queue-2" }, []],
    [{ hosts: ["one.test"], sandbox: true }, [3]],
    [{ failureReason: "retries_exhausted" }, [4]],
    [{ failureReason: "retries_exhausted", statuses: ["pending"] }, []],
    [{ lastAnswer: { least: 500, most: 599 } }, [4]],
    [{ lastAnswer: { least: 500, most: 500 }, statuses: ["pending", "failed"] }, [4]],
    [{ lastAnswer: { none: "network" } }, []],
    [{ error: "CARD * declined" }, [4]],
    [{ error: "*7_a*", statuses: ["failed"] }, [4]],
    [{ error: "declined" }, []],
    [{ error: "Card%" }, []],
    [{ error: "*7_b*" }, []],
    [{ createdAfter: new Date(0), hosts: ["localhost"] }, [5, 4]],
    [{ createdBefore: new Date(0), hosts: ["localhost"] }, []],
  ];

  for (const [filter, expected] of CASES) {
    it(`finds the tasks of ${JSON.stringify(filter)}, in one scan or many short ones`, async () => {
      assert.deepEqual(await search(filter), expected);
      for (const most of [1, 2, 3])
        assert.deepEqual(await search(filter, most), expected, `${most} at a time`);
      assert.deepEqual(await search(filter, 1000, 1), expected, "one on a page");
      const counted = await countMatches(store.database, teamId, { ...ALL_TASKS, ...filter }, 1000);
      assert.deepEqual(counted, { total: expected.length, isWhole: true });
    });
  }

  it("finds a task by its id, and reports when a count is incomplete", async () => {
    assert.deepEqual(await search({ id: ids[1] ?? "" }), [1]);
    assert.deepEqual(await search({ id: ids[3] ?? "" }), []);
    const counted = await countMatches(store.database, teamId, { ...ALL_TASKS, hosts: ["one.test"] }, 3);
    assert.equal(counted.isWhole, false);
  });

  it("counts a tag's tasks up to a limit, and reports whether the count is complete", async () => {
    const count = (most: number, filter: Partial<TaskFilter> = {}) =>
      countMatches(store.database, teamId, { ...ALL_TASKS, tags: ["a"], ...filter }, most);
    // Three live tasks have the tag, and one of the sandbox.
    assert.deepEqual(await count(5), { total: 3, isWhole: true });
    assert.deepEqual(await count(4), { total: 3, isWhole: true });
    assert.equal((await count(3)).isWhole, false);
    assert.deepEqual(await count(1), { total: 1, isWhole: false });
    assert.deepEqual(await count(4, { createdAfter: new Date(Date.now() + 60_000) }), {
      total: 0,
      isWhole: true,
    });
  });

  it("deletes the tags of a removed task", async () => {
    const queue = await store.openQueue({}, teamId);
    const [id = ""] = await store.insert(queue, { tags: ["gone", "soon"] });
    await removePendingTask(store.database, live(teamId), id);
    assert.deepEqual(await store.database.rows("select 1 from task_tags where task_id = $1", [id]), []);
  });
});
