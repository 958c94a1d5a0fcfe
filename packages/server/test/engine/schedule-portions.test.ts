import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import type { Requester } from "../../src/domain/identity/principal.ts";
import { createTaskChanges } from "../../src/domain/task-changes.ts";
import { messageRequestOf } from "../../src/domain/task-copies.ts";
import { createFanOut } from "../../src/features/qstash/index.ts";
import { SCHEDULE_DEFAULTS, type Schedule } from "../../src/features/schedules/domain.ts";
import { createScheduleRunner } from "../../src/features/schedules/service-runner.ts";
import { openTestServer, plainRequest, QUEUE, type TestServer } from "../test-server.ts";
import { createGate, watchDatabase } from "../test-sql.ts";

const ENDPOINTS = 10;
/** Two of them fit into a portion. */
const BODY = "x".repeat(100_000);

describe("portions of due schedules", () => {
  let server: TestServer;
  let made = 0;
  before(async () => {
    server = await openTestServer();
    await server.database.rows(
      "insert into url_groups (team_id, name, endpoints) values ($1, 'everyone', $2::jsonb)",
      [
        server.principal.teamId,
        JSON.stringify(
          Array.from({ length: ENDPOINTS }, (_, index) => ({ url: urlOf(index), name: `n${index}` })),
        ),
      ],
    );
  });
  afterEach(() => server.database.rows("delete from schedules; delete from tasks"));
  after(() => server.close());

  const urlOf = (index: number) => `${server.target.url}/${index}`;
  const service = () => server.services.features.schedules.service;
  const fire = () => server.services.features.schedules.runner.fireOnce();
  const groupRequest = (body: string) =>
    messageRequestOf({
      call: { method: "POST", url: urlOf(0), headers: {}, body },
      queue: QUEUE,
      message: { topic: "everyone" },
      delaySeconds: 0,
      runAt: null,
      timeoutSeconds: null,
      maxRetries: null,
      tags: null,
      flow: null,
    });

  async function schedule(
    secondsAgo: number,
    {
      owner = server.principal,
      request = plainRequest(server.target.url),
    }: { owner?: Requester; request?: ReturnType<typeof plainRequest> } = {},
  ): Promise<Schedule> {
    made += 1;
    const terms = {
      ...SCHEDULE_DEFAULTS,
      cron: "0 0 1 1 *",
      overlap: "skip" as const,
      task: { text: "{}", request },
    };
    const created = await service().create(owner, `made-${made}`, terms);
    await server.database.rows(
      "update schedules set next_run_at = date_trunc('milliseconds', now()) - make_interval(secs => $2) where id = $1",
      [created.id, secondsAgo],
    );
    return created;
  }

  async function copy({ id }: Schedule, count: number): Promise<void> {
    await server.database.rows(
      `insert into schedules (team_id, sandbox, id, name, cron, timezone, overlap, catch_up, task, request, next_run_at)
       select team_id, sandbox, gen_random_uuid(), 'copy-' || n, cron, timezone, overlap, catch_up, task, request, next_run_at
         from schedules cross join generate_series(1, $2) n where id = $1`,
      [id, count],
    );
  }

  /** The last part of the URL of each task, sorted. */
  async function called(): Promise<string[]> {
    const rows = await server.database.rows<{ url: string }>("select url from tasks where team_id = $1", [
      server.principal.teamId,
    ]);
    return rows.map(({ url }) => url.split("/").at(-1) ?? "").sort();
  }

  const everyone = () => Array.from({ length: ENDPOINTS }, (_, index) => String(index));

  async function firedOf({ id }: Schedule): Promise<number> {
    return (await server.database.rows("select 1 from schedule_firings where schedule_id = $1", [id])).length;
  }

  it("have a team's schedule in the first one, whatever another team has that was due before", async () => {
    await copy(await schedule(60), 700);
    const guest = await server.openTeam();
    const late = await schedule(1, { owner: guest });

    await fire();

    assert.equal(await firedOf(late), 1);
    const [left] = await server.database.rows<{ due: number }>(
      "select count(*)::integer as due from schedules where next_run_at <= now()",
    );
    assert.equal(left?.due, 701 - 150, "each of two teams has half of a portion");
  });

  it("are of each team in turn if one task fills a portion", async () => {
    const guest = await server.openTeam();
    const small = plainRequest(server.target.url);
    const request = { ...small, call: { ...small.call, body: "x".repeat(300_000) } };
    await copy(await schedule(60, { owner: guest, request }), 10);
    const late = await schedule(1, { request });

    await fire();
    await fire();

    assert.equal(await firedOf(late), 1);
    const [left] = await server.database.rows<{ due: number }>(
      "select count(*)::integer as due from schedules where next_run_at <= now()",
    );
    assert.equal(left?.due, 10, "each portion has one large task");
  });

  it("divide a firing to a URL group by its bytes, and let another team's schedule in between", async () => {
    const group = await schedule(60, { request: groupRequest(BODY) });
    const guest = await server.openTeam();
    await fire();
    assert.equal((await called()).length, 2);
    const late = await schedule(1, { owner: guest });
    await fire();
    assert.equal(await firedOf(late), 1);
    assert.ok((await called()).length <= 4);

    while ((await fire()) === 0);

    assert.deepEqual(await called(), everyone());
    assert.equal(await firedOf(group), 1);
    const { nextRunAt, lastTask, lastError } = await service().get(server.principal, group.name);
    assert.ok(nextRunAt !== null && nextRunAt > new Date());
    assert.ok(lastTask !== null && lastError === null);
  });

  it("reach every endpoint once although the node fails at any statement", async () => {
    const group = await schedule(60, { request: groupRequest(BODY) });
    const database = watchDatabase(server.database);
    const runner = createScheduleRunner({
      database,
      accept: server.services.tasks.accept,
      fanOut: createFanOut(database),
      termsOf: async () => new Map([[server.principal.teamId, server.principal]]),
      changes: createTaskChanges(),
    });
    let statements = 0;
    let failAt = 1;
    database.before = () => {
      statements += 1;
      if (statements !== failAt) return;
      failAt += 1;
      statements = 0;
      throw new Error("the process is gone");
    };
    for (let round = 0; round < 40; round += 1) await runner.fireOnce().catch(() => {});

    assert.ok(failAt > 5, `only ${failAt} failures`);
    assert.deepEqual(await called(), everyone());
    assert.equal(await firedOf(group), 1);
  });

  it("prepare the tasks of a team in one of its turns after another, not one turn each", async () => {
    await copy(await schedule(60), 49);
    const asked: [number, number][] = [];
    const runner = createScheduleRunner({
      database: server.database,
      accept: server.services.tasks.accept,
      termsOf: async () => new Map([[server.principal.teamId, server.principal]]),
      changes: createTaskChanges(),
      inTurns: async (teamId, items, work) => {
        asked.push([teamId, items.length]);
        return items.map(work);
      },
    });
    await runner.fireOnce();

    assert.deepEqual(asked, [[server.principal.teamId, 50]]);
    assert.equal((await called()).length, 50);
  });

  it("of sandboxes are one at a time on a node, because each needs more connections than its transaction has", async () => {
    const owner = { ...server.principal, environment: "test" as const };
    const database = watchDatabase(server.database);
    const gate = createGate();
    const runner = createScheduleRunner({
      database,
      accept: server.services.tasks.accept,
      async termsOf() {
        await gate.wait();
        return new Map([[server.principal.teamId, server.principal]]);
      },
      changes: createTaskChanges(),
    });
    await copy(await schedule(60, { owner }), 399);
    const fireAhead = () => runner.fireAhead({ teamId: owner.teamId, aheadMs: 0 });

    const first = fireAhead();
    await gate.reached;
    const second = fireAhead();
    await new Promise(setImmediate);

    assert.equal(database.begun, 1);
    gate.open();
    assert.deepEqual(await Promise.all([first, second]), [300, 100]);
  });

  it("go on with the endpoints of the first one when the group changes, and end with another task", async () => {
    const group = await schedule(60, { request: groupRequest(BODY) });
    await fire();
    await server.database.rows("update url_groups set endpoints = endpoints - 0 - 0");
    await fire();
    assert.deepEqual(await called(), ["0", "1", "2", "3"]);

    const task = { text: "{}", request: groupRequest("another") };
    await service().update(server.principal, group.name, { task });
    while ((await fire()) === 0);

    assert.deepEqual(await called(), ["0", "1", "2", "3"]);
    assert.ok(((await service().get(server.principal, group.name)).nextRunAt ?? new Date(0)) > new Date());
  });
});
