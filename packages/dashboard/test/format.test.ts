import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  formatAge,
  formatBytes,
  formatCount,
  formatDuration,
  formatPercent,
  formatRate,
  formatTotal,
  formatUtc,
  zoneOf,
} from "../src/data/format.ts";

describe("number formats", () => {
  it("round counts to two digits, and to 1 M rather than 1000 k", () => {
    assert.deepEqual([0, 999, 1234, 34_400, 999_960].map(formatCount), ["0", "999", "1.2 k", "34 k", "1 M"]);
  });

  it("mark a capped total with a plus sign", () => {
    assert.equal(formatTotal({ count: 2500, isCapped: true }), "2,500+");
    assert.equal(formatTotal({ count: 2500, isCapped: false }), "2,500");
  });

  it("have a decimal only for small rates", () => {
    assert.deepEqual([0.25, 9.96, 1200].map(formatRate), ["0.3/min", "10/min", "1.2 k/min"]);
  });

  it("show bytes in the largest unit that is reached", () => {
    const texts = [0, 1023, 1024, 1536, 268_435_456, 5.5 * 1024 ** 3, 3 * 1024 ** 5].map(formatBytes);
    assert.deepEqual(texts, ["0 B", "1023 B", "1 KiB", "1.5 KiB", "256 MiB", "5.5 GiB", "3072 TiB"]);
  });

  it("show durations in at most two units", () => {
    const texts = [812, 3_400, 9_960, 59_600, 192_000, 7_500_000, 273_600_000].map(formatDuration);
    assert.deepEqual(texts, ["812 ms", "3.4 s", "10 s", "1 m", "3 m 12 s", "2 h 5 m", "3 d 4 h"]);
  });

  it("show ages in one unit", () => {
    assert.deepEqual([-500, 59_999, 840_000, 86_400_000].map(formatAge), ["0 s", "59 s", "14 min", "24 h"]);
  });

  it("show the time zone, and times in UTC", () => {
    const winter = new Date("2026-11-17T09:50:51.123Z");
    assert.match(zoneOf(winter).offset, /^UTC([+-]\d+(:\d\d)?)?$/);
    assert.equal(formatUtc(winter), "2026-11-17 09:50:51 UTC");
  });

  it("distinguish a tiny share from none", () => {
    assert.deepEqual([0, 0.0004, 0.034, 0.0996, 1].map(formatPercent), [
      "0 %",
      "<0.1 %",
      "3.4 %",
      "10 %",
      "100 %",
    ]);
  });
});
