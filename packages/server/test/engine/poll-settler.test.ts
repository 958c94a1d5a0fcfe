import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createPollSettler } from "../../src/engine/poll-settler.ts";
import { systemTime } from "../../src/server/system-time.ts";
import type { TextSql } from "../test-sql.ts";

describe("the settler of polls", () => {
  it("stores another team's short result with the flush after one long result", async () => {
    const statements: string[][] = [];
    const sql: TextSql = {
      async rows<Row extends object>(_query: unknown, [json]: readonly unknown[] = []) {
        const rows = JSON.parse(json as string) as { id: string }[];
        statements.push(rows.map(({ id }) => id));
        return rows.map(({ id }) => ({ id, notify: false })) as object[] as Row[];
      },
    };
    const settler = createPollSettler({ sql, lease: { workerId: 1 }, time: systemTime });
    const add = (teamId: number, id: string, body: string) =>
      settler.add({
        claim: { teamId, id, fence: 1 },
        step: { kind: "completed", result: { statusCode: 200, headers: {}, body, duration: 1 } },
      });
    const long = "x".repeat(1_048_576);

    const loud = Array.from({ length: 50 }, (_, index) => add(1, `loud-${index}`, long));
    await Promise.all([...loud, add(2, "quiet", "ten bytes!")]);

    assert.deepEqual(statements.slice(0, 2), [["loud-0"], ["quiet"]]);
    assert.ok(
      statements.every((ids) => ids.length === 1),
      "no statement carries more than one long result",
    );
  });
});
