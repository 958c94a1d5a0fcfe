import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { after, before, beforeEach, describe, it } from "node:test";
import { Webhook } from "standardwebhooks";
import { notificationText } from "../../src/api/tasks/notification-view.ts";
import type { Task } from "../../src/domain/task.ts";
import type { TaskRequest } from "../../src/domain/task-copies.ts";
import { formatTaskId, publicTaskId } from "../../src/domain/task-id.ts";
import { until } from "../patience.ts";
import { openTestServer, plainRequest, type TestNode, type TestServer } from "../test-server.ts";
import { type ReceivedCall, startTestTarget, type TestTarget } from "../test-target.ts";

/** Up to 8 times over a day with growing waits. */
const WAITS_SECONDS = [5, 60, 300, 1_800, 7_200, 18_000, 57_600];

const withoutNotifications = ({ notifications: _, ...task }: Task) => task;

describe("completion notifications", () => {
  let server: TestServer;
  let receiver: TestTarget;
  before(async () => {
    server = await openTestServer({ maxRetries: 0 });
    receiver = await startTestTarget();
  });
  after(async () => {
    await receiver.close();
    await server.close();
  });
  beforeEach(async () => {
    server.target.answer = (_call, response) => response.end("{}");
    receiver.answer = (_call, response) => response.end();
    receiver.calls.length = 0;
    await server.database.rows("delete from notifications");
    // What a test before this one let pass is not to count against the living.
    await server.database.rows("update workers set expires_at = clock_timestamp() + interval '15 seconds'");
  });

  const deliver = async (node: TestNode = server) => {
    await node.engine.courier.workOnce();
    await node.engine.courier.finished();
  };
  const create = (request: Partial<TaskRequest> = {}) =>
    server.tasks.create(server.principal, {
      ...plainRequest(server.target.url),
      onCompleteUrl: `${receiver.url}/done?a=1`,
      ...request,
    });
  const rows = () =>
    server.database.rows<{ status: string; attempts: number; last_error: string | null; wait: number }>(
      `select status, attempts, last_error, extract(epoch from next_at - now())::float8 as wait from notifications`,
    );
  const polled = () => ({
    urlTemplate: `${server.target.url}/status`,
    interval: 5,
    statusPath: "status",
    doneValues: ["done"],
    failValues: ["broken"],
    resultPath: "",
    forwardAuth: false,
    maxDuration: 60,
  });
  const poll = async () => {
    await server.advance(5.1);
    await server.engine.poller.workOnce();
    await server.engine.poller.finished();
  };
  const expire = async () => {
    await server.advance(60.1);
    await server.engine.deadlines.expireOnce();
  };

  it("are logged with the task's public id, as are its attempt and its poll", async () => {
    for (const shape of ["queue", "direct"] as const) {
      server.log.length = 0;
      server.target.answer = (_call, response) => response.end('{"status":"done"}');
      const { id } = await create({ shape, pollConfig: polled() });
      await server.dispatchOnce();
      await poll();
      await deliver();

      const lines = server.log.filter(({ message }) => message.endsWith(".settled"));
      assert.deepEqual(
        lines.map(({ message, fields }) => [message, fields.task]),
        ["attempt", "poll", "notification"].map((what) => [`${what}.settled`, publicTaskId({ shape, id })]),
      );
    }
  });

  const ENDINGS: readonly {
    readonly name: string;
    readonly type: string;
    readonly request: () => Partial<TaskRequest>;
    readonly end: (callbackId: string) => Promise<unknown>;
  }[] = [
    { name: "its call is answered 2xx", type: "task.completed", request: () => ({}), end: async () => {} },
    {
      name: "its retries are exhausted",
      type: "task.failed",
      request: () => {
        server.target.answer = (_call, response) => response.writeHead(500).end();
        return { maxRetries: 2 };
      },
      end: async () => {
        for (let retry = 0; retry < 2; retry += 1) {
          await deliver();
          assert.equal(receiver.calls.length, 0, "never per attempt");
          await server.advance(30);
          await server.dispatchOnce();
        }
      },
    },
    {
      name: "a poll finds it done",
      type: "task.completed",
      request: () => ({ pollConfig: polled() }),
      end: async () => {
        await poll();
        await deliver();
        assert.equal(receiver.calls.length, 0, "never per poll");
        server.target.answer = (_call, response) => response.end('{"status":"done"}');
        await poll();
      },
    },
    {
      name: "a poll finds it broken",
      type: "task.failed",
      request: () => ({ pollConfig: polled() }),
      end: () => {
        server.target.answer = (_call, response) => response.end('{"status":"broken"}');
        return poll();
      },
    },
    {
      name: "a callback resolves it",
      type: "task.completed",
      request: () => ({ waitForCallback: true }),
      end: (callbackId) => server.callbacks.resolve(callbackId, "{}"),
    },
    {
      name: "no callback comes in time",
      type: "task.failed",
      request: () => ({ waitForCallback: true, maxWaitSeconds: 60 }),
      end: expire,
    },
    {
      name: "its polling takes too long",
      type: "task.failed",
      request: () => ({ pollConfig: polled() }),
      end: expire,
    },
  ];

  for (const { name, type, request, end } of ENDINGS) {
    it(`send exactly one signed POST when ${name}: ${type}`, async () => {
      const created = await create(request());
      await server.dispatchOnce();
      if (!["completed", "failed"].includes((await server.task(created.id)).status)) {
        await deliver();
        assert.equal(receiver.calls.length, 0);
      }
      await end(created.callback?.id ?? "");
      const task = await server.task(created.id);
      assert.equal(`task.${task.status}`, type);
      await deliver();
      await server.advance(100_000);
      await deliver();

      assert.equal(receiver.calls.length, 1);
      const [call] = receiver.calls as [ReceivedCall];
      assert.equal(call.method, "POST");
      assert.equal(call.path, "/done?a=1");
      assert.equal(call.headers["content-type"], "application/json");
      const { secret } = await server.signingSecrets.get(server.principal);
      new Webhook(secret).verify(call.body, call.headers as Record<string, string>);
      const told = JSON.parse(call.body);
      assert.deepEqual([told.type, told.data.task.id], [type, formatTaskId(created.id)]);
      const [row, ...more] = await rows();
      assert.deepEqual([row?.status, row?.attempts, row?.last_error], ["delivered", 1, null]);
      assert.equal(more.length, 0);
      assert.deepEqual(withoutNotifications(await server.task(created.id)), withoutNotifications(task));
    });
  }

  it("are not sent for a deleted task, or without an on_complete_url", async () => {
    await create({ onCompleteUrl: null });
    const { id } = await create({ delaySeconds: 60 });
    await server.dispatchOnce();
    await server.tasks.remove(server.principal, id);
    await deliver();
    assert.deepEqual(await rows(), []);
    assert.equal(receiver.calls.length, 0);
  });

  it("are tried 8 times within a day with growing delays, then given up", async () => {
    const answers: ((call: ReceivedCall, response: ServerResponse) => void)[] = [
      (_call, response) => response.writeHead(500).end(),
      (_call, response) => response.writeHead(302, { location: `${server.target.url}/elsewhere` }).end(),
      (_call, response) => response.socket?.destroy(),
      (_call, response) => response.writeHead(404).end(),
    ];
    receiver.answer = (call, response) => answers[receiver.calls.length % answers.length]?.(call, response);
    const { id } = await create();
    await server.dispatchOnce();
    const task = await server.task(id);
    const redirected = server.target.calls.length;

    for (const [index, wait] of WAITS_SECONDS.entries()) {
      await deliver();
      assert.equal(receiver.calls.length, index + 1);
      const [row] = await rows();
      assert.equal(row?.status, "pending");
      // A busy machine may take seconds for each step.
      const elapsed = wait - (row?.wait ?? 0);
      assert.ok(elapsed > -1 && elapsed < 20, `${row?.wait} s instead of ${wait} s`);
      if (wait >= 60) {
        await server.advance(wait - 40);
        await deliver();
        assert.equal(receiver.calls.length, index + 1, "not before its time");
      }
      await server.advance(wait);
    }
    await deliver();
    const [row] = await rows();
    assert.equal(receiver.calls.length, 8);
    assert.deepEqual([row?.status, row?.attempts], ["failed", 8]);
    assert.match(row?.last_error ?? "", /\S/);
    await server.advance(1_000_000);
    await deliver();

    assert.equal(receiver.calls.length, 8);
    assert.equal(WAITS_SECONDS.reduce((sum, wait) => sum + wait, 0) <= 86_400, true);
    assert.equal(new Set(receiver.calls.map(({ headers }) => headers["webhook-id"])).size, 1);
    assert.equal(new Set(receiver.calls.map(({ body }) => body)).size, 1);
    assert.equal(server.target.calls.length, redirected, "redirects are not followed");
    const after = await server.task(id);
    assert.deepEqual(withoutNotifications(after), withoutNotifications(task), "it never changes the task");
  });

  it("are delivered by a later try, and not sent again after it", async () => {
    receiver.answer = (_call, response) => response.writeHead(receiver.calls.length < 3 ? 503 : 200).end();
    await create();
    await server.dispatchOnce();
    for (const wait of [0, 5.1, 60.1, 100_000]) {
      await server.advance(wait);
      await deliver();
    }
    assert.equal(receiver.calls.length, 3);
    assert.equal((await rows())[0]?.status, "delivered");
  });

  it("to a hanging receiver delay neither their task nor other notifications", async () => {
    receiver.hold();
    const { id } = await create();
    await server.dispatchOnce();
    await server.engine.courier.workOnce();
    await until(() => receiver.held.length === 1);
    assert.equal((await server.task(id)).status, "completed");
    const other = await startTestTarget();
    await create({ onCompleteUrl: other.url });
    await server.dispatchOnce();
    await server.engine.courier.workOnce();
    await other.received(1);
    receiver.release();
    await server.engine.courier.finished();
    await other.close();
    assert.deepEqual(
      (await rows()).map(({ status }) => status),
      ["delivered", "delivered"],
    );
  });

  it("are delivered by another node when the claiming node dies during the delivery", async () => {
    const dying = await server.openNode();
    const { id } = await create();
    await server.dispatchOnce();
    assert.equal((await server.task(id)).status, "completed");
    // It dies in the middle of its delivery, which nobody answers.
    receiver.hold();
    await dying.engine.courier.workOnce();
    await until(() => receiver.held.length === 1);
    await server.engine.reaper.reapOnce();
    await deliver();
    assert.equal(receiver.calls.length, 1, "while it lives, it is its own");
    await server.database.rows("delete from workers where id = $1", [dying.engine.lease.workerId]);
    await server.engine.reaper.reapOnce();
    await dying.engine.courier.workOnce();
    assert.deepEqual(await server.database.rows("select worker_id from notifications"), [
      { worker_id: null },
    ]);
    receiver.answer = (_call, response) => response.writeHead(500).end();
    await deliver();

    const [first, second] = receiver.calls;
    assert.equal(receiver.calls.length, 2);
    assert.equal(first?.headers["webhook-id"], second?.headers["webhook-id"]);
    // What the dead one is told in the end changes nothing: its right is gone.
    receiver.release();
    await dying.engine.courier.finished();
    const [row] = await rows();
    assert.deepEqual([row?.status, row?.attempts], ["pending", 2]);
    receiver.answer = (_call, response) => response.end();
    await server.advance(61);
    await deliver();
    assert.equal(receiver.calls.length, 3);
    assert.equal((await rows())[0]?.status, "delivered");
    await dying.stop();
  });

  it("are sent when the reaper fails the task", async () => {
    server.target.hold();
    const { id } = await create();
    await server.look();
    await until(() => server.target.held.length === 1);
    await server.database.rows("update tasks set interruptions = 2 where id = $1", [id]);
    const dead = await server.openNode();
    await server.database.rows(
      `with given as (update tasks set worker_id = $2 where id = $1 returning team_id, id)
       insert into claim_batches (worker_id, team_id, task_ids) select $2, team_id, array[id] from given`,
      [id, dead.engine.lease.workerId],
    );
    await dead.stop();
    await server.engine.reaper.reapOnce();
    server.target.release();
    await server.dispatchOnce();
    assert.equal((await server.task(id)).failureReason, "worker_lost");
    await deliver();
    assert.equal(receiver.calls.length, 1);
    assert.match(receiver.calls[0]?.body ?? "", /task\.failed/);
  });

  it("are delivered once each when two nodes check at the same time", async () => {
    const other = await server.openNode();
    for (let index = 0; index < 40; index += 1) await create();
    await server.dispatchOnce();
    await Promise.all([deliver(), deliver(other), deliver(), deliver(other)]);
    assert.equal(receiver.calls.length, 40);
    assert.equal(new Set(receiver.calls.map(({ headers }) => headers["webhook-id"])).size, 40);
    await other.stop();
  });

  it("have the body { type, timestamp, data: { task } }, with the task in its shape", async () => {
    server.target.answer = (call, response) => response.writeHead(call.path === "/bad" ? 500 : 200).end("{}");
    const payload = '{"n":12345678901234567890}';
    const a = await create({ call: { method: "POST", url: server.target.url, headers: {}, body: payload } });
    const b = await create({
      shape: "direct",
      call: { method: "PUT", url: `${server.target.url}/bad`, headers: {}, body: "text" },
    });
    await server.dispatchOnce();
    const [taskA, taskB] = [await server.task(a.id), await server.task(b.id)];
    const textA = notificationText(taskA);
    const bodyA = JSON.parse(textA);
    const bodyB = JSON.parse(notificationText(taskB));

    assert.deepEqual(Object.keys(bodyA), ["type", "timestamp", "data"]);
    assert.equal(bodyA.type, "task.completed");
    assert.equal(bodyA.timestamp, taskA.completedAt?.toISOString());
    assert.deepEqual(Object.keys(bodyA.data), ["task"]);
    assert.equal(bodyA.data.task.id, formatTaskId(a.id));
    assert.equal(bodyA.data.task.status, "completed");
    assert.equal(bodyA.data.task.attempts[0].response_code, 200);
    assert.ok(textA.includes(`"payload":${payload}`), "the payload as it was sent");

    assert.equal(bodyB.type, "task.failed");
    assert.equal(bodyB.data.task.id, b.id);
    assert.equal(bodyB.data.task.targetUrl, `${server.target.url}/bad`);
    assert.equal(bodyB.data.task.failureReason, "retries_exhausted");
    assert.equal(bodyB.data.task.attempts[0].responseCode, 500);
    assert.equal(bodyB.data.task.callbackId, undefined);
  });
});
