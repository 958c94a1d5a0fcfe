import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Hint, hintText, parseHint, sendHints } from "../../../src/store/tasks/hints.ts";
import type { TextSql } from "../../test-sql.ts";

describe("hints", () => {
  it("are parsed as they were sent", async () => {
    const messages: unknown[] = [];
    const sql: TextSql = {
      async rows(_query, values = []) {
        messages.push(...(Array.isArray(values[1]) ? values[1] : []));
        return [];
      },
    };
    const claim = { taskId: "019a7e3a-75c5-7a31-a98f-db2dbf745c4d", fence: 7, workerId: 56 };
    const hints: Hint[] = [
      ...(["due", "later", "ended", "queue", "slots"] as const).map((kind) => ({
        kind,
        teamId: 12,
        queue: "a-B-9",
      })),
      { kind: "void", claim },
      { kind: "dropped", claim },
      { kind: "flow", teamId: 12, queue: "a-B-9", flow: "customer:7" },
      { kind: "flow", teamId: 12, queue: "a-B-9", flow: "customer:7", turn: 21_990_232_555_520 },
    ];

    await sendHints(
      sql,
      hints.map((hint) => hintText(hint, 34)),
    );

    assert.deepEqual(
      messages.map((message) => parseHint(String(message))),
      hints.map((hint) => ({ ...hint, from: 34 })),
    );
  });

  it("of an unknown kind or format are ignored", () => {
    for (const message of ["", "due", "due 1", "party 1 errands 0", "mark-1"]) {
      assert.equal(parseHint(message), null, message);
    }
  });
});
