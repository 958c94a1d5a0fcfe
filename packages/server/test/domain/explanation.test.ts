import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Circumstances, LineHolder } from "../../src/domain/circumstances.ts";
import { explain } from "../../src/domain/explanation.ts";
import { FLOW, NOW, TASK } from "../test-circumstances.ts";

/** What the claims let start, and the explanation must call runnable. */
describe("the explanation of a task that its gates let start", () => {
  const codesOf = (task: Partial<Circumstances>) => {
    const { runnable, reasons } = explain({ ...TASK, ...task }, false);
    assert.equal(runnable, reasons.length === 0);
    return reasons.map(({ code }) => code);
  };
  const holder = (id: string, status: LineHolder["status"], more: Partial<LineHolder> = {}): LineHolder => ({
    id,
    shape: "queue",
    status,
    runAtMs: NOW,
    ...more,
  });
  const own = holder(TASK.id, "pending");

  it("does not name a full flow to a task that has kept its place", () => {
    const flowState = { ...FLOW, rate: null, hold: "task", concurrency: 1, taken: 1 } as const;
    assert.deepEqual(codesOf({ flowState }), ["flow_full"]);
    assert.deepEqual(codesOf({ flowState: { ...flowState, hasPlace: true } }), []);
    assert.deepEqual(codesOf({ flowState: { ...flowState, hasPlace: true, hold: "call" } }), ["flow_full"]);
  });

  it("does not name a breaker to a task with a pass, nor to the head of a line once its time is over", () => {
    const open = { host: "a.example", phase: "open", hasPass: false } as const;
    const breaker = { ...open, until: new Date(NOW - 1) };
    assert.deepEqual(codesOf({ breaker }), ["breaker_open"]);
    assert.deepEqual(codesOf({ breaker: { ...breaker, hasPass: true } }), []);
    assert.deepEqual(codesOf({ breaker, ordered: true, lineHolders: [] }), []);
    const later = { ...open, until: new Date(NOW + 1) };
    assert.deepEqual(codesOf({ breaker: later, ordered: true, lineHolders: [] }), ["breaker_open"]);
  });

  it("names nobody to the oldest of the tasks that hold its line, unless one of them is under way", () => {
    const line = { ordered: true, ahead: 2 };
    const younger = holder("another", "pending");
    assert.deepEqual(codesOf({ ...line, lineHolders: [own, younger] }), []);
    assert.deepEqual(codesOf({ ...line, lineHolders: [younger, own] }), ["blocked_by", "behind"]);
    assert.deepEqual(codesOf({ ...line, lineHolders: [own, holder("another", "waiting")] }), [
      "blocked_by",
      "behind",
    ]);
    assert.deepEqual(codesOf({ ...line, ahead: 0, lineHolders: [own, holder("another", "active")] }), [
      "behind",
    ]);
  });

  it("names the callback of a message only to the tasks behind that message", () => {
    const callback = holder("callback", "waiting", { isElsewhere: true });
    assert.deepEqual(codesOf({ ordered: true, lineHolders: [callback, own] }), []);
    assert.deepEqual(codesOf({ ordered: true, lineHolders: [callback] }), ["blocked_by"]);
  });

  it("names the first task of the line if that one waits for its flow", () => {
    const lineHead = holder("first", "pending", { flow: "customer-1" });
    const [reason] = explain({ ...TASK, ordered: true, lineHolders: [], lineHead, ahead: 1 }, false).reasons;
    assert.equal(reason?.code, "blocked_by");
    assert.match(reason.detail, /holds the line until it has ended: it waits for its flow "customer-1"$/);
  });
});
