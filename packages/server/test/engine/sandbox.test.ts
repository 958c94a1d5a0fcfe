import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Requester } from "../../src/domain/identity/principal.ts";
import { Problem } from "../../src/domain/problem.ts";
import { Secret } from "../../src/domain/secret.ts";
import type { TaskRequest } from "../../src/domain/task-request.ts";
import { openTestHouse, plainRequest, QUEUE, type TestHouse } from "../test-house.ts";
import { ALL_TASKS } from "../test-store.ts";
import { startTestTarget, type TestTarget } from "../test-target.ts";

describe("the sandbox", () => {
  let house: TestHouse;
  let receiver: TestTarget;
  let sandbox: Requester;
  before(async () => {
    house = await openTestHouse({ maxRetries: 3, concurrency: 1 });
    receiver = await startTestTarget();
    sandbox = { ...house.principal, environment: "test" };
  });
  after(async () => {
    await receiver.close();
    await house.close();
  });

  /** After a live task the node holds slots of the queue: a new task that is due is called at once, unless it must not be. */
  const warmUp = async () => {
    await house.submit();
    await house.dispatchOnce();
    assert.equal(house.target.calls.length, 1);
    house.target.calls.length = 0;
  };
  /** Everything that could move a task, with all the time in the world. */
  const tryEverything = async () => {
    for (const seconds of [0, 10, 100_000]) {
      await house.advance(seconds);
      await house.dispatchOnce();
      await house.engine.poller.workOnce();
      await house.engine.poller.finished();
      await house.engine.deadlines.expireOnce();
      await house.engine.courier.workOnce();
      await house.engine.courier.finished();
      await house.engine.attempts.reconcileOnce();
      await house.engine.janitor.cleanOnce();
    }
  };

  const KINDS: readonly [string, () => Partial<TaskRequest>][] = [
    ["queue task", () => ({})],
    ["queue task, delayed", () => ({ delaySeconds: 5 })],
    ["queue task, that waits for a callback", () => ({ waitForCallback: true, maxWaitSeconds: 1 })],
    ["direct task", () => ({ shape: "direct", sign: true })],
    ["direct task with a provider", () => ({ shape: "direct", provider: "fal" })],
    [
      "direct task, that waits for a callback",
      () => ({ shape: "direct", waitForCallback: true, maxWaitSeconds: 1 }),
    ],
    [
      "direct task with an idempotency key",
      () => ({ shape: "direct", idempotencyKey: "k", requestText: "x" }),
    ],
  ];

  for (const [name, request] of KINDS) {
    it(`${name}: stored, answered and never executed, pending until it is deleted`, async () => {
      await warmUp();
      const created = await house.tasks.create(sandbox, {
        ...plainRequest(house.target.url),
        onCompleteUrl: receiver.url,
        ...request(),
      });
      assert.equal(created.status, "pending");
      await tryEverything();

      const task = await house.task(created.id);
      assert.equal(task.status, "pending");
      assert.equal(task.sandbox, true);
      assert.deepEqual(task.attempts, []);
      assert.equal(task.startedAt, null);
      assert.equal(house.target.calls.length, 0);
      assert.equal(receiver.calls.length, 0);
      if (created.callback !== null) {
        await assert.rejects(
          house.callbacks.resolve(created.callback.id, "{}"),
          (error: unknown) =>
            error instanceof Problem &&
            error.message === "Task is not in waiting/polling state (current: pending)",
        );
      }
      const listed = await house.tasks.list(house.principal, {
        ...ALL_TASKS,
        queue: QUEUE,
        statuses: ["pending"],
        sandbox: true,
        order: "desc",
        limit: 20,
        offset: 0,
        cursor: null,
      });
      assert.deepEqual(
        listed.tasks.map(({ id }) => id),
        [created.id],
      );

      await house.tasks.remove(sandbox, created.id);
      await assert.rejects(house.task(created.id), Problem);
      await tryEverything();
      assert.equal(receiver.calls.length, 0);
    });
  }

  it("a request is checked like any other: unknown queue, provider and vault token", async () => {
    const refuse = (request: Partial<TaskRequest>, text: string) =>
      assert.rejects(
        house.submit(request, sandbox),
        (error: unknown) => error instanceof Problem && error.message === text,
      );
    await refuse({ queue: "nowhere" }, 'Queue "nowhere" not found');
    await refuse({ provider: "nobody" }, 'Unknown provider "nobody"');
    const { call } = plainRequest(house.target.url);
    await refuse(
      { call: { ...call, headers: { Authorization: "tok_x" } } },
      'Header "Authorization" references unknown vault token "tok_x"',
    );
  });

  it("a credential of the vault is not read for a task that is not executed", async () => {
    const token = await house.vault.put(house.principal, "live", new Secret("live-secret"), null);
    const { call } = plainRequest(house.target.url);
    const id = await house.submit({ call: { ...call, headers: { Authorization: token.id } } }, sandbox);
    await house.vault.revoke(house.principal, token.id);
    await tryEverything();
    assert.equal((await house.task(id)).status, "pending");
    await house.tasks.remove(sandbox, id);
  });

  it("sandbox tasks are in nobody's way: live tasks of a queue with concurrency 1 run past a hundred of them", async () => {
    await warmUp();
    const ids = await Promise.all(Array.from({ length: 100 }, () => house.submit({ priority: 10 }, sandbox)));
    const live = await house.submit({ priority: 1 });
    await house.dispatchOnce();
    assert.equal((await house.task(live)).status, "completed");
    assert.equal(house.target.calls.length, 1);
    for (const id of ids) assert.equal((await house.task(id)).status, "pending");
  });
});
