import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { Problem } from "../../src/domain/problem.ts";
import { createTaskChanges } from "../../src/domain/task-changes.ts";
import { systemTime } from "../../src/server/system-time.ts";
import { createCallbackService } from "../../src/service/tasks/callback-service.ts";
import { openTestServer, plainRequest, type TestServer } from "../test-server.ts";
import { watchDatabase } from "../test-sql.ts";

describe("callbacks", () => {
  let server: TestServer;
  let source = 0;
  before(async () => {
    server = await openTestServer({ maxRetries: 0 });
  });
  after(() => server.close());
  beforeEach(() => {
    server.target.answer = (_call, response) => response.end("{}");
    source += 1;
  });

  const from = () => `192.0.2.${source}`;
  const waiting = async (maxWaitSeconds = 3600) => {
    const created = await server.tasks.create(server.principal, {
      ...plain(),
      shape: "direct",
      waitForCallback: true,
      maxWaitSeconds,
    });
    await server.dispatchOnce();
    return { id: created.id, callbackId: created.callback?.id ?? "" };
  };
  const plain = () => plainRequest(server.target.url);
  const refused = (work: Promise<unknown>, text: string) =>
    assert.rejects(work, (error: unknown) => error instanceof Problem && error.message === text);

  it("have ids of 64 hexadecimal digits, which the tasks table does not contain", async () => {
    const { callbackId } = await waiting();
    assert.match(callbackId, /^[0-9a-f]{64}$/);
    const [dump] = await server.database.rows<{ text: string }>(
      "select string_agg(t::text, '') as text from tasks t",
    );
    assert.ok(!dump?.text.includes(callbackId));
  });

  it("complete a waiting task once, with the request body unchanged", async () => {
    const { id, callbackId } = await waiting();
    assert.equal((await server.task(id)).status, "waiting");
    const body = '{ "big": 12345678901234567890, "a": [] }';
    const task = await server.callbacks.resolve(callbackId, body);

    assert.equal(task.status, "completed");
    assert.deepEqual(task.result, { statusCode: 200, headers: {}, body, duration: 0 });
    await refused(server.callbacks.resolve(callbackId, "{}"), "Invalid or expired callback ID");
  });

  it("are stored whole, even beyond the size limit for answers", async () => {
    const { id, callbackId } = await waiting();
    const body = JSON.stringify("é".repeat(1_000_000));
    const { result } = await server.callbacks.resolve(callbackId, body);

    assert.deepEqual(result, { statusCode: 200, headers: {}, body, duration: 0 });
    assert.deepEqual((await server.task(id)).result, result);
  });

  it("are refused for an unknown id, and for a task that is not waiting", async () => {
    await refused(server.callbacks.resolve("0".repeat(64), "{}"), "Invalid or expired callback ID");
    await refused(server.callbacks.resolve("../etc", "{}"), "Invalid or expired callback ID");
    const created = await server.tasks.create(server.principal, { ...plain(), shape: "direct" });
    await server.dispatchOnce();
    await refused(
      server.callbacks.resolve(created.callback?.id ?? "", "{}"),
      "Task is not in waiting/polling state (current: completed)",
    );
  });

  it("are refused from the 31st of a source within 60 seconds, counted over all nodes", async () => {
    const other = await server.openNode();
    // A minute after the first, less the time that this test has taken.
    const isMinute = (seconds: number | null) => seconds !== null && seconds > 30 && seconds <= 60;
    const isRefused = (error: unknown) =>
      error instanceof Problem &&
      error.message === "Rate limit exceeded" &&
      isMinute(error.retryAfterSeconds);
    for (let hit = 0; hit < 30; hit += 1)
      await (hit % 2 === 0 ? server : other).callbacks.admit("2001:db8:1:2::1");

    await assert.rejects(other.callbacks.admit("2001:db8:1:2:ffff::9"), isRefused);
    await assert.rejects(server.callbacks.admit("2001:db8:1:2::1"), isRefused);
    await server.callbacks.admit("2001:db8:1:3::1");
    await other.stop();
  });

  it("are limited to exactly 30 of 100 concurrent ones, and again a minute later", async () => {
    const nodes = [await server.openNode(), await server.openNode()];
    const admitted = async () => {
      const all = Array.from({ length: 100 }, (_, hit) => nodes[hit % 2]?.callbacks.admit(from()));
      return (await Promise.allSettled(all)).filter(({ status }) => status === "fulfilled").length;
    };
    assert.equal(await admitted(), 30);
    await server.advance(61);
    for (const node of nodes) node.freeze(61);
    assert.equal(await admitted(), 30);
    for (const node of nodes) await node.stop();
  });

  it("fail the task when none arrives within max_wait, and their id expires", async () => {
    const { id, callbackId } = await waiting(60);
    await server.advance(60.1);
    await server.engine.deadlines.expireOnce();

    const task = await server.task(id);
    assert.equal(task.status, "failed");
    assert.equal(task.failureReason, "callback_timeout");
    assert.equal(task.error, "No callback within 60 s");
    await refused(server.callbacks.resolve(callbackId, "{}"), "Invalid or expired callback ID");
  });

  it("that arrive during the first call wait until it has returned", async () => {
    let answer = () => {};
    server.target.answer = (_call, response) => {
      answer = () => response.end("{}");
    };
    const before = server.target.calls.length;
    const created = await server.tasks.create(server.principal, {
      ...plain(),
      shape: "direct",
      waitForCallback: true,
    });
    await server.target.received(before + 1);
    const sql = watchDatabase(server.database);
    const callbacks = createCallbackService({
      sql,
      monotonicMs: systemTime.monotonicMs,
      changes: createTaskChanges(),
    });
    // It is found active before its call has returned.
    sql.after = () => {
      if (sql.sent.length === 2) answer();
    };

    const resolved = await callbacks.resolve(created.callback?.id ?? "", '"early"');
    assert.equal(resolved.status, "completed");
    assert.equal((await server.task(created.id)).result?.body, '"early"');
  });

  it("have their id and URL inserted for placeholders in URL, headers and body of the call", async () => {
    const created = await server.tasks.create(server.principal, {
      ...plain(),
      shape: "queue",
      waitForCallback: true,
      call: {
        method: "POST",
        url: `${server.target.url}/start?answer={callbackUrl}`,
        headers: { "X-Callback": "{callbackId}" },
        body: '{"webhook":"{callbackUrl}","n":[1]}',
      },
    });
    await server.dispatchOnce();
    const call = server.target.calls.at(-1);
    const id = created.callback?.id;
    const url = `https://bellhop.test/v1/callbacks/${id}`;

    assert.equal(call?.headers["x-callback"], id);
    assert.equal(call?.body, `{"webhook":"${url}","n":[1]}`);
    assert.equal(call?.path, `/start?answer=${encodeURIComponent(url)}`);
  });

  it("race with polls, deadlines and a crash 1,000 times: exactly one ends each task", async () => {
    const config = {
      urlTemplate: `${server.target.url}/status`,
      interval: 1,
      statusPath: "status",
      doneValues: ["done"],
      failValues: [],
      resultPath: "",
      forwardAuth: false,
      maxDuration: 10,
    };
    const winners = new Map<string, number>();
    for (let round = 0; round < 100; round += 1) {
      const created = await Promise.all(
        Array.from({ length: 10 }, () =>
          server.tasks.create(server.principal, { ...plain(), shape: "direct", pollConfig: config }),
        ),
      );
      await server.dispatchOnce();
      server.target.answer = (_call, response) => response.end('{"status":"done"}');
      await server.advance(round % 3 === 0 ? 11 : 2);
      const pollAll = async () => {
        await server.engine.poller.workOnce();
        await server.engine.poller.finished();
      };
      const callbacks = created
        .filter((_, index) => index % 2 === 0)
        .map(({ callback }) => server.callbacks.resolve(callback?.id ?? "", '"callback"').catch(() => null));
      const racers: Promise<unknown>[] = [
        pollAll(),
        server.engine.deadlines.expireOnce(),
        ...callbacks,
        // What the reaper does to the polls of a node that has died.
        server.database.rows(
          "update tasks set worker_id = null, fence = fence + 1, poll_at = run_at where status = 'polling' and worker_id is not null",
        ),
      ];
      await Promise.all(racers);
      await pollAll();
      for (const { id } of created) {
        const task = await server.task(id);
        const winner = task.failureReason ?? task.result?.body ?? task.status;
        winners.set(winner, (winners.get(winner) ?? 0) + 1);
      }
    }
    assert.deepEqual(
      [...winners.keys()].sort(),
      ['"callback"', "poll_timeout", '{"status":"done"}'],
      [...winners].join(" "),
    );
    assert.equal(
      [...winners.values()].reduce((sum, count) => sum + count, 0),
      1000,
    );
    const [drift] = await server.database.rows<{ polling: number; waiting: number }>(
      "select sum(polling)::integer as polling, sum(waiting)::integer as waiting from queue_tallies",
    );
    const [counted] = await server.database.rows<{ waiting: number }>(
      "select count(*)::integer as waiting from tasks where status = 'waiting'",
    );
    assert.deepEqual(drift, { polling: 0, waiting: counted?.waiting });
  });
});
