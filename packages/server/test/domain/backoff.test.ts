import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { BACKOFFS, backoffMs, LONGEST_WAIT_MS, retryAfterMs } from "../../src/domain/backoff.ts";

const HOUR_MS = 3_600_000;
const now = new Date("2030-01-01T00:00:00Z");

describe("backoff", () => {
  it("waits 1, 2, 4, 8 … seconds when exponential", () => {
    assert.deepEqual(
      [1, 2, 3, 4, 5, 11, 12].map((failures) => backoffMs("exponential", failures, 1, 0)),
      [1000, 2000, 4000, 8000, 16_000, 1_024_000, 2_048_000],
    );
  });

  it("waits the same each time when fixed", () => {
    assert.deepEqual(
      [1, 2, 50].map((failures) => backoffMs("fixed", failures, 3, 0)),
      [3000, 3000, 3000],
    );
  });

  it("starts from the queue's delay, and stays 0 for a delay of 0", () => {
    assert.deepEqual(
      [1, 2, 3].map((failures) => backoffMs("exponential", failures, 10, 0)),
      [10_000, 20_000, 40_000],
    );
    assert.equal(backoffMs("exponential", 5, 0, 0.9), 0);
  });

  it("grows no further than an hour, whatever the number of failures", () => {
    assert.equal(LONGEST_WAIT_MS, HOUR_MS);
    assert.equal(backoffMs("exponential", 13, 1, 0), HOUR_MS);
    assert.equal(backoffMs("exponential", 2000, 3600, 0), HOUR_MS);
  });

  it("adds at most 10% jitter and never subtracts any", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...BACKOFFS),
        fc.integer({ min: 1, max: 101 }),
        fc.integer({ min: 0, max: 3600 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (backoff, failures, delay, random) => {
          const promised = backoffMs(backoff, failures, delay, 0);
          const waitMs = backoffMs(backoff, failures, delay, random);
          assert.ok(Number.isInteger(waitMs));
          assert.ok(waitMs >= promised && waitMs <= Math.round(promised * 1.1));
        },
      ),
    );
  });

  it("never shrinks from one failure to the next, and doubles up to the hour", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 0, max: 3600 }), (failures, delay) => {
        const wait = (after: number) => backoffMs("exponential", after, delay, 0);
        assert.equal(wait(failures + 1), Math.min(2 * wait(failures), HOUR_MS));
      }),
    );
  });

  it("gives different waits to tasks that failed together", () => {
    assert.notEqual(backoffMs("fixed", 1, 60, 0.1), backoffMs("fixed", 1, 60, 0.9));
  });
});

describe("Retry-After", () => {
  it("can be a number of seconds", () => {
    assert.equal(retryAfterMs("120", now), 120_000);
    assert.equal(retryAfterMs(" 5 ", now), 5000);
  });

  it("can be an HTTP date", () => {
    assert.equal(retryAfterMs("Tue, 01 Jan 2030 00:01:30 GMT", now), 90_000);
  });

  it("is honoured up to an hour", () => {
    assert.equal(retryAfterMs("7200", now), HOUR_MS);
    assert.equal(retryAfterMs("99999999999999999999999", now), HOUR_MS);
    assert.equal(retryAfterMs("Wed, 01 Jan 2031 00:00:00 GMT", now), HOUR_MS);
  });

  it("is ignored when it is absent, in the past, or 0", () => {
    for (const header of [undefined, "0", "Mon, 31 Dec 2029 23:59:59 GMT", "Thu, 01 Jan 1970 00:00:00 GMT"]) {
      assert.equal(retryAfterMs(header, now), null, header);
    }
  });

  it("is ignored when it is neither seconds nor an HTTP date", () => {
    const garbage = [
      "",
      " ",
      "soon",
      "-5",
      "+10",
      "1.5",
      "1e3",
      "0x10",
      "10 seconds",
      "120, 30",
      "NaN",
      "Infinity",
    ];
    for (const header of [...garbage, "try again in 2099", "2099-01-01", "12/31/2099"]) {
      assert.equal(retryAfterMs(header, now), null, header);
    }
  });

  it("yields a wait of at most an hour, or none, for any header", () => {
    const date = fc.date({ noInvalidDate: true }).map((at) => at.toUTCString());
    const header = fc.oneof(fc.string(), fc.bigInt().map(String), date);
    fc.assert(
      fc.property(header, (text) => {
        const waitMs = retryAfterMs(text, now);
        assert.ok(waitMs === null || (waitMs > 0 && waitMs <= HOUR_MS));
      }),
    );
  });
});
