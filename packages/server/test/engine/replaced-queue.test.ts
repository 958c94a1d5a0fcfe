import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { openTestHouse, QUEUE, type TestHouse } from "../test-house.ts";

describe("a queue deleted and made again under the same name", () => {
  let house: TestHouse;
  beforeEach(async () => {
    house = await openTestHouse({ concurrency: 3 });
    house.target.hold();
  });
  afterEach(() => house.close());

  const call = (path: string) => ({
    method: "POST" as const,
    url: `${house.target.url}${path}`,
    headers: {},
    body: "{}",
  });

  async function replaceQueue(concurrency: number): Promise<void> {
    for (let index = 0; index < 3; index += 1) await house.submit({ call: call("/old") });
    await house.look();
    await house.target.received(3);
    await house.queues.remove(house.principal, QUEUE);
    await house.quiet();
    await house.queues.create(house.principal, QUEUE, { concurrency });
  }

  it("starts at once although calls of the old one still run", async () => {
    await replaceQueue(2);

    await house.submit({ call: call("/new") });
    await house.submit({ call: call("/new") });
    await house.look();
    await house.target.received(5);

    assert.equal(house.target.calls.filter(({ path }) => path === "/new").length, 2);
  });

  it("keeps its own limit while calls of the old one end", async () => {
    await replaceQueue(2);
    for (let index = 0; index < 6; index += 1) await house.submit({ call: call("/new") });
    await house.look();
    await house.target.received(5);

    for (let ended = 1; ended <= 3; ended += 1) {
      house.target.release(1);
      await house.settled(ended);
      await house.quiet();
      await house.look();
    }

    assert.equal(house.engine.attempts.count, 2);
    house.target.answer = (_call, response) => response.end("{}");
    house.target.release();
    await house.dispatchOnce();
    assert.equal(house.target.mostAtOnceAt("/new"), 2);
  });
});
