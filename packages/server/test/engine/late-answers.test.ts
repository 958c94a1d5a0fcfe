import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { Problem } from "../../src/domain/problem.ts";
import { formatTaskId } from "../../src/domain/task-id.ts";
import { openTestHouse, QUEUE, type TestHouse } from "../test-house.ts";
import { createGate, databaseAway } from "../test-sql.ts";

/** Older than an answer may be, younger than the lease. */
const TOO_LATE_SECONDS = 5;

describe("an answer of the database that comes late", () => {
  let house: TestHouse;
  beforeEach(async () => {
    house = await openTestHouse({ concurrency: 2, maxRetries: 0 });
    await house.submit();
    await house.dispatchOnce();
  });
  afterEach(async () => {
    for (const database of Object.values(house.databases)) database.after = () => {};
    await house.close();
  });

  const callsFor = (id: string) =>
    house.target.calls.flatMap(({ headers }) =>
      headers["bellhop-task-id"] === formatTaskId(id) ? [headers["bellhop-attempt"]] : [],
    );

  /** A due task whose claim has been committed, and whose answer waits at the gate. */
  async function claimUnanswered() {
    const gate = createGate();
    const id = await house.submit({ delaySeconds: 1 });
    await house.advance(1);
    house.databases.claim.after = (statement) => {
      if (statement === "claim_due_tasks") return gate.wait();
    };
    const looking = house.look();
    await gate.reached;
    assert.equal((await house.task(id)).status, "active");
    return { id, gate, looking };
  }

  /** A task that was inserted active, and whose answer waits at the gate. */
  async function handOffUnanswered() {
    const gate = createGate();
    house.databases.intake.after = gate.wait;
    const submitted = house.submit().catch((error: unknown) => error);
    await gate.reached;
    const [row] = await house.database.rows<{ id: string }>("select id from tasks where status = 'active'");
    return { id: row?.id ?? "", gate, submitted };
  }

  it("is waited for: the reconciler takes nothing back while a claim is unanswered", async () => {
    const { id, gate, looking } = await claimUnanswered();
    for (let look = 0; look < 4; look += 1) assert.deepEqual(await house.engine.attempts.reconcileOnce(), []);
    await assert.rejects(house.tasks.remove(house.principal, id), { code: "task_not_pending" });

    gate.open();
    await looking;
    await house.engine.attempts.finished();
    assert.deepEqual(callsFor(id), ["1"]);
    assert.equal((await house.task(id)).status, "completed");
  });

  it("is waited for: nor while a hand-off is unanswered", async () => {
    const { id, gate, submitted } = await handOffUnanswered();
    for (let look = 0; look < 4; look += 1) assert.deepEqual(await house.engine.attempts.reconcileOnce(), []);

    gate.open();
    await submitted;
    await house.engine.attempts.finished();
    assert.deepEqual(callsFor(id), ["1"]);
  });

  it("does not keep what was lost before from being given back, however many claims are under way", async () => {
    house.databases.claim.after = (statement) => {
      if (statement !== "claim_due_tasks") return;
      house.databases.claim.after = () => {};
      throw databaseAway();
    };
    const lost = await house.submit({ delaySeconds: 1 });
    await house.advance(1);
    await house.look();
    assert.deepEqual(await house.engine.attempts.reconcileOnce(), []);

    // A claim that began after the lost task was first seen says nothing about it.
    const { gate, looking } = await claimUnanswered();
    const returned = await house.engine.attempts.reconcileOnce();
    assert.deepEqual(
      returned.map(({ id }) => id),
      [lost],
    );
    gate.open();
    await looking;
  });

  it("begins no call when it is too old: what was claimed goes back, and runs later", async () => {
    const { id, gate, looking } = await claimUnanswered();
    house.databases.claim.after = () => {};
    house.freeze(TOO_LATE_SECONDS);
    assert.equal(house.engine.lease.isHeld(), true);
    gate.open();
    await looking;
    await house.dispatchOnce();

    assert.deepEqual(callsFor(id), ["2"]);
    assert.deepEqual(
      (await house.task(id)).attempts.map(({ status, phase }) => [status, phase]),
      [
        ["interrupted", "not_sent"],
        ["success", "responded"],
      ],
    );
  });

  it("begins no call when it is too old: what was handed off goes back, and runs later", async () => {
    const { id, gate, submitted } = await handOffUnanswered();
    house.databases.intake.after = () => {};
    house.freeze(TOO_LATE_SECONDS);
    const answer = await submitted;
    assert.ok(answer instanceof Problem && answer.status === 503, "the caller was not kept waiting");
    gate.open();
    await house.rest();
    await house.dispatchOnce();

    assert.deepEqual(callsFor(id), ["2"]);
    assert.equal((await house.task(id)).status, "completed");
  });

  it("keeps no slot: what was given back leaves room for as many calls as before", async () => {
    const { gate, looking } = await claimUnanswered();
    house.databases.claim.after = () => {};
    house.freeze(TOO_LATE_SECONDS);
    house.target.hold();
    gate.open();
    await looking;
    await house.submit();
    await house.submit();
    await house.look();
    await house.target.received(3);
    await house.quiet();

    assert.equal(house.target.held.length, 2);
    house.target.release();
  });
});

describe("a task that cannot be stored for a reason that is not foreseen", () => {
  let house: TestHouse;
  beforeEach(async () => {
    house = await openTestHouse({ concurrency: 2, maxRetries: 0 });
    await house.submit();
    await house.dispatchOnce();
    house.target.calls.length = 0;
  });
  afterEach(() => house.close());

  const withBody = (body: string) => ({
    call: { method: "POST" as const, url: house.target.url, headers: {}, body },
  });

  it("keeps no slot, nor do those that came with it", async () => {
    let inserts = 0;
    house.databases.intake.before = (statement) => {
      if (statement !== "insert_tasks_plain") return;
      inserts += 1;
      // All at once are refused for the one that cannot be stored; then, one by one, the second breaks.
      if (inserts === 3) throw new TypeError("a bug");
    };
    const answers = await Promise.allSettled([
      house.submit(),
      house.submit(),
      house.submit(withBody("a NUL \0")),
    ]);
    house.databases.intake.before = () => {};
    await house.engine.attempts.finished();
    assert.deepEqual(
      answers.map(({ status }) => status),
      ["fulfilled", "rejected", "rejected"],
    );
    assert.equal(house.target.calls.length, 1);

    house.target.hold();
    await Promise.all([house.submit(), house.submit()]);
    await house.look();
    await house.target.received(4);
    assert.equal(house.target.held.length, 2, `${QUEUE} has both its slots`);
    house.target.release();
  });

  it("refuses the others of its idempotency key with the same reason, not with one of their own", async () => {
    house.databases.intake.before = () => {
      throw databaseAway();
    };
    const keyed = { idempotencyKey: "order-1", requestText: "{}" };
    const answers = await Promise.allSettled([house.submit(keyed), house.submit(keyed)]);
    house.databases.intake.before = () => {};

    for (const answer of answers) {
      assert.ok(answer.status === "rejected" && answer.reason instanceof Problem);
      assert.equal(answer.reason.code, "database_away");
    }
  });
});
