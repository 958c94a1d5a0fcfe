import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createScanLine } from "../../src/service/scan-line.ts";

describe("the line of scans", () => {
  function openLine() {
    const line = createScanLine();
    const begun: string[] = [];
    const begin = (teamId: number, name: string) => {
      const scan = line.admit(teamId);
      const take = async () => {
        await scan.take();
        begun.push(name);
      };
      return { ...scan, take, taken: take() };
    };
    /** What has begun since the call before. */
    const next = async () => {
      await new Promise(setImmediate);
      return begun.splice(0);
    };
    return { line, begin, next };
  }

  it("has one place per team and two per node, with teams in turn", async () => {
    const { begin, next } = openLine();
    const [a1, a2, , b1, c1] = [
      begin(1, "a1"),
      begin(1, "a2"),
      begin(1, "a3"),
      begin(2, "b1"),
      begin(3, "c1"),
      begin(2, "b2"),
    ];
    assert.deepEqual(await next(), ["a1", "b1"]);
    a1.end();
    assert.deepEqual(await next(), ["a2"]);
    b1.end();
    assert.deepEqual(await next(), ["c1"]);
    a2.end();
    assert.deepEqual(await next(), ["b2"]);
    c1.end();
    assert.deepEqual(await next(), ["a3"]);
  });

  it("gives the place of a long scan to those that wait, and the scan another turn behind them", async () => {
    const { begin, next } = openLine();
    const long = [begin(1, "a"), begin(2, "b")];
    const short = begin(3, "c");
    assert.deepEqual(await next(), ["a", "b"]);
    for (const scan of long) scan.give();
    assert.deepEqual(await next(), ["c"]);
    const again = long.map((scan) => scan.take());
    assert.deepEqual(await next(), ["a"]);
    short.end();
    assert.deepEqual(await next(), ["b"]);
    await Promise.all(again);
    await long[0]?.take();
    assert.deepEqual(await next(), ["a"]);
  });

  it("refuses the scan of a team beyond twenty, and none that it has admitted", async () => {
    const { line, begin, next } = openLine();
    const scans = Array.from({ length: 20 }, (_, index) => begin(1, String(index)));
    const refusal = { code: "too_many_scans", status: 429, retryAfterSeconds: 2 };
    assert.throws(() => line.admit(1), refusal);
    scans[0]?.give();
    assert.throws(() => line.admit(1), refusal);
    assert.deepEqual(await next(), ["0", "1"]);
    line.admit(2).end();
    scans[0]?.end();
    scans[0]?.end();
    line.admit(1);
    assert.throws(() => line.admit(1), refusal);
  });

  it("passes the place on that a scan gets after its end", async () => {
    const { begin, next } = openLine();
    const [first, second] = [begin(1, "a1"), begin(1, "a2"), begin(1, "a3")];
    second?.end();
    first?.end();
    assert.deepEqual(await next(), ["a1", "a2", "a3"]);
  });
});
