import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { expireTasks } from "../../../src/store/tasks/task-deadlines.ts";
import { openTestStore, type TestStore } from "../../test-store.ts";

describe("the deadline of a task", () => {
  let store: TestStore;
  before(async () => {
    store = await openTestStore();
  });
  after(() => store.close());

  it("ends the task when it has passed, and not half a second before", async () => {
    const queue = await store.openQueue();
    const [late, early] = await store.insert(queue, { expiresInSeconds: 60 }, { expiresInSeconds: 60 });

    // The database's clock is frozen inside a transaction.
    await store.database.transaction(async (sql) => {
      const at = "update tasks set deadline_at = now() + $2::interval where id = $1";
      await sql.rows(at, [late, "0 s"]);
      await sql.rows(at, [early, "500 ms"]);

      assert.deepEqual(
        (await expireTasks(sql, 10, 0)).map(({ id }) => id),
        [late],
      );
    });
  });
});
