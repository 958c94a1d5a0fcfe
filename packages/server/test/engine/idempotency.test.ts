import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { Problem } from "../../src/domain/problem.ts";
import { createTaskChanges } from "../../src/domain/task-changes.ts";
import type { TaskRequest } from "../../src/domain/task-copies.ts";
import { createProviderService } from "../../src/service/tasks/provider-service.ts";
import { createTaskService } from "../../src/service/tasks/task-service.ts";
import { createVault } from "../../src/vault/vault.ts";
import { openTestServer, plainRequest, type TestServer } from "../test-server.ts";

const mentionsKeys = (query: string | { readonly text: string }) =>
  (typeof query === "string" ? query : query.text).includes("from idempotency_keys");

describe("idempotency keys", () => {
  let server: TestServer;
  let key = "";
  let keys = 0;
  before(async () => {
    server = await openTestServer({ maxRetries: 0, concurrency: 100 });
  });
  after(() => server.close());
  beforeEach(async () => {
    // No call of the test before is on its way any more.
    await server.dispatchOnce();
    server.target.answer = (_call, response) => response.end("{}");
    server.target.calls.length = 0;
    keys += 1;
    key = `order-${keys}`;
  });

  const request = (changes: Partial<TaskRequest> = {}): TaskRequest => ({
    ...plainRequest(server.target.url),
    idempotencyKey: key,
    requestText: '{"n":1}',
    ...changes,
  });
  const create = (changes: Partial<TaskRequest> = {}, principal = server.principal) =>
    server.tasks.create(principal, request(changes));
  const stored = async () => {
    const [row] = await server.database.rows<{ n: number }>(
      "select count(*)::integer as n from tasks where idempotency_key = $1",
      [key],
    );
    return row?.n;
  };

  it("return the first task for the same body, and it is called once", async () => {
    const first = await create({ delaySeconds: 60 });
    const second = await create({ delaySeconds: 60 });

    assert.equal(first.replayed, false);
    assert.equal(second.replayed, true);
    assert.equal(second.id, first.id);
    assert.deepEqual(second.createdAt, first.createdAt);
    assert.equal(second.status, "pending");
    assert.equal(second.runAt.getTime() - second.createdAt.getTime(), 60_000);
    assert.equal(await stored(), 1);
    await server.advance(61);
    await server.dispatchOnce();
    assert.equal(server.target.calls.length, 1);
  });

  it("are looked up only after the insert found them taken", async (test) => {
    const rows = test.mock.method(server.database, "rows");
    await create({ delaySeconds: 60 });
    const asked = () => rows.mock.calls.filter(({ arguments: [query] }) => mentionsKeys(query)).length;
    assert.equal(asked(), 0);
    await create({ delaySeconds: 60 });
    assert.equal(asked(), 1);
  });

  it("return the first task even if the request would be refused by now", async () => {
    const first = await create({ delaySeconds: 60 });
    const refused = { call: { ...request().call, headers: { Authorization: "tok_revoked" } } };
    const second = await create({ delaySeconds: 60, ...refused });

    assert.deepEqual([second.id, second.replayed], [first.id, true]);
  });

  it("return the first task while it is active or completed, without a second call", async () => {
    server.target.hold();
    const first = await create();
    await server.look();
    await server.target.received(1);
    assert.equal((await create()).status, "active");
    server.target.release();
    await server.dispatchOnce();
    const again = await create();

    assert.deepEqual([again.id, again.status, again.replayed], [first.id, "completed", true]);
    assert.equal(server.target.calls.length, 1);
  });

  it("return the same callback to a repeated request, for both shapes and after its use", async () => {
    for (const changes of [
      { shape: "direct" },
      { shape: "direct", waitForCallback: true },
      { waitForCallback: true, call: { ...request().call, body: '"{callbackUrl}"' } },
    ] as const) {
      key += "+";
      const first = await create(changes);
      const again = await create(changes);
      assert.match(first.callback?.id ?? "", /^[0-9a-f]{64}$/);
      assert.deepEqual([again.id, again.callback], [first.id, first.callback]);
      await server.dispatchOnce();
      if (!("waitForCallback" in changes)) continue;
      await server.callbacks.resolve(first.callback?.id ?? "", "{}");
      assert.deepEqual((await create(changes)).callback, first.callback);
    }
    key += "+";
    await create();
    assert.equal((await create()).callback, null);
  });

  it("store the callback for a repeated request sealed, and do not send it", async () => {
    const first = await create({ shape: "direct", call: { ...request().call, body: "{callbackId}" } });
    await server.dispatchOnce();

    const [row] = await server.database.rows<{ text: string; callback_sealed: Buffer }>(
      "select k::text as text, callback_sealed from idempotency_keys k where key = $1",
      [key],
    );
    assert.ok(!row?.text.includes(first.callback?.id ?? ""));
    assert.ok(!row?.callback_sealed.toString("latin1").includes(first.callback?.id ?? ""));
    assert.equal(server.target.calls.at(-1)?.body, "{callbackId}");
  });

  it("return the first task without its callback when there is no vault", async () => {
    const closed = createTaskService({
      storageQuota: { admit: () => undefined, reopen: () => undefined, store: () => undefined },
      database: server.database,
      submit: server.engine.submit,
      vault: createVault({ sql: server.database, keyRing: null }),
      providers: createProviderService(null),
      publicUrl: () => "https://bellhop.test",
      changes: createTaskChanges(),
      follow: async () => {},
      onResent: () => {},
    });
    const wanted = request({ shape: "direct" });
    const first = await closed.create(server.principal, wanted);
    const again = await closed.create(server.principal, wanted);

    assert.match(first.callback?.id ?? "", /^[0-9a-f]{64}$/);
    assert.deepEqual([again.id, again.replayed, again.callback], [first.id, true, null]);
    // Nor by a node that has one, and a node without one does not stumble over what was kept.
    assert.equal((await create({ shape: "direct" })).callback, null);
    key += "+";
    await create({ shape: "direct" });
    assert.equal((await closed.create(server.principal, request({ shape: "direct" }))).callback, null);
  });

  it("are refused with 409 for another body", async () => {
    await create();
    await assert.rejects(create({ requestText: '{"n":2}' }), (error: unknown) => {
      assert.ok(error instanceof Problem);
      assert.equal(error.status, 409);
      assert.equal(error.message, `Idempotency key "${key}" was used with another request`);
      return true;
    });
    assert.equal(await stored(), 1);
  });

  it("make one task and one call of 50 concurrent duplicates on two nodes", async () => {
    const other = await server.openNode();
    const created = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        (index % 2 === 0 ? server : other).tasks.create(server.principal, request()),
      ),
    );
    await server.dispatchEverywhere();

    assert.equal(new Set(created.map(({ id }) => id)).size, 1);
    assert.equal(created.filter(({ replayed }) => !replayed).length, 1);
    assert.equal(await stored(), 1);
    assert.equal(server.target.calls.length, 1);
    const [tally] = await server.database.rows<{ pending: number; active: number }>(
      "select sum(pending)::integer as pending, sum(active)::integer as active from queue_tallies",
    );
    const [counted] = await server.database.rows<{ pending: number; active: number }>(
      `select count(*) filter (where status = 'pending')::integer as pending,
              count(*) filter (where status = 'active')::integer as active from tasks`,
    );
    assert.deepEqual(tally, counted);
    await other.stop();
  });

  it("accept one of 20 concurrent requests with different bodies, and refuse the others", async () => {
    const other = await server.openNode();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? server : other).tasks.create(
          server.principal,
          request({ requestText: `${index}` }),
        ),
      ),
    );
    const refusals = outcomes.filter(({ status }) => status === "rejected") as PromiseRejectedResult[];
    assert.equal(refusals.length, 19);
    for (const { reason } of refusals) assert.equal((reason as Problem).code, "idempotency_conflict");
    assert.equal(await stored(), 1);
    await other.stop();
  });

  it("stay taken when the task fails: a late duplicate makes no second task", async () => {
    server.target.answer = (_call, response) => response.writeHead(500).end();
    const first = await create({ maxRetries: 1 });
    await server.dispatchOnce();
    assert.equal((await create({ maxRetries: 1 })).id, first.id);
    await server.advance(5);
    await server.dispatchOnce();
    assert.equal((await server.task(first.id)).status, "failed");
    const late = await create({ maxRetries: 1 });
    await server.dispatchOnce();

    assert.deepEqual([late.id, late.status, late.replayed], [first.id, "failed", true]);
    await assert.rejects(create({ requestText: "another body" }), { code: "idempotency_conflict" });
    assert.equal(server.target.calls.length, 2);
    assert.equal(await stored(), 1);
  });

  it("stay taken when the task fails by a callback timeout", async () => {
    const first = await create({ waitForCallback: true, maxWaitSeconds: 60 });
    await server.dispatchOnce();
    await server.advance(60.1);
    await server.engine.deadlines.expireOnce();
    const late = await create({ waitForCallback: true });

    assert.deepEqual([late.id, late.status], [first.id, "failed"]);
  });

  it("are freed when the task is deleted, directly or with its queue", async () => {
    const first = await create({ delaySeconds: 60 });
    await server.tasks.remove(server.principal, first.id);
    const second = await create({ delaySeconds: 60 });
    assert.equal(second.replayed, false);

    await server.queues.create(server.principal, "doomed", {});
    key = `${key}-doomed`;
    await create({ queue: "doomed", delaySeconds: 60 });
    await server.queues.remove(server.principal, "doomed");
    assert.equal((await create({ delaySeconds: 60 })).replayed, false);
  });

  it("are not taken by a refused creation", async () => {
    await assert.rejects(create({ queue: "nowhere" }), (error: unknown) => {
      assert.ok(error instanceof Problem);
      assert.equal(error.message, 'Queue "nowhere" not found');
      return true;
    });
    await assert.rejects(
      create({ call: { ...request().call, headers: { Authorization: "tok_unknown" } } }),
      Problem,
    );
    assert.equal((await create({ requestText: "good" })).replayed, false);
  });

  it("are separate for each team", async () => {
    const guest = await server.openTeam();
    const ours = await create({ delaySeconds: 60 });
    const theirs = await create({ delaySeconds: 60, requestText: "quite another body" }, guest);
    assert.equal(theirs.replayed, false);
    assert.notEqual(theirs.id, ours.id);
    assert.equal((await create({ delaySeconds: 60 })).id, ours.id);
    assert.equal((await create({ requestText: "quite another body" }, guest)).id, theirs.id);
  });

  it("are separate for sandbox and live tasks", async () => {
    const sandboxed = await create({}, { ...server.principal, environment: "test" });
    const live = await create();
    await server.dispatchOnce();

    assert.equal(live.replayed, false);
    assert.notEqual(live.id, sandboxed.id);
    assert.equal(server.target.calls.length, 1);
  });

  it("are valid for 24 hours, and then start a new task", async () => {
    const age = (hours: number) =>
      server.database.rows(
        "update idempotency_keys set created_at = now() - make_interval(secs => $2) where key = $1",
        [key, hours * 3600],
      );
    const first = await create({ delaySeconds: 60 });
    await age(23.99);
    assert.equal((await create({ delaySeconds: 60 })).id, first.id);
    await age(24.01);
    const second = await create({ delaySeconds: 60, requestText: "another" });
    assert.equal(second.replayed, false);
    assert.notEqual(second.id, first.id);
    assert.equal((await create({ requestText: "another" })).id, second.id);

    // The end of the first one, a day later, leaves the key with the second.
    await server.tasks.remove(server.principal, first.id);
    assert.equal((await create({ requestText: "another" })).id, second.id);
  });

  it("are optional: without one, each request creates a task", async () => {
    const one = await create({ idempotencyKey: null });
    const two = await create({ idempotencyKey: null });
    assert.notEqual(one.id, two.id);
    assert.equal(two.replayed, false);
  });
});
