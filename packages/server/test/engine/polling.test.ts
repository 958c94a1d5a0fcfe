import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { PollConfig } from "../../src/domain/poll/poll-config.ts";
import { claimDuePolls, heldPolls, releasePolls } from "../../src/store/tasks/task-polls.ts";
import { openTestServer, type TestServer } from "../test-server.ts";

describe("polling", () => {
  let server: TestServer;
  let status: (poll: number) => { code?: number; body: object | string };
  let polls: number;
  beforeEach(async () => {
    server = await openTestServer({ maxRetries: 0, concurrency: 1 }, { resultLimitBytes: 1000 });
    polls = 0;
    status = () => ({ body: { status: "running" } });
    server.target.answer = (call, response) => {
      if (call.method === "POST") {
        response.end(
          JSON.stringify({
            id: "job 1",
            status_url: `${server.target.url}/jobs/1`,
            response_url: `${server.target.url}/results/1`,
          }),
        );
        return;
      }
      polls += 1;
      const { code = 200, body } = status(polls);
      response.writeHead(code);
      response.end(typeof body === "string" ? body : JSON.stringify(body));
    };
  });
  afterEach(() => server.close());

  const config = (changes: Partial<PollConfig> = {}): PollConfig => ({
    urlTemplate: `${server.target.url}/jobs/{startResult.body.id}`,
    interval: 5,
    statusPath: "status",
    doneValues: ["done"],
    failValues: ["broken"],
    resultPath: "output",
    errorPath: "error",
    forwardAuth: true,
    maxDuration: 600,
    ...changes,
  });
  const start = async (changes: Partial<PollConfig> = {}, headers: Record<string, string> = {}) => {
    const call = { method: "POST" as const, url: server.target.url, headers, body: "{}" };
    const id = await server.submit({ shape: "direct", pollConfig: config(changes), call });
    await server.dispatchOnce();
    return id;
  };
  const pollAfter = async (seconds: number) => {
    await server.advance(seconds);
    await server.engine.poller.workOnce();
    await server.engine.poller.finished();
  };

  it("parses a large answer in a worker thread, not on the event loop", async () => {
    const keys = Array.from({ length: 20_000 }, (_, number) => `"k${number}":0`).join();
    const path = Array<string>(60).fill("a").join(".");
    const nested = `${'{"a":'.repeat(60)}{"status":"done","output":"v.mp4",${keys}}${"}".repeat(60)}`;
    status = () => ({ body: nested });
    const id = await start({ statusPath: `${path}.status`, resultPath: `${path}.output` });
    const { parse } = JSON;
    let longest = 0;
    JSON.parse = (text: string, reviver) => {
      longest = Math.max(longest, text.length);
      return parse(text, reviver);
    };
    try {
      await pollAfter(5);
    } finally {
      JSON.parse = parse;
    }
    const task = await server.task(id);
    assert.deepEqual([task.status, task.result?.body], ["completed", "v.mp4"]);
    assert.ok(longest < 10_000, `${longest} characters were parsed on the event loop`);
    assert.match(await server.services.metrics.renderOwn(), /bellhop_json_jobs_total\{result="done"\} 1\n/);
  });

  it("releases a poll that was claimed too long ago, and makes it later", async () => {
    await start();
    server.databases.polls.after = (statement) => {
      if (statement === "claim_due_polls") server.freeze(5);
    };
    await pollAfter(5);
    assert.equal(polls, 0);

    server.databases.polls.after = () => {};
    // Both together are nearly as long as the lease.
    await server.engine.lease.renewOnce();
    server.freeze(5);
    await pollAfter(0);
    assert.equal(polls, 1);
  });

  it("ignores a late release of a poll that was claimed again since", async () => {
    const id = await start();
    await server.advance(5);
    const { workerId } = server.engine.lease;
    const rooms = [{ teamId: server.principal.teamId, most: 1 }];
    const [stray] = await claimDuePolls(server.database, workerId, rooms);
    assert.equal(stray?.id, id);
    const seen = await heldPolls(server.database, workerId);
    await releasePolls(server.database, seen);
    const [claimed] = await claimDuePolls(server.database, workerId, rooms);
    await releasePolls(server.database, seen);

    assert.deepEqual(
      (await heldPolls(server.database, workerId)).map(({ fence }) => fence),
      [claimed?.fence],
    );
  });

  it("starts after the first call's 2xx, and holds no slot", async () => {
    const id = await start();
    assert.equal((await server.task(id)).status, "polling");
    const other = await server.submit();
    await server.dispatchOnce();
    assert.equal((await server.task(other)).status, "completed");
  });

  it("repeats at the configured interval until a done value", async () => {
    const id = await start();
    await pollAfter(2);
    assert.equal(polls, 0);
    await pollAfter(3.1);
    assert.equal(polls, 1);
    status = () => ({ code: 503, body: "busy" });
    await pollAfter(5.1);
    const { count, answer } = (await server.task(id)).polls ?? {};
    assert.deepEqual([count, answer], [2, "503"]);
    status = () => ({ body: { status: "done", output: { video: "v.mp4" } } });
    await pollAfter(5.1);

    const task = await server.task(id);
    assert.equal(task.status, "completed");
    assert.equal(task.polls, null);
    assert.equal(task.result?.body, '{"video":"v.mp4"}');
    assert.equal(server.target.calls.at(-1)?.path, "/jobs/job%201");
  });

  it("fails the task without a retry at a fail value, with the error at errorPath", async () => {
    const id = await start();
    status = () => ({ body: { status: "broken", error: "out of paint" } });
    await pollAfter(5.1);

    const task = await server.task(id);
    assert.equal(task.status, "failed");
    assert.equal(task.failureReason, "poll_failed");
    assert.equal(task.error, "out of paint");
  });

  it("fails the task with poll_timeout when it exceeds maxDuration", async () => {
    const id = await start({ maxDuration: 60 });
    await server.advance(60.1);
    await server.engine.deadlines.expireOnce();

    const task = await server.task(id);
    assert.equal(task.status, "failed");
    assert.equal(task.failureReason, "poll_timeout");
    assert.equal(task.error, "Polling timed out after 60 s");
  });

  it("shows a failed poll's error in the record, in explain and in the timeout's error", async () => {
    const id = await start({ maxDuration: 60 });
    status = () => ({ code: 503, body: "busy" });
    await pollAfter(5.1);

    const { polls: seen } = await server.task(id);
    assert.deepEqual([seen?.count, seen?.answer, seen?.error], [1, "503", "The provider answered 503"]);
    const [reason] = (await server.services.explanations.explain(server.principal, id)).reasons;
    const next = (await server.task(id)).runAt.toISOString();
    assert.equal(
      reason?.detail,
      `The third party is asked next at ${next}; the last poll, at ${seen?.at}, failed: The provider answered 503`,
    );
    await server.advance(60);
    await server.engine.deadlines.expireOnce();
    const { error } = await server.task(id);
    assert.equal(error, "Polling timed out after 60 s: last poll failed: The provider answered 503");
  });

  it("records the network failure of a poll without an answer", async () => {
    server.target.answer = (call, response) => {
      if (call.method === "POST") response.end(JSON.stringify({ id: "1" }));
      else response.destroy();
    };
    const id = await start({ maxDuration: 60 });
    await pollAfter(5.1);
    const { answer, error } = (await server.task(id)).polls ?? {};
    assert.notEqual(error, undefined);
    assert.notEqual(error, answer);
    await server.advance(60);
    await server.engine.deadlines.expireOnce();
    assert.equal((await server.task(id)).error, `Polling timed out after 60 s: last poll failed: ${error}`);
  });

  it("clears the error of an earlier poll when a poll finds the job running", async () => {
    const id = await start({ maxDuration: 60 });
    status = (poll) => (poll === 1 ? { code: 503, body: "busy" } : { body: { status: "running" } });
    await pollAfter(5.1);
    await pollAfter(5.1);

    const { polls: seen } = await server.task(id);
    assert.deepEqual(
      [seen?.count, seen?.answer, seen !== null && "error" in Object(seen)],
      [2, "200", false],
    );
    const [reason] = (await server.services.explanations.explain(server.principal, id)).reasons;
    assert.match(reason?.detail ?? "", /; the last poll, at .*Z, was answered 200$/);
    await server.advance(60);
    await server.engine.deadlines.expireOnce();
    assert.equal((await server.task(id)).error, "Polling timed out after 60 s");
  });

  it("repeats a failed poll at the next interval, and fails after three 401 in a row", async () => {
    const id = await start();
    status = () => ({ code: 503, body: "busy" });
    await pollAfter(5.1);
    status = () => ({ code: 401, body: {} });
    for (let round = 0; round < 3; round += 1) await pollAfter(5.1);

    const task = await server.task(id);
    assert.equal(polls, 4);
    assert.equal(task.status, "failed");
  });

  it("fetches the result of fal from response_url at once after COMPLETED", async () => {
    const id = await server.submit({ shape: "direct", provider: "fal" });
    await server.dispatchOnce();
    status = (poll) => ({ body: poll === 1 ? { status: "COMPLETED" } : { images: [1, 2] } });
    await pollAfter(3.1);

    const task = await server.task(id);
    assert.equal(task.status, "completed");
    assert.equal(task.result?.body, '{"images":[1,2]}');
    assert.equal(server.target.calls.at(-1)?.path, "/results/1");
  });

  it("finds status and result beyond the part of the answer that is stored", async () => {
    const id = await start();
    status = () => ({ body: { log: "x".repeat(2_000_000), status: "done", output: "v.mp4" } });
    await pollAfter(5.1);

    const { result } = await server.task(id);
    assert.deepEqual([result?.body, result?.truncated], ["v.mp4", undefined]);
  });

  it("cuts a result at the size limit, and marks it truncated", async () => {
    const id = await start();
    status = () => ({ body: { status: "done", output: "é".repeat(501) } });
    await pollAfter(5.1);

    const { result } = await server.task(id);
    assert.deepEqual([result?.body, result?.truncated], ["é".repeat(500), true]);
  });

  it("cuts a fetched result at the size limit, and finds resultPath beyond it", async () => {
    const fetched = { resultUrlTemplate: "{startResult.body.response_url}" };
    const part = await start(fetched);
    status = (poll) => ({
      body: poll === 1 ? { status: "done" } : { log: "x".repeat(2_000_000), output: "v.mp4" },
    });
    await pollAfter(5.1);
    assert.equal((await server.task(part)).result?.body, "v.mp4");

    polls = 0;
    const whole = await start({ ...fetched, resultPath: "" });
    await pollAfter(5.1);
    const { result } = await server.task(whole);
    assert.deepEqual([result?.body.length, result?.truncated], [1000, true]);
  });

  it("cuts the answer to a call at the size limit, and marks it truncated", async () => {
    server.target.answer = (_call, response) => response.end("x".repeat(1001));
    const id = await server.submit();
    await server.dispatchOnce();

    const { result } = await server.task(id);
    assert.deepEqual([result?.body.length, result?.truncated], [1000, true]);
  });

  it("forwards the first call's Authorization header, and no unlisted header", async () => {
    const id = await start({}, { Authorization: "Bearer mine", "X-Other": "no" });
    await pollAfter(5.1);
    assert.equal(server.target.calls.at(-1)?.headers.authorization, "Bearer mine");
    assert.equal(server.target.calls.at(-1)?.headers["x-other"], undefined);
    assert.equal((await server.task(id)).status, "polling");
  });

  it("continues on another node after the polling node has died", async () => {
    const id = await start();
    const other = await server.openNode();
    await server.advance(5.1);
    server.target.answer = () => {};
    await server.engine.poller.workOnce();
    await server.target.received(2);
    await other.engine.reaper.reapOnce();
    await server.database.rows("update workers set expires_at = now() - interval '1 s' where id = $1", [
      server.engine.lease.workerId,
    ]);
    await other.engine.reaper.reapOnce();
    server.target.answer = (_call, response) => response.end('{"status":"done","output":"late"}');
    await other.engine.poller.workOnce();
    await other.engine.poller.finished();

    const task = await server.task(id);
    assert.equal(task.status, "completed");
    assert.equal(task.result?.body, "late");
  });

  it("fails the task when its URL template lacks a value, and names that value", async () => {
    const id = await start({ urlTemplate: `${server.target.url}/{startResult.body.nothing}` });
    const task = await server.task(id);
    assert.equal(task.failureReason, "poll_failed");
    assert.match(task.error ?? "", /nothing/);
  });

  it("finds no due poll among 10,000 polling tasks in under 20 blocks, by an index", async () => {
    await start();
    await server.database.rows(
      `insert into tasks (team_id, id, queue_id, shape, status, priority, sandbox, method, url, max_retries, backoff,
                          retry_delay_seconds, timeout_seconds, run_at, poll_at, list_key, created_at, deadline_at, poll_config, poll)
       select t.team_id, gen_random_uuid(), t.queue_id, t.shape, t.status, t.priority, false, t.method, t.url,
              t.max_retries, t.backoff, t.retry_delay_seconds, t.timeout_seconds, now() + interval '1 h', now() + interval '1 h',
              t.list_key, t.created_at,
              now() + interval '2 h', t.poll_config, t.poll
         from tasks t, generate_series(1, 10000) where t.status = 'polling'`,
    );
    const explained = await server.database.rows<{ "QUERY PLAN": string }>(
      `explain (analyze, buffers) select id from tasks where poll_at is not null and team_id = ${server.principal.teamId} and poll_at <= now()
        order by poll_at limit 100`,
    );
    const text = explained.map((row) => row["QUERY PLAN"]).join("\n");
    assert.match(text, /tasks_polls_due/);
    const hit = Number(/shared hit=(\d+)/.exec(text)?.[1] ?? 0);
    assert.ok(hit < 20, `${hit} blocks`);
  });
});
