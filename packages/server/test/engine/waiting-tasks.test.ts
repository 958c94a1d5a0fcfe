import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createTaskChanges } from "../../src/domain/task-changes.ts";
import { NO_METER } from "../../src/engine/meter.ts";
import { createWaitingTasks } from "../../src/engine/waiting-tasks.ts";
import type { Hint } from "../../src/store/tasks/hints.ts";
import { newTask } from "../test-store.ts";

const createdAt = new Date("2030-01-01T00:00:00Z");

/** The hints after a task was created that is due so much later, on a worker with these of two slots. */
function hintsAfter(delayMs: number, slots: number): Hint[] {
  const hints: Hint[] = [];
  const changes = createTaskChanges();
  createWaitingTasks({
    changes,
    actors: { wake() {} },
    dispatcher: { notice() {} },
    flows: { notice() {}, taskEnded() {} },
    localQueues: { find: () => ({ grant: { slots, concurrency: 2, ordered: false } }) as never },
    hint: (hint) => hints.push(hint),
    meter: NO_METER,
    waitFor() {},
  });
  const runAt = new Date(createdAt.getTime() + delayMs);
  changes.created(newTask({ teamId: 7, name: "mail" } as never), {
    handedOff: false,
    createdAt,
    runAt,
  } as never);
  return hints;
}

describe("a worker that stores a task for later", () => {
  it("tells the workers that have the other slots, if the task is due before they look again", () => {
    assert.deepEqual(hintsAfter(2_000, 1), [{ kind: "later", teamId: 7, queue: "mail" }]);
    assert.deepEqual(hintsAfter(4_999, 0), [{ kind: "later", teamId: 7, queue: "mail" }]);
  });

  it("tells nobody if it has all slots, or if they look before", () => {
    assert.deepEqual(hintsAfter(2_000, 2), []);
    assert.deepEqual(hintsAfter(5_000, 0), []);
  });
});
