import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import type { Requester } from "../../src/domain/identity/principal.ts";
import { Problem } from "../../src/domain/problem.ts";
import type { Simulation } from "../../src/domain/task.ts";
import type { TaskRequest } from "../../src/domain/task-copies.ts";
import { createSandboxService } from "../../src/features/sandbox/service.ts";
import { SCHEDULE_DEFAULTS } from "../../src/features/schedules/domain.ts";
import { createTeamTurns } from "../../src/service/team-turns.ts";
import { openTestServer, plainRequest, QUEUE, type TestNode, type TestServer } from "../test-server.ts";
import { startTestTarget, type TestTarget } from "../test-target.ts";

const COMPLETE: Simulation = {
  outcome: "complete",
  afterSeconds: 0,
  responseCode: null,
  body: '{"ok":true}',
  attempts: 1,
};
const FAIL: Simulation = { ...COMPLETE, outcome: "fail", body: "no" };

describe("a simulated sandbox task", () => {
  let server: TestServer;
  let other: TestNode;
  let receiver: TestTarget;
  let sandbox: Requester;
  before(async () => {
    server = await openTestServer({ maxRetries: 3, retryDelaySeconds: 60, backoff: "exponential" });
    other = await server.openNode();
    receiver = await startTestTarget();
    sandbox = { ...server.principal, environment: "test" };
  });
  afterEach(async () => {
    assert.equal(server.target.calls.length, 0, "a call was made");
    assert.deepEqual(await stats(), await counted(), "the tallies do not tell what there is");
    await server.database.rows("delete from schedules");
  });
  after(async () => {
    await receiver.close();
    await server.close();
  });

  const walk = () => server.services.features.sandbox.walk.walkOnce();
  const advance = (seconds: number) => server.services.features.sandbox.service.advance(sandbox, seconds);
  const submit = (simulate: Simulation | null, request: Partial<TaskRequest> = {}) =>
    server.submit({ simulate, ...request }, sandbox);

  async function stats(): Promise<Record<string, number>> {
    const queue = await server.queues.get(sandbox, QUEUE);
    return Object.fromEntries(Object.entries(queue.stats).filter(([, count]) => count !== 0));
  }
  async function counted(): Promise<Record<string, number>> {
    const rows = await server.database.rows<{ status: string; count: number }>(
      "select status, count(*)::integer as count from tasks where sandbox and team_id = $1 group by 1",
      [sandbox.teamId],
    );
    return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
  }

  for (const shape of ["queue", "direct"] as const) {
    it(`has the states, attempts and notification of a ${shape} task`, async () => {
      const id = await submit(COMPLETE, { shape, onCompleteUrl: receiver.url });
      await walk();

      const task = await server.task(id);
      assert.equal(task.status, "completed");
      assert.deepEqual(task.result, { statusCode: 200, headers: {}, body: '{"ok":true}', duration: 0 });
      assert.deepEqual(
        task.attempts.map(({ number, status, responseCode }) => [number, status, responseCode]),
        [[1, "success", 200]],
      );
      assert.ok(task.startedAt !== null && task.completedAt !== null);
      await server.engine.courier.workOnce();
      await server.engine.courier.finished();
      assert.equal(receiver.calls.length, 1);
      assert.match(receiver.calls[0]?.body ?? "", /"task\.completed"/);
      receiver.calls.length = 0;
    });
  }

  it("is active for the simulated duration", async () => {
    const id = await submit({ ...COMPLETE, afterSeconds: 90 });
    await walk();
    assert.deepEqual(
      (await server.task(id)).attempts.map(({ status }) => status),
      ["active"],
    );
    const { reasons } = await server.services.explanations.explain(sandbox, id);
    assert.deepEqual(
      reasons.map(({ code }) => code),
      ["call_under_way"],
    );
    // It belongs to no worker: neither the reconciler nor the reaper may release it.
    await server.engine.attempts.reconcileOnce();
    await server.engine.reaper.reapOnce();

    await advance(60);
    assert.equal((await server.task(id)).status, "active");
    await advance(30);
    const task = await server.task(id);
    assert.equal(task.status, "completed");
    assert.equal(task.attempts[0]?.durationMs, 90_000);
  });

  it("fails until the attempt with the outcome, with the task's retry delays in between", async () => {
    const id = await submit({ ...COMPLETE, attempts: 3 });
    await walk();
    assert.equal((await server.task(id)).status, "pending");
    await advance(150);
    assert.equal((await server.task(id)).attempts.length, 2);
    const { now } = await server.services.features.sandbox.service.clock(sandbox);
    assert.ok((await server.task(id)).runAt.getTime() - now.getTime() < 45_000);
    await advance(3_600);

    const task = await server.task(id);
    assert.equal(task.status, "completed");
    assert.deepEqual(
      task.attempts.map(({ responseCode }) => responseCode),
      [500, 500, 200],
    );
  });

  it("uses up its retries if it keeps failing, and restarts on a manual retry", async () => {
    const id = await submit({ ...FAIL, responseCode: 503 }, { maxRetries: 1 });
    await advance(3_600);
    let task = await server.task(id);
    assert.equal(task.failureReason, "retries_exhausted");
    assert.deepEqual(
      task.attempts.map(({ responseCode }) => responseCode),
      [503, 503],
    );
    assert.equal(task.result?.body, "no");

    await server.tasks.retry(sandbox, id, { delaySeconds: 10, priority: null });
    await walk();
    assert.equal((await server.task(id)).status, "pending");
    await advance(3_600);
    task = await server.task(id);
    assert.equal(task.status, "failed");
    assert.equal(task.attempts.length, 4);
  });

  it("fails without a retry at a status that the task does not retry", async () => {
    const id = await submit({ ...FAIL, responseCode: 410 }, { noRetryStatuses: [410] });
    await walk();
    assert.equal((await server.task(id)).failureReason, "not_retryable");
  });

  it("records a timeout for the outcome timeout", async () => {
    const id = await submit({ ...COMPLETE, outcome: "timeout" }, { maxRetries: 0, timeoutSeconds: 7 });
    await walk();
    const [attempt] = (await server.task(id)).attempts;
    assert.equal(attempt?.status, "timeout");
    assert.equal(attempt?.error, "The target did not answer within 7 s");
  });

  it("is completed by a simulated callback, unless a real one arrives first", async () => {
    const simulate: Simulation = { ...COMPLETE, outcome: "callback", afterSeconds: 300 };
    const waiting = { shape: "direct", waitForCallback: true } as const;
    const id = await submit(simulate, { shape: "direct" });
    const create = (request: Partial<TaskRequest>) =>
      server.tasks.create(sandbox, { ...plainRequest(server.target.url), simulate, ...request });
    const faster = await create(waiting);
    const late = await create({ ...waiting, maxWaitSeconds: 60 });
    await walk();
    assert.equal((await server.task(id)).status, "waiting");
    await server.callbacks.resolve(faster.callback?.id ?? "", '"real"');
    await advance(250);
    assert.equal((await server.task(id)).status, "waiting");
    await advance(50);

    assert.equal((await server.task(id)).result?.body, '{"ok":true}');
    assert.equal((await server.task(faster.id)).result?.body, '"real"');
    assert.equal((await server.task(late.id)).failureReason, "callback_timeout");
  });

  it("is in polling and is cancelled without a request to the provider", async () => {
    const polled = { shape: "direct", provider: "replicate" } as const;
    const [id, cancelled] = [
      await submit({ ...COMPLETE, afterSeconds: 600 }, polled),
      await submit({ ...COMPLETE, afterSeconds: 600 }, polled),
    ];
    await walk();
    await server.advance(300);
    await server.engine.poller.workOnce();
    await server.engine.poller.finished();
    assert.equal((await server.task(id)).status, "polling");
    await server.tasks.cancel(sandbox, cancelled);
    await server.engine.cancellations.finished();
    await advance(600);
    assert.equal((await server.task(id)).status, "completed");
    assert.equal((await server.task(cancelled)).status, "cancelled");
  });

  it("takes no further step once it is cancelled or deleted", async () => {
    const active = await submit({ ...COMPLETE, afterSeconds: 60 });
    const delayed = await submit(COMPLETE, { delaySeconds: 60 });
    await walk();
    await server.tasks.cancel(sandbox, active);
    await server.tasks.remove(sandbox, delayed);
    await advance(120);
    const task = await server.task(active);
    assert.equal(task.status, "cancelled");
    assert.deepEqual(
      task.attempts.map(({ status }) => status),
      ["aborted"],
    );
    const rows = await server.database.rows("select 1 from simulations where task_id = $1", [delayed]);
    assert.deepEqual(rows, []);
  });

  it("has each attempt once when two nodes simulate and advance the clock at once", async () => {
    const ids = await Promise.all(
      Array.from({ length: 60 }, () => submit({ ...COMPLETE, attempts: 2 }, { delaySeconds: 5 })),
    );
    await Promise.all([
      advance(600),
      other.services.features.sandbox.walk.walkOnce(),
      other.services.features.sandbox.service.advance(sandbox, 600),
    ]);
    for (const id of ids) {
      const { status, attempts } = await server.task(id);
      assert.equal(status, "completed");
      assert.deepEqual(
        attempts.map(({ number }) => number),
        [1, 2],
      );
    }
  });

  it("is created once for each time of a sandbox schedule, however the clock advances", async () => {
    const task = { text: "{}", request: { ...plainRequest(server.target.url), simulate: COMPLETE } };
    const terms = { ...SCHEDULE_DEFAULTS, cron: "0 * * * *", task };
    const hourly = await server.services.features.schedules.service.create(sandbox, "hourly", {
      ...terms,
      catchUp: "none",
    });
    const fired = () =>
      server.database.rows<{ status: string }>(
        `select t.status from schedule_firings f join tasks t on t.team_id = f.team_id and t.id = f.task_id
          where f.schedule_id = $1`,
        [hourly.id],
      );
    await advance(3 * 3_600);
    assert.deepEqual(
      (await fired()).map(({ status }) => status),
      Array(3).fill("completed"),
    );
    for (let turn = 0; turn < 6; turn += 1) await advance(600);
    assert.equal((await fired()).length, 4);
    const { nextRunAt } = await server.services.features.schedules.service.get(sandbox, "hourly");
    assert.ok(nextRunAt !== null && nextRunAt.getTime() - Date.now() <= 3_600_000);
  });

  it("is advanced up to the limit of steps of a request, which reports how far it came", async () => {
    const task = { text: "{}", request: plainRequest(server.target.url) };
    await server.services.features.schedules.service.create(sandbox, "often", {
      ...SCHEDULE_DEFAULTS,
      cron: "* * * * * *",
      task,
    });
    const { sandbox: ofSandbox, schedules } = server.services.features;
    const patient = createSandboxService({
      database: server.database,
      walk: ofSandbox.walk,
      schedules: schedules.runner,
      inTeamTurn: createTeamTurns(),
      mostTurns: 20,
    });
    const { seconds, stopped } = await patient.advance(sandbox, 86_400);
    assert.ok(seconds >= 5 && seconds <= 20, String(seconds));
    assert.equal(
      stopped,
      `20 steps of tasks and schedules were taken, as many as one request takes: advance again for the other ${86_400 - seconds} s`,
    );
  });

  it("has times of the sandbox clock, which advances ahead of real time by request", async () => {
    const secondsOf = (at: Date | null | undefined, from: Date) =>
      Math.round(((at?.getTime() ?? Number.NaN) - from.getTime()) / 1000);
    const before = await server.services.features.sandbox.service.clock(sandbox);
    const id = await submit({ ...COMPLETE, attempts: 2, afterSeconds: 30 }, { retryDelaySeconds: 600 });
    const { createdAt } = await server.task(id);
    assert.ok(Math.abs(secondsOf(createdAt, before.now)) <= 30, "it was created by that clock");
    const task = { text: "{}", request: plainRequest(server.target.url) };
    const terms = { ...SCHEDULE_DEFAULTS, cron: "0 0 * * *", task };
    const daily = await server.services.features.schedules.service.create(sandbox, "daily", terms);
    assert.ok((daily.nextRunAt?.getTime() ?? 0) - Date.now() <= 86_400_000);

    const { seconds, clock, stopped } = await advance(30 * 86_400);

    assert.deepEqual([seconds, stopped], [30 * 86_400, null]);
    assert.equal(clock.aheadSeconds, before.aheadSeconds + 30 * 86_400);
    const { attempts, completedAt, startedAt } = await server.task(id);
    const [first, second] = attempts;
    const apart = secondsOf(second?.executedAt, first?.executedAt ?? createdAt);
    assert.ok(apart >= 600 && apart <= 665, `the attempts are ${apart} s apart`);
    const took = secondsOf(completedAt, second?.executedAt ?? createdAt);
    assert.ok(took >= 30 && took <= 35, `the last one took ${took} s`);
    assert.deepEqual(startedAt, first?.executedAt);
    const firings = await server.database.rows<{ late: number }>(
      `select extract(epoch from t.created_at - f.fires_at)::float8 as late
         from schedule_firings f join tasks t on t.team_id = f.team_id and t.id = f.task_id where f.schedule_id = $1`,
      [daily.id],
    );
    assert.equal(firings.length, 30);
    for (const { late } of firings) assert.ok(late >= 0 && late < 60, `created ${late} s after its time`);
  });

  it("expires by the sandbox clock unless it is simulated, and again after a retry", async () => {
    const id = await submit(null, { expiresInSeconds: 3_600 });
    await advance(3_500);
    await walk();
    assert.equal((await server.task(id)).status, "pending");
    await advance(200);
    const { failureReason, error, createdAt, completedAt } = await server.task(id);
    assert.deepEqual([failureReason, error], ["expired", "No attempt was begun within 3600 s"]);
    const after = ((completedAt?.getTime() ?? 0) - createdAt.getTime()) / 1000;
    assert.ok(after >= 3_600 && after < 3_660, `after ${after} s`);

    await server.tasks.retry(sandbox, id, { delaySeconds: 0, priority: null });
    await advance(3_500);
    assert.equal((await server.task(id)).status, "pending");
    await advance(200);
    assert.equal((await server.task(id)).failureReason, "expired");
    const simulated = await submit(COMPLETE, { expiresInSeconds: 60, delaySeconds: 60 });
    await advance(120);
    assert.equal((await server.task(simulated)).status, "completed");
  });

  it("is cancelled and retried at times of the sandbox clock", async () => {
    await advance(86_400);
    const { now } = await server.services.features.sandbox.service.clock(sandbox);
    const id = await submit({ ...COMPLETE, afterSeconds: 60 });
    await walk();
    await server.tasks.cancel(sandbox, id);
    const { completedAt } = await server.task(id);
    assert.ok(completedAt !== null && completedAt >= now);
    await server.tasks.retry(sandbox, id, { delaySeconds: 600, priority: null });
    assert.ok((await server.task(id)).runAt.getTime() >= now.getTime() + 600_000);
    const { reasons } = await server.services.explanations.explain(sandbox, id);
    assert.deepEqual(
      reasons.map(({ code }) => code),
      ["delayed"],
    );
    await advance(700);
    assert.equal((await server.task(id)).status, "completed");
  });

  it("stays pending without a simulation, or when only another team's clock advances", async () => {
    const plain = await submit(null, { delaySeconds: 5 });
    const delayed = await submit(COMPLETE, { delaySeconds: 60 });
    const guest: Requester = { ...(await server.openTeam()), environment: "test" };
    await server.services.features.sandbox.service.advance(guest, 86_400);
    await walk();
    assert.equal((await server.task(delayed)).status, "pending");
    await advance(86_400);
    assert.equal((await server.task(delayed)).status, "completed");
    assert.equal((await server.task(plain)).status, "pending");
  });

  it("is refused for a live key, as is advancing the clock", async () => {
    const isRefused = (text: string) => (error: unknown) =>
      error instanceof Problem && error.message === text;
    await assert.rejects(
      server.submit({ simulate: COMPLETE }),
      isRefused("simulate is for test keys: a task of a live key is called"),
    );
    await assert.rejects(
      server.services.features.sandbox.service.advance(server.principal, 1),
      isRefused("Only available to test keys"),
    );
  });
});
