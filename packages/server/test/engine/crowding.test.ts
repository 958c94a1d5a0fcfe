import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { openTestServer, QUEUE, type TestServer } from "../test-server.ts";
import { createGate } from "../test-sql.ts";

/** Queues that have work but no room must be woken when there is room again: nothing else wakes them. */
describe("a node at capacity", () => {
  let server: TestServer;
  afterEach(() => server.close());

  async function openServer(concurrency: number, capacity: number, others: readonly string[] = []) {
    server = await openTestServer({ concurrency }, { capacity });
    server.target.hold();
    for (const name of others) await server.queues.create(server.principal, name, { concurrency });
    // From now on the node knows the queues, has slots there and knows that nothing is due.
    for (const name of [QUEUE, ...others]) server.engine.dispatcher.lookAgain(server.principal.teamId, name);
    await server.engine.dispatcher.dispatchOnce();
  }

  it("starts a queue's task after a claim for another queue found nothing", async () => {
    await openServer(4, 8, ["other"]);
    const gate = createGate();
    server.databases.claim.before = gate.wait;
    server.engine.dispatcher.notice(server.principal.teamId, QUEUE);
    await gate.reached;

    await server.submit({ queue: "other" });
    gate.open();
    await server.rest();

    assert.equal(server.engine.attempts.count, 1);
  });

  it("starts a queue's task although an empty queue is woken first", async () => {
    await openServer(2, 4, ["other", "empty"]);
    await server.submit();
    await server.submit();
    server.engine.dispatcher.notice(server.principal.teamId, "empty");
    await server.rest();
    await server.submit({ queue: "other" });
    await server.rest();
    assert.equal(server.engine.attempts.count, 2, "the team has its share");

    await server.target.received(2);
    server.target.release(1);
    await server.settled(1);
    await server.rest();

    assert.equal(server.engine.attempts.count, 2);
  });

  it("starts a waiting task in the slot of a task that could not be stored", async () => {
    await openServer(1, 8);
    await server.submit({ delaySeconds: 10 });
    const gate = createGate();
    server.databases.intake.before = gate.wait;
    const refused = server.submit({ priority: 11 });
    await gate.reached;

    await server.advance(10);
    server.engine.dispatcher.notice(server.principal.teamId, QUEUE);
    await server.rest();
    gate.open();
    await assert.rejects(refused);
    await server.rest();

    assert.equal(server.engine.attempts.count, 1);
  });
});
