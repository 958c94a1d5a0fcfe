import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { PERMIT_MS } from "../../../src/store/tasks/flow-claim-parts.ts";
import { reapTasks } from "../../../src/store/tasks/task-returns.ts";
import { removeWorker } from "../../../src/store/tasks/workers.ts";
import { openTestStore, type TestStore } from "../../test-store.ts";
import { RATE_ADAPTERS, SENT_AT_MS } from "./permit-adapters.ts";

/** What every implementation of a rate does. What only one of them does is in queue-rates.test.ts and flow-claims.test.ts. */
for (const adapter of RATE_ADAPTERS)
  describe(`the permits of ${adapter.name} with a rate`, () => {
    let store: TestStore;
    let workerId: number;
    before(async () => {
      store = await openTestStore();
      workerId = await store.openWorker();
    });
    after(() => store.close());

    const open = (rate: number, tasks: number, period = 60) =>
      adapter.open(store, workerId, { rate, period }, tasks);

    it("begin no more calls in a period than the rate, and tell when the next may begin", async () => {
      const rated = await open(2, 9);

      const first = await rated.claim();
      assert.equal(first.claims.length, 2);
      assert.equal((await rated.claim()).claims.length, 0);
      await rated.move(59);
      const early = await rated.claim();

      assert.equal(early.claims.length, 0);
      // A permit counts from up to 160 ms after its claim: the time to begin, rounded up to a thousandth of the period.
      assert.ok(early.waitMs !== null && early.waitMs > 500 && early.waitMs < 1_200, String(early.waitMs));
      await rated.move(1.3);
      assert.equal((await rated.claim()).claims.length, 2);
    });

    it("leave the window open while fewer calls than the rate have begun", async () => {
      const rated = await open(3, 9);

      assert.deepEqual(
        [(await rated.claim({ limit: 2 })).claims.length, (await rated.claim()).claims.length],
        [2, 1],
      );
      assert.notEqual((await rated.claim()).waitMs, null);
    });

    it("give each call a time until which it may begin", async () => {
      const rated = await open(2, 2);

      const { claims } = await rated.claim();

      assert.deepEqual(
        claims.map(({ startByMs }) => startByMs),
        [SENT_AT_MS + PERMIT_MS, SENT_AT_MS + PERMIT_MS],
      );
    });

    it("are never more than the rate when many workers claim at once", async () => {
      const rated = await open(7, 30);

      const claimed = await Promise.all(
        Array.from({ length: 10 }, async () => {
          const database = store.open(1);
          const rounds = [
            await rated.claim({ limit: 2, database }),
            await rated.claim({ limit: 2, database }),
          ];
          return rounds.flatMap(({ claims }) => claims);
        }),
      );

      const later = await rated.claim();
      assert.equal(claimed.flat().length + later.claims.length, 7);
      assert.equal((await rated.claim()).claims.length, 0);
    });

    it("count from the begin of the call once it is reported, and once each", async () => {
      const rated = await open(2, 5);
      const { claims } = await rated.claim();

      await rated.confirm(claims, 50_000);
      await rated.confirm(claims, 10);

      const ages = await rated.agesMs();
      assert.equal(ages.length, 2);
      for (const age of ages) assert.ok(age > 49_800 && age < 55_000, String(age));
      assert.equal((await rated.claim()).claims.length, 0);
      await rated.move(10.1);
      assert.equal((await rated.claim()).claims.length, 2);
    });

    it("never count from later than before the report, but for rounding to a thousandth of the period", async () => {
      const rated = await open(1, 2);
      const { claims } = await rated.claim();
      const [before] = await rated.agesMs();

      await rated.confirm(claims, -5_000);

      const [age] = await rated.agesMs();
      assert.ok(age !== undefined && before !== undefined && age > before - 60, `${before} ${age}`);
    });

    it("count for a call whose worker died before it reported", async () => {
      const rated = await open(1, 3);
      const dead = await store.openWorker();
      assert.equal((await rated.claim({ workerId: dead })).claims.length, 1);
      await removeWorker(store.database, dead);
      await reapTasks(store.database, workerId);

      assert.equal((await rated.claim()).claims.length, 0);
      await rated.move(60.2);
      assert.equal((await rated.claim()).claims.length, 1);
    });

    it("follow a change of the rate at once, and a longer period counts what is still known", async () => {
      const rated = await open(2, 9, 10);
      assert.equal((await rated.claim()).claims.length, 2);

      await rated.setRate(3, 10);
      assert.equal((await rated.claim()).claims.length, 1);
      await rated.setRate(1, 10);
      assert.equal((await rated.claim()).claims.length, 0);
      await rated.move(5);
      await rated.setRate(3, 3_600);
      assert.equal((await rated.claim()).claims.length, 0);
      await rated.setRate(4, 3_600);
      assert.equal((await rated.claim()).claims.length, 1);
    });
  });
