import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { openTestHouse, QUEUE, type TestHouse } from "../test-house.ts";
import { createGate } from "../test-sql.ts";

/** Lanes that have work but no room must be woken when the room is there again: nobody else will do it. */
describe("a crowded node", () => {
  let house: TestHouse;
  afterEach(() => house.close());

  async function openHouse(concurrency: number, capacity: number, others: readonly string[] = []) {
    house = await openTestHouse({ concurrency }, { capacity });
    house.target.hold();
    for (const name of others) await house.queues.create(house.principal, name, { concurrency });
    // From now on the node knows the queues, has slots there and knows that nothing is due.
    for (const name of [QUEUE, ...others]) house.engine.dispatcher.lookAgain(house.principal.teamId, name);
    await house.engine.dispatcher.dispatchOnce();
  }

  it("starts what had no room while another queue was being claimed from in vain", async () => {
    await openHouse(4, 8, ["other"]);
    const gate = createGate();
    house.databases.claim.before = gate.wait;
    house.engine.dispatcher.notice(house.principal.teamId, QUEUE);
    await gate.reached;

    await house.submit({ queue: "other" });
    gate.open();
    await house.rest();

    assert.equal(house.engine.attempts.count, 1);
  });

  it("starts what had no room although another queue is woken before it in vain", async () => {
    await openHouse(2, 4, ["other", "empty"]);
    await house.submit();
    await house.submit();
    house.engine.dispatcher.notice(house.principal.teamId, "empty");
    await house.rest();
    await house.submit({ queue: "other" });
    await house.rest();
    assert.equal(house.engine.attempts.count, 2, "the team has its share");

    await house.target.received(2);
    house.target.release(1);
    await house.settled(1);
    await house.rest();

    assert.equal(house.engine.attempts.count, 2);
  });

  it("starts what waits for the slot of a task that could not be stored", async () => {
    await openHouse(1, 8);
    await house.submit({ delaySeconds: 10 });
    const gate = createGate();
    house.databases.intake.before = gate.wait;
    const refused = house.submit({ priority: 11 });
    await gate.reached;

    await house.advance(10);
    house.engine.dispatcher.notice(house.principal.teamId, QUEUE);
    await house.rest();
    gate.open();
    await assert.rejects(refused);
    await house.rest();

    assert.equal(house.engine.attempts.count, 1);
  });
});
