import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createHitExchange } from "../../src/processes/hits.ts";
import { createSourceLimit } from "../../src/service/access/source-limit.ts";

describe("the rate limit of a source on processes that share a port", () => {
  it("is shared by all processes, which send each other their counts in batches", (test) => {
    test.mock.timers.enable({ apis: ["setTimeout"] });
    const said: number[] = [];
    const one = createHitExchange((hits) => {
      said.push(hits.length);
      other.hear(hits);
    });
    const other = createHitExchange((hits) => one.hear(hits));
    const limits = [one, other].map(({ lines }) =>
      createSourceLimit({ most: 10, seconds: 60, monotonicMs: () => 0, shared: lines.visits }),
    );
    for (let visit = 0; visit < 6; visit += 1) limits[0]?.count("192.0.2.1");
    limits[0]?.count("2001:db8::1");
    for (let visit = 0; visit < 3; visit += 1) limits[1]?.count("192.0.2.1");
    test.mock.timers.tick(100);

    assert.deepEqual(said, [2]);
    for (const limit of limits) {
      assert.equal(limit.left("192.0.2.1"), 1);
      assert.equal(limit.left("2001:db8::2"), 9, "the same /64");
      assert.equal(limit.left("192.0.2.2"), 10);
    }
    limits[1]?.count("192.0.2.1");
    test.mock.timers.tick(100);
    assert.throws(() => limits[0]?.refuse("192.0.2.1"), { code: "rate_limited" });
    assert.deepEqual(said, [2], "what was heard is not told again");
  });
});
