import assert from "node:assert/strict";
import { test } from "node:test";
import { attempt, COMPLETED, goodChanges, historyOf, taskChange, workerChange } from "./hand-made.ts";
import { checkModels, WAYS } from "./models.ts";
import type { Change, TaskRow } from "./rows.ts";
import { tellStories } from "./stories.ts";

/** A second apart, the first of them an insert. */
function changesOf(...rows: readonly Partial<TaskRow>[]): Change[] {
  return rows.map((each, index) => taskChange(1_000 * (index + 1), each, index === 0 ? "insert" : "update"));
}

function wrongIn(changes: readonly Change[], ways = WAYS): string[] {
  const history = historyOf({ changes, seen: [] });
  return checkModels(history, tellStories(history), ways).map(({ text }) => text);
}

function allows(changes: readonly Change[]): boolean {
  return wrongIn(changes).length === 0;
}

const PENDING: Partial<TaskRow> = {};
const ACTIVE: Partial<TaskRow> = { status: "active", fence: 1, workerId: 1, attemptCount: 1 };
const INTERRUPTED = attempt({ status: "interrupted", code: null, phase: "sent" });
const GIVEN_BACK: Partial<TaskRow> = { fence: 2, attemptCount: 1, attempts: [INTERRUPTED], interruptions: 0 };
const FAILED: Partial<TaskRow> = {
  ...COMPLETED,
  status: "failed",
  attempts: [attempt({ status: "failed", code: 500 })],
};

test("models: a task that is claimed, called and completed follows them, handed off or not", () => {
  assert.deepEqual(wrongIn(goodChanges()), []);
  assert.deepEqual(wrongIn(changesOf(ACTIVE, COMPLETED)), []);
});

test("models: a settlement counts with the fence and the number of the attempt under way", () => {
  assert.ok(!allows(changesOf(PENDING, COMPLETED)), "nobody has claimed it");
  assert.ok(!allows(changesOf(PENDING, ACTIVE, { ...COMPLETED, fence: 3 })), "another change was missed");
  assert.ok(!allows(changesOf(PENDING, ACTIVE, { ...COMPLETED, fence: 1 })), "the fence did not rise");
  const other = { ...COMPLETED, attempts: [attempt({ number: 2 })] };
  assert.ok(!allows(changesOf(PENDING, ACTIVE, other)), "the record of another attempt");
  assert.ok(!allows(changesOf(PENDING, ACTIVE, { ...COMPLETED, attempts: [] })), "no record of the attempt");
  const again: Partial<TaskRow> = { ...FAILED, fence: 3 };
  assert.ok(!allows(changesOf(PENDING, ACTIVE, COMPLETED, again)), "the task ends a second time");
});

test("models: a task that was given back is claimed again, by a new attempt with a new fence", () => {
  const second = { ...GIVEN_BACK, status: "active", workerId: 1, fence: 3, attemptCount: 2 } as const;
  assert.ok(allows(changesOf(PENDING, ACTIVE, GIVEN_BACK, second)));
  assert.ok(!allows(changesOf(PENDING, ACTIVE, GIVEN_BACK, { ...second, fence: 2 })));
  assert.ok(!allows(changesOf(PENDING, ACTIVE, GIVEN_BACK, { ...second, attemptCount: 1 })));
  const late = { ...GIVEN_BACK, attempts: [attempt({ status: "superseded" })] };
  assert.ok(allows(changesOf(PENDING, ACTIVE, GIVEN_BACK, late)), "a late answer is noted");
  const unsent = [attempt({ status: "interrupted", code: null, phase: "not_sent" })];
  assert.ok(allows(changesOf(PENDING, ACTIVE, { ...GIVEN_BACK, attempts: unsent })));
});

