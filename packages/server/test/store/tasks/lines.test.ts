import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import type { NewTask } from "../../../src/domain/task.ts";
import { cancelTask } from "../../../src/store/tasks/task-cancellations.ts";
import { expireTasks } from "../../../src/store/tasks/task-deadlines.ts";
import { dismissTask } from "../../../src/store/tasks/task-dismissals.ts";
import { removeExpiredTasks, removePendingTask } from "../../../src/store/tasks/task-removals.ts";
import { retryTask } from "../../../src/store/tasks/task-retries.ts";
import { reapTasks, releaseTasks } from "../../../src/store/tasks/task-returns.ts";
import { removeWorker } from "../../../src/store/tasks/workers.ts";
import { drain, FAILED, settle, WAITING } from "../../test-lines.ts";
import { live, openTestStore, RETRY, type TestStore } from "../../test-store.ts";
import { LINE_ADAPTERS, type TestLine } from "./line-adapters.ts";

const AT_ONCE = { delaySeconds: 0, priority: null };
const LATER = { delaySeconds: 600, priority: null };

/** What every implementation of strict order does. What only one of them does is in ordered-claims.test.ts and flow-lines.test.ts. */
for (const adapter of LINE_ADAPTERS)
  describe(`the line of ${adapter.name}`, () => {
    let store: TestStore;
    let workerId: number;
    let line: TestLine;
    before(async () => {
      store = await openTestStore();
      workerId = await store.openWorker();
    });
    beforeEach(async () => {
      line = await adapter.open(store, workerId);
    });
    after(() => store.close());

    const insertOne = async (task: Partial<NewTask> = {}) => (await line.insert(task))[0] as string;
    const claim = () => line.claim();
    const rest = () => drain(store, claim);
    const retry = (id: string, when = AT_ONCE) => retryTask(store.database, live(line.teamId), id, when);
    const cancel = (id: string) => cancelTask(store.database, live(line.teamId), id);

    it("takes one task at a time, in the order of creation, whatever the priorities", async () => {
      const first = await insertOne({ priority: 1 });
      const others = await line.insert({ priority: 10 }, { priority: 3 }, { priority: 7 });

      const claimed = await claim();

      assert.equal(claimed?.id, first);
      assert.equal(await claim(), undefined, "the first has not ended");
      await settle(store, claimed);
      assert.deepEqual(await rest(), others);
    });

    for (const [what, verdict] of Object.entries({ "backs off": RETRY, "waits for a callback": WAITING }))
      it(`takes no other task while the first ${what}`, async () => {
        const first = await insertOne();
        const second = await insertOne();
        await settle(store, await claim(), verdict);

        assert.equal(await claim(), undefined);

        if (verdict === RETRY) {
          await line.makeDue(first);
          const again = await claim();
          assert.equal(again?.id, first);
          await settle(store, again);
        } else await cancel(first);
        assert.deepEqual(await rest(), [second]);
      });

    it("passes over a task that is not due, and over one whose time to begin is over", async () => {
      const delayed = await insertOne({ delaySeconds: 600 });
      const late = await insertOne();
      await store.database.rows("update tasks set deadline_at = now() where id = $1", [late]);
      const due = await insertOne();

      assert.deepEqual(await rest(), [due]);
      await line.makeDue(delayed);
      assert.deepEqual(await rest(), [delayed]);
    });

    it("takes due delayed tasks and manually retried tasks before tasks created later", async () => {
      const failed = await insertOne();
      await settle(store, await claim(), FAILED);
      const delayed = await insertOne({ delaySeconds: 600, priority: 2 });
      const running = await insertOne();
      const claimed = await claim();
      assert.equal(claimed?.id, running, "the delayed one has not joined the line yet");
      const younger = await insertOne({ priority: 9 });
      await line.makeDue(delayed);
      await retry(failed);
      await settle(store, claimed);

      assert.deepEqual(await rest(), [failed, delayed, younger]);
    });

    it("continues after a failure", async () => {
      await insertOne();
      await settle(store, await claim(), FAILED);
      const next = await insertOne();

      assert.deepEqual(await rest(), [next]);
    });

    it("continues with on_failure block only once the failed task has completed", async () => {
      const blocker = await insertOne();
      await line.setOnFailure("block");
      const blocked = await insertOne();
      await settle(store, await claim(), FAILED);

      assert.equal(await claim(), undefined);
      await retry(blocker, LATER);
      assert.equal(await claim(), undefined, "its delay does not let the line go on");
      await line.makeDue(blocker);
      assert.deepEqual(await rest(), [blocker, blocked]);
    });

    it("continues when the failed task that blocks it is dismissed, and keeps it until then", async () => {
      await insertOne();
      await line.setOnFailure("block");
      const claimed = await claim();
      await settle(store, claimed, FAILED);
      const blocked = await insertOne();
      const id = claimed?.id ?? "";
      const old = `0190a1b2-0000-7000-8000-0000000000${10 + LINE_ADAPTERS.indexOf(adapter)}`;
      await line.rename(id, old);
      await store.database.rows(
        "update tasks set id = $2, completed_at = now() - interval '90 days' where id = $1",
        [id, old],
      );
      const count = async () =>
        (await store.database.rows("select 1 from tasks where id = $1", [old])).length;

      await removeExpiredTasks(store.database, 30, 100);
      assert.deepEqual([await count(), await claim()], [1, undefined]);

      await dismissTask(store.database, live(line.teamId), old);
      assert.deepEqual(await rest(), [blocked]);
      await removeExpiredTasks(store.database, 30, 100);
      assert.equal(await count(), 0);
    });

    for (const [how, end] of Object.entries({
      cancel: (id: string) => cancel(id),
      DELETE: (id: string) => removePendingTask(store.database, live(line.teamId), id),
      expiry: async (id: string) => {
        // As if it had been retried by hand with an expiry that is over.
        await store.database.rows(
          "update tasks set deadline_at = now(), expires_in_seconds = 1 where id = $1",
          [id],
        );
        await expireTasks(store.database, 10, workerId);
      },
    }))
      it(`continues after the ${how} of the first task, even with on_failure block`, async () => {
        const first = await insertOne();
        const second = await insertOne();
        await line.setOnFailure("block");
        await settle(store, await claim(), RETRY);
        assert.equal(await claim(), undefined);

        await end(first);

        assert.deepEqual(await rest(), [second]);
      });

    it("gives a task to one of many racing workers, and none until its dead worker is reaped", async () => {
      const first = await insertOne();
      const second = await insertOne();
      const others = await Promise.all(Array.from({ length: 6 }, () => store.openWorker()));

      const claims = (await Promise.all(others.map((each) => line.claim(each)))).filter(
        (claimed) => claimed !== undefined,
      );

      assert.deepEqual(
        claims.map(({ id }) => id),
        [first],
      );
      await removeWorker(store.database, claims[0]?.workerId ?? 0);
      assert.equal(await claim(), undefined, "its call may still be under way");
      await reapTasks(store.database, workerId);
      assert.deepEqual(await rest(), [first, second]);
    });

    it("takes the first task again when its claim was released unused", async () => {
      const first = await insertOne();
      const second = await insertOne();
      const claimed = await claim();
      assert.ok(claimed);
      await releaseTasks(store.database, [claimed], "not_sent", workerId);

      assert.deepEqual(await rest(), [first, second]);
    });

    it("waits for all tasks that had started before it became ordered", async () => {
      line = await adapter.open(store, workerId, false);
      await line.insert({}, {}, {}, {});
      const [active, waiting, retrying] = await line.claimUnordered(3);
      await settle(store, waiting, WAITING);
      await settle(store, retrying, RETRY);
      await line.setOrdered(true);
      const last = await insertOne();

      assert.equal(await claim(), undefined);
      await settle(store, active);
      await line.makeDue(retrying?.id ?? "");
      assert.equal(await claim(), undefined);
      await cancel(waiting?.id ?? "");
      const ids = await rest();
      assert.deepEqual([ids.length, ids[0], ids.at(-1)], [3, retrying?.id, last]);
    });

    it("is blocked by the failure of a task that was active when it became ordered", async () => {
      line = await adapter.open(store, workerId, false);
      await line.insert({}, {});
      const [active] = await line.claimUnordered(1);
      await line.setOrdered(true);
      await line.setOnFailure("block");
      await settle(store, active, FAILED);

      assert.equal(await claim(), undefined);
    });

    it("begins a new line each time that it becomes ordered", async () => {
      await insertOne();
      const first = await claim();
      await line.setOrdered(false);
      const second = await insertOne();
      const [running] = await line.claimUnordered(1);
      assert.equal(running?.id, second);
      const third = await insertOne();
      await line.setOrdered(true);
      await settle(store, first);

      assert.equal(await claim(), undefined, "what began meanwhile has not ended");
      await settle(store, running);
      assert.deepEqual(await rest(), [third]);
    });
  });
