import assert from "node:assert/strict";
import { it, mock } from "node:test";
import { createInOrder } from "../../../src/service/tasks/task-batch.ts";
import { principalOf } from "../../test-principal.ts";
import { plainRequest } from "../../test-server.ts";

it("creates the items of a batch with and without idempotency keys in turns", async () => {
  let nowMs = performance.now();
  let turn = 0;
  let ticking = true;
  const tick = () => {
    turn += 1;
    if (ticking) setImmediate(tick);
  };
  setImmediate(tick);
  const clock = mock.method(performance, "now", () => nowMs);
  const turns = new Set<number>();
  try {
    const items = [null, "a", null, "b", "c"].map((idempotencyKey) => ({
      ...plainRequest("http://127.0.0.1:9/"),
      idempotencyKey,
    }));
    const created = createInOrder(principalOf(1), items, {
      create() {
        turns.add(turn);
        // Longer than a turn: the next item has to wait for another.
        nowMs += 1_000;
        return new Promise(() => {});
      },
      joinEach: async () => [],
    });
    created.catch(() => {});
    while (turns.size < items.length && turn < 1_000) await new Promise(setImmediate);
    assert.equal(turns.size, items.length);
  } finally {
    ticking = false;
    clock.mock.restore();
  }
});