test("models: the reaper counts an interruption, and only of a worker that has no row", () => {
  const reaped = { ...GIVEN_BACK, interruptions: 1 };
  const changes = changesOf({ interruptions: 0 }, { ...ACTIVE, interruptions: 0 }, reaped);
  assert.ok(!allows(changes), "its worker is registered");
  assert.ok(allows([...changes, workerChange(2_500, "delete")]));
  const thrice = (status: TaskRow["status"]) => {
    const rows: Partial<TaskRow>[] = [{ interruptions: 0 }];
    for (const number of [1, 2, 3]) {
      const closed = [1, 2, 3].slice(0, number - 1).map((each) => ({ ...INTERRUPTED, number: each }));
      const active = {
        status: "active",
        workerId: number + 1,
        fence: number * 2 - 1,
        attemptCount: number,
      } as const;
      rows.push({ ...active, attempts: closed, interruptions: number - 1 });
      const ended = number === 3 ? status : "pending";
      const attempts = [...closed, { ...INTERRUPTED, number }];
      rows.push({ status: ended, fence: number * 2, attemptCount: number, attempts, interruptions: number });
    }
    const gone = [2, 3, 4].map((id, index): Change => {
      const at = 2_500 + index * 2_000;
      return { seq: 0, committedAt: at, relation: "workers", op: "delete", row: { id, pid: id } };
    });
    return [...changesOf(...rows), ...gone];
  };
  assert.deepEqual(wrongIn(thrice("failed")), []);
  assert.ok(!allows(thrice("pending")), "after the third it fails");
});

test("models: a cancel ends a task at any time but after its end, and closes the attempt under way", () => {
  const cancelled: Partial<TaskRow> = { ...ACTIVE, status: "cancelled", fence: 2, workerId: null };
  const aborted = [attempt({ status: "aborted", code: null, phase: "sent" })];
  assert.ok(allows(changesOf(PENDING, { status: "cancelled", fence: 1 })));
  assert.ok(allows(changesOf(PENDING, ACTIVE, { ...cancelled, attempts: aborted })));
  assert.ok(!allows(changesOf(PENDING, ACTIVE, cancelled)), "the attempt is not closed");
  assert.ok(!allows(changesOf(PENDING, ACTIVE, COMPLETED, { ...COMPLETED, status: "cancelled", fence: 3 })));
});

test("models: a client retries what has failed or was cancelled, and nothing else", () => {
  const retried: Partial<TaskRow> = { ...FAILED, status: "pending", fence: 3, retries: 1 };
  assert.ok(allows(changesOf(PENDING, ACTIVE, FAILED, retried)));
  assert.ok(!allows(changesOf(PENDING, ACTIVE, FAILED, { ...retried, retries: 0 })), "it was not counted");
  assert.ok(!allows(changesOf(PENDING, ACTIVE, COMPLETED, { ...retried, attempts: [attempt()] })));
});

test("models: callbacks, polls and deadlines end a task that waits for them", () => {
  const waits = (status: "waiting" | "polling") => [PENDING, ACTIVE, { ...COMPLETED, status }] as const;
  const ended: Partial<TaskRow> = { ...COMPLETED, fence: 3 };
  assert.ok(allows(changesOf(...waits("waiting"), ended)));
  assert.ok(allows(changesOf(...waits("polling"), { ...ended, status: "polling", workerId: 1 })));
  assert.ok(allows(changesOf(...waits("polling"), ended)));
  assert.ok(allows(changesOf(...waits("waiting"), { ...ended, status: "failed" })), "its time is over");
  assert.ok(allows(changesOf(PENDING, { status: "failed", fence: 1, failureReason: "expired" })));
  assert.ok(!allows(changesOf(...waits("waiting"), { ...ended, status: "pending" })));
});

test("models: what a queue that was deleted gets back fails", () => {
  const gone: Partial<TaskRow> = { ...GIVEN_BACK, status: "failed", failureReason: "queue_deleted" };
  assert.ok(allows(changesOf(PENDING, ACTIVE, gone)));
  assert.ok(!allows(changesOf(PENDING, ACTIVE, { ...gone, failureReason: "worker_lost" })));
});

test("models: one that lacks a step does not allow what happened, and tells from which state to which", () => {
  const { claim: _claim, ...others } = WAYS;
  assert.deepEqual(wrongIn(goodChanges(), others), [
    "the models allow no step from pending, fence 0, attempt 0 [] to active by worker 1, fence 1, attempt 1 []",
  ]);
});
