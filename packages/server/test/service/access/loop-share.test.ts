import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createLoopShare } from "../../../src/service/access/loop-share.ts";

describe("a team's share of the event loop", () => {
  const [HEAVY, LIGHT] = [1, 2];

  it("limits a heavy team for a second when the loop is late and others are served", () => {
    const share = createLoopShare();
    share.spent(HEAVY, "request", 300);
    share.spent(LIGHT, "answer", 1);
    assert.equal(share.isOver(HEAVY, 200), false);
    share.endSecond(60);
    assert.deepEqual([share.isOver(HEAVY, 200), share.isOver(LIGHT, 200)], [true, false]);
    share.endSecond(0);
    assert.equal(share.isOver(HEAVY, 200), false);
  });

  it("does not limit a lone team, a team without a limit, or any while the loop keeps up", () => {
    const share = createLoopShare();
    share.spent(HEAVY, "request", 900);
    share.endSecond(500);
    assert.equal(share.isOver(HEAVY, 200), false);
    share.spent(HEAVY, "request", 900);
    share.spent(LIGHT, "request", 1);
    share.endSecond(20);
    assert.equal(share.isOver(HEAVY, 200), false);
    share.spent(HEAVY, "request", 900);
    share.spent(LIGHT, "request", 1);
    share.endSecond(500);
    assert.deepEqual([share.isOver(HEAVY, null), share.isOver(HEAVY, 200)], [false, true]);
  });

  it("reports the time spent by kind of work", () => {
    const spent: [string, number][] = [];
    const share = createLoopShare((work, seconds) => spent.push([work, seconds]));
    share.spent(HEAVY, "request", 20);
    share.spent(HEAVY, "answer", 10);
    assert.deepEqual(spent, [
      ["request", 0.02],
      ["answer", 0.01],
    ]);
  });
});
