import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import type { PollConfig } from "../../src/domain/poll/poll-config.ts";
import { Problem } from "../../src/domain/problem.ts";
import type { TaskRequest } from "../../src/domain/task-copies.ts";
import { parseTaskId } from "../../src/domain/task-id.ts";
import { until } from "../patience.ts";
import { openTestServer, plainRequest, QUEUE, type TestNode, type TestServer } from "../test-server.ts";
import { createGate } from "../test-sql.ts";
import { countBothWays } from "../test-store.ts";

const problem = (message: string, status: number) => (error: unknown) => {
  assert.ok(error instanceof Problem);
  assert.deepEqual([error.message, error.status], [message, status]);
  return true;
};

describe("cancelling a task", () => {
  let server: TestServer;
  let second: TestNode;
  before(async () => {
    server = await openTestServer({ concurrency: 3, maxRetries: 0 });
    second = await server.openNode();
    for (const node of [server, second]) await node.engine.lease.renewOnce();
  });
  after(() => server.close());
  afterEach(async () => {
    server.target.answer = (_call, response) => response.end("{}");
    server.target.release();
    for (const { databases } of [server, second]) databases.claim.after = () => {};
    await server.dispatchEverywhere();
    const { tallied, counted } = await countBothWays(server.database);
    assert.deepEqual(tallied, counted);
  });

  const cancel = (id: string, node: TestNode = server) => node.tasks.cancel(server.principal, id);
  const at = (name: string): Partial<TaskRequest> => ({
    call: { method: "POST", url: `${server.target.url}/${name}`, headers: {}, body: "{}" },
  });
  const callsTo = (name: string) => server.target.calls.filter(({ path }) => path === `/${name}`);

  async function holderOf(id: string): Promise<{ held_by: number | null }> {
    const [row] = await server.database.rows<{ held_by: number | null }>(
      "select worker_id::integer as held_by from tasks where id = $1",
      [id],
    );
    return row ?? { held_by: null };
  }

  /** A task whose call is held by the target, and the node that makes it. */
  async function heldCall(name: string) {
    server.target.hold();
    const before = server.target.calls.length;
    const id = await server.submit(at(name));
    await server.look();
    await server.target.received(before + 1);
    return id;
  }

  /** How its attempts ended, as the log tells. A call that nobody breaks off ends too, by its own timeout. */
  const endsOf = (id: string) =>
    server.log
      .filter(
        ({ message, fields }) => /^attempt\.(aborted|settled)$/.test(message) && isTask(fields.task, id),
      )
      .map(({ message }) => message);
  const isTask = (told: unknown, id: string) => told === id || parseTaskId(String(told)) === id;

  it("ends a pending task without a call, and counts it as cancelled in its queue", async () => {
    const before = (await server.queues.get(server.principal, QUEUE)).stats.cancelled;
    const id = await server.submit({ delaySeconds: 60, ...at("pending") });

    const task = await cancel(id);

    assert.deepEqual([task.status, task.error, task.failureReason], ["cancelled", null, null]);
    assert.ok(task.completedAt);
    await server.advance(3600);
    await server.dispatchOnce();
    assert.equal(callsTo("pending").length, 0);
    assert.equal((await server.queues.get(server.principal, QUEUE)).stats.cancelled, before + 1);
  });

  it("is refused for an ended task and for another team's task", async () => {
    const completed = await server.submit();
    await server.dispatchEverywhere();
    const cancelled = await server.submit({ delaySeconds: 60 });
    await cancel(cancelled);
    const guest = await server.openTeam();

    await assert.rejects(cancel(completed), problem("Task has already ended (current: completed)", 409));
    await assert.rejects(cancel(cancelled), problem("Task has already ended (current: cancelled)", 409));
    await assert.rejects(server.tasks.cancel(guest, completed), problem("Task not found", 404));
  });

  it("aborts the call in flight and frees its slot", async () => {
    const id = await heldCall("under-way");
    const broken = server.target.broken(1);

    const task = await cancel(id);
    await broken;
    for (const { engine } of [server, second]) await engine.attempts.finished();

    assert.deepEqual(endsOf(id), ["attempt.aborted"]);
    assert.deepEqual(
      task.attempts.map(({ status, responseCode, phase }) => [status, responseCode, phase]),
      [["aborted", null, "sent"]],
    );
    assert.ok((task.attempts[0]?.durationMs ?? -1) >= 0);
    assert.deepEqual((await server.task(id)).attempts, task.attempts);
    server.target.answer = (_call, response) => response.end("{}");
    const ids = await Promise.all([1, 2, 3].map(() => server.submit()));
    await server.dispatchEverywhere();
    for (const next of ids) assert.equal((await server.task(next)).status, "completed");
  });

  it("aborts a call that another node makes, and answers after that node has dropped it", async () => {
    const id = await heldCall("elsewhere");
    assert.equal(second.engine.attempts.count + server.engine.attempts.count, 1);
    const other = server.engine.attempts.count === 1 ? second : server;

    await cancel(id, other);

    assert.ok(other.receivedHints.some((message) => message.startsWith(`dropped ${id} `)));
    await server.engine.attempts.finished();
    await second.engine.attempts.finished();
    assert.deepEqual(endsOf(id), ["attempt.aborted"]);
    assert.equal((await server.task(id)).status, "cancelled");
  });

  it("prevents the call of a claim whose result has not reached its node yet", async () => {
    const id = await server.submit({ ...at("on-its-way"), delaySeconds: 60 });
    await server.advance(61);
    const gates = [server, second].map((node) => {
      const gate = createGate();
      node.databases.claim.after = (statement) => (statement === "claim_due_tasks" ? gate.wait() : undefined);
      return { ...gate, node };
    });
    const looking = server.look();
    await Promise.race(gates.map(({ reached }) => reached));
    await until(async () => {
      if ((await server.task(id)).status !== "pending") return true;
      await second.look();
      return false;
    });
    const { held_by } = await holderOf(id);
    const other = server.engine.lease.workerId === held_by ? second : server;

    await cancel(id, other);
    for (const gate of gates) gate.open();
    await looking;
    for (const { engine } of [server, second]) await engine.attempts.finished();

    assert.equal(callsTo("on-its-way").length, 0);
    assert.equal((await server.task(id)).status, "cancelled");
  });

  it("aborts the call at the node's next reconciliation when the hint was lost", async () => {
    const id = await heldCall("untold");
    const broken = server.target.broken(2);
    const holder = server.engine.attempts.count === 1 ? server : second;
    await server.database.rows(
      `update tasks set status = 'cancelled', list_key = 'cancelled', completed_at = now(), worker_id = null, fence = fence + 1,
                        attempt_started_at = null where id = $1`,
      [id],
    );
    await server.database.rows(
      `update queue_tallies set active = active - 1, cancelled = cancelled + 1
        where ctid = (select ctid from queue_tallies where worker_id > 0 limit 1)`,
    );

    await holder.engine.attempts.reconcileOnce();
    await holder.engine.attempts.finished();

    await broken;
    assert.deepEqual(endsOf(id), ["attempt.aborted"]);
  });

  it("leaves task and attempt consistent when it races with the answer to the call", async () => {
    // Which of them wins is the machine's to decide; each is given the start in every other round.
    for (let round = 0; round < 20; round += 1) {
      const id = await heldCall(`race-${round}`);
      if (round % 2 === 0) server.target.release();
      const cancelling = cancel(id).then(
        () => true,
        () => false,
      );
      if (round % 2 === 1) server.target.release();
      const won = await cancelling;
      await server.engine.attempts.finished();
      await second.engine.attempts.finished();
      const task = await server.task(id);
      assert.equal(task.status, won ? "cancelled" : "completed");
      assert.deepEqual(
        task.attempts.map(({ status }) => status),
        [won ? "aborted" : "success"],
      );
    }
  });

  it("sends task.cancelled to on_complete_url if the task has one", async () => {
    const id = await server.submit({ delaySeconds: 60, onCompleteUrl: `${server.target.url}/told` });

    await cancel(id);
    await server.engine.courier.workOnce();
    await server.engine.courier.finished();

    const [told] = callsTo("told");
    assert.match(told?.body ?? "", /^\{"type":"task\.cancelled","timestamp":"2/);
  });

  it("makes a later callback fail with 409 and the task's state", async () => {
    const request = { ...plainRequest(server.target.url), waitForCallback: true };
    const { id, callback } = await server.tasks.create(server.principal, request);
    await server.dispatchEverywhere();
    assert.equal((await server.task(id)).status, "waiting");

    await cancel(id);

    await assert.rejects(
      server.callbacks.resolve(callback?.id ?? "", "{}"),
      problem("Task is not in waiting/polling state (current: cancelled)", 409),
    );
  });

  it("sends the provider of a polled job one cancel request, with the poll's credentials", async () => {
    server.target.answer = (_call, response) => response.end(JSON.stringify({ id: "job-1" }));
    const pollConfig: PollConfig = {
      urlTemplate: `${server.target.url}/jobs/{startResult.body.id}`,
      cancelUrlTemplate: `${server.target.url}/jobs/{startResult.body.id}/cancel`,
      cancelMethod: "PUT",
      interval: 5,
      statusPath: "status",
      doneValues: ["done"],
      failValues: [],
      resultPath: "",
      forwardAuth: true,
      maxDuration: 600,
    };
    const headers = { authorization: "Bearer third-party" };
    const call = { method: "POST" as const, url: server.target.url, headers, body: "{}" };
    const id = await server.submit({ shape: "direct", pollConfig, call });
    await server.dispatchEverywhere();
    assert.equal((await server.task(id)).status, "polling");

    assert.equal((await cancel(id)).status, "cancelled");
    await server.engine.cancellations.finished();

    const [told, ...more] = callsTo("jobs/job-1/cancel");
    assert.deepEqual(
      [told?.method, told?.headers.authorization, told?.body, more.length],
      ["PUT", "Bearer third-party", "", 0],
    );
    await server.advance(5);
    await server.engine.poller.workOnce();
    await server.engine.poller.finished();
    assert.equal(callsTo("jobs/job-1").length, 0);
  });
});
