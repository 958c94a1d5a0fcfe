import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { onceUnderLoad } from "../../src/server/optimise-under-load.ts";

describe("the wait for load", () => {
  it("ends with the second of two busy seconds in a row", () => {
    assert.deepEqual(watchUntilLoad([0.9, 0.1, 0.3, 0.25, 0.9]), { seconds: 4, calls: 1 });
  });

  it("goes on while single seconds are busy", () => {
    assert.deepEqual(watchUntilLoad([1, 0, 1, 0.24, 1]), { seconds: 5, calls: 0 });
  });
});

/** Tells the busy share of each second until the watch stops. */
function watchUntilLoad(shares: readonly number[]): { seconds: number; calls: number } {
  const seen = { seconds: 0, calls: 0 };
  let tell = (_share: number) => {};
  let isStopped = false;
  function watch(onSecond: (share: number) => void) {
    tell = onSecond;
    return {
      stop() {
        isStopped = true;
      },
    };
  }
  onceUnderLoad(watch, () => {
    seen.calls += 1;
  });
  for (const share of shares) {
    if (isStopped) break;
    seen.seconds += 1;
    tell(share);
  }
  return seen;
}
