import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Claim } from "../../../src/domain/claim.ts";
import type { Task } from "../../../src/domain/task.ts";
import type { Verdict } from "../../../src/domain/verdict.ts";
import { markQueueDeleted } from "../../../src/store/tasks/queues.ts";
import { findTask } from "../../../src/store/tasks/task-reads.ts";
import { reapTasks, releaseTasks } from "../../../src/store/tasks/task-returns.ts";
import { markSuperseded, settleAttempts } from "../../../src/store/tasks/task-settlements.ts";
import { removeWorker } from "../../../src/store/tasks/workers.ts";
import {
  live,
  openTestStore,
  RETRY,
  type StoredQueue,
  settlementOf,
  type TestStore,
} from "../../test-store.ts";

const FAILED: Verdict = {
  kind: "failed",
  reason: "retries_exhausted",
  error: "The target answered 500",
  result: { statusCode: 500, headers: {}, body: "oops", duration: 3 },
};

describe("settling attempts", () => {
  let store: TestStore;
  let queue: StoredQueue;
  let workerId: number;
  before(async () => {
    store = await openTestStore();
    queue = await store.openQueue();
    workerId = await store.openWorker();
  });
  after(() => store.close());

  async function claimOne(from = queue): Promise<Claim> {
    await store.insert(from, {});
    const [claim] = await store.claim(from, { workerId, limit: 1 });
    assert.ok(claim);
    return claim;
  }

  async function found({ teamId, id }: Claim): Promise<Task> {
    const task = await findTask(store.database, live(teamId), id);
    assert.ok(task);
    return task;
  }

  it("completes a task with its result and its successful attempt", async () => {
    const claim = await claimOne();

    const [settled] = await settleAttempts(store.database, [settlementOf(claim)], workerId);

    const task = await found(claim);
    assert.equal(settled?.status, "completed");
    assert.equal(task.status, "completed");
    assert.deepEqual(task.result, { statusCode: 200, headers: {}, body: "{}", duration: 5 });
    assert.equal(task.error, null);
    assert.equal(task.failureReason, null);
    assert.ok(task.completedAt !== null && task.startedAt !== null && task.completedAt >= task.startedAt);
    assert.deepEqual(task.attempts, [settlementOf(claim).attempt]);
  });

  it("fails a task with reason, error, result and the time it ended", async () => {
    const claim = await claimOne();

    await settleAttempts(store.database, [settlementOf(claim, FAILED)], workerId);

    const task = await found(claim);
    assert.equal(task.status, "failed");
    assert.equal(task.failureReason, "retries_exhausted");
    assert.equal(task.error, "The target answered 500");
    assert.equal(task.result?.body, "oops");
    assert.notEqual(task.completedAt, null);
  });

  it("puts a retry back into its queue, due after its delay", async () => {
    const claim = await claimOne();
    const [clock] = await store.database.rows<{ now: Date }>("select now()");

    const [settled] = await settleAttempts(store.database, [settlementOf(claim, RETRY)], workerId);

    const task = await found(claim);
    assert.equal(task.status, "pending");
    assert.equal(task.completedAt, null);
    assert.deepEqual(settled, { status: "pending", runAt: task.runAt, notify: false });
    const waitMs = task.runAt.getTime() - Number(clock?.now);
    assert.ok(waitMs >= 60_000 && waitMs < 65_000, `${waitMs} ms`);
    assert.deepEqual(await store.claim(queue, { workerId }), []);
  });

  it("carries failures and attempt numbers over to the next claim", async () => {
    const first = await claimOne();
    await settleAttempts(
      store.database,
      [settlementOf(first, { kind: "retry", waitMs: 0, error: "The target answered 500" })],
      workerId,
    );

    const [second] = await store.claim(queue, { workerId });

    assert.equal(second?.id, first.id);
    assert.equal(second?.failures, 1);
    assert.equal(second?.attempt, 2);
    assert.ok((second?.fence ?? 0) > first.fence);
    await settleAttempts(store.database, [settlementOf(second as Claim)], workerId);
    assert.deepEqual(
      (await found(first)).attempts.map(({ number, status }) => [number, status]),
      [
        [1, "failed"],
        [2, "success"],
      ],
    );
  });

  it("changes nothing when the claim was already settled", async () => {
    const claim = await claimOne();
    await settleAttempts(store.database, [settlementOf(claim)], workerId);
    const before = await found(claim);

    const settled = await settleAttempts(store.database, [settlementOf(claim, FAILED)], workerId);

    assert.deepEqual(settled, [null]);
    assert.deepEqual(await found(claim), before);
  });

  it("changes nothing when the task was released and claimed again", async () => {
    const stale = await claimOne();
    await releaseTasks(store.database, [stale], "sent", workerId);
    const [fresh] = await store.claim(queue, { workerId });

    assert.deepEqual(await settleAttempts(store.database, [settlementOf(stale, FAILED)], workerId), [null]);
    assert.equal((await found(stale)).status, "active");

    const [settled] = await settleAttempts(store.database, [settlementOf(fresh as Claim)], workerId);
    assert.equal(settled?.status, "completed");
  });

  it("distinguishes a late answer from the current one of the same task in one batch", async () => {
    const stale = await claimOne();
    await releaseTasks(store.database, [stale], "sent", workerId);
    const [fresh] = await store.claim(queue, { workerId });

    const settled = await settleAttempts(
      store.database,
      [settlementOf(stale, FAILED), settlementOf(fresh as Claim)],
      workerId,
    );

    assert.deepEqual(
      settled.map((each) => each?.status ?? null),
      [null, "completed"],
    );
    assert.equal((await found(stale)).status, "completed");
  });

  it("records a late answer as superseded, without changing the task", async () => {
    const stale = await claimOne();
    await releaseTasks(store.database, [stale], "sent", workerId);

    await markSuperseded(store.database, settlementOf(stale));

    const task = await found(stale);
    assert.equal(task.status, "pending");
    assert.deepEqual(
      task.attempts.map(({ number, status, responseCode }) => ({ number, status, responseCode })),
      [{ number: 1, status: "superseded", responseCode: 200 }],
    );
    const [again] = await store.claim(queue, { workerId });
    await settleAttempts(store.database, [settlementOf(again as Claim)], workerId);
  });

  it("does not mark an attempt as superseded that was closed by its own answer", async () => {
    const claim = await claimOne();
    await settleAttempts(store.database, [settlementOf(claim)], workerId);
    const before = await found(claim);

    await markSuperseded(store.database, settlementOf(claim, FAILED));

    assert.deepEqual(await found(claim), before);
  });

  it("settles tasks of several teams and queues in one batch, with results in order", async () => {
    const queues = [queue, await store.openQueue(), await store.openQueue({}, await store.openTeam())];
    const claims = [];
    for (const each of queues) claims.push(await claimOne(each));
    const [a, b, c] = claims as [Claim, Claim, Claim];

    const settled = await settleAttempts(
      store.database,
      [settlementOf(a, FAILED), { ...settlementOf(b), claim: { ...b, fence: 99 } }, settlementOf(c)],
      workerId,
    );

    assert.deepEqual(
      settled.map((each) => each?.status ?? null),
      ["failed", null, "completed"],
    );
  });

  it("stores each task's own result in a batch", async () => {
    const claims = [await claimOne(), await claimOne(), await claimOne()];
    const answers = ["first", "second", "third"];

    await settleAttempts(
      store.database,
      claims.map((claim, index) =>
        settlementOf(claim, {
          kind: "completed",
          result: { statusCode: 200, headers: {}, body: answers[index] ?? "", duration: 5 },
        }),
      ),
      workerId,
    );

    const stored = await Promise.all(claims.map(found));
    assert.deepEqual(
      stored.map(({ result }) => result?.body),
      answers,
    );
  });

  it("leaves a task alone when the settlement names another team", async () => {
    const claim = await claimOne();
    const stranger = { ...claim, teamId: await store.openTeam() };

    assert.deepEqual(await settleAttempts(store.database, [settlementOf(stranger)], workerId), [null]);
    assert.equal((await found(claim)).status, "active");
  });

  it("fails a task whose queue was deleted instead of retrying it", async () => {
    const doomed = await store.openQueue();
    const claim = await claimOne(doomed);
    await markQueueDeleted(store.database, doomed.teamId, doomed.name);

    const [settled] = await settleAttempts(store.database, [settlementOf(claim, RETRY)], workerId);

    const task = await found(claim);
    assert.equal(settled?.status, "failed");
    assert.equal(task.status, "failed");
    assert.equal(task.failureReason, "queue_deleted");
    assert.equal(task.error, "The target answered 500");
    assert.notEqual(task.completedAt, null);
  });

  it("completes or fails a task for its own reason when its queue was deleted", async () => {
    const doomed = await store.openQueue();
    const [a, b] = [await claimOne(doomed), await claimOne(doomed)];
    await markQueueDeleted(store.database, doomed.teamId, doomed.name);

    await settleAttempts(store.database, [settlementOf(a), settlementOf(b, FAILED)], workerId);

    assert.equal((await found(a)).status, "completed");
    assert.equal((await found(b)).failureReason, "retries_exhausted");
  });

  it("stores special characters of a result unchanged", async () => {
    const claim = await claimOne();
    const body = "\\u0000 \\\\ \" ' $1 {} \u2028 \u{1f6ce} \ufffd %s \t\r\n";
    const headers = { "x-odd": "'; drop table tasks; --" };
    const result = { statusCode: 200, headers, body, duration: 1 };

    await settleAttempts(store.database, [settlementOf(claim, { kind: "completed", result })], workerId);

    assert.deepEqual((await found(claim)).result, result);
  });

  it("shows the attempt as active until it is settled", async () => {
    const claim = await claimOne();

    const task = await found(claim);

    assert.equal(task.status, "active");
    assert.deepEqual(task.attempts, [
      {
        number: 1,
        status: "active",
        responseCode: null,
        executedAt: claim.attemptStartedAt,
        durationMs: null,
        phase: "sent",
        error: null,
      },
    ]);
  });

  it("is discarded after the reaper released the task, and vice versa", async () => {
    const dying = await store.openWorker();
    await store.insert(queue, {}, {});
    const claims = await store.claim(queue, { workerId: dying });
    const [reaped, settledInTime] = claims as [Claim, Claim];
    await settleAttempts(store.database, [settlementOf(settledInTime)], dying);
    await removeWorker(store.database, dying);

    assert.deepEqual(
      (await reapTasks(store.database, workerId)).map(({ id, status }) => [id, status]),
      [[reaped.id, "pending"]],
    );
    assert.deepEqual(await settleAttempts(store.database, [settlementOf(reaped)], dying), [null]);
    assert.equal((await found(settledInTime)).status, "completed");
  });
});
