import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { Problem } from "../../src/domain/problem.ts";
import { formatTaskId } from "../../src/domain/task-id.ts";
import { openTestServer, QUEUE, type TestServer } from "../test-server.ts";
import { createGate, databaseAway } from "../test-sql.ts";

/** Older than an answer may be, younger than the lease. */
const TOO_LATE_SECONDS = 5;

describe("a late answer of the database", () => {
  let server: TestServer;
  beforeEach(async () => {
    server = await openTestServer({ concurrency: 2, maxRetries: 0 });
    await server.submit();
    await server.dispatchOnce();
  });
  afterEach(async () => {
    for (const database of Object.values(server.databases)) database.after = () => {};
    await server.close();
  });

  const callsFor = (id: string) =>
    server.target.calls.flatMap(({ headers }) =>
      headers["bellhop-task-id"] === formatTaskId(id) ? [headers["bellhop-attempt"]] : [],
    );

  /** A due task whose claim has been committed, and whose answer waits at the gate. */
  async function claimUnanswered() {
    const gate = createGate();
    const id = await server.submit({ delaySeconds: 1 });
    await server.advance(1);
    server.databases.claim.after = (statement) => {
      if (statement === "claim_due_tasks") return gate.wait();
    };
    const looking = server.look();
    await gate.reached;
    assert.equal((await server.task(id)).status, "active");
    return { id, gate, looking };
  }

  /** A task that was inserted active, and whose answer waits at the gate. */
  async function handOffUnanswered() {
    const gate = createGate();
    server.databases.intake.after = gate.wait;
    const submitted = server.submit().catch((error: unknown) => error);
    await gate.reached;
    const [row] = await server.database.rows<{ id: string }>("select id from tasks where status = 'active'");
    return { id: row?.id ?? "", gate, submitted };
  }

  it("makes the reconciler wait: it releases nothing while a claim is unanswered", async () => {
    const { id, gate, looking } = await claimUnanswered();
    for (let look = 0; look < 4; look += 1)
      assert.deepEqual(await server.engine.attempts.reconcileOnce(), []);
    await assert.rejects(server.tasks.remove(server.principal, id), { code: "task_not_pending" });

    gate.open();
    await looking;
    await server.engine.attempts.finished();
    assert.deepEqual(callsFor(id), ["1"]);
    assert.equal((await server.task(id)).status, "completed");
  });

  it("makes the reconciler wait: it releases nothing while a hand-off is unanswered", async () => {
    const { id, gate, submitted } = await handOffUnanswered();
    for (let look = 0; look < 4; look += 1)
      assert.deepEqual(await server.engine.attempts.reconcileOnce(), []);

    gate.open();
    await submitted;
    await server.engine.attempts.finished();
    assert.deepEqual(callsFor(id), ["1"]);
  });

  it("does not delay the release of a task whose claim was lost earlier", async () => {
    server.databases.claim.after = (statement) => {
      if (statement !== "claim_due_tasks") return;
      server.databases.claim.after = () => {};
      throw databaseAway();
    };
    const lost = await server.submit({ delaySeconds: 1 });
    await server.advance(1);
    await server.look();
    assert.deepEqual(await server.engine.attempts.reconcileOnce(), []);

    // A claim that began after the lost task was first seen says nothing about it.
    const { gate, looking } = await claimUnanswered();
    const returned = await server.engine.attempts.reconcileOnce();
    assert.deepEqual(
      returned.map(({ id }) => id),
      [lost],
    );
    gate.open();
    await looking;
  });

  it("starts no call when it is too old: claimed tasks are released and run later", async () => {
    const { id, gate, looking } = await claimUnanswered();
    server.databases.claim.after = () => {};
    server.freeze(TOO_LATE_SECONDS);
    assert.equal(server.engine.lease.isHeld(), true);
    gate.open();
    await looking;
    await server.dispatchOnce();

    assert.deepEqual(callsFor(id), ["2"]);
    assert.deepEqual(
      (await server.task(id)).attempts.map(({ status, phase }) => [status, phase]),
      [
        ["interrupted", "not_sent"],
        ["success", "responded"],
      ],
    );
  });

  it("starts no call when it is too old: handed-off tasks are released and run later", async () => {
    const { id, gate, submitted } = await handOffUnanswered();
    server.databases.intake.after = () => {};
    server.freeze(TOO_LATE_SECONDS);
    const answer = await submitted;
    assert.ok(answer instanceof Problem && answer.status === 503, "the caller was not kept waiting");
    gate.open();
    await server.rest();
    await server.dispatchOnce();

    assert.deepEqual(callsFor(id), ["2"]);
    assert.equal((await server.task(id)).status, "completed");
  });

  it("starts no call after the node has closed: claimed tasks are released", async () => {
    const { id, gate, looking } = await claimUnanswered();
    server.engine.attempts.close();
    const stopped = server.engine.dispatcher.stop();
    gate.open();
    await Promise.all([looking, stopped]);
    await server.engine.attempts.finished();

    assert.deepEqual(callsFor(id), []);
    assert.equal((await server.task(id)).status, "pending");
  });

  it("holds no slot: released tasks leave the full concurrency", async () => {
    const { gate, looking } = await claimUnanswered();
    server.databases.claim.after = () => {};
    server.freeze(TOO_LATE_SECONDS);
    server.target.hold();
    gate.open();
    await looking;
    await server.submit();
    await server.submit();
    await server.look();
    await server.target.received(3);
    await server.quiet();

    assert.equal(server.target.held.length, 2);
    server.target.release();
  });
});

describe("a task whose insert fails unexpectedly", () => {
  let server: TestServer;
  beforeEach(async () => {
    server = await openTestServer({ concurrency: 2, maxRetries: 0 });
    await server.submit();
    await server.dispatchOnce();
    server.target.calls.length = 0;
  });
  afterEach(() => server.close());

  const withBody = (body: string) => ({
    call: { method: "POST" as const, url: server.target.url, headers: {}, body },
  });

  it("holds no slot, and neither do the other tasks of its flush", async () => {
    let inserts = 0;
    server.databases.intake.before = (statement) => {
      if (!statement.startsWith("insert_tasks_plain")) return;
      inserts += 1;
      // All at once are refused for the one that cannot be stored; then, one by one, the second breaks.
      if (inserts === 3) throw new TypeError("a bug");
    };
    const answers = await Promise.allSettled([
      server.submit(),
      server.submit(),
      server.submit(withBody("a NUL \0")),
    ]);
    server.databases.intake.before = () => {};
    await server.engine.attempts.finished();
    assert.deepEqual(
      answers.map(({ status }) => status),
      ["fulfilled", "rejected", "rejected"],
    );
    assert.equal(server.target.calls.length, 1);

    server.target.hold();
    await Promise.all([server.submit(), server.submit()]);
    await server.look();
    await server.target.received(4);
    assert.equal(server.target.held.length, 2, `${QUEUE} has both its slots`);
    server.target.release();
  });

  it("makes requests with the same idempotency key fail with the same error", async () => {
    server.databases.intake.before = () => {
      throw databaseAway();
    };
    const keyed = { idempotencyKey: "order-1", requestText: "{}" };
    const answers = await Promise.allSettled([server.submit(keyed), server.submit(keyed)]);
    server.databases.intake.before = () => {};

    for (const answer of answers) {
      assert.ok(answer.status === "rejected" && answer.reason instanceof Problem);
      assert.equal(answer.reason.code, "database_away");
    }
  });
});
