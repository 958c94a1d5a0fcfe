import assert from "node:assert/strict";
import { test } from "node:test";
import {
  answer,
  attempt,
  brokenIn,
  COMPLETED,
  call,
  historyOf,
  queueChange,
  taskChange,
} from "./hand-made.ts";
import type { Answer, History, Joins } from "./history.ts";
import type { Change, DedupeRow, TaskRow } from "./rows.ts";

const FIRST: DedupeRow = { key: "k", mode: "first", windowMs: 2_000, maxWaitMs: null, request: "1" };
const REPLACE: DedupeRow = { ...FIRST, mode: "replace" };
const DEBOUNCE: DedupeRow = { ...FIRST, mode: "debounce", maxWaitMs: 3_000 };

/** Tasks that are created, replaced and called; what each does is said by the test. */
function isBroken(parts: Partial<History>): boolean {
  return brokenIn(historyOf({ answers: [], seen: [], ...parts })).includes("dedupe");
}

const born = (id: string, createdAt: number, dedupe: DedupeRow, changes: Partial<TaskRow> = {}): Change =>
  taskChange(createdAt + 5, { id, createdAt, runAt: createdAt, dedupe, ...changes }, "insert");
const claimed = (at: number, dedupe: DedupeRow): Change =>
  taskChange(at, { status: "active", fence: 1, workerId: 1, attemptCount: 1, createdAt: 1_000, dedupe });
const asked = (at: number, joins: Joins, changes: Partial<Answer> = {}): Answer =>
  answer("create", at, { status: 200, joins, ...changes });

test("dedupe: with the mode first, a key makes one task within the window of the first request", () => {
  const second = (at: number, ...between: Change[]) =>
    isBroken({ changes: [born("t", 1_000, FIRST), ...between, born("u", at, FIRST)] });
  assert.equal(second(2_500), true);
  assert.equal(second(3_000), false, "the window is over");
  assert.equal(second(2_500, taskChange(2_000, { dedupe: FIRST }, "delete")), false);
});

test("dedupe: a newer task follows one that was not called only after the window, and with debounce never", () => {
  const second = (at: number, dedupe: DedupeRow, ...between: Change[]) =>
    isBroken({
      changes: [
        born("t", 1_000, dedupe, dedupe === DEBOUNCE ? { runAt: 3_000 } : {}),
        ...between,
        born("u", at, dedupe, dedupe === DEBOUNCE ? { runAt: at + 2_000 } : {}),
      ],
    });
  assert.equal(second(2_500, REPLACE), true);
  assert.equal(second(3_000, REPLACE), false);
  assert.equal(second(2_500, REPLACE, claimed(2_000, REPLACE)), false);
  assert.equal(second(9_000, DEBOUNCE), true);
  assert.equal(second(2_500, DEBOUNCE, claimed(2_000, DEBOUNCE)), false);
  const cancelled = taskChange(2_000, { status: "cancelled", createdAt: 1_000, dedupe: REPLACE });
  const again = (at: number) => taskChange(at, { createdAt: 1_000, dedupe: REPLACE, retries: 1 });
  assert.equal(second(2_500, REPLACE, cancelled, again(2_502)), false, "it was judged as cancelled");
  assert.equal(second(2_500, REPLACE, cancelled, again(2_400)), true);
});

test("dedupe: only the newest task of a key is replaced, before its first call, and not pushed back beyond its requests", () => {
  const replaced = (dedupe: DedupeRow, runAt: number, ...before: Change[]) =>
    isBroken({
      changes: [
        born("t", 1_000, dedupe, dedupe === DEBOUNCE ? { runAt: 3_000 } : {}),
        ...before,
        taskChange(2_500, { createdAt: 1_000, runAt, dedupe: { ...dedupe, request: "2" } }),
      ],
    });
  assert.equal(replaced(REPLACE, 1_000), false);
  assert.equal(replaced(FIRST, 1_000), true);
  assert.equal(replaced(REPLACE, 1_000, claimed(2_000, REPLACE)), true);
  assert.equal(replaced(REPLACE, 1_000, born("u", 2_400, { ...REPLACE, windowMs: 1_000 })), true);
  assert.equal(replaced(DEBOUNCE, 4_000), false, "3 s after the first request");
  assert.equal(replaced(DEBOUNCE, 4_500), true);
  assert.equal(isBroken({ changes: [born("t", 1_000, DEBOUNCE, { runAt: 2_000 })] }), true);
});

test("dedupe: a request is joined within the window alone, and to a task that is there and was not called", () => {
  const joined = (at: number, joins: Joins, ...more: Change[]) =>
    isBroken({ changes: [born("t", 1_000, joins), ...more], answers: [asked(at, joins)] });
  const deduplicated: Joins = { ...FIRST, how: "deduplicated" };
  assert.equal(joined(2_900, deduplicated), false);
  assert.equal(joined(3_100, deduplicated), true);
  assert.equal(joined(2_900, deduplicated, taskChange(2_000, { dedupe: FIRST }, "delete")), true);
  const replaced: Joins = { ...REPLACE, how: "replaced" };
  assert.equal(joined(2_900, replaced), false);
  assert.equal(joined(3_100, replaced), true);
  assert.equal(joined(2_900, replaced, claimed(2_000, REPLACE)), true);
});

test("dedupe: no request is refused, and one that is sent again is answered with the same task", () => {
  const refused = (status: number, ...answers: Answer[]) =>
    isBroken({ answers: [asked(1_000, FIRST, { status, taskId: "n" }), ...answers] });
  assert.equal(refused(409), true);
  assert.equal(refused(404), true);
  assert.equal(refused(404, answer("delete-queue", 900, { taskId: null })), false);
  const changes = [queueChange(0, {}), born("t", 1_000, FIRST), born("u", 3_500, FIRST)];
  const answers = (id: string) => [
    asked(1_000, FIRST, { status: 201 }),
    asked(3_500, { ...FIRST, how: "repeated" }, { taskId: id }),
  ];
  assert.equal(isBroken({ changes, answers: answers("t") }), false);
  assert.equal(isBroken({ changes, answers: answers("u") }), true);
});

test("dedupe: a task is called with its newest request, and a debounced one after its last", () => {
  const newest = { ...REPLACE, request: "2" };
  const replaced = taskChange(1_500, { createdAt: 1_000, dedupe: newest });
  const called = (request: string) =>
    isBroken({
      changes: [
        born("t", 1_000, REPLACE),
        replaced,
        claimed(2_000, newest),
        taskChange(2_300, { ...COMPLETED, attempts: [attempt()], dedupe: newest }),
      ],
      seen: [call(2_010, 2_200, { request })],
    });
  assert.equal(called("2"), false);
  assert.equal(called("1"), true);
  const older = { changes: [born("t", 1_000, REPLACE)], answers: [asked(990, REPLACE, { status: 201 })] };
  assert.equal(isBroken(older), false);
  const newer = asked(1_400, { ...newest, how: "replaced" });
  assert.equal(isBroken({ ...older, answers: [...older.answers, newer] }), true, "nothing was replaced");
  const debounced = (begunAt: number) =>
    isBroken({
      changes: [born("t", 1_000, DEBOUNCE, { runAt: 3_000 }), claimed(3_000, DEBOUNCE)],
      answers: [asked(1_500, { ...DEBOUNCE, how: "replaced" }), asked(900, DEBOUNCE, { status: 201 })],
      seen: [call(begunAt, 5_000, { request: "1" })],
    });
  assert.equal(debounced(3_010), true);
  assert.equal(debounced(3_510), false);
});
