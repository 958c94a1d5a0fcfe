import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createHints } from "../../src/engine/hints.ts";
import { type Hint, hintText } from "../../src/store/tasks/hints.ts";
import type { TextSql } from "../test-sql.ts";

describe("the hints to other nodes", () => {
  it("tell of each flow once while a statement runs, with the earliest turn, or with none if one is unknown", async () => {
    const sent: (readonly string[])[] = [];
    let answer = () => {};
    const sql: TextSql = {
      rows(_query, values = []) {
        sent.push(values[1] as readonly string[]);
        return new Promise((resolve) => {
          answer = () => resolve([]);
        });
      },
    };
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    const say = createHints({ sql, workerId: () => 7, hasReceivers: () => true, log });
    const due: Hint = { kind: "due", teamId: 1, queue: "a" };
    const flow = (key: string, turn?: number): Hint => ({
      kind: "flow",
      teamId: 1,
      queue: "a",
      flow: key,
      turn,
    });

    say(due);
    for (const hint of [due, flow("one", 5), flow("one", 3), flow("one", 4), due]) say(hint);
    for (const hint of [flow("two", 5), flow("two"), flow("two", 6)]) say(hint);
    answer();
    await new Promise(setImmediate);

    const second = [due, flow("one", 3), flow("two")].map((hint) => hintText(hint, 7));
    assert.deepEqual(sent, [[hintText(due, 7)], second]);
  });
});
