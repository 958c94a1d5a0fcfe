import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import type { Requester } from "../../src/domain/identity/principal.ts";
import { Secret } from "../../src/domain/secret.ts";
import { createTaskChanges } from "../../src/domain/task-changes.ts";
import { SCHEDULE_DEFAULTS, type Schedule, type ScheduleTerms } from "../../src/features/schedules/domain.ts";
import { createScheduleRunner } from "../../src/features/schedules/service-runner.ts";
import { openTestServer, plainRequest, QUEUE, type TestServer } from "../test-server.ts";
import { watchDatabase } from "../test-sql.ts";

const YEAR = 366 * 86_400;

describe("schedules", () => {
  let server: TestServer;
  let made = 0;
  before(async () => {
    server = await openTestServer();
  });
  afterEach(() => server.database.rows("delete from schedules"));
  after(() => server.close());

  function schedule(
    terms: Partial<ScheduleTerms> = {},
    requester: Requester = server.principal,
  ): Promise<Schedule> {
    made += 1;
    const task = { text: "{}", request: plainRequest(server.target.url) };
    return server.services.features.schedules.service.create(requester, `made-${made}`, {
      ...SCHEDULE_DEFAULTS,
      cron: "0 0 1 1 *",
      task,
      ...terms,
    });
  }

  /** Whatever it is, the next firing of every schedule was due so many seconds ago. */
  async function makeDue(secondsAgo = 0): Promise<void> {
    await server.database.rows(
      "update schedules set next_run_at = date_trunc('milliseconds', now()) - make_interval(secs => $1) where next_run_at is not null",
      [secondsAgo],
    );
  }

  const fire = () => server.services.features.schedules.runner.fireOnce();
  const read = (id: string, requester: Requester = server.principal) =>
    server.services.features.schedules.service.get(requester, `made-${made}`).then((found) => {
      assert.equal(found.id, id);
      return found;
    });

  async function tasksOf({ id }: Schedule): Promise<{ id: string }[]> {
    return server.database.rows("select id from tasks where schedule_id = $1 order by id", [id]);
  }

  function watchedRunner() {
    const database = watchDatabase(server.database);
    const runner = createScheduleRunner({
      database,
      accept: server.services.tasks.accept,
      termsOf: async () => new Map([[server.principal.teamId, server.principal]]),
      changes: createTaskChanges(),
    });
    return { database, runner };
  }

  it("pass their scheduled time to task and target, except in a manual run", async () => {
    const yearly = await schedule();
    await makeDue(5);
    const [due] = await server.database.rows<{ at: Date }>("select next_run_at as at from schedules");
    await fire();
    const [fired] = await tasksOf(yearly);
    const { scheduledFor } = await server.task(fired?.id ?? "");
    assert.deepEqual(scheduledFor, due?.at);
    const seen = server.target.calls.length;
    await server.dispatchOnce();
    await server.target.received(seen + 1);
    assert.equal(server.target.calls[seen]?.headers["bellhop-scheduled-for"], due?.at.toISOString());

    const { id } = await server.services.features.schedules.service.run(server.principal, yearly.name);
    assert.equal((await server.task(id)).scheduledFor, null);
    await server.dispatchOnce();
    await server.target.received(seen + 2);
    assert.equal(server.target.calls[seen + 1]?.headers["bellhop-scheduled-for"], undefined);
  });

  it("fire one task each when two nodes check at the same time", async () => {
    const other = await server.openNode();
    const all: Schedule[] = [];
    for (let index = 0; index < 12; index += 1) all.push(await schedule());
    await server.quiet();
    assert.equal(other.receivedHints.filter((message) => message.startsWith("schedule ")).length > 0, true);
    await makeDue();
    await Promise.all([fire(), other.services.features.schedules.runner.fireOnce(), fire()]);

    for (const each of all) assert.equal((await tasksOf(each)).length, 1, each.name);
    await server.dispatchOnce();
    await other.dispatchOnce();
    await server.target.received(12);
    const first = all[0] ?? (await schedule());
    const [task] = await tasksOf(first);
    assert.equal((await server.task(task?.id ?? "")).scheduleId, first.id);
  });

  it("lose the record of a firing when its task is deleted", async () => {
    const later = { text: "{}", request: { ...plainRequest(server.target.url), delaySeconds: 60 } };
    const yearly = await schedule({ task: later });
    const { id } = await server.services.features.schedules.service.run(server.principal, yearly.name);
    const firings = () =>
      server.database.rows("select task_id as id from schedule_firings where schedule_id = $1", [yearly.id]);
    assert.deepEqual(await firings(), [{ id }]);

    await server.tasks.remove(server.principal, id);

    assert.deepEqual(await firings(), []);
  });

  it("fire once for a due time although a node died during the firing", async () => {
    const yearly = await schedule();
    await makeDue();
    const [due] = await server.database.rows<{ at: Date }>("select next_run_at as at from schedules");
    const dies = server.database.transaction(async (sql) => {
      await sql.rows("update schedules set next_run_at = now() + interval '1 year'");
      throw new Error("killed");
    });
    await assert.rejects(dies);
    assert.equal((await tasksOf(yearly)).length, 0);
    await fire();
    await fire();
    assert.equal((await tasksOf(yearly)).length, 1);

    // As if the time had been forgotten: the firing's own key still knows it.
    await server.database.rows("update schedules set next_run_at = $1", [due?.at]);
    await fire();
    assert.equal((await tasksOf(yearly)).length, 1);
    const { nextRunAt } = await read(yearly.id);
    assert.ok(nextRunAt !== null && nextRunAt > new Date());
  });

  it("fire once for all missed times; with catch_up none only if the last is under 1 min old", async () => {
    const everySecond = await schedule({ cron: "* * * * * *" });
    const one = await schedule({ catchUp: "one" });
    const none = await schedule({ cron: "* * * * * *", catchUp: "none" });
    const recent = await schedule({ cron: "0 0 1 1 *", catchUp: "none" });
    await makeDue(5);
    await fire();
    for (const each of [everySecond, one, none, recent])
      assert.equal((await tasksOf(each)).length, 1, each.name);

    // The newest missed time of a schedule for every second is never a minute old.
    await makeDue(3 * YEAR);
    await fire();
    const counts = await Promise.all(
      [everySecond, one, none, recent].map(async (each) => (await tasksOf(each)).length),
    );
    assert.deepEqual(counts, [2, 2, 2, 1]);
    const { nextRunAt, lastError } = await read(recent.id);
    assert.ok(nextRunAt !== null && nextRunAt > new Date());
    assert.equal(lastError, null);
  });

  it("that are due together fire in batches, and a failing one delays no other", async () => {
    const plain = plainRequest(server.target.url);
    await server.queues.create(server.principal, "brief", {});
    const unstorable = {
      text: "{}",
      request: {
        ...plain,
        call: { ...plain.call, body: "\u0000" },
        shape: "direct",
        bodyIsJson: false,
      } as const,
    };
    const gone = await schedule({ task: { text: "{}", request: { ...plain, queue: "brief" } } });
    await server.queues.remove(server.principal, "brief");
    const first = await schedule();
    const broken = await schedule({ task: unstorable });
    await server.database.rows(
      `insert into schedules (team_id, sandbox, id, name, cron, timezone, overlap, catch_up, task, request, next_run_at)
       select team_id, sandbox, gen_random_uuid(), 'copy-' || n, cron, timezone,
              case when n % 2 = 0 then 'allow' else 'skip' end, catch_up, task, request, next_run_at
         from schedules cross join generate_series(1, 1200) n where id = $1`,
      [first.id],
    );
    await makeDue();
    const { database, runner } = watchedRunner();
    let rounds = 0;
    while ((await runner.fireOnce()) === 0) rounds += 1;

    const [counted] = await server.database.rows<{ tasks: number; schedules: number; due: number }>(
      `select count(*)::integer as tasks, count(distinct schedule_id)::integer as schedules,
              (select count(*)::integer from schedules where next_run_at <= now()) as due
         from schedule_firings where schedule_id in (select id from schedules)`,
    );
    assert.deepEqual(counted, { tasks: 1_201, schedules: 1_201, due: 0 });
    assert.ok(
      rounds <= 6 && database.sent.length < 150,
      `${database.sent.length} statements in ${rounds} rounds`,
    );
    const errorOf = async ({ name }: Schedule) =>
      (await server.services.features.schedules.service.get(server.principal, name)).lastError?.error;
    assert.equal(await errorOf(gone), 'Queue "brief" not found');
    assert.equal(await errorOf(broken), "The task holds characters that cannot be stored");
    await server.database.rows("delete from tasks where schedule_id is not null");
  });

  it("fire once although the node fails at any statement of a batch", async () => {
    const all = [await schedule(), await schedule({ overlap: "skip" }), await schedule()];
    await makeDue();
    const { database, runner } = watchedRunner();
    let statements = 0;
    let failAt = 1;
    database.before = () => {
      statements += 1;
      if (statements !== failAt) return;
      failAt += 1;
      statements = 0;
      throw new Error("the process is gone");
    };
    for (let round = 0; round < 20; round += 1) await runner.fireOnce().catch(() => {});

    assert.ok(failAt > 5, `only ${failAt} failures`);
    for (const each of all) assert.equal((await tasksOf(each)).length, 1, each.name);
  });

  it("with overlap skip fire nothing while their task has not ended", async () => {
    // Nothing is called meanwhile.
    await server.queues.setPaused(server.principal, QUEUE, true);
    const skips = await schedule({ overlap: "skip" });
    for (let round = 0; round < 2; round += 1) {
      await makeDue();
      await fire();
    }
    const [only, ...others] = await tasksOf(skips);
    assert.deepEqual(others, []);
    await server.tasks.cancel(server.principal, only?.id ?? "");
    await makeDue();
    await fire();
    assert.equal((await tasksOf(skips)).length, 2);
    await server.queues.setPaused(server.principal, QUEUE, false);
  });

  it("report why a firing made no task, and fire again once the cause is gone", async () => {
    await server.queues.create(server.principal, "short-lived", {});
    const request = { ...plainRequest(server.target.url), queue: "short-lived" };
    const well = await schedule();
    const broken = await schedule({ task: { text: "{}", request } });
    await server.queues.remove(server.principal, "short-lived");
    await makeDue();
    await fire();
    assert.equal((await tasksOf(well)).length, 1);
    const told = await read(broken.id);
    assert.equal(told.lastError?.error, 'Queue "short-lived" not found');
    assert.ok(told.nextRunAt !== null && told.nextRunAt > new Date());

    await server.queues.create(server.principal, "short-lived", {});
    await makeDue();
    await fire();
    const { lastError, lastTask } = await read(broken.id);
    assert.equal(lastError, null);
    assert.equal(lastTask?.id, (await tasksOf(broken))[0]?.id);
  });

  it("report a revoked vault token, and a plan limit that was lowered", async () => {
    const { id } = await server.services.vault.create(server.principal, {
      name: "vendor",
      value: new Secret("Bearer x"),
      allowedHosts: null,
    });
    const plain = plainRequest(server.target.url);
    const request = { ...plain, call: { ...plain.call, headers: { authorization: id } } };
    const revoked = await schedule({ task: { text: "{}", request } });
    await server.services.vault.revoke(server.principal, id);
    await makeDue();
    await fire();
    assert.match((await read(revoked.id)).lastError?.error ?? "", /references unknown vault token/);

    const slow = await schedule({ task: { text: "{}", request: { ...plain, timeoutSeconds: 3600 } } });
    await server.database.rows("update teams set limits = '{\"timeoutSeconds\": 60}' where id = $1", [
      server.principal.teamId,
    ]);
    await makeDue();
    await fire();
    await server.database.rows("update teams set limits = null where id = $1", [server.principal.teamId]);
    assert.match((await read(slow.id)).lastError?.error ?? "", /at most 60: timeoutSeconds of the plan/);
    assert.deepEqual([...(await tasksOf(revoked)), ...(await tasksOf(slow))], []);
  });

  it("fire only manually while paused; the node sleeps until the next due time", async () => {
    const paused = await schedule({ paused: true });
    await makeDue();
    assert.equal(await fire(), 5_000);
    assert.equal((await tasksOf(paused)).length, 0);
    const task = await server.services.features.schedules.service.run(server.principal, paused.name);
    assert.deepEqual(await tasksOf(paused), [{ id: task.id }]);
    assert.equal((await read(paused.id)).lastTask?.id, task.id);

    await schedule({ cron: "* * * * * *" });
    const napMs = await fire();
    assert.ok(napMs <= 1_002, String(napMs));
  });

  it("of a test key create sandbox tasks", async () => {
    const tester: Requester = { ...server.principal, environment: "test" };
    const tried = await schedule({}, tester);
    await makeDue();
    await fire();
    const [task] = await tasksOf(tried);
    assert.equal((await server.task(task?.id ?? "")).sandbox, true);
    await assert.rejects(server.services.features.schedules.service.get(server.principal, tried.name), {
      code: "schedule_not_found",
    });
  });
});
