import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isStuck, openStream } from "../../../src/service/tasks/stream-groups.ts";

const MOST = 1_000;

describe("a reader of events", () => {
  function open() {
    const sink = { write() {}, waitingBytes: 0, drained: async () => {}, cut() {}, end() {} };
    const filter = { sandbox: false, types: null, queue: null, tag: null };
    const stream = openStream(1, filter, sink, { xid: "0", seq: "0", index: 0, atMs: 0 });
    return (waitingBytes: number, nowMs: number) => {
      sink.waitingBytes = waitingBytes;
      return isStuck(stream, MOST, nowMs);
    };
  }

  it("is stuck when many unread bytes do not shrink for two seconds", () => {
    const check = open();
    assert.deepEqual(
      [check(0, 0), check(5_000, 1_000), check(5_000, 3_000), check(6_000, 3_001)],
      [false, false, false, true],
    );
  });

  it("is not stuck while it reads, however long its server was busy between two checks", () => {
    const check = open();
    assert.deepEqual(
      [check(0, 0), check(5_000, 9_000), check(4_000, 18_000), check(0, 27_000)],
      [false, false, false, false],
    );
  });
});
