import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Requester } from "../../src/domain/identity/principal.ts";
import { Problem } from "../../src/domain/problem.ts";
import { Secret } from "../../src/domain/secret.ts";
import type { TaskRequest } from "../../src/domain/task-copies.ts";
import { openTestServer, plainRequest, QUEUE, type TestServer } from "../test-server.ts";
import { ALL_TASKS } from "../test-store.ts";
import { startTestTarget, type TestTarget } from "../test-target.ts";

describe("the sandbox", () => {
  let server: TestServer;
  let receiver: TestTarget;
  let sandbox: Requester;
  before(async () => {
    server = await openTestServer({ maxRetries: 3, concurrency: 1 });
    receiver = await startTestTarget();
    sandbox = { ...server.principal, environment: "test" };
  });
  after(async () => {
    await receiver.close();
    await server.close();
  });

  /** After a live task the node holds slots of the queue: a new task that is due is called at once, unless it must not be. */
  const warmUp = async () => {
    await server.submit();
    await server.dispatchOnce();
    assert.equal(server.target.calls.length, 1);
    server.target.calls.length = 0;
  };
  /** Everything that could move a task, with all the time in the world. */
  const tryEverything = async () => {
    for (const seconds of [0, 10, 100_000]) {
      await server.advance(seconds);
      await server.dispatchOnce();
      await server.engine.poller.workOnce();
      await server.engine.poller.finished();
      await server.engine.deadlines.expireOnce();
      await server.engine.courier.workOnce();
      await server.engine.courier.finished();
      await server.engine.attempts.reconcileOnce();
      await server.engine.janitor.cleanOnce();
    }
  };

  const KINDS: readonly [string, () => Partial<TaskRequest>][] = [
    ["queue task", () => ({})],
    ["delayed queue task", () => ({ delaySeconds: 5 })],
    ["queue task that waits for a callback", () => ({ waitForCallback: true, maxWaitSeconds: 1 })],
    ["direct task", () => ({ shape: "direct", sign: true })],
    ["direct task with a provider", () => ({ shape: "direct", provider: "fal" })],
    [
      "direct task that waits for a callback",
      () => ({ shape: "direct", waitForCallback: true, maxWaitSeconds: 1 }),
    ],
    [
      "direct task with an idempotency key",
      () => ({ shape: "direct", idempotencyKey: "k", requestText: "x" }),
    ],
  ];

  for (const [name, request] of KINDS) {
    it(`${name}: is stored and stays pending, without a call, until it is deleted`, async () => {
      await warmUp();
      const created = await server.tasks.create(sandbox, {
        ...plainRequest(server.target.url),
        onCompleteUrl: receiver.url,
        ...request(),
      });
      assert.equal(created.status, "pending");
      await tryEverything();

      const task = await server.task(created.id);
      assert.equal(task.status, "pending");
      assert.equal(task.sandbox, true);
      assert.deepEqual(task.attempts, []);
      assert.equal(task.startedAt, null);
      assert.equal(server.target.calls.length, 0);
      assert.equal(receiver.calls.length, 0);
      if (created.callback !== null) {
        await assert.rejects(
          server.callbacks.resolve(created.callback.id, "{}"),
          (error: unknown) =>
            error instanceof Problem &&
            error.message === "Task is not in waiting/polling state (current: pending)",
        );
      }
      const listed = await server.tasks.list(server.principal, {
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

      await server.tasks.remove(sandbox, created.id);
      await assert.rejects(server.task(created.id), Problem);
      await tryEverything();
      assert.equal(receiver.calls.length, 0);
    });
  }

  it("refuses an unknown queue, provider and vault token like the live environment", async () => {
    const refuse = (request: Partial<TaskRequest>, text: string) =>
      assert.rejects(
        server.submit(request, sandbox),
        (error: unknown) => error instanceof Problem && error.message === text,
      );
    await refuse({ queue: "nowhere" }, 'Queue "nowhere" not found');
    await refuse({ provider: "nobody" }, 'Unknown provider "nobody"');
    const { call } = plainRequest(server.target.url);
    await refuse(
      { call: { ...call, headers: { Authorization: "tok_x" } } },
      'Header "Authorization" references unknown vault token "tok_x"',
    );
  });

  it("keeps a task pending whose vault token was revoked", async () => {
    const token = await server.vault.put(server.principal, "live", new Secret("live-secret"), null);
    const { call } = plainRequest(server.target.url);
    const id = await server.submit({ call: { ...call, headers: { Authorization: token.id } } }, sandbox);
    await server.vault.revoke(server.principal, token.id);
    await tryEverything();
    assert.equal((await server.task(id)).status, "pending");
    await server.tasks.remove(sandbox, id);
  });

  it("lets a live task run past a hundred sandbox tasks of a higher priority", async () => {
    await warmUp();
    const ids = await Promise.all(
      Array.from({ length: 100 }, () => server.submit({ priority: 10 }, sandbox)),
    );
    const live = await server.submit({ priority: 1 });
    await server.dispatchOnce();
    assert.equal((await server.task(live)).status, "completed");
    assert.equal(server.target.calls.length, 1);
    for (const id of ids) assert.equal((await server.task(id)).status, "pending");
  });
});
