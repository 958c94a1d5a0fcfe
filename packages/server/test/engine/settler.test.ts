import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Settlement } from "../../src/domain/settlement.ts";
import { NO_FOLLOW_UP } from "../../src/domain/task.ts";
import { createSettler } from "../../src/engine/settler.ts";
import { systemTime } from "../../src/server/system-time.ts";
import { Unstorable } from "../../src/store/sql.ts";
import { databaseAway, type TextSql } from "../test-sql.ts";
import { newTask } from "../test-store.ts";

const at = new Date("2030-01-01T00:00:00Z");

function settlement(id: string, body: string): Settlement {
  return {
    claim: {
      teamId: 1,
      id,
      shape: "queue",
      queue: "errands",
      queueId: 1,
      priority: 5,
      workerId: 1,
      fence: 1,
      attempt: 1,
      attemptStartedAt: at,
      call: { method: "POST", url: "http://localhost", headers: {}, body: null },
      failures: 0,
      maxRetries: 0,
      backoff: "fixed",
      retryDelaySeconds: 1,
      retryMaxDelaySeconds: null,
      noRetryStatuses: null,
      timeoutSeconds: 30,
      follow: NO_FOLLOW_UP,
      bodyIsJson: false,
      sign: false,
      message: null,
      callbackSealed: null,
      flow: null,
      permitAt: null,
      startByMs: null,
      scheduledFor: null,
    },
    attempt: {
      number: 1,
      status: "success",
      responseCode: 200,
      executedAt: at,
      durationMs: 1,
      phase: "responded",
      error: null,
    },
    verdict: { kind: "completed", result: { statusCode: 200, headers: {}, body, duration: 1 } },
  };
}

interface SettledRow {
  readonly id: string;
  readonly result?: { readonly body: string };
}

/** A database that takes every settlement but those this function refuses. */
function createFakeSql(refuse: (rows: readonly SettledRow[]) => Error | null) {
  const statements: string[][] = [];
  const sql: TextSql = {
    async rows<Row extends object>(_query: unknown, values: readonly unknown[] = []) {
      const rows = completedRows(values);
      statements.push(rows.map((row) => row.id));
      const error = refuse(rows);
      if (error !== null) throw error;
      return [{ settled: rows.length, notified: null }] as object[] as Row[];
    },
  };
  return { sql, statements };
}

/** What the statement for completed attempts is given: one array for each column. */
function completedRows(values: readonly unknown[]): SettledRow[] {
  const [, , ids, , , results] = values;
  assert.ok(Array.isArray(ids) && Array.isArray(results));
  return ids.map((id, index) => ({ id, result: JSON.parse(results[index]) }));
}

const quietLog = { debug() {}, info() {}, warn() {}, error() {} };
const newSettler = (fake: TextSql) =>
  createSettler({
    sql: { rows: fake.rows, transaction: () => assert.fail("no settlement has followers") },
    workerId: () => 1,
    time: systemTime,
    log: quietLog,
  });

const unstorable = () => new Unstorable("refused");
/** What a statement may meet that has nothing to do with what it carries. */
const deadlock = () => Object.assign(new Error("deadlock detected"), { code: "40P01" });

