import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Circumstances } from "../../src/domain/circumstances.ts";
import { explainWithEstimate } from "../../src/domain/start-estimate.ts";
import { FLOW, NOW, TASK } from "../test-circumstances.ts";

describe("the estimate of a start", () => {
  /** Seconds from now; null: there is none. */
  const startOf = (task: Partial<Circumstances>, isCrowded = false) => {
    const { startsAbout } = explainWithEstimate({ ...TASK, ...task }, isCrowded);
    return startsAbout === null ? null : (startsAbout.getTime() - NOW) / 1_000;
  };

  it("follows the rate of the queue, one period after the other", () => {
    const rateState = { rate: 10, period: 60, begun: 10, nextAt: new Date(NOW + 5_000) };
    assert.equal(startOf({ rateState }), 5);
    assert.equal(startOf({ rateState, ahead: 25, recent: null }), 125);
    assert.equal(startOf({ rateState, ahead: 1_000 }), null);
    assert.equal(startOf({ rateState: { ...rateState, begun: 9 } }), 0);
  });

  it("is now for a task that nothing holds, and its due time for a delayed one", () => {
    assert.equal(startOf({}), 0);
    assert.equal(startOf({ runAt: new Date(NOW + 90_000) }), 90);
    assert.equal(startOf({ runAt: new Date(NOW + 90_000), failures: 1 }), 90);
  });

  it("follows from the place in the queue and the starts of the last minutes", () => {
    assert.equal(startOf({ ahead: 49 }), 10);
    assert.equal(startOf({ holders: [{ node: "a", calls: 5 }] }), 0.2);
    assert.equal(startOf({ ahead: 49, runAt: new Date(NOW + 3_000) }), 10);
    assert.equal(startOf({ ahead: 49, runAt: new Date(NOW + 90_000) }), 90);
  });

  it("follows from the rate of the flow and the tasks of the flow that go first", () => {
    assert.equal(startOf({ flowState: FLOW }), 5 + 2 * 60);
    assert.equal(startOf({ flowState: { ...FLOW, ahead: 0 } }), 5);
  });

  it("is null where something about it is unknown, or the task does not wait to start", () => {
    const breaker = {
      host: "a.example",
      phase: "open",
      until: new Date(NOW + 9_000),
      hasPass: false,
    } as const;
    const held: readonly Partial<Circumstances>[] = [
      { paused: true },
      { hasWorkers: false },
      { breaker },
      { ahead: 1_000 },
      { ahead: 3, recent: { starts: 19, minutes: 3 } },
      { ahead: 3, recent: null },
      { flowState: { ...FLOW, ahead: null } },
      { flowState: { ...FLOW, pausedUntil: new Date(NOW + 9_000) } },
      { flowState: { ...FLOW, begun: 0, concurrency: 1, taken: 1 } },
      { ordered: true, lineHolders: [{ id: "another", shape: "queue", status: "waiting", runAtMs: NOW }] },
      { sandbox: true },
      { status: "active", attemptStartedAt: new Date(NOW) },
      { status: "completed" },
    ];
    assert.deepEqual(
      held.map((task) => startOf(task)),
      held.map(() => null),
    );
    assert.equal(startOf({}, true), null);
  });
});
