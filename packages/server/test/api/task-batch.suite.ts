import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { BODY_LIMIT, createTestApi, type TestApi } from "./test-api.ts";

const TASK = { queue: "default", webhook_url: "https://target.example/hook" };
const DIRECT = { targetUrl: "https://target.example/start" };

describe("POST /v1/tasks/batch", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  const batch = (tasks: unknown, more: object = {}) =>
    api.call("POST", "/v1/tasks/batch", { tasks, ...more });
  const total = async () => (await api.call("GET", "/v1/tasks")).body.pagination.total;

  it("creates the valid tasks of both shapes and refuses only the others", async () => {
    const before = await total();
    const { status, body } = await batch([
      { ...TASK, payload: { n: 1 }, delay: 60 },
      { ...DIRECT, delay: 60 },
      { queue: "default" },
      5,
      { ...TASK, queue: "nowhere" },
      { ...TASK, targetUrl: "https://target.example/start" },
      { ...TASK, priority: 11 },
      Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`f${index}`, 1])),
    ]);

    assert.equal(status, 200);
    assert.deepEqual([body.created, body.replayed, body.refused], [2, 0, 6]);
    const [queued, direct, ...refused] = body.results;
    assert.deepEqual([queued.index, queued.task.delay, queued.task.status], [0, 60, "pending"]);
    assert.match(queued.task.id, /^task_/);
    assert.deepEqual(Object.keys(direct), ["index", "task", "callbackId", "callbackUrl"]);
    assert.equal(direct.task.targetUrl, DIRECT.targetUrl);
    assert.deepEqual(refused, [
      { index: 2, error: "webhook_url is required", code: "invalid" },
      { index: 3, error: "Request body must be a JSON object", code: "body_not_object" },
      { index: 4, error: 'Queue "nowhere" not found', code: "queue_not_found" },
      { index: 5, error: "Use either webhook_url or targetUrl, not both", code: "invalid" },
      { index: 6, error: "priority must be an integer between 1 and 10", code: "invalid" },
      { index: 7, error: "Request body must have at most 100 fields", code: "invalid" },
    ]);
    assert.equal(await total(), before + 2);
  });

  it("stores each payload byte for byte", async () => {
    const text = `{"tasks": [ {"queue":"default","webhook_url":"https://t.example/","payload": {"n":1.0, "b":"]"} } , {"queue":"default","webhook_url":"https://t.example/","payload":[12345678901234567890]}]}`;
    const { body } = await api.call("POST", "/v1/tasks/batch", text);
    const payloads: (string | undefined)[] = [];
    for (const { task } of body.results) {
      const [row] = await api.server.database.rows<{ body: string }>(
        "select body from tasks where team_id = $1 order by id desc limit 1 offset $2",
        [api.team.id, payloads.length],
      );
      assert.ok(task.id);
      payloads.push(row?.body);
    }
    assert.deepEqual(payloads.sort(), ["[12345678901234567890]", '{"n":1.0, "b":"]"}']);
  });

  it("applies each item's idempotency key, even twice in one batch", async () => {
    for (const atomic of [false, true]) {
      const key = `k-${atomic}`;
      const item = { ...TASK, delay: 60, idempotency_key: key };
      const first = (await batch([item, item, { ...TASK, delay: 60 }], { atomic })).body;
      assert.deepEqual([first.created, first.replayed, first.refused], [2, 1, 0], JSON.stringify(first));
      assert.equal(first.results[0].task.id, first.results[1].task.id);
      const again = (await batch([item], { atomic })).body;
      assert.deepEqual([again.created, again.replayed], [0, 1]);
      assert.deepEqual(
        [again.results[0].task.id, again.results[0].replayed],
        [first.results[0].task.id, true],
      );
    }
  });

  it("stores all items or none with atomic, and names the invalid item", async () => {
    const before = await total();
    const cases: [unknown, string][] = [
      [{ queue: "default" }, "tasks[1]: webhook_url is required"],
      [{ ...TASK, queue: "nowhere" }, 'tasks[1]: Queue "nowhere" not found'],
      [{ ...DIRECT, provider: "nobody" }, 'tasks[1]: Unknown provider "nobody"'],
    ];
    for (const [bad, error] of cases) {
      const { status, body } = await batch([TASK, bad, TASK], { atomic: true });
      assert.equal(status, 400);
      const details = [{ field: "tasks[1]", error: error.slice("tasks[1]: ".length) }];
      assert.deepEqual(body, { error, code: "batch_refused", details });
    }
    assert.equal(await total(), before);

    const { body } = await batch([TASK, DIRECT], { atomic: true });
    assert.equal(body.created, 2);
    assert.equal(await total(), before + 2);
  });

  it("refuses an item larger than a single creation may be, and creates the others", async () => {
    const sized = (bytes: number, fill = "x") => {
      const [head, tail] = JSON.stringify({ ...TASK, delay: 60, payload: "@" }).split("@");
      const room = bytes - Buffer.byteLength(`${head}${tail}`);
      return `${head}${fill.repeat(room / Buffer.byteLength(fill))}${tail}`;
    };
    const [fitting, tooLarge] = [sized(BODY_LIMIT), sized(BODY_LIMIT + 1)];
    assert.equal((await api.call("POST", "/v1/tasks", fitting)).status, 201);
    const single = await api.call("POST", "/v1/tasks", tooLarge);
    assert.equal(single.status, 413);

    const send = (items: string[], atomic: boolean) =>
      api.call("POST", "/v1/tasks/batch", `{"tasks":[${items.join(" , ")}],"atomic":${atomic}}`);
    const { status, body } = await send([fitting, tooLarge, fitting], false);
    assert.equal(status, 200);
    assert.deepEqual([body.created, body.refused], [2, 1]);
    assert.deepEqual(body.results[1], { index: 1, ...single.body });
    // Characters of two bytes count as two.
    const wide = sized(BODY_LIMIT + 2 + (BODY_LIMIT % 2), "é");
    assert.ok(wide.length < BODY_LIMIT);
    assert.equal((await send([wide], false)).body.refused, 1);

    const before = await total();
    const atomic = await send([fitting, tooLarge], true);
    assert.deepEqual(
      [atomic.status, atomic.body.code, atomic.body.error],
      [400, "batch_refused", "tasks[1]: Request body too large"],
    );
    assert.equal(await total(), before);
  });

  it("accepts 1 to 1000 items in up to 10 MiB, and stores them in at most 10 commits", async () => {
    const rule = "tasks must be an array of 1 to 1000 items";
    for (const tasks of [[], Array(1001).fill(TASK), "all"]) {
      const { status, body } = await batch(tasks);
      assert.deepEqual([status, body.error], [400, rule]);
    }
    assert.equal((await batch([{ ...TASK, payload: "x".repeat(10 * 1024 * 1024) }])).status, 413);
    const large = { ...TASK, delay: 60, payload: "x".repeat(BODY_LIMIT / 2) };
    assert.equal((await batch(Array(4).fill(large))).body.created, 4);

    const { sent } = api.server.databases.intake;
    const before = sent.length;
    const { body } = await batch(Array(1000).fill({ ...TASK, delay: 60 }));
    assert.equal(body.created, 1000);
    assert.ok(sent.length - before <= 10, `${sent.length - before} commits`);
  });
});