describe("the settler", () => {
  it("settles a whole group when the database cannot store one of the results", async () => {
    const { sql } = createFakeSql((rows) =>
      rows.some((row) => row.result?.body === "bad") ? unstorable() : null,
    );
    const settler = newSettler(sql);

    const settled = await Promise.all([
      settler.add(settlement("a", "good")),
      settler.add(settlement("b", "bad")),
      settler.add(settlement("c", "good")),
    ]);

    assert.deepEqual(
      settled.map((each) => each?.status),
      ["completed", "completed", "completed"],
    );
  });

  it("stores another team's short result with the flush after one long result", async () => {
    const { sql, statements } = createFakeSql(() => null);
    const settler = newSettler(sql);
    const add = (teamId: number, id: string, body: string) => {
      const plain = settlement(id, body);
      return settler.add({ ...plain, claim: { ...plain.claim, teamId } });
    };
    const long = "x".repeat(1_048_576);

    const loud = Array.from({ length: 200 }, (_, index) => add(1, `loud-${index}`, long));
    await Promise.all([...loud, add(2, "quiet", "ten bytes!")]);

    assert.deepEqual(statements.slice(0, 2), [["loud-0"], ["quiet"]]);
    assert.ok(
      statements.every((ids) => ids.length === 1),
      "no statement carries more than one long result",
    );
  });

  it("stores another team's result with the next flush, however many short ones wait", async () => {
    const { sql, statements } = createFakeSql(() => null);
    const settler = newSettler(sql);
    const add = (teamId: number, id: string) => {
      const plain = settlement(id, "short");
      return settler.add({ ...plain, claim: { ...plain.claim, teamId } });
    };

    const loud = Array.from({ length: 1_000 }, (_, index) => add(1, `loud-${index}`));
    await Promise.all([...loud, add(2, "quiet")]);

    assert.ok(statements[0]?.includes("quiet"));
    assert.deepEqual(
      statements.map((ids) => ids.length),
      [300, 300, 300, 101],
    );
  });

  it("splits a group with long results over several statements", async () => {
    const { sql, statements } = createFakeSql(() => null);
    const settler = newSettler(sql);
    const long = "x".repeat(5 * 1_048_576);

    const settled = await Promise.all(
      ["a", "b", "c", "d"].map((id) => settler.add(settlement(id, id === "d" ? "short" : long))),
    );

    assert.deepEqual(statements, [["a"], ["b"], ["c"], ["d"]]);
    assert.deepEqual(
      settled.map((each) => each?.status),
      ["completed", "completed", "completed", "completed"],
    );
  });

  it("settles a group in one statement, except for settlements that create callbacks", async () => {
    const { sql, statements } = createFakeSql(() => null);
    const settler = createSettler({
      sql: {
        rows: sql.rows,
        async transaction() {
          statements.push(["with callbacks"]);
          return { settled: [{ status: "failed" }], hasNews: false } as never;
        },
      },
      workerId: () => 1,
      time: systemTime,
      log: quietLog,
    });
    const followers = () => [newTask({ teamId: 1, id: 1, name: "errands" })];

    const settled = await Promise.all([
      settler.add(settlement("a", "plain")),
      settler.add({ ...settlement("b", "message"), followers }),
      settler.add(settlement("c", "plain")),
    ]);

    assert.deepEqual(statements.sort(), [["a", "c"], ["with callbacks"]]);
    assert.deepEqual(
      settled.map((each) => each?.status),
      ["completed", "failed", "completed"],
    );
  });

  it("settles attempts with callbacks in shared transactions, in which teams take turns", async () => {
    const { sql, statements } = createFakeSql(() => null);
    const stored: number[] = [];
    const settler = createSettler({
      sql: { rows: sql.rows, transaction: (work) => work(sql) },
      workerId: () => 1,
      time: systemTime,
      log: quietLog,
      joins: {
        followers: {
          async store(_within, tasks) {
            stored.push(tasks.length);
            return () => {};
          },
        },
      },
    });
    const followers = () => [newTask({ teamId: 1, id: 1, name: "errands" })];
    const add = (teamId: number, id: string) => {
      const plain = settlement(id, "message");
      return settler.add({ ...plain, claim: { ...plain.claim, teamId }, followers });
    };

    const loud = Array.from({ length: 250 }, (_, index) => add(1, `loud-${index}`));
    const settled = await Promise.all([...loud, add(2, "quiet")]);

    assert.deepEqual(stored, [100, 100, 51]);
    assert.ok(statements[0]?.includes("quiet"));
    assert.ok(settled.every((each) => each?.status === "completed"));
  });

  it("drops only the result that cannot be stored", async () => {
    const kept = new Map<string, string>();
    const { sql } = createFakeSql((rows) => {
      if (rows.some((row) => row.result?.body === "bad")) return unstorable();
      for (const row of rows) kept.set(row.id, row.result?.body ?? "none");
      return null;
    });
    const settler = newSettler(sql);

    await Promise.all([settler.add(settlement("a", "good")), settler.add(settlement("b", "bad"))]);

    assert.deepEqual([...kept].sort(), [
      ["a", "good"],
      ["b", ""],
    ]);
  });

  it("gives up on a settlement that the database refuses even without its result", async () => {
    let tries = 0;
    const { sql } = createFakeSql(() => {
      tries += 1;
      return tries <= 20 ? unstorable() : null;
    });

    await assert.rejects(newSettler(sql).add(settlement("a", "bad")));
    assert.ok(tries <= 5, `${tries} tries`);
  });

  it("tries again with the result after a deadlock", async () => {
    const kept: (string | undefined)[] = [];
    const { sql, statements } = createFakeSql((rows) => {
      if (statements.length === 1) return deadlock();
      kept.push(...rows.map((row) => row.result?.body));
      return null;
    });

    await newSettler(sql).add(settlement("a", "precious"));

    assert.deepEqual(kept, ["precious"]);
  });

  it("waits for a database that goes away after it refused a result", async () => {
    const { sql, statements } = createFakeSql((rows) => {
      if (rows[0]?.result?.body === "bad") return unstorable();
      return statements.length === 2 ? databaseAway() : null;
    });

    const settled = await newSettler(sql).add(settlement("a", "bad"));

    assert.equal(settled?.status, "completed");
  });

  it("leaves unsettled verdicts to the reaper after giveUp", async () => {
    const { sql } = createFakeSql(() => databaseAway());
    const settler = newSettler(sql);
    settler.giveUp();

    await assert.rejects(settler.add(settlement("a", "late")));
    await settler.drained();
  });

  it("waits for a database that is away and settles when it is back", async () => {
    const { sql, statements } = createFakeSql(() => (statements.length === 1 ? databaseAway() : null));

    const settled = await newSettler(sql).add(settlement("a", "precious"));

    assert.equal(settled?.status, "completed");
    assert.deepEqual(statements, [["a"], ["a"]]);
  });
});
