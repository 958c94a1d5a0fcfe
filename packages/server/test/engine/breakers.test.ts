import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { BreakerSettings } from "../../src/domain/breaker.ts";
import type { QueueSettings } from "../../src/domain/queue.ts";
import { heldHosts, passTasks } from "../../src/store/tasks/breaker-passes.ts";
import { openTestServer, QUEUE, type TestNode, type TestServer } from "../test-server.ts";
import { createGate } from "../test-sql.ts";
import { startTestTarget, type TestTarget } from "../test-target.ts";

/** Two failures open it, for thirty seconds. */
const BREAKER: BreakerSettings = { failures: 2, ratio: 0.5, within: 60, cooldown: 30 };
/** Longer than whatever an attempt leaves to do: no retry begins before it is counted. */
const RETRY_SECONDS = 5;

describe("a circuit breaker", () => {
  let server: TestServer;
  /** The host that is down. */
  let down: TestTarget;
  let counting = createGate();
  beforeEach(async () => {
    counting = createGate();
    down = await startTestTarget();
    down.answer = (_call, response) => response.writeHead(503).end();
  });
  afterEach(async () => {
    counting.open();
    await server.close();
    await down.close();
  });

  async function open(settings: Partial<QueueSettings> = {}): Promise<void> {
    server = await openTestServer({
      breaker: BREAKER,
      concurrency: 8,
      maxRetries: 3,
      retryDelaySeconds: RETRY_SECONDS,
      backoff: "fixed",
      ...settings,
    });
  }

  function submitTo({ url }: { readonly url: string }, request: object = {}, node: TestNode = server) {
    return node.submit({ call: { method: "POST", url, headers: {}, body: "{}" }, ...request });
  }

  /** Makes every call that may be made, on every node, until nothing happens any more. */
  async function settle(...others: readonly TestNode[]): Promise<void> {
    const nodes = [server, ...others];
    for (let [quietRounds, before] = [0, -1]; quietRounds < 2; quietRounds += 1) {
      for (const node of nodes) await node.engine.breakers.passOnce();
      await server.quiet();
      for (const node of nodes) await node.dispatchOnce();
      await server.quiet();
      const calls = server.target.calls.length + down.calls.length;
      if (calls !== before) quietRounds = -1;
      before = calls;
    }
  }

  async function breakers(): Promise<object[]> {
    return server.database.rows("select phase, cooldown, allowed from breakers order by host");
  }

  /** Pending tasks that no index of due tasks has, and the rows for them. */
  async function waiting(): Promise<number[]> {
    const [row] = await server.database.rows<{ tasks: number; rows: number }>(
      `select (select count(*) from tasks where status = 'pending' and due_at is null and flow_due_at is null)::integer as tasks,
              (select count(*) from breaker_tasks where passed_at is null)::integer as rows`,
    );
    return [row?.tasks ?? -1, row?.rows ?? -1];
  }

  /** Two failed attempts, of one task or two; then the retries are due. */
  async function openWith(tasks: 1 | 2): Promise<string[]> {
    const ids: string[] = [];
    for (let index = 0; index < tasks; index += 1) ids.push(await submitTo(down));
    await settle();
    await server.advance(RETRY_SECONDS);
    await settle();
    const cooldown = BREAKER.cooldown;
    assert.deepEqual(await breakers(), [{ phase: "open", cooldown, allowed: 1 }]);
    assert.equal(down.calls.length, 2);
    return ids;
  }

  it("opens after its failures, and its tasks wait without losing an attempt while other hosts are called", async () => {
    await open();
    const [first = ""] = await openWith(2);

    const later = await submitTo(down);
    const other = await submitTo(server.target);
    await settle();

    assert.equal(down.calls.length, 2);
    assert.equal((await server.task(other)).status, "completed");
    assert.deepEqual(
      [(await server.task(later)).attempts.length, (await server.task(first)).attempts.length],
      [0, 1],
    );
    assert.deepEqual(await waiting(), [3, 3]);
  });

  it("lets one task probe when its time is over, and doubles the time if the probe fails", async () => {
    await open();
    await openWith(2);
    for (let index = 0; index < 5; index += 1) await submitTo(down);
    await settle();

    await server.advance(BREAKER.cooldown - RETRY_SECONDS);
    await settle();
    assert.equal(down.calls.length, 3);
    assert.deepEqual(await breakers(), [{ phase: "open", cooldown: 60, allowed: 1 }]);

    await server.advance(30);
    await settle();
    assert.equal(down.calls.length, 3);
    await server.advance(30);
    await settle();
    assert.equal(down.calls.length, 4);
  });

  it("closes by an answer to the probe, and lets 1, 2, 4 of those that waited go at once", async () => {
    await open({ concurrency: 100 });
    await openWith(2);
    for (let index = 0; index < 20; index += 1) await submitTo(down);
    await settle();
    assert.deepEqual(await waiting(), [22, 22]);
    down.hold();
    await server.advance(BREAKER.cooldown);

    let calls = down.calls.length;
    for (const wave of [1, 2, 4, 8]) {
      await server.engine.breakers.passOnce();
      calls += wave;
      await down.received(calls);
      await server.quiet();
      assert.equal(down.held.length, wave);
      down.release(wave, 404);
      await server.settled(calls);
    }
  });

  /** Holds up what counts attempts, as a database far away does. */
  function delayCounting(): void {
    for (const database of Object.values(server.databases))
      database.before = (statement) => (statement === "lock_breakers" ? counting.wait() : undefined);
  }

  /** Whatever may begin now begins. */
  async function beginAll(): Promise<void> {
    await server.engine.breakers.passOnce();
    await server.look();
    await server.quiet();
  }

  for (const [status, phase, cooldown] of [
    [503, "open", 60],
    [200, "closing", 30],
  ] as const)
    it(`lets no other task begin until the answer ${status} of its probe is counted, which is never lost`, async () => {
      await open();
      await openWith(2);
      for (let index = 0; index < 5; index += 1) await submitTo(down);
      await settle();
      down.hold();
      await server.advance(BREAKER.cooldown);
      await beginAll();
      await down.received(3);
      delayCounting();
      down.release(1, status);
      await counting.reached;
      for (let round = 0; round < 3; round += 1) await beginAll();
      const [begun] = await server.database.rows("select sum(attempt_count)::integer as attempts from tasks");
      assert.deepEqual(begun, { attempts: 3 });

      counting.open();
      await server.settled(3);
      const [breaker] = await server.database.rows("select phase, cooldown from breakers");
      assert.deepEqual(breaker, { phase, cooldown });
    });

  it("lets no retry without a delay begin until the failure before it is counted", async () => {
    await open({ breaker: { ...BREAKER, failures: 1 }, retryDelaySeconds: 0, maxRetries: 9 });
    delayCounting();
    const id = await submitTo(down);
    await counting.reached;
    for (let round = 0; round < 3; round += 1) await beginAll();
    assert.equal((await server.task(id)).attempts.length, 1);

    counting.open();
    await settle();
    assert.equal(down.calls.length, 1);
    for (const [cooldown, calls] of [
      [BREAKER.cooldown, 2],
      [BREAKER.cooldown * 2, 3],
    ] as const) {
      await server.advance(cooldown / 2);
      await settle();
      assert.equal(down.calls.length, calls - 1);
      await server.advance(cooldown / 2);
      await settle();
      assert.equal(down.calls.length, calls);
    }
  });

  it("does not close by the answer to a call that began before it opened again", async () => {
    await open({ concurrency: 100, maxRetries: 0 });
    await openWith(2);
    for (let index = 0; index < 20; index += 1) await submitTo(down);
    await settle();
    down.hold();
    await server.advance(BREAKER.cooldown);
    let calls = down.calls.length;
    for (const wave of [1, 2]) {
      await beginAll();
      await down.received(calls + wave);
      calls += wave;
      down.release(wave);
      await server.settled(calls);
    }
    await beginAll();
    await down.received(calls + 4);

    down.release(2, 503);
    await server.settled(calls + 2);
    down.release(2, 200);
    await server.settled(calls + 4);

    assert.deepEqual(await breakers(), [{ phase: "open", cooldown: BREAKER.cooldown, allowed: 1 }]);
  });

  it("begins no call with a pass from before it opened again", async () => {
    await open({ concurrency: 100, maxRetries: 0 });
    await openWith(2);
    for (let index = 0; index < 5; index += 1) await submitTo(down);
    await settle();
    down.hold();
    await server.advance(BREAKER.cooldown);
    await beginAll();
    await down.received(3);
    down.release(1);
    await server.settled(3);
    await beginAll();
    await down.received(5);
    down.release(1, 503);
    await server.settled(4);
    // The pass of a node that does not claim the task yet.
    for (const held of await heldHosts(server.database)) await passTasks(server.database, held);
    down.release(1, 503);
    await server.settled(5);
    assert.deepEqual(await breakers(), [{ phase: "open", cooldown: BREAKER.cooldown, allowed: 1 }]);

    await settle();
    assert.equal(down.calls.length, 5);
    assert.deepEqual(await waiting(), [2, 2]);
  });

  it("gives the probe of a node that was killed to another node", async () => {
    await open();
    const other = await server.openNode();
    await openWith(2);
    await submitTo(down);
    await settle(other);
    down.hold();
    const held = down.calls.length;
    await server.advance(BREAKER.cooldown);
    await other.engine.breakers.passOnce();
    await other.look();
    await server.quiet();
    await down.received(held + 1);
    await server.engine.breakers.passOnce();
    await server.look();
    assert.equal(down.held.length, 1);

    // The node that made the probe is taken for dead: its answer will never count.
    await server.reapEverything();
    await server.engine.lease.renewOnce();
    await server.engine.breakers.passOnce();
    await server.look();
    await down.received(held + 2);
    await server.engine.breakers.passOnce();
    await server.look();
    assert.equal(down.calls.length, held + 2);
  });

  it("keeps tasks of a flow in their flow, and lets all go when the queue has no breaker any more", async () => {
    await open({ concurrency: 2 });
    await openWith(2);
    const flow = { key: "customer-1", concurrency: 1, rate: null, period: null, ordered: null };
    const ids = [await submitTo(down, { flow }), await submitTo(down, { flow }), await submitTo(down)];
    await settle();
    assert.equal(down.calls.length, 2);
    assert.deepEqual(await waiting(), [5, 5]);
    down.answer = (_call, response) => response.writeHead(200).end("{}");

    await server.queues.update(server.principal, QUEUE, { breaker: null });
    await settle();

    assert.deepEqual(
      await Promise.all(ids.map(async (id) => (await server.task(id)).status)),
      ids.map(() => "completed"),
    );
    assert.equal((await server.task(ids[0] ?? "")).flow, "customer-1");
    assert.deepEqual([await breakers(), await waiting()], [[], [0, 0]]);
  });

  it("expires, cancels and deletes tasks that wait, and passes them over", async () => {
    await open();
    const [first = ""] = await openWith(2);
    const expiring = await submitTo(down, { expiresInSeconds: 5, priority: 9 });
    const cancelled = await submitTo(down, { priority: 9 });
    const deleted = await submitTo(down, { priority: 9 });
    await settle();
    await server.tasks.cancel(server.principal, cancelled);
    await server.tasks.remove(server.principal, deleted);
    await server.advance(BREAKER.cooldown);
    await server.engine.deadlines.expireOnce();
    down.answer = (_call, response) => response.writeHead(200).end("{}");

    await settle();

    assert.deepEqual(
      [(await server.task(expiring)).failureReason, (await server.task(first)).status],
      ["expired", "completed"],
    );
    assert.deepEqual([await breakers(), await waiting()], [[], [0, 0]]);
  });

  it("holds the line of an ordered queue, whose first task is the probe", async () => {
    await open({ ordered: true, concurrency: 1 });
    await server.engine.orderedQueues.lookOnce();
    await openWith(1);
    const behind = await submitTo(server.target);
    await settle();
    assert.deepEqual([down.calls.length, server.target.calls.length], [2, 0]);
    down.answer = (_call, response) => response.writeHead(200).end("{}");

    await server.advance(BREAKER.cooldown);
    await settle();
    await server.engine.orderedQueues.lookOnce();
    await settle();

    assert.equal(down.calls.length, 3);
    assert.equal((await server.task(behind)).status, "completed");
    assert.deepEqual(await breakers(), []);
  });
});
