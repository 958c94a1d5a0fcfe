import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { Problem } from "../../src/domain/problem.ts";
import { openTestServer, QUEUE, type TestServer } from "../test-server.ts";

describe("explaining a task", () => {
  let server: TestServer;
  before(async () => {
    server = await openTestServer({ concurrency: 1, maxRetries: 1, retryDelaySeconds: 100 });
  });
  after(() => server.close());
  afterEach(async () => {
    server.target.answer = (_call, response) => response.end("{}");
    server.target.release();
    await server.engine.attempts.finished();
    await server.dispatchOnce();
  });

  const explain = (id: string, principal = server.principal) =>
    server.services.explanations.explain(principal, id);
  const codes = async (id: string) => (await explain(id)).reasons.map(({ code }) => code);

  it("lists a delay with its end, together with a pause of the queue", async () => {
    const id = await server.submit({ delaySeconds: 600 });
    await server.queues.setPaused(server.principal, QUEUE, true);

    const { runnable, reasons, task } = await explain(id);

    assert.deepEqual([task.status, runnable], ["pending", false]);
    const { runAt } = await server.task(id);
    assert.deepEqual(
      reasons.map(({ code, until }) => [code, until?.getTime() ?? null]),
      [
        ["delayed", runAt.getTime()],
        ["queue_paused", null],
      ],
    );
    await server.queues.setPaused(server.principal, QUEUE, false);
    await server.tasks.cancel(server.principal, id);
    assert.deepEqual(await codes(id), []);
    assert.equal((await explain(id)).runnable, false);
  });

  it("names the nodes that fill the queue, the number of tasks ahead, and the call in flight", async () => {
    server.target.hold();
    const before = server.target.calls.length;
    const active = await server.submit({ priority: 1 });
    await server.look();
    await server.target.received(before + 1);
    const first = await server.submit({ priority: 9 });
    const sooner = await server.submit();
    const id = await server.submit();

    const { runnable, reasons } = await explain(id);

    assert.equal(runnable, false);
    assert.deepEqual(
      reasons.map(({ code, detail }) => [code, detail]),
      [
        ["queue_full", `1 of 1 calls of queue "${QUEUE}" are under way: test 1`],
        ["behind", "2 due tasks of its queue go first"],
      ],
    );
    assert.deepEqual(await codes(first), ["queue_full"]);
    assert.deepEqual(await codes(sooner), ["queue_full", "behind"]);
    const [call] = (await explain(active)).reasons;
    assert.match(call?.detail ?? "", /^Attempt 1 is under way since .+ on node test$/);
    assert.ok(call?.until);
  });

  it("estimates the start from the starts of the queue in the last full minutes", async () => {
    server.target.hold();
    const calls = server.target.calls.length;
    await server.submit();
    await server.look();
    await server.target.received(calls + 1);
    const id = await server.submit();
    assert.equal((await explain(id)).startsAbout, null);
    const starts = `insert into queue_stats (team_id, queue_id, sandbox, seconds, at, node, waits)
      select team_id, id, false, 60, date_trunc('minute', now()) - interval '1 minute' * n, 77, '{10,50}'
        from queues, generate_series(1, 2) n where name = $1`;
    await server.database.rows(starts, [QUEUE]);

    const { startsAbout } = await explain(id);

    // 120 in two minutes: one of them goes first. The minute may have changed meanwhile.
    const seconds = ((startsAbout?.getTime() ?? 0) - Date.now()) / 1_000;
    assert.ok(seconds > -30 && seconds < 2, String(seconds));
    assert.notEqual(startsAbout, null);
  });

  it("distinguishes backing off, waiting for a callback, and the sandbox", async () => {
    server.target.answer = (_call, response) => response.writeHead(500).end();
    const retried = await server.submit();
    await server.dispatchOnce();
    assert.deepEqual(await codes(retried), ["backing_off"]);
    await server.tasks.cancel(server.principal, retried);

    server.target.answer = (_call, response) => response.end("{}");
    const waiting = await server.submit({ waitForCallback: true });
    const test = { ...server.principal, environment: "test" as const };
    const sandbox = await server.submit({}, test);
    await server.dispatchOnce();
    assert.deepEqual(await codes(waiting), ["awaiting_callback"]);
    assert.deepEqual(await codes(sandbox), ["sandbox"]);
  });

  it("distinguishes delays after a failed attempt, a Retry-After and a manual retry", async () => {
    const details = async (id: string) =>
      (await explain(id)).reasons.map(({ code, detail }) => [code, detail]);
    server.target.answer = (_call, response) => response.writeHead(503).end();
    const failed = await server.submit();
    await server.dispatchOnce();
    server.target.answer = (_call, response) => response.writeHead(503, { "retry-after": "900" }).end();
    const asked = await server.submit();
    await server.dispatchOnce();
    const byHand = await server.submit();
    await server.dispatchOnce();
    await server.tasks.cancel(server.principal, byHand);
    await server.tasks.retry(server.principal, byHand, { delaySeconds: 900, priority: null });

    assert.deepEqual(await details(failed), [
      ["backing_off", "Attempt 1 failed, and the next waits by the retry settings"],
    ]);
    assert.deepEqual(await details(asked), [
      [
        "backing_off",
        "The target answered attempt 1 with Retry-After, and the next attempt waits for as long",
      ],
    ]);
    assert.deepEqual(await details(byHand), [["delayed", "It was retried by hand and is not due yet"]]);
    for (const id of [failed, asked, byHand]) await server.tasks.cancel(server.principal, id);
  });

  it("is refused with 404 for another team's task", async () => {
    const id = await server.submit();
    const guest = await server.openTeam();

    await assert.rejects(explain(id, guest), (error) => error instanceof Problem && error.status === 404);
  });
});
