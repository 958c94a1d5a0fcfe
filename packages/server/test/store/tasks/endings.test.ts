import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Claim } from "../../../src/domain/claim.ts";
import type { PollConfig } from "../../../src/domain/poll/poll-config.ts";
import { FRESH_POLL } from "../../../src/domain/poll/poll-verdict.ts";
import { type FollowUp, NO_FOLLOW_UP } from "../../../src/domain/task.ts";
import type { Verdict } from "../../../src/domain/verdict.ts";
import { callbackStatus, resolveCallback } from "../../../src/store/tasks/callbacks.ts";
import { findTakenKey } from "../../../src/store/tasks/idempotency-keys.ts";
import { markQueueDeleted } from "../../../src/store/tasks/queues.ts";
import { cancelTask } from "../../../src/store/tasks/task-cancellations.ts";
import { expireTasks } from "../../../src/store/tasks/task-deadlines.ts";
import { claimDuePolls, type PollStep, settlePolls } from "../../../src/store/tasks/task-polls.ts";
import { reapTasks, releaseTasks } from "../../../src/store/tasks/task-returns.ts";
import { settleAttempts } from "../../../src/store/tasks/task-settlements.ts";
import { removeWorker } from "../../../src/store/tasks/workers.ts";
import {
  countBothWays,
  openTestStore,
  RETRY,
  type StoredQueue,
  settlementOf,
  type TestStore,
} from "../../test-store.ts";

const HASH = "ab".repeat(32);
const RESULT = { statusCode: 200, headers: {}, body: "{}", duration: 0 };
const FAILED: Verdict = { kind: "failed", reason: "blocked", error: "refused", result: null };
const CONFIG: PollConfig = {
  urlTemplate: "https://third.test/job",
  interval: 1,
  statusPath: "status",
  doneValues: ["done"],
  failValues: [],
  resultPath: "",
  forwardAuth: false,
  maxDuration: 60,
};
const POLLING: Verdict = {
  kind: "polling",
  plan: {
    status: { url: CONFIG.urlTemplate, headers: {}, withheld: [] },
    result: null,
    fetching: false,
    state: FRESH_POLL,
  },
};
const POLLED: FollowUp = { ...NO_FOLLOW_UP, pollConfig: CONFIG };
const CALLED_BACK: FollowUp = { ...NO_FOLLOW_UP, waitForCallback: true };

