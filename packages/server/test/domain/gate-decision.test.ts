import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Candidate, choose, decide, whyHeld } from "../../src/domain/gate/decision.ts";
import { type Gate, type Limits, NO_LIMITS, OPEN } from "../../src/domain/gate/gate.ts";

const NOW = new Date("2030-01-01T00:00:00Z");
const LATER = new Date("2030-01-01T00:01:00Z");

const gate = (kind: Gate["kind"], limits: Partial<Limits> = {}, state: Partial<Gate> = {}): Gate => ({
  ...OPEN,
  kind,
  name: "name",
  limits: { ...NO_LIMITS, ...limits },
  ...state,
});
const candidate = (id: string, gates: readonly Gate[], more: Partial<Candidate> = {}): Candidate => ({
  id,
  priority: 5,
  dueMs: 0,
  gates,
  ...more,
});
const chosen = (...candidates: Candidate[]) => choose(candidates, NOW).map(({ id }) => id);

describe("the decision whether a task starts", () => {
  it("names the first gate that holds the task, why, and until when", () => {
    const queue = gate("queue", { concurrency: 1 });
    const flow = gate("flow", { rate: 2, period: 60 }, { permits: { taken: 2, nextAt: LATER } });
    assert.deepEqual(decide([queue], { id: "a" }, NOW), { starts: true });
    assert.deepEqual(decide([queue, flow], { id: "a" }, NOW), {
      starts: false,
      gate: flow,
      reason: "flow_rate",
      until: LATER,
      by: null,
    });
  });

  it("lists every reason of every gate", () => {
    const flow = gate(
      "flow",
      { concurrency: 1, ordered: true },
      { pause: { until: LATER }, places: { ...OPEN.places, taken: 1 } },
    );
    const queue = gate("queue", {}, { pause: { until: null } });
    const reasons = whyHeld([flow, queue], { id: "a" }, NOW).map(({ reason }) => reason);
    assert.deepEqual(reasons, ["flow_paused", "flow_full", "behind", "queue_paused"]);
  });

  it("lets a task start at the very end of a pause", () => {
    assert.equal(decide([gate("flow", {}, { pause: { until: NOW } })], { id: "a" }, NOW).starts, true);
    assert.equal(decide([gate("flow", {}, { pause: { until: LATER } })], { id: "a" }, NOW).starts, false);
  });
});

describe("the choice of the tasks that start", () => {
  it("goes by priority, due time and id, as far as the places go", () => {
    const gates = [gate("queue", { concurrency: 3 })];
    const found = chosen(
      candidate("d", gates),
      candidate("c", gates, { dueMs: -1 }),
      candidate("b", gates, { priority: 9, dueMs: 5 }),
      candidate("a", gates),
    );
    assert.deepEqual(found, ["b", "c", "a"]);
  });

  it("lets a task that no gate holds pass one that a gate holds, which takes nothing", () => {
    const queue = gate("queue", { concurrency: 1 });
    const full = gate("flow", { concurrency: 1 }, { places: { ...OPEN.places, taken: 1 } });
    assert.deepEqual(chosen(candidate("held", [full, queue], { priority: 9 }), candidate("free", [queue])), [
      "free",
    ]);
  });

  it("needs no place for a task that has kept one, but a permit", () => {
    const state = { places: { taken: 1, keptBy: new Set(["kept"]), nextAt: null } };
    const flow = gate("flow", { concurrency: 2, rate: 2, period: 1, hold: "task" }, state);
    const found = chosen(
      candidate("kept", [flow], { priority: 6 }),
      candidate("new", [flow]),
      candidate("newer", [flow], { priority: 1 }),
    );
    assert.deepEqual(found, ["kept", "new"]);
  });

  it("takes one task of a line", () => {
    const line = { holders: [], first: { id: "old", status: "pending" } } as const;
    const flow = gate("flow", { ordered: true }, { line });
    assert.deepEqual(chosen(candidate("young", [flow], { priority: 9 }), candidate("old", [flow])), ["old"]);
    const held = gate(
      "flow",
      { ordered: true },
      { line: { ...line, holders: [{ id: "x", status: "failed" }] } },
    );
    assert.deepEqual(chosen(candidate("old", [held])), []);
  });
});
