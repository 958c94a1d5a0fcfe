import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createRecordReader } from "../../../src/service/tasks/task-reader.ts";
import type { Sql } from "../../../src/store/sql.ts";
import { live, openTestStore, type TestStore } from "../../test-store.ts";

describe("reading the tasks of repeated requests", () => {
  let store: TestStore;
  before(async () => {
    store = await openTestStore();
  });
  after(() => store.close());

  it("shares a statement among the tasks that are asked for together, and answers each request", async () => {
    const queue = await store.openQueue();
    const ids = await store.insert(queue, ...Array.from({ length: 45 }, () => ({})));
    const unknown = "01900000-0000-7000-8000-000000000000";
    let statements = 0;
    const sql: Sql = {
      rows(...query) {
        statements += 1;
        return store.database.rows(...query);
      },
    };
    const reader = createRecordReader(sql);
    const asked = [...ids, unknown, ids[0] ?? ""];
    const found = await Promise.all(asked.map((id) => reader.find(live(queue.teamId), id)));

    assert.deepEqual(
      found.map((task) => task?.id ?? null),
      [...ids, null, ids[0]],
    );
    assert.equal(statements, 3);
    assert.deepEqual((await reader.find(live(queue.teamId), ids[1] ?? ""))?.id, ids[1]);
  });
});