describe("the end of a task", () => {
  let store: TestStore;
  let workerId: number;
  before(async () => {
    store = await openTestStore();
    workerId = await store.openWorker();
  });
  after(() => store.close());

  const settle = (claim: Claim, verdict?: Verdict) =>
    settleAttempts(store.database, [settlementOf(claim, verdict)], workerId);

  const poll = async (claim: Claim, step: PollStep) => {
    await settle(claim, POLLING);
    await store.database.rows("update tasks set run_at = now(), poll_at = now() where id = $1", [claim.id]);
    const [due] = await claimDuePolls(store.database, workerId, [{ teamId: claim.teamId, most: 1 }]);
    assert.ok(due);
    const [settled] = await settlePolls(store.database, [{ claim: due, step }], workerId);
    assert.ok(settled);
  };

  const expire = async (claim: Claim, verdict: Verdict) => {
    await settle(claim, verdict);
    await store.database.rows("update tasks set deadline_at = now() where id = $1", [claim.id]);
    assert.equal((await expireTasks(store.database, 10, workerId)).length, 1);
  };

  interface Ending {
    readonly status: "completed" | "failed" | "cancelled";
    readonly follow?: FollowUp;
    /** An id that was used or whose time is over is as if it had never been; any other says what became of the task. */
    readonly callback: "known" | "forgotten";
    readonly end: (claim: Claim, queue: StoredQueue) => Promise<unknown>;
  }
  const endings: Record<string, Ending> = {
    "by the success of its call": {
      status: "completed",
      callback: "known",
      end: (claim) => settle(claim),
    },
    "by the failure of its call": {
      status: "failed",
      callback: "known",
      end: (claim) => settle(claim, FAILED),
    },
    "by a retry in a deleted queue": {
      status: "failed",
      callback: "known",
      async end(claim, queue) {
        await markQueueDeleted(store.database, queue.teamId, queue.name);
        await settle(claim, RETRY);
      },
    },
    "by its callback": {
      status: "completed",
      follow: CALLED_BACK,
      callback: "forgotten",
      async end(claim) {
        await settle(claim, { kind: "waiting" });
        assert.ok(await resolveCallback(store.database, HASH, RESULT));
      },
    },
    "by its callback while it is polled": {
      status: "completed",
      follow: POLLED,
      callback: "forgotten",
      async end(claim) {
        await settle(claim, POLLING);
        assert.ok(await resolveCallback(store.database, HASH, RESULT));
      },
    },
    "by a poll that finds the job done": {
      status: "completed",
      follow: POLLED,
      callback: "known",
      end: (claim) => poll(claim, { kind: "completed", result: RESULT }),
    },
    "by a poll that finds the job failed": {
      status: "failed",
      follow: POLLED,
      callback: "known",
      end: (claim) => poll(claim, { kind: "failed", reason: "poll_failed", error: "no", result: null }),
    },
    "by the deadline of its wait": {
      status: "failed",
      follow: CALLED_BACK,
      callback: "forgotten",
      end: (claim) => expire(claim, { kind: "waiting" }),
    },
    "by the deadline of its polling": {
      status: "failed",
      follow: POLLED,
      callback: "forgotten",
      end: (claim) => expire(claim, POLLING),
    },
    "by the loss of its third worker": {
      status: "failed",
      callback: "known",
      async end(claim) {
        await store.database.rows("update tasks set interruptions = 2 where id = $1", [claim.id]);
        const dead = await store.openWorker();
        await removeWorker(store.database, dead);
        await store.database.rows(
          `with given as (update tasks set worker_id = $2 where id = $1 returning team_id, id)
           insert into claim_batches (worker_id, team_id, task_ids) select $2, team_id, array[id] from given`,
          [claim.id, dead],
        );
        assert.equal((await reapTasks(store.database, workerId)).length, 1);
      },
    },
    "by a cancel during its call": {
      status: "cancelled",
      callback: "known",
      end: (claim) => cancelTask(store.database, { teamId: claim.teamId, environment: "live" }, claim.id),
    },
    "by a cancel while it waits": {
      status: "cancelled",
      follow: CALLED_BACK,
      callback: "known",
      async end(claim) {
        await settle(claim, { kind: "waiting" });
        await cancelTask(store.database, { teamId: claim.teamId, environment: "live" }, claim.id);
      },
    },
    "by a cancel while it is polled": {
      status: "cancelled",
      follow: POLLED,
      callback: "known",
      async end(claim) {
        await settle(claim, POLLING);
        await cancelTask(store.database, { teamId: claim.teamId, environment: "live" }, claim.id);
      },
    },
    "by its release into a deleted queue": {
      status: "failed",
      callback: "known",
      async end(claim, queue) {
        await markQueueDeleted(store.database, queue.teamId, queue.name);
        await releaseTasks(store.database, [claim], "sent", workerId);
      },
    },
  };

  for (const [name, { status, follow = NO_FOLLOW_UP, callback, end }] of Object.entries(endings)) {
    it(`${name} clears worker and callback secret, notifies once, and keeps the key`, async () => {
      const queue = await store.openQueue();
      const [id = ""] = await store.insert(queue, {
        follow,
        callback: { hash: HASH, sealed: "5ea1" },
        onCompleteUrl: "https://caller.test/done",
        idempotency: { key: `once-${queue.name}`, requestHash: "00", callbackSealed: null },
      });
      const [claim] = await store.claim(queue, { workerId });
      assert.ok(claim);

      await end(claim, queue);

      const [row] = await store.database.rows<{ fence: number }>(
        `select status, completed_at is not null as "hasTime", deadline_at as deadline, poll, worker_id as worker,
                attempt_started_at as attempt, encode(callback_sealed, 'hex') as sealed, fence
           from tasks where id = $1`,
        [id],
      );
      assert.ok(row !== undefined && row.fence > claim.fence);
      assert.deepEqual(row, {
        status,
        hasTime: true,
        deadline: null,
        poll: null,
        worker: null,
        attempt: null,
        sealed: status === "completed" ? null : "5ea1",
        fence: row.fence,
      });
      assert.equal(await callbackStatus(store.database, HASH), callback === "known" ? status : null);
      const told = await store.database.rows("select url from notifications where task_id = $1", [id]);
      assert.deepEqual(told, [{ url: "https://caller.test/done" }]);
      const key = await findTakenKey(store.database, queue.teamId, `once-${queue.name}`, false);
      assert.equal(key?.taskId, id);
      const { tallied, counted } = await countBothWays(store.database);
      assert.deepEqual(tallied, counted);
      await store.database.rows("update tasks set callback_hash = null");
    });
  }

  it("alone clears the callback secret: a retry, a poll and a release keep it", async () => {
    const queue = await store.openQueue();
    const sealed = async (id: string) => {
      const [row] = await store.database.rows<{ sealed: string | null }>(
        "select encode(callback_sealed, 'hex') as sealed from tasks where id = $1",
        [id],
      );
      return row?.sealed;
    };
    await store.insert(queue, { callback: { hash: HASH, sealed: "5ea1" } });
    const [retried] = await store.claim(queue, { workerId });
    assert.ok(retried);
    await settle(retried, RETRY);
    assert.equal(await sealed(retried.id), "5ea1");

    await store.insert(queue, { follow: POLLED, callback: { hash: HASH, sealed: "5ea1" } });
    const [polled] = await store.claim(queue, { workerId });
    assert.ok(polled && POLLING.kind === "polling");
    await poll(polled, { kind: "again", plan: POLLING.plan, waitMs: 1000 });
    assert.equal(await sealed(polled.id), "5ea1");

    await store.insert(queue, { callback: { hash: HASH, sealed: "5ea1" } });
    const [returned] = await store.claim(queue, { workerId });
    assert.ok(returned);
    await releaseTasks(store.database, [returned], "not_sent", workerId);
    assert.equal(await sealed(returned.id), "5ea1");
  });
});
