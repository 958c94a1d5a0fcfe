import assert from "node:assert/strict";
import { test } from "node:test";
import { checkRestored, type RestoreRecord } from "./restored.ts";

const REQUEST = { priority: 3, payload: { n: 1 } };
const DONE = { ...REQUEST, status: "completed" };

/** One task that had ended before the backup, and one that had not. */
const GOOD: RestoreRecord = {
  accepted: [
    { id: "ended", at: 100, request: REQUEST },
    { id: "open", at: 900, request: REQUEST },
  ],
  backupAt: 1_000,
  endedBefore: [{ id: "ended", record: DONE }],
  restoredAt: 2_000,
  found: new Map([
    ["ended", DONE],
    ["open", DONE],
  ]),
  calls: [
    { id: "ended", at: 200 },
    { id: "open", at: 2_100 },
  ],
  tallies: [{ of: "default completed", counted: 2, there: 2 }],
  tables: [{ name: "queues", before: 1, after: 1 }],
  refusals: [{ of: "a changed byte", said: "The backup is damaged", leftDatabase: false }],
};

function wrongWith(changes: Partial<RestoreRecord>): string {
  return checkRestored({ ...GOOD, ...changes }).join("; ");
}
const foundAs = (open: Readonly<Record<string, unknown>> | null) =>
  new Map<string, Readonly<Record<string, unknown>> | null>([
    ["ended", DONE],
    ["open", open],
  ]);

test("restored: everything from before the backup is there, as it was asked for, and ends", () => {
  assert.equal(wrongWith({}), "");
  assert.match(wrongWith({ found: foundAs(null) }), /open was accepted before the backup, and is lost/);
  const later = [{ id: "open", at: 1_100, request: REQUEST }];
  assert.equal(wrongWith({ accepted: later, found: foundAs(null) }), "", "what came later may be lost");
  assert.match(
    wrongWith({ found: foundAs({ ...DONE, priority: 5 }) }),
    /priority of task open is 5, and was 3/,
  );
  assert.match(wrongWith({ found: foundAs({ ...DONE, status: "pending" }) }), /open is still pending/);
});

test("restored: what had ended before the backup is as it was, and is not called again", () => {
  const found = new Map(GOOD.found).set("ended", { ...DONE, status: "failed" });
  assert.match(wrongWith({ found }), /ended had ended before the backup as/);
  const calls = [...GOOD.calls, { id: "ended", at: 2_200 }];
  assert.match(wrongWith({ calls }), /ended had ended before the backup, and was called again/);
});

test("restored: a task is called twice only by two servers", () => {
  assert.equal(
    wrongWith({ calls: [...GOOD.calls, { id: "open", at: 1_500 }] }),
    "",
    "it ended after the backup",
  );
  const twice = [...GOOD.calls, { id: "open", at: 2_200 }];
  assert.match(wrongWith({ calls: twice }), /2 calls of task open by the restored server/);
});

test("restored: counts match rows, and a damaged backup is refused", () => {
  assert.match(
    wrongWith({ tallies: [{ of: "default failed", counted: 1, there: 0 }] }),
    /default failed: 1 tasks/,
  );
  assert.match(
    wrongWith({ tables: [{ name: "queues", before: 2, after: 1 }] }),
    /queues had 2 rows, and has 1/,
  );
  const taken = [{ of: "a changed byte", said: null, leftDatabase: true }];
  assert.match(wrongWith({ refusals: taken }), /a changed byte was not refused; .* left a database/);
});
