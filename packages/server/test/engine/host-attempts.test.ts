import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createHostAttempts } from "../../src/engine/host-attempts.ts";
import { createGate, databaseAway } from "../test-sql.ts";
import { createTestTime } from "../test-time.ts";

const quietLog = { debug() {}, info() {}, warn() {}, error() {} };
const REPORT = { host: "a.example", isUp: true, isUrgent: false };

describe("successes of hosts with a circuit breaker", () => {
  it("that end while an earlier count fails are counted a second later, not with the next success", async () => {
    const time = createTestTime();
    const gate = createGate();
    const counted: number[] = [];
    const hosts = createHostAttempts({
      database: {
        rows: () => assert.fail("they are counted in a transaction"),
        async transaction() {
          counted.push(time.monotonicMs());
          if (counted.length > 1) return undefined as never;
          await gate.wait();
          throw databaseAway();
        },
      },
      localQueues: { find: () => undefined },
      time,
      log: quietLog,
    });
    const claim = { teamId: 1, queueId: 1 } as Parameters<typeof hosts.succeeded>[0];

    hosts.succeeded(claim, REPORT);
    time.pass(1_000);
    hosts.succeeded(claim, REPORT);
    time.pass(10_000);
    gate.open();
    await new Promise((resolve) => setImmediate(resolve));
    time.pass(1_000);

    assert.deepEqual(counted, [1_000, 12_000]);
    await hosts.drained();
  });
});
