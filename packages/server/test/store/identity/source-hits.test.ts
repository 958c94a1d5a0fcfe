import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import fc from "fast-check";
import { limitHits } from "../../../src/service/access/hit-limit.ts";
import { removeExpiredCredentials } from "../../../src/store/identity/expired-credentials.ts";
import { takeHits } from "../../../src/store/identity/source-hits.ts";
import { createTestClock, type TestClock } from "../../test-clock.ts";
import { createTestDatabase, type TestDatabase } from "../../test-database.ts";
import type { TextDatabase } from "../../test-sql.ts";

describe("rate limit hits of a source", () => {
  let test: TestDatabase;
  let clock: TestClock;
  let sql: TextDatabase;
  let elsewhere: TextDatabase;
  let source = "";
  let sources = 0;
  before(async () => {
    test = await createTestDatabase();
    clock = await createTestClock(test);
    sql = clock.open(4);
    elsewhere = clock.open(4);
  });
  after(() => test.drop());
  beforeEach(() => {
    sources += 1;
    source = `source ${sources}`;
  });

  const limit = (most: number, seconds = 60) => ({ most, seconds });
  const hitsOf = async (name: string) => {
    const [row] = await sql.rows<{ count: number }>(
      "select cardinality(hits) as count from source_hits where source = $1",
      [name],
    );
    return row?.count;
  };

  it("are granted up to the limit", async () => {
    const first = await takeHits(sql, source, 3, limit(5));
    assert.deepEqual([first.granted, first.left, first.waitMs], [3, 2, 0]);
    const second = await takeHits(sql, source, 3, limit(5));
    assert.deepEqual([second.granted, second.left, second.waitMs], [2, 0, 60_000]);
    const third = await takeHits(sql, source, 1, limit(5));
    assert.deepEqual([third.granted, third.left, third.waitMs], [0, 0, 60_000]);
    assert.equal(third.resetAtMs, clock.nowMs() + 60_000);
    assert.equal(await hitsOf(source), 5);
  });

  it("count for exactly the limit's window", async () => {
    await takeHits(sql, source, 1, limit(2));
    await clock.advance(20_000);
    await takeHits(sql, source, 1, limit(2));
    await clock.advance(39_999);
    const early = await takeHits(sql, source, 1, limit(2));
    assert.deepEqual([early.granted, early.waitMs], [0, 1]);
    await clock.advance(1);
    const late = await takeHits(sql, source, 1, limit(2));
    assert.deepEqual([late.granted, late.waitMs], [1, 20_000]);
  });

  it("have a wait until the limit has room again, even after it was lowered", async () => {
    for (let hit = 0; hit < 10; hit += 1) {
      await takeHits(sql, source, 1, limit(10));
      await clock.advance(1000);
    }
    // 10 s have passed; the 7th hit must be gone before a 4th of four fits.
    const { granted, left, waitMs } = await takeHits(sql, source, 1, limit(4));
    assert.deepEqual([granted, left, waitMs], [0, 0, 56_000]);
  });

  it("of 40 concurrent requests on two nodes never exceed the limit together", async () => {
    const takings = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        takeHits(index % 2 === 0 ? sql : elsewhere, source, 3, limit(100)),
      ),
    );
    assert.equal(
      takings.reduce((sum, { granted }) => sum + granted, 0),
      100,
    );
    const lefts = takings.map(({ left }) => left).sort((a, b) => b - a);
    assert.deepEqual(
      lefts,
      Array.from({ length: 40 }, (_, index) => Math.max(0, 97 - 3 * index)),
    );
    for (const { left, waitMs } of takings) assert.equal(waitMs > 0, left === 0);
  });

  it("may be unordered, and count from now if the clock was set back behind them", async () => {
    await takeHits(sql, source, 3, limit(3));
    await sql.rows(
      `update source_hits set hits = array[c + interval '1 hour', c - interval '30 s', c - interval '50 s']
         from (select clock_timestamp() as c) c where source = $1`,
      [source],
    );
    assert.equal((await takeHits(sql, source, 1, limit(3))).waitMs, 10_000);
    await clock.advance(60_000);
    const { granted, left } = await takeHits(sql, source, 3, limit(3));
    assert.deepEqual([granted, left], [3, 0]);
  });

  it("can be renewed: they count from now on, without more of them", async () => {
    const first = await takeHits(sql, source, 3, limit(5));
    await clock.advance(30_000);
    const renewed = await takeHits(sql, source, 2, limit(5), { stamp: first.stamp, count: 2 });
    assert.deepEqual([renewed.granted, renewed.left], [2, 2]);
    assert.equal(await hitsOf(source), 3);
    await clock.advance(30_000);
    // The one that was not renewed is gone.
    const more = await takeHits(sql, source, 9, limit(5), { stamp: renewed.stamp, count: 1 });
    assert.deepEqual([more.granted, more.left], [4, 0]);
    await clock.advance(60_000);
    const late = await takeHits(sql, source, 1, limit(5), { stamp: more.stamp, count: 4 });
    assert.deepEqual([late.granted, late.left], [1, 4]);
  });

  it("are refused beyond the limit with retry-after in whole seconds, rounded up", async () => {
    const hit = () => limitHits(sql, source, limit(1));
    await hit();
    await clock.advance(500);
    await assert.rejects(hit(), { code: "rate_limited", retryAfterSeconds: 60 });
    await clock.advance(59_499);
    await assert.rejects(hit(), { code: "rate_limited", retryAfterSeconds: 1 });
    await clock.advance(1);
    await hit();
  });

  it("behave like a plain list of timestamps for random sequences", async () => {
    const step = fc.oneof(
      fc.record({ passMs: fc.integer({ min: 0, max: 40_000 }) }),
      fc.record({ wanted: fc.integer({ min: 0, max: 7 }), most: fc.integer({ min: 1, max: 12 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        sources += 1;
        let hits: number[] = [];
        for (const each of steps) {
          if ("passMs" in each) {
            await clock.advance(each.passMs);
            continue;
          }
          const { wanted, most } = each;
          const nowMs = clock.nowMs();
          hits = hits.filter((at) => at > nowMs - 60_000);
          const granted = Math.max(0, Math.min(wanted, most - hits.length));
          hits.push(...Array<number>(granted).fill(nowMs));
          const waitsFor = hits.length < most ? null : hits[hits.length - most];

          const taken = await takeHits(
            sources % 2 === 0 ? sql : elsewhere,
            `${sources}`,
            wanted,
            limit(most),
          );
          assert.deepEqual(
            { ...taken, stamp: "" },
            {
              granted,
              left: Math.max(0, most - hits.length),
              waitMs: waitsFor === undefined || waitsFor === null ? 0 : waitsFor + 60_000 - nowMs,
              resetAtMs: (hits[0] ?? nowMs) + 60_000,
              stamp: "",
            },
          );
        }
      }),
      { numRuns: 60 },
    );
  });

  it("are removed once the last of them has expired", async () => {
    await takeHits(sql, source, 1, limit(1));
    await takeHits(sql, `${source} daily`, 1, limit(1, 86_400));
    // The janitor goes by the time of day, which is not the test's.
    await sql.rows("update source_hits set expires_at = expires_at - looked_at + now()");
    const pass = (seconds: number) =>
      sql.rows("update source_hits set expires_at = expires_at - make_interval(secs => $1)", [seconds]);
    await pass(59);
    await removeExpiredCredentials(sql, 100);
    assert.deepEqual([await hitsOf(source), await hitsOf(`${source} daily`)], [1, 1]);
    await pass(62);
    await removeExpiredCredentials(sql, 100);
    assert.deepEqual([await hitsOf(source), await hitsOf(`${source} daily`)], [undefined, 1]);
  });
});
