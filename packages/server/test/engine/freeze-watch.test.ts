import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createFreezeWatch } from "../../src/engine/freeze-watch.ts";
import { openTestServer, plainRequest } from "../test-server.ts";
import { createGate } from "../test-sql.ts";
import { createTestTime } from "../test-time.ts";

describe("a watch for freezes", () => {
  function watchCalls() {
    const time = createTestTime();
    const under = { calls: 1 };
    const watch = createFreezeWatch(time, () => under.calls > 0);
    watch.start();
    return { time, under, watch };
  }

  it("sees no freeze while timers run", () => {
    const { time, watch } = watchCalls();
    time.pass(60_000);
    assert.equal(watch.since(0), false);
  });

  it("sees a freeze of a second before and after the timers run, until the process has caught up", () => {
    const { time, watch } = watchCalls();
    time.freeze(1_001);
    assert.equal(watch.since(0), true);
    time.pass(500);
    assert.equal(watch.since(0), true);
    time.pass(501);
    assert.equal(watch.since(0), false);
  });

  it("sees no freeze for a call that began after it", () => {
    const { time, watch } = watchCalls();
    time.freeze(1_001);
    assert.equal(watch.since(time.monotonicMs()), false);
    time.pass(500);
    assert.equal(watch.since(time.monotonicMs()), false);
  });

  it("sees no freeze in half a second", () => {
    const { time, watch } = watchCalls();
    time.freeze(500);
    assert.equal(watch.since(0), false);
  });

  it("takes time without calls for no freeze", () => {
    const { time, under, watch } = watchCalls();
    under.calls = 0;
    time.pass(60_000);
    watch.start();
    assert.equal(watch.since(60_000), false);
  });
});

describe("a node that was frozen while a call waited for its connection", () => {
  it("does not start the call, which runs later", async (t) => {
    const time = createTestTime();
    const gate = createGate();
    const server = await openTestServer(
      {},
      {
        time,
        lookup: async () => {
          await gate.wait();
          return ["127.0.0.1"];
        },
      },
    );
    t.after(() => server.close());
    const { port } = new URL(server.target.url);
    const { id } = await server.tasks.create(
      server.principal,
      plainRequest(`http://target.test:${port}/called`),
    );
    await gate.reached;

    time.freeze(2_000);
    gate.open();
    await server.engine.attempts.finished();

    assert.equal(server.target.calls.length, 0);
    time.pass(1_000);
    await server.dispatchOnce();
    const task = await server.task(id);
    assert.deepEqual(
      [task.status, task.attempts.map(({ status, phase }) => [status, phase])],
      [
        "completed",
        [
          ["interrupted", "not_sent"],
          ["success", "responded"],
        ],
      ],
    );
  });
});
