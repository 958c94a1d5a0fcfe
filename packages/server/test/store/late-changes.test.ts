import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { removeOldBulks } from "../../src/features/bulk-actions/store.ts";
import { forgetFlows } from "../../src/features/flow-control/store.ts";
import { removeOldMessageKeys } from "../../src/features/qstash/store.ts";
import { takeMessageKeys } from "../../src/features/qstash/store-message-keys.ts";
import { beginSimulated, NOW, planSteps, readSteps } from "../../src/features/sandbox/store.ts";
import { newUuid } from "../../src/service/new-uuid.ts";
import { removeOldAuditEvents } from "../../src/store/identity/audit-events.ts";
import { removeExpiredCredentials } from "../../src/store/identity/expired-credentials.ts";
import { takeKeys } from "../../src/store/tasks/bound-keys.ts";
import { removeOldDedupeKeys } from "../../src/store/tasks/dedupe-keys.ts";
import { removeOldEvents } from "../../src/store/tasks/event-reads.ts";
import { removeOldKeys } from "../../src/store/tasks/idempotency-keys.ts";
import { heldNotifications } from "../../src/store/tasks/notifications.ts";
import { wakeHeldSandboxTasks, wakeSandboxFlow } from "../../src/store/tasks/sandbox-flows.ts";
import { cancelTask } from "../../src/store/tasks/task-cancellations.ts";
import { claimDueTasks } from "../../src/store/tasks/task-claims.ts";
import { expireTasks } from "../../src/store/tasks/task-deadlines.ts";
import { removeExpiredTasks } from "../../src/store/tasks/task-removals.ts";
import { retryTask } from "../../src/store/tasks/task-retries.ts";
import { reapTasks } from "../../src/store/tasks/task-returns.ts";
import { settleAttempts } from "../../src/store/tasks/task-settlements.ts";
import { heldDeliveries, removeOldDeliveries } from "../../src/store/tasks/webhook-deliveries.ts";
import {
  registerWorker,
  removeExpiredWorkers,
  removeWorker,
  renewWorker,
} from "../../src/store/tasks/workers.ts";
import { until } from "../patience.ts";
import { flowOf } from "../test-flow.ts";
import { createGate, type TextDatabase, type TextSql } from "../test-sql.ts";
import {
  claimRequest,
  countBothWays,
  live,
  newTask,
  openTestStore,
  settlementOf,
  type TestStore,
} from "../test-store.ts";

/*
 * Each statement that removes or takes rows runs beside a transaction that has changed one of them and not committed yet. The
 * statement sees the row as it was; the row that it gets after the commit no longer fits, and must be left alone.
 */

const FAILED = { kind: "failed", reason: "retries_exhausted", error: "no", result: null } as const;

const LOCK_WAITS = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

/** `late` sees the rows as they are before `change`. It waits for the commit of `change`, unless it skips locked rows. */
async function beside(
  database: TextDatabase,
  change: (sql: TextSql) => Promise<unknown>,
  late: () => Promise<unknown>,
): Promise<void> {
  const gate = createGate();
  const changed = database.transaction(async (sql) => {
    await change(sql);
    await gate.wait();
  });
  await Promise.race([gate.reached, changed]);
  let isOver = false;
  const removal = late().finally(() => {
    isOver = true;
  });
  try {
    await until(async () => isOver || (await database.rows(LOCK_WAITS)).length > 0);
  } finally {
    gate.open();
  }
  await changed;
  await removal;
}

