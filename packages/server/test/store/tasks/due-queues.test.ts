import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { dueAmong, lookForDue } from "../../../src/store/tasks/due-queues.ts";
import { setQueuePaused } from "../../../src/store/tasks/queues.ts";
import { openTestStore, type TestStore } from "../../test-store.ts";

describe("the check for due tasks", () => {
  let store: TestStore;
  before(async () => {
    store = await openTestStore();
  });
  after(() => store.close());

  const inMs = (ms: number) => ({ runAt: new Date(Date.now() + ms) });

  it("sees every task either as due or as due later, with no gap between checks", async () => {
    const queue = await store.openQueue();
    let sinceMs = Date.now();
    await store.insert(queue, ...Array.from({ length: 100 }, (_, index) => inMs(50 + index * 3)));
    for (let due = 0; due < 100; ) {
      const { databaseMs, cameDue, untilNextMs } = await lookForDue(store.database, sinceMs, 0);
      const [counted] = await store.database.rows<{ due: number; next: number | null }>(
        `select count(*) filter (where run_at > to_timestamp($1::float8 / 1000)
                                   and run_at <= to_timestamp($2::float8 / 1000))::integer as due,
                extract(epoch from min(run_at) filter (where run_at > to_timestamp($2::float8 / 1000)))::float8 * 1000 as next
           from tasks`,
        [sinceMs, databaseMs],
      );
      assert.equal(cameDue.length > 0, (counted?.due ?? 0) > 0);
      assert.equal(untilNextMs === null, counted?.next === null);
      if (untilNextMs !== null) assert.ok(databaseMs + untilNextMs <= (counted?.next ?? 0) + 1);
      due += counted?.due ?? 0;
      sinceMs = databaseMs;
    }
  });

  it("covers the time since the last check, also when the clock jumped ahead or back", async () => {
    const queue = await store.openQueue();
    await store.insert(queue, inMs(-1_800_000));
    const named = ({ cameDue }: Awaited<ReturnType<typeof lookForDue>>) =>
      cameDue.some(({ queue: name }) => name === queue.name);

    assert.equal(named(await lookForDue(store.database, Date.now() - 3_600_000, 0)), true);
    assert.equal(named(await lookForDue(store.database, Date.now(), 15_000)), false);
    const recent = await store.openQueue();
    await store.insert(recent, inMs(-5));
    const { cameDue } = await lookForDue(store.database, Date.now() + 3_600_000, 15_000);
    assert.ok(cameDue.some(({ queue: name }) => name === recent.name));
  });

  it("finds which of some queues have due tasks, even if every row is locked", async () => {
    const [due, empty, later, paused] = [
      await store.openQueue(),
      await store.openQueue(),
      await store.openQueue(),
      await store.openQueue(),
    ];
    await store.insert(due, { priority: 3 });
    await store.insert(later, inMs(60_000));
    await store.insert(paused, {});
    await setQueuePaused(store.database, paused.teamId, paused.name, true);
    const asked = [due, empty, later, paused].map(({ teamId, name }) => ({ teamId, queue: name }));

    await store.database.transaction(async (sql) => {
      await sql.rows("select 1 from tasks for update");
      assert.deepEqual(await dueAmong(store.database, asked), [{ teamId: due.teamId, queue: due.name }]);
    });
  });
});
