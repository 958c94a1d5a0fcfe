import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import type { Task } from "../../src/domain/task.ts";
import { formatTaskId } from "../../src/domain/task-id.ts";
import { openTestServer, type TestServer } from "../test-server.ts";

describe("retries", () => {
  let server: TestServer;
  before(async () => {
    server = await openTestServer({ concurrency: 5, maxRetries: 3, retryDelaySeconds: 100 });
  });
  after(() => server.close());
  afterEach(async () => {
    server.target.answer = (_call, response) => response.end("{}");
    await server.advance(7200);
    await server.dispatchOnce();
  });

  const answer = (status: number, headers: Record<string, string> = {}) => {
    server.target.answer = (_call, response) => response.writeHead(status, headers).end("{}");
  };

  async function waitSeconds(id: string): Promise<number> {
    const [row] = await server.database.rows<{ seconds: number }>(
      "select extract(epoch from run_at - now())::float8 as seconds from tasks where id = $1",
      [id],
    );
    return row?.seconds ?? Number.NaN;
  }

  const history = (task: Task) =>
    task.attempts.map(({ number, status, responseCode }) => [number, status, responseCode]);

  it("are made until they are exhausted: 1 + max_retries attempts, then the task has failed", async () => {
    answer(500);
    const id = await server.submit();
    const waits = [];
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await server.dispatchOnce();
      assert.equal((await server.task(id)).status, "pending");
      waits.push(Math.round((await waitSeconds(id)) / 100) * 100);
      await server.advance(400);
    }
    await server.dispatchOnce();
    await server.advance(3600);
    await server.dispatchOnce();

    const task = await server.task(id);
    assert.deepEqual(waits, [100, 200, 400]);
    assert.equal(task.status, "failed");
    assert.equal(task.failureReason, "retries_exhausted");
    assert.equal(task.error, "The target answered 500");
    assert.notEqual(task.completedAt, null);
    assert.deepEqual(history(task), [
      [1, "failed", 500],
      [2, "failed", 500],
      [3, "failed", 500],
      [4, "failed", 500],
    ]);
    const times = task.attempts.map(({ executedAt }) => executedAt.getTime());
    assert.deepEqual(times, [...times].sort());
  });

  it("end with the first success, and the record keeps the earlier attempts", async () => {
    answer(503);
    const id = await server.submit();
    await server.dispatchOnce();
    answer(200);
    await server.advance(100);
    await server.dispatchOnce();

    const task = await server.task(id);
    assert.equal(task.status, "completed");
    assert.equal(task.error, null);
    assert.deepEqual(history(task), [
      [1, "failed", 503],
      [2, "success", 200],
    ]);
  });

  it("follow the task's max_retries instead of the queue's", async () => {
    answer(500);
    const none = await server.submit({ maxRetries: 0 });
    const one = await server.submit({ maxRetries: 1 });
    await server.dispatchOnce();
    assert.equal((await server.task(none)).status, "failed");

    await server.advance(100);
    await server.dispatchOnce();
    const task = await server.task(one);
    assert.equal(task.status, "failed");
    assert.equal(task.attempts.length, 2);
  });

  it("do not start before their delay has passed", async () => {
    answer(500);
    const id = await server.submit();
    await server.dispatchOnce();
    const calls = server.target.calls.length;

    await server.dispatchOnce();
    assert.equal(server.target.calls.length, calls);
    assert.equal((await server.task(id)).attempts.length, 1);
  });

  it("wait as long as the target's Retry-After says", async () => {
    answer(429, { "retry-after": "120" });
    const id = await server.submit();
    await server.dispatchOnce();

    const seconds = await waitSeconds(id);
    assert.ok(seconds > 100 && seconds <= 120, `${seconds} s`);
  });

  it("do not follow a redirect, which is a failed attempt", async () => {
    answer(302, { location: `${server.target.url}/elsewhere` });
    const id = await server.submit({ maxRetries: 0 });
    await server.dispatchOnce();

    assert.deepEqual(history(await server.task(id)), [[1, "failed", 302]]);
    assert.ok(!server.target.calls.some(({ path }) => path === "/elsewhere"));
  });

  it("count a connection that the target closes as a failed attempt without an answer", async () => {
    server.target.answer = (_call, response) => response.destroy();
    const id = await server.submit({ maxRetries: 0 });
    await server.dispatchOnce();

    const task = await server.task(id);
    assert.deepEqual(history(task), [[1, "failed", null]]);
    assert.equal(task.attempts[0]?.phase, "sent");
    assert.equal(task.result, null);
  });

  it("send the target the same task id and the next attempt number", async () => {
    answer(500);
    const seen = server.target.calls.length;
    const id = await server.submit();
    await server.dispatchOnce();
    await server.advance(100);
    await server.dispatchOnce();

    const headers = server.target.calls.slice(seen).map((call) => call.headers);
    assert.deepEqual(
      headers.map((each) => [each["bellhop-task-id"], each["bellhop-attempt"]]),
      [
        [formatTaskId(id), "1"],
        [formatTaskId(id), "2"],
      ],
    );
  });

  it("treat a call as timed out whose answer is incomplete at the timeout", async () => {
    server.target.answer = ({ path }, response) => {
      if (path === "/drip") response.writeHead(200).write("{");
    };
    const call = (path: string) => ({
      timeoutSeconds: 1,
      maxRetries: 0,
      call: { method: "POST" as const, url: `${server.target.url}${path}`, headers: {}, body: "{}" },
    });
    const [silent, dripping] = [await server.submit(call("/silent")), await server.submit(call("/drip"))];
    await server.dispatchOnce();

    const [none, half] = [await server.task(silent), await server.task(dripping)];
    assert.deepEqual(history(none), [[1, "timeout", null]]);
    assert.deepEqual(history(half), [[1, "timeout", 200]]);
    assert.deepEqual([none.status, half.status], ["failed", "failed"]);
  });
});
