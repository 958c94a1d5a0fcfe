import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { Problem } from "../../src/domain/problem.ts";
import { openTestHouse, QUEUE, type TestHouse } from "../test-house.ts";

describe("explaining a task", () => {
  let house: TestHouse;
  before(async () => {
    house = await openTestHouse({ concurrency: 1, maxRetries: 1, retryDelaySeconds: 100 });
  });
  after(() => house.close());
  afterEach(async () => {
    house.target.answer = (_call, response) => response.end("{}");
    house.target.release();
    await house.engine.attempts.finished();
    await house.dispatchOnce();
  });

  const explain = (id: string, principal = house.principal) =>
    house.services.explanations.explain(principal, id);
  const codes = async (id: string) => (await explain(id)).reasons.map(({ code }) => code);

  it("names a delay and a pause together, and until when each holds", async () => {
    const id = await house.submit({ delaySeconds: 600 });
    await house.queues.setPaused(house.principal, QUEUE, true);

    const { runnable, reasons, task } = await explain(id);

    assert.deepEqual([task.status, runnable], ["pending", false]);
    const { runAt } = await house.task(id);
    assert.deepEqual(
      reasons.map(({ code, until }) => [code, until?.getTime() ?? null]),
      [
        ["delayed", runAt.getTime()],
        ["queue_paused", null],
      ],
    );
    await house.queues.setPaused(house.principal, QUEUE, false);
    await house.tasks.cancel(house.principal, id);
    assert.deepEqual(await codes(id), []);
    assert.equal((await explain(id)).runnable, false);
  });

  it("says who makes the calls that fill the queue, how many go first, and which call is under way", async () => {
    house.target.hold();
    const before = house.target.calls.length;
    const active = await house.submit({ priority: 1 });
    await house.look();
    await house.target.received(before + 1);
    const first = await house.submit({ priority: 9 });
    const sooner = await house.submit();
    const id = await house.submit();

    const { runnable, reasons } = await explain(id);

    assert.equal(runnable, false);
    assert.deepEqual(
      reasons.map(({ code, detail }) => [code, detail]),
      [
        ["queue_full", `1 of 1 calls of queue "${QUEUE}" are under way: test 1`],
        ["behind", "2 due tasks of its queue go first"],
      ],
    );
    assert.deepEqual(await codes(first), ["queue_full"]);
    assert.deepEqual(await codes(sooner), ["queue_full", "behind"]);
    const [call] = (await explain(active)).reasons;
    assert.match(call?.detail ?? "", /^Attempt 1 is under way since .+ on node test$/);
    assert.ok(call?.until);
  });

  it("tells a task that backs off, waits or is polled from one that nothing keeps", async () => {
    house.target.answer = (_call, response) => response.writeHead(500).end();
    const retried = await house.submit();
    await house.dispatchOnce();
    assert.deepEqual(await codes(retried), ["backing_off"]);
    await house.tasks.cancel(house.principal, retried);

    house.target.answer = (_call, response) => response.end("{}");
    const waiting = await house.submit({ waitForCallback: true });
    const test = { ...house.principal, environment: "test" as const };
    const sandbox = await house.submit({}, test);
    await house.dispatchOnce();
    assert.deepEqual(await codes(waiting), ["awaiting_callback"]);
    assert.deepEqual(await codes(sandbox), ["sandbox"]);
  });

  it("tells a failed attempt, a Retry-After and a retry by hand apart", async () => {
    const details = async (id: string) =>
      (await explain(id)).reasons.map(({ code, detail }) => [code, detail]);
    house.target.answer = (_call, response) => response.writeHead(503).end();
    const failed = await house.submit();
    await house.dispatchOnce();
    house.target.answer = (_call, response) => response.writeHead(503, { "retry-after": "900" }).end();
    const asked = await house.submit();
    await house.dispatchOnce();
    const byHand = await house.submit();
    await house.dispatchOnce();
    await house.tasks.cancel(house.principal, byHand);
    await house.tasks.retry(house.principal, byHand, { delaySeconds: 900, priority: null });

    assert.deepEqual(await details(failed), [
      ["backing_off", "Attempt 1 failed, and the next waits by the retry settings"],
    ]);
    assert.deepEqual(await details(asked), [
      [
        "backing_off",
        "The target answered attempt 1 with Retry-After, and the next attempt waits for as long",
      ],
    ]);
    assert.deepEqual(await details(byHand), [["delayed", "It was retried by hand and is not due yet"]]);
    for (const id of [failed, asked, byHand]) await house.tasks.cancel(house.principal, id);
  });

  it("knows no task of another team", async () => {
    const id = await house.submit();
    const guest = await house.openTeam();

    await assert.rejects(explain(id, guest), (error) => error instanceof Problem && error.status === 404);
  });
});
