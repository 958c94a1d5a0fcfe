import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isStuck, openStream, write } from "../../../src/service/tasks/stream-groups.ts";

const MOST = 1_000;

describe("a reader of events", () => {
  function open() {
    const sink = { write() {}, waitingBytes: 0, drained: async () => {}, cut() {}, end() {} };
    const filter = { sandbox: false, types: null, queue: null, tag: null };
    const stream = openStream(1, filter, sink, { xid: "0", seq: "0", index: 0, atMs: 0 });
    return {
      check(waitingBytes: number, nowMs: number) {
        sink.waitingBytes = waitingBytes;
        return isStuck(stream, MOST, nowMs);
      },
      get(bytes: number) {
        sink.waitingBytes += bytes;
        write(stream, "");
      },
    };
  }

  it("is stuck when it reads none of many bytes for two seconds", () => {
    const { check } = open();
    const checks = [0, 5_000, 5_000, 5_000, 5_000, 5_000, 6_000].map((bytes, at) => check(bytes, at * 500));
    assert.deepEqual(checks, [false, false, false, false, false, false, true]);
  });

  it("is not stuck after few checks, however long its server was busy between them", () => {
    const { check } = open();
    const checks = [0, 5_000, 5_000, 5_000, 5_000].map((bytes, at) => check(bytes, at * 9_000));
    assert.deepEqual(checks, [false, false, false, false, false]);
  });

  it("is not stuck while it reads less than it gets", () => {
    const { check, get } = open();
    for (let at = 1; at < 20; at += 1) {
      assert.equal(check(at * 4_999, at * 1_000), false);
      get(5_000);
    }
  });
});
