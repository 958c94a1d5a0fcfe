import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { createTestApi, type TestApi } from "./test-api.ts";

const TASK = { queue: "default", webhook_url: "http://a.test/", delay: 3600 };

describe("POST /v1/tasks/bulk", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
    const tasks = [{ tags: ["x"] }, { tags: ["x"] }, {}].map((more) => ({ ...TASK, ...more }));
    await api.call("POST", "/v1/tasks/batch", { tasks });
  });

  const bulk = (body: object, headers = {}) => api.call("POST", "/v1/tasks/bulk", body, headers);

  it("answers a dry run with the number of matching tasks, and changes nothing", async () => {
    const { status, body } = await bulk({
      action: "delete",
      filter: { tag: "x", queue: null },
      dry_run: true,
    });
    assert.deepEqual([status, body], [200, { matched: 2 }]);
    assert.equal(
      (await bulk({ action: "delete", filter: {}, confirm: "all", dry_run: true })).body.matched,
      3,
    );
  });

  it("filters by metadata in the list's syntax or as an object", async () => {
    await api.call("POST", "/v1/tasks", { ...TASK, metadata: { order: "4711", kind: "a" } });
    for (const [filter, matched] of [
      [{ "metadata.order": "4711" }, 1],
      [{ metadata: "order=4711", "metadata.kind": "b" }, 0],
      [{ metadata: { order: "4711", kind: "a" } }, 1],
    ] as const) {
      const { body } = await bulk({ action: "delete", filter, dry_run: true });
      assert.deepEqual(body, { matched }, JSON.stringify(filter));
    }
  });

  it("answers 202 and shows its progress under its id until it is stopped", async () => {
    const { status, body } = await bulk({ action: "retry", filter: { tag: "x" }, rate: 1 });
    assert.equal(status, 202);
    const { id, created_at: createdAt, ...rest } = body.bulk;
    assert.match(id, /^bulk_[0-9a-z]{26}$/);
    assert.ok(Date.parse(createdAt) > 0);
    assert.deepEqual(rest, { action: "retry", status: "running", matched: 2, done: 0, skipped: 0 });

    assert.deepEqual((await api.call("GET", `/v1/tasks/bulk/${id}`)).body, body);
    const stopped = await api.call("POST", `/v1/tasks/bulk/${id}/stop`);
    assert.deepEqual(stopped.body.bulk, { ...body.bulk, status: "stopped" });
    assert.deepEqual((await api.call("POST", `/v1/tasks/bulk/${id}/stop`)).body, {
      error: "Bulk action has already ended (current: stopped)",
      code: "bulk_ended",
    });
    const { events } = (await api.call("GET", "/v1/audit?limit=2")).body;
    assert.deepEqual(
      events.map(({ action, target }: { action: string; target: string }) => [action, target]),
      [
        ["bulk.stopped", id],
        ["bulk.started", id],
      ],
    );
    assert.deepEqual(events[1].detail, { action: "retry", filter: { tag: "x" }, rate: 1, matched: 2 });
  });

  it("lists bulk actions newest first, in pages, to their own team alone", async () => {
    const own = await api.openTeam();
    const start = async (headers = own.headers) =>
      (await bulk({ action: "delete", filter: { queue: "default" } }, headers)).body.bulk;
    const started = [await start(), await start(), await start()].reverse();
    const inSandbox = await start(await own.newKey("test"));
    const list = (query: string, headers = own.headers) =>
      api.call("GET", `/v1/tasks/bulk${query}`, undefined, headers);

    const first = (await list("?limit=2")).body;
    assert.deepEqual(first.bulks, [inSandbox, started[0]]);
    assert.deepEqual([first.pagination.limit, first.pagination.hasMore], [2, true]);
    const rest = (await list(`?limit=2&cursor=${first.pagination.nextCursor}`)).body;
    assert.deepEqual(rest.bulks, started.slice(1));
    assert.deepEqual(rest.pagination, { limit: 2, hasMore: false, nextCursor: null });
    assert.deepEqual((await list("", await own.newKey("test"))).body.bulks, [inSandbox]);
    assert.equal((await list("?cursor=bulk_x")).status, 400);
  });

  it("answers 404 for a bulk action of another team or environment", async () => {
    const { id } = (await bulk({ action: "retry", filter: { tag: "x" }, rate: 1 })).body.bulk;
    const stranger = (await api.openTeam()).headers;
    const testKey = await api.team.newKey("test");
    for (const headers of [stranger, testKey]) {
      assert.equal((await api.call("GET", `/v1/tasks/bulk/${id}`, undefined, headers)).status, 404);
      assert.equal((await api.call("POST", `/v1/tasks/bulk/${id}/stop`, undefined, headers)).status, 404);
    }
    const sandbox = await bulk({ action: "cancel", filter: { tag: "x" } }, testKey);
    assert.deepEqual([sandbox.body.bulk.matched, sandbox.body.bulk.status], [0, "completed"]);
  });

  it("refuses an empty filter without confirm, and invalid fields", async () => {
    const all = 'An empty filter means every task: say "confirm": "all" with it';
    const cases: [object, string][] = [
      [{ action: "cancel", filter: {} }, all],
      [{ action: "cancel", filter: { queue: null, sandbox: true } }, all],
      [{ action: "cancel" }, "filter is required"],
      [{ filter: { queue: "a" } }, "action is required"],
      [{ action: "stop", filter: {} }, 'action must be one of "cancel", "retry", "delete", "dismiss"'],
      [{ action: "retry", filter: { stauts: "failed" } }, 'Unknown field "stauts" (did you mean "status"?)'],
      [{ action: "retry", filter: { limit: 5 } }, 'Unknown field "limit"'],
      [
        { action: "retry", filter: { host: "a:80" } },
        "host must be the name or address of a host, without a port",
      ],
      [{ action: "retry", filter: {}, confirm: "yes" }, 'confirm must be one of "all"'],
      [{ action: "retry", filter: { queue: "a" }, rate: 0 }, "rate must be an integer between 1 and 1000"],
      [{ action: "retry", filter: { queue: "a" }, rate: 1001 }, "rate must be an integer between 1 and 1000"],
      [
        { action: "retry", filter: { queue: "a" }, dryRun: true },
        'Unknown field "dryRun" (did you mean "dry_run"?)',
      ],
    ];
    for (const [body, error] of cases) {
      const answer = await bulk(body);
      assert.deepEqual([answer.status, answer.body.error], [400, error], JSON.stringify(body));
    }
    for (const id of ["abc", "bulk_01k9z3mxe5f8hrk3yv5pzq8c2d"]) {
      const { status, body } = await api.call("GET", `/v1/tasks/bulk/${id}`);
      assert.deepEqual([status, body], [404, { error: "Bulk action not found", code: "bulk_not_found" }]);
    }
  });
});
