import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import fc from "fast-check";
import { Problem } from "../../../src/domain/problem.ts";
import { createRequestLimits, type RequestLimits } from "../../../src/service/access/request-limits.ts";
import type { Allowance } from "../../../src/service/access/team-meter.ts";
import { createTestClock, type TestClock } from "../../test-clock.ts";
import { createTestDatabase, type TestDatabase } from "../../test-database.ts";
import { principalOf } from "../../test-principal.ts";
import { createGate, databaseAway, type WatchedDatabase, watchDatabase } from "../../test-sql.ts";

interface Node {
  readonly sql: WatchedDatabase;
  readonly limits: RequestLimits;
}

describe("the request rate limit of a team", () => {
  let test: TestDatabase;
  let clock: TestClock;
  let nodes: [Node, Node];
  let team = 0;
  before(async () => {
    test = await createTestDatabase();
    clock = await createTestClock(test);
  });
  after(() => test.drop());
  beforeEach(() => {
    team += 1;
    nodes = [openNode(), openNode()];
  });

  function openNode(): Node {
    const sql = watchDatabase(clock.open(2));
    return { sql, limits: createRequestLimits({ sql, monotonicMs: clock.monotonicMs }) };
  }
  const nodeAt = (index: number): Node => nodes[index % 2 === 0 ? 0 : 1];
  /** One request of the team, or of another one. */
  const count = (limit: number | null, node: Node = nodes[0], teamId = team) =>
    node.limits.count(principalOf(teamId, { requestsPerMinute: limit }));
  const isAllowed = (allowance: Allowance) => allowance.retryAfterSeconds === null;
  /** So many requests at once, on both nodes in turn. */
  const countAll = (limit: number, times: number) =>
    Promise.all(Array.from({ length: times }, (_, index) => count(limit, nodeAt(index))));
  const allowedOf = (allowances: readonly Allowance[]) => allowances.filter(isAllowed).length;
  const statements = () => nodes[0].sql.begun + nodes[1].sql.begun;

  describe("without a figure", () => {
    it("allows every request synchronously, without a query", () => {
      const first = count(null);
      assert.ok(!(first instanceof Promise) && isAllowed(first));
      assert.equal(first.limit, null);
      assert.equal(count(null, nodes[0], team + 1000), first);
      assert.equal(statements(), 0);
    });
  });

  describe("of a small plan", () => {
    it("refuses the 61st request of a minute on every node", async () => {
      for (let request = 1; request <= 60; request += 1) {
        const { limit, remaining, retryAfterSeconds, resetSeconds } = await count(60, nodeAt(request));
        assert.deepEqual([limit, remaining, retryAfterSeconds], [60, 60 - request, null]);
        assert.equal(resetSeconds, Math.ceil(clock.nowMs() / 1000 + 60));
      }
      for (const node of nodes) {
        const { remaining, retryAfterSeconds } = await count(60, node);
        assert.deepEqual([remaining, retryAfterSeconds], [0, 60]);
      }
    });

    it("allows exactly 60 of 200 concurrent requests on two nodes, with two queries", async () => {
      const allowances = await countAll(60, 200);

      assert.equal(allowedOf(allowances), 60);
      assert.equal(statements(), 2);
      const remaining = allowances.filter(isAllowed).map((allowance) => allowance.remaining);
      assert.deepEqual(
        remaining.sort((a, b) => a - b),
        Array.from({ length: 60 }, (_, index) => index),
      );
    });

    it("serves requests that wait for one query in their order of arrival", async () => {
      const allowances = await Promise.all(Array.from({ length: 5 }, () => count(3)));

      assert.deepEqual(
        allowances.map(({ remaining, retryAfterSeconds }) => [remaining, retryAfterSeconds]),
        [
          [2, null],
          [1, null],
          [0, null],
          [0, 60],
          [0, 60],
        ],
      );
    });

    it("serves requests that arrive during a query by the next one", async () => {
      const gate = createGate();
      nodes[0].sql.before = gate.wait;
      const first = count(60);
      await gate.reached;
      const others = Array.from({ length: 30 }, () => count(60));
      gate.open();

      assert.equal(allowedOf(await Promise.all([first, ...others])), 31);
      assert.equal(nodes[0].sql.begun, 2);
    });

    it("returns the exact wait: a request after it is allowed, and none before", async () => {
      await count(60);
      await clock.advance(20_300);
      await countAll(60, 59);

      const refused = await count(60, nodes[1]);
      assert.equal(refused.retryAfterSeconds, 40);
      assert.equal(refused.resetSeconds, Math.ceil((clock.nowMs() + 39_700) / 1000));
      await clock.advance(39_699);
      assert.equal((await count(60, nodes[0])).retryAfterSeconds, 1);
      assert.equal((await count(60, nodes[1])).retryAfterSeconds, 1);
      await clock.advance(1);
      assert.equal((await count(60, nodes[1])).retryAfterSeconds, null);
      // The next to leave is one of the 59.
      assert.equal((await count(60, nodes[0])).retryAfterSeconds, 21);
    });

    it("does not count refused requests, and sends no query until there may be room", async () => {
      await countAll(60, 60);
      await countAll(60, 2);
      const asked = statements();
      for (let second = 0; second < 59; second += 1) {
        await clock.advance(1000);
        assert.equal(allowedOf(await countAll(60, 20)), 0);
      }
      assert.equal(statements(), asked);
      await clock.advance(1000);
      assert.equal(allowedOf(await countAll(60, 100)), 60);
    });

    it("is shared by all credentials of a team, and by no other team", async () => {
      const others = ["api_key", "session", "application"] as const;
      for (let request = 0; request < 60; request += 1) {
        const kind = others[request % 3] ?? "api_key";
        const principal = principalOf(team, { kind, id: `${kind} ${request}`, requestsPerMinute: 60 });
        assert.ok(isAllowed(await nodeAt(request).limits.count(principal)));
      }
      assert.ok(!isAllowed(await count(60)));
      assert.ok(isAllowed(await count(60, nodes[0], team + 1000)));
    });

    for (const limit of [1, 50, 600]) {
      it(`allows exactly ${limit} requests a minute`, async () => {
        assert.equal(allowedOf(await countAll(limit, limit + 100)), limit);
        await clock.advance(59_999);
        assert.equal(allowedOf(await countAll(limit, 10)), 0);
        await clock.advance(1);
        assert.equal(allowedOf(await countAll(limit, limit + 100)), limit);
      });
    }

    it("is a sliding window: exact in every minute for random sequences", async () => {
      const step = fc.record({
        passMs: fc.integer({ min: 0, max: 25_000 }),
        requests: fc.integer({ min: 0, max: 12 }),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
          team += 1;
          let allowed: number[] = [];
          for (const { passMs, requests } of steps) {
            await clock.advance(passMs);
            const nowMs = clock.nowMs();
            allowed = allowed.filter((at) => at > nowMs - 60_000);
            const expected = Math.min(requests, 10 - allowed.length);
            assert.equal(allowedOf(await countAll(10, requests)), expected);
            allowed.push(...Array<number>(expected).fill(nowMs));
          }
        }),
        { numRuns: 40 },
      );
    });
  });

  describe("of a large plan", () => {
    it("is never exceeded by two nodes, and takes hundreds of permits per query", async () => {
      let allowed = 0;
      for (let round = 0; round < 35; round += 1) {
        allowed += allowedOf(await countAll(60_000, 2000));
        await clock.advance(1000);
      }

      assert.ok(allowed <= 60_000, `${allowed} were allowed`);
      assert.ok(allowed >= 60_000 - 2 * 100, `only ${allowed} were allowed`);
      assert.ok(statements() < 35 * 2 * 3, `${statements()} statements`);
    });

    it("delays no request under a steady load", async () => {
      await count(60_000);
      let waited = 0;
      for (let request = 0; request < 3000; request += 1) {
        // As fast as the limit allows: 1,000 a second.
        if (request % 20 === 19) {
          await clock.advance(20);
          await nodes[0].sql.idle();
          await new Promise(setImmediate);
        }
        const answer = count(60_000);
        if (answer instanceof Promise) waited += 1;
        assert.ok(isAllowed(await answer));
      }
      assert.equal(waited, 0);
      assert.ok(nodes[0].sql.begun < 60, `${nodes[0].sql.begun} statements`);
    });

    it("loses no permit that a node took and did not use", async () => {
      for (let second = 0; second < 70; second += 1) {
        assert.ok(isAllowed(await count(60_000)));
        await clock.advance(1500);
      }
      await nodes[0].sql.idle();

      // 70 requests of a block of 100: all other blocks are there for the other node.
      const others = await Promise.all(Array.from({ length: 60_100 }, () => count(60_000, nodes[1])));
      assert.equal(allowedOf(others), 59_900);
      assert.ok(isAllowed(await count(60_000, nodes[0])));
    });

    describe("counts a permit for a minute from its use", () => {
      const use = (times: number, node: Node) =>
        Promise.all(Array.from({ length: times }, () => count(60_000, node))).then(allowedOf);

      it("if it was used late", async () => {
        // 75 take two blocks; what is left of them is used before anything is renewed.
        await use(75, nodes[0]);
        await clock.advance(400);
        const late = await use(125, nodes[0]);
        await nodes[0].sql.idle();
        await clock.advance(59_800);

        assert.equal(late, 125);
        const total = late + (await use(60_100, nodes[1]));
        assert.ok(total <= 60_000, `${total} in a minute`);
      });

      it("also if the node renewed its permits meanwhile", async () => {
        await use(75, nodes[0]);
        await clock.advance(1500);
        const renewed = await use(125, nodes[0]);
        await nodes[0].sql.idle();
        await clock.advance(59_700);

        assert.equal(renewed, 125);
        const total = renewed + (await use(60_100, nodes[1]));
        assert.ok(total <= 60_000, `${total} in a minute`);
      });

      it("and drops one that was held for longer than a minute", async () => {
        await use(1, nodes[0]);
        await clock.advance(61_000);

        assert.equal(await use(60_100, nodes[1]), 60_000);
        assert.equal(await use(100, nodes[0]), 0);
      });
    });

    it("returns what is left, and when to retry", async () => {
      const first = await count(6000);
      assert.deepEqual([first.limit, first.remaining], [6000, 5999]);
      const all = await Promise.all(Array.from({ length: 5999 }, () => count(6000)));
      assert.equal(allowedOf(all), 5999);
      const refused = await count(6000);
      assert.deepEqual([refused.remaining, refused.retryAfterSeconds], [0, 61]);
      await clock.advance(60_999);
      assert.equal((await count(6000)).retryAfterSeconds, 1);
      await clock.advance(1);
      assert.ok(isAllowed(await count(6000)));
    });

    it("is never exceeded in any minute, for random sequences on two nodes", async () => {
      const step = fc.record({
        passMs: fc.oneof(fc.integer({ min: 0, max: 1200 }), fc.integer({ min: 0, max: 30_000 })),
        requests: fc.integer({ min: 0, max: 900 }),
        node: fc.integer({ min: 0, max: 1 }),
        isCutOff: fc.boolean(),
      });
      const limit = 1500;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
          team += 1;
          const allowed: { readonly at: number; readonly count: number }[] = [];
          for (const { passMs, requests, node, isCutOff } of steps) {
            await clock.advance(passMs);
            const { sql } = nodeAt(node);
            // It has run, and nobody knows.
            sql.after = isCutOff
              ? () => {
                  throw databaseAway();
                }
              : () => {};
            const answers = await Promise.allSettled(
              Array.from({ length: requests }, () => count(limit, nodeAt(node))),
            );
            await sql.idle();
            const at = clock.nowMs();
            allowed.push({
              at,
              count: answers.filter((answer) => answer.status === "fulfilled" && isAllowed(answer.value))
                .length,
            });
            const within = allowed.filter((each) => each.at > at - 60_000);
            const total = within.reduce((sum, each) => sum + each.count, 0);
            assert.ok(total <= limit, `${total} in a minute`);
          }
        }),
        { numRuns: 25 },
      );
    });
  });

  it("follows a change of plan at once, and keeps what was counted", async () => {
    await countAll(60, 60);
    assert.ok(!isAllowed(await count(60)));
    assert.equal(allowedOf(await countAll(600, 1000)), 540);
    const lowered = await count(60, nodes[1]);
    assert.deepEqual([isAllowed(lowered), lowered.remaining], [false, 0]);
    assert.ok(isAllowed(await count(60_000)));
    const unlimited = count(null);
    assert.ok(!(unlimited instanceof Promise) && isAllowed(unlimited));
  });

  it("rejects requests with database_away while the database is unreachable", async () => {
    const isAway = (error: unknown) => error instanceof Problem && error.code === "database_away";
    for (const limit of [60, 60_000]) {
      team += 1;
      nodes[0].sql.before = () => {
        throw databaseAway();
      };
      await assert.rejects(Promise.resolve(count(limit)), isAway);
      nodes[0].sql.before = () => {};
      assert.ok(isAllowed(await count(limit)));
    }
  });
});