describe("a row that changes while a statement waits for it", () => {
  let store: TestStore;
  let database: TextDatabase;
  let teamId: number;
  before(async () => {
    store = await openTestStore();
    database = store.database;
    teamId = await store.openTeam();
  });
  after(() => store.close());

  async function only<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row> {
    const rows = await database.rows<Row>(text, values);
    assert.equal(rows.length, 1, `${rows.length} rows of ${text}`);
    return rows[0] as Row;
  }

  it("is not deleted by retention when it is a task that is retried", async () => {
    const queue = await store.openQueue();
    const workerId = await store.openWorker();
    await store.insert(queue, {});
    const claims = await store.claim(queue, { workerId });
    await settleAttempts(
      database,
      claims.map((claim) => settlementOf(claim, FAILED)),
      workerId,
    );
    const { id } = await only<{ id: string }>(
      `update tasks set id = ('00000000' || substr(id::text, 9))::uuid, completed_at = now() - interval '31 days'
        where queue_id = $1 returning id`,
      [queue.id],
    );

    await beside(
      database,
      (sql) => retryTask(sql, live(queue.teamId), id, { delaySeconds: 0, priority: null }),
      () => removeExpiredTasks(database, 30, 100),
    );

    assert.deepEqual(await only("select status from tasks where id = $1", [id]), { status: "pending" });
    const { tallied, counted } = await countBothWays(database);
    assert.deepEqual(tallied, counted);
  });

  it("is not deleted when it is an idempotency key that a request takes again", async () => {
    const queue = await store.openQueue();
    const task = { ...newTask(queue), idempotency: { key: "k", requestHash: "00", callbackSealed: null } };
    await takeKeys(database, [{ ...task, id: newUuid() }]);
    await database.rows("update idempotency_keys set created_at = now() - interval '25 hours'");

    await beside(
      database,
      (sql) => takeKeys(sql, [task]),
      () => removeOldKeys(database, 100),
    );

    assert.deepEqual(await only("select task_id from idempotency_keys"), { task_id: task.id });
  });

  it("is not deleted when it is the key of a message that a request takes again", async () => {
    const [first, second] = [newUuid(), newUuid()];
    const key = { teamId, sandbox: false, key: "00" };
    await takeMessageKeys(database, [{ ...key, taskId: first }]);
    await database.rows("update message_keys set created_at = now() - interval '11 minutes'");

    await beside(
      database,
      (sql) => takeMessageKeys(sql, [{ ...key, taskId: second }]),
      () => removeOldMessageKeys(database, 100),
    );

    assert.deepEqual(await only("select task_id from message_keys"), { task_id: second });
  });

  for (const [name, made, changed, late] of [
    [
      "a deduplication key",
      `insert into dedupe_keys (team_id, sandbox, key, free_at) values ($1, false, 'k', now() - interval '1 hour')`,
      "update dedupe_keys set free_at = now() + interval '1 hour'",
      () => removeOldDedupeKeys(database, 100),
    ],
    [
      "an event",
      `insert into events (team_id, sandbox, queue, at, entries) values ($1, false, 'q', now() - interval '30 days', '[]')`,
      "update events set at = now()",
      () => removeOldEvents(database, 24, 100),
    ],
    [
      "an audit event",
      `insert into audit_events (team_id, id, at, actor_kind, actor_id, actor_name, action, target)
       values ($1, gen_random_uuid(), now() - interval '500 days', 'session', 'a', 'a', 'a', 'a')`,
      "update audit_events set at = now()",
      () => removeOldAuditEvents(database, 400, 100),
    ],
    [
      "a webhook delivery",
      `insert into webhook_deliveries (team_id, id, webhook_id, event, body, created_at)
       values ($1, gen_random_uuid(), gen_random_uuid(), 'e', '{}', now() - interval '500 days')`,
      "update webhook_deliveries set created_at = now()",
      () => removeOldDeliveries(database, 30, 100),
    ],
    [
      "a bulk action",
      `insert into bulks (team_id, id, action, environment, rate, status, matched, ended_at)
       values ($1, gen_random_uuid(), 'retry', 'live', 1, 'completed', 1, now() - interval '500 days')`,
      "update bulks set ended_at = null",
      () => removeOldBulks(database, 30, 100),
    ],
    [
      "a sign-in link",
      `insert into sign_in_links (email, hash, expires_at)
       select 'a@example.com', '', now() - interval '1 minute' where $1::integer > 0`,
      "update sign_in_links set expires_at = now() + interval '1 hour'",
      () => removeExpiredCredentials(database, 100),
    ],
    [
      "a flow",
      "insert into flows (team_id, sandbox, key, used_at) values ($1, false, 'k', now() - interval '30 hours')",
      "update flows set used_at = now()",
      () => forgetFlows(database, 100),
    ],
    [
      "a worker",
      "insert into workers (name, expires_at) select 'w', now() - interval '1 minute' where $1::integer > 0",
      "update workers set expires_at = now() + interval '1 hour'",
      () => removeExpiredWorkers(database),
    ],
  ] as const)
    it(`is not deleted for its age when it is ${name}`, async () => {
      const [, table = ""] = /insert into (\w+)/.exec(made) ?? [];
      await database.rows(`delete from ${table}`);
      await database.rows(made, [teamId]);

      await beside(database, (sql) => sql.rows(changed), late);

      await only(`select 1 from ${table}`);
    });

  it("does not expire when it is a task whose deadline is moved", async () => {
    const queue = await store.openQueue();
    const [id] = await store.insert(queue, { expiresInSeconds: 60 });
    await database.rows("update tasks set deadline_at = now() where id = $1", [id]);

    await beside(
      database,
      (sql) => sql.rows("update tasks set deadline_at = now() + interval '1 hour' where id = $1", [id]),
      () => expireTasks(database, 100, 0),
    );

    assert.deepEqual(await only("select status from tasks where id = $1", [id]), { status: "pending" });
  });

  it("keeps its new worker when it is a task of a dead one", async () => {
    const queue = await store.openQueue();
    const dead = await store.openWorker();
    const [id] = await store.insert(queue, {});
    await store.claim(queue, { workerId: dead });
    await removeWorker(database, dead);
    let young = 0;

    await beside(
      database,
      async (sql) => {
        await reapTasks(sql, dead);
        young = await registerWorker(sql, "young", 60_000);
        await claimDueTasks(sql, await claimRequest(sql, queue, { workerId: young }));
      },
      () => reapTasks(database, dead),
    );

    const task = await only("select status, worker_id::integer as worker from tasks where id = $1", [id]);
    assert.deepEqual(task, { status: "active", worker: young });
  });

  for (const [table, held, made] of [
    [
      "notifications",
      heldNotifications,
      "insert into notifications (team_id, id, task_id, url, worker_id) values ($1, gen_random_uuid(), gen_random_uuid(), 'u', 0)",
    ],
    [
      "webhook_deliveries",
      heldDeliveries,
      "insert into webhook_deliveries (team_id, id, webhook_id, event, body, worker_id) values ($1, gen_random_uuid(), gen_random_uuid(), 'e', '{}', 0)",
    ],
  ] as const)
    it(`keeps its new worker when it is one of the ${table} of a dead one`, async () => {
      await database.rows(`delete from ${table}`);
      await database.rows(made, [teamId]);

      await beside(
        database,
        async (sql) => {
          await held.reap(sql);
          await sql.rows(
            "insert into workers (name, expires_at) values ('young', now() + interval '1 hour')",
          );
          await sql.rows(`update ${table} set worker_id = (select max(id) from workers), fence = fence + 1`);
        },
        () => held.reap(database),
      );

      const { worker_id: workerId } = await only<{ worker_id: string | null }>(
        `select worker_id from ${table}`,
      );
      assert.notEqual(workerId, null);
      assert.ok(await renewWorker(database, Number(workerId), 60_000));
    });

  for (const [name, wake] of [
    ["a change of its flow", (key: string) => wakeSandboxFlow(database, teamId, key)],
    ["the start of a node", () => wakeHeldSandboxTasks(database)],
  ] as const)
    it(`keeps the end of its call as its next step when it is a simulated task that ${name} wakes`, async () => {
      const queue = await store.openQueue({}, teamId);
      const simulate = {
        outcome: "complete",
        afterSeconds: 60,
        responseCode: null,
        body: "",
        attempts: 1,
      } as const;
      const key = `woken by ${name}`;
      const [id = ""] = await store.insert(queue, {
        sandbox: true,
        simulate,
        ...flowOf(key, { concurrency: 1 }),
      });
      await database.rows("update simulations set next_at = null where task_id = $1", [id]);

      await beside(
        database,
        async (sql) => {
          const [held] = await readSteps(sql, teamId, 0, [id]);
          assert.ok(held);
          await beginSimulated(sql, [held]);
          await planSteps(sql, NOW, [{ claim: held.claim, waitMs: 60_000 }]);
        },
        () => wake(key),
      );

      const { status, waits } = await only<{ status: string; waits: boolean }>(
        `select t.status, s.next_at > t.attempt_started_at + interval '50 seconds' as waits
           from tasks t join simulations s on s.task_id = t.id where t.id = $1`,
        [id],
      );
      assert.deepEqual({ status, waits }, { status: "active", waits: true });
    });

  for (const [name, lineAt, isCancelled, change] of [
    [
      "of a cancelled task that is retried and begins again",
      "'-infinity'",
      true,
      "update flow_line_tasks set retries = retries + 1",
    ],
    [
      "of a flow that becomes ordered again",
      "null",
      false,
      `with kept as (update flow_line_tasks set retries = retries) update flows set line_at = '-infinity'`,
    ],
  ] as const)
    it(`is not deleted when it is the place in a line ${name}`, async () => {
      const queue = await store.openQueue();
      const [id = ""] = await store.insert(queue, flowOf("line", { ordered: true }));
      await database.rows("delete from flow_line_tasks");
      await database.rows(`update flows set line_at = ${lineAt} where key = 'line'`);
      if (isCancelled) await cancelTask(database, live(queue.teamId), id);
      await database.rows(
        "insert into flow_line_tasks (team_id, sandbox, flow, task_id, retries) values ($1, false, 'line', $2, 0)",
        [queue.teamId, id],
      );

      await beside(
        database,
        (sql) => sql.rows(change),
        () => forgetFlows(database, 100),
      );

      await only("select 1 from flow_line_tasks where task_id = $1", [id]);
    });
});
