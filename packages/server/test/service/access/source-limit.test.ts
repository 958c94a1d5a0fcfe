import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { Problem } from "../../../src/domain/problem.ts";
import { createSourceLimit } from "../../../src/service/access/source-limit.ts";

const ADDRESS = "192.0.2.1";

function createScene(most: number, maxSources?: number) {
  let nowMs = 1000;
  const limit = createSourceLimit({
    most,
    seconds: 60,
    monotonicMs: () => nowMs,
    ...(maxSources !== undefined && { maxSources }),
  });
  return {
    limit,
    pass(ms: number) {
      nowMs += ms;
    },
    /** Null if one more fits. */
    retryAfter(address = ADDRESS): number | null {
      try {
        limit.refuse(address);
        return null;
      } catch (error) {
        assert.ok(error instanceof Problem && error.code === "rate_limited");
        return error.retryAfterSeconds;
      }
    },
  };
}

describe("the limit of a source on one node", () => {
  it("refuses requests beyond the limit, with the wait in whole seconds", () => {
    const { limit, pass, retryAfter } = createScene(2);
    limit.count(ADDRESS);
    pass(500);
    assert.equal(retryAfter(), null);
    limit.count(ADDRESS);
    assert.equal(limit.left(ADDRESS), 0);
    assert.equal(retryAfter(), 60);
    pass(59_499);
    assert.equal(retryAfter(), 1);
    pass(1);
    assert.equal(retryAfter(), null);
    limit.count(ADDRESS);
    assert.equal(retryAfter(), 1);
  });

  it("is a sliding window: behaves like a plain list of timestamps", () => {
    const step = fc.oneof(fc.constant("count" as const), fc.integer({ min: 0, max: 30_000 }));
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), fc.array(step, { maxLength: 200 }), (most, steps) => {
        const { limit, pass } = createScene(most);
        let nowMs = 0;
        let counted: number[] = [];
        for (const each of steps) {
          if (each !== "count") {
            pass(each);
            nowMs += each;
          } else if (limit.left(ADDRESS) > 0) {
            limit.count(ADDRESS);
            counted.push(nowMs);
          }
          counted = counted.filter((at) => at > nowMs - 60_000);
          assert.equal(limit.left(ADDRESS), most - counted.length);
        }
      }),
    );
  });

  it("treats an IPv6 /64 as one source, and IPv4 like IPv4-mapped IPv6", () => {
    const { limit, retryAfter } = createScene(1);
    limit.count("2001:db8:1:2::1");
    limit.count("::ffff:192.0.2.9");
    assert.equal(retryAfter("2001:db8:1:2:ffff::9"), 60);
    assert.equal(retryAfter("2001:db8:1:3::1"), null);
    assert.equal(retryAfter("192.0.2.9"), 60);
  });

  it("evicts the source that was counted longest ago first", () => {
    const { limit, retryAfter } = createScene(1, 2);
    limit.count("192.0.2.1");
    limit.count("192.0.2.2");
    limit.count("192.0.2.1");
    limit.count("192.0.2.3");
    assert.deepEqual(
      ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map((address) => retryAfter(address)),
      [60, null, 60],
    );
  });
});
