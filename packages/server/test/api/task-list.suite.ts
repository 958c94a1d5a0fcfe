import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { formatTaskId, parseTaskId } from "../../src/domain/task-id.ts";
import { newUuid } from "../../src/service/new-uuid.ts";
import { createTestApi, type TestApi } from "./test-api.ts";
import type { Credential } from "./test-team.ts";

describe("GET /v1/tasks", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  /** So many tasks of a team that has no others, the oldest first. */
  async function createTasks(count: number): Promise<{ ids: string[]; headers: Credential }> {
    const { headers } = await api.openTeam();
    const ids: string[] = [];
    for (let number = 0; number < count; number += 1) {
      const task = { queue: "default", webhook_url: "http://a/", payload: { number } };
      ids.push((await api.call("POST", "/v1/tasks", task, headers)).body.id);
    }
    return { ids, headers };
  }
  const list = (query: string, headers: Credential = api.team.headers) =>
    api.call("GET", `/v1/tasks${query}`, undefined, headers);
  const idsOf = async (query: string, headers: Credential): Promise<string[]> =>
    (await list(query, headers)).body.tasks.map(({ id }: { id: string }) => id);

  it("lists records without payload and attempts, and the cursor of the next page", async () => {
    const { ids, headers } = await createTasks(5);

    const { status, body } = await list("?limit=1&offset=3", headers);

    assert.equal(status, 200);
    const id = ids[1];
    const { nextCursor, ...pagination } = body.pagination;
    assert.deepEqual(pagination, { total: 5, limit: 1, offset: 3, hasMore: true });
    assert.deepEqual(await idsOf(`?cursor=${nextCursor}`, headers), [ids[0]]);
    assert.equal(body.tasks[0].id, id);
    assert.deepEqual(Object.keys(body.tasks[0]), [
      "id",
      "queue",
      "status",
      "priority",
      "created_at",
      "run_at",
      "max_retries",
      "timeout",
      "retry_backoff",
      "retry_delay",
      "retry_max_delay",
      "webhook_url",
      "method",
      "headers",
      "attempt_count",
    ]);
    assert.equal(body.tasks[0].attempt_count, 0);
  });

  it("accepts limit (default 20) and offset, and lists newest first", async () => {
    const { ids, headers } = await createTasks(21);
    const newestFirst = [...ids].reverse();

    assert.deepEqual(await idsOf("", headers), newestFirst.slice(0, 20));
    const { nextCursor, ...pagination } = (await list("", headers)).body.pagination;
    assert.deepEqual(pagination, { total: 21, limit: 20, offset: 0, hasMore: true });
    assert.deepEqual(await idsOf(`?cursor=${nextCursor}`, headers), newestFirst.slice(20));
    assert.deepEqual(await idsOf("?limit=100", headers), newestFirst);
    assert.deepEqual(await idsOf("?limit=2&offset=20", headers), newestFirst.slice(20));
    assert.deepEqual((await list("?limit=100&offset=10000", headers)).body, {
      tasks: [],
      pagination: { total: 21, limit: 100, offset: 10000, hasMore: false, nextCursor: null },
    });
  });

  it("ends a page that would be too large, and continues it by the cursor", async () => {
    const { ids, headers } = await createTasks(5);
    await api.server.database.rows(
      "update tasks set headers = jsonb_build_object('X-Long', repeat('é', 200000)) where id = any($1)",
      [ids.map(parseTaskId)],
    );
    const seen: string[] = [];
    let cursor = "";
    for (const [length, hasMore] of [
      [2, true],
      [2, true],
      [1, false],
    ] as const) {
      const { body } = await list(`?limit=100${cursor}`, headers);
      assert.deepEqual(
        [body.tasks.length, body.pagination.hasMore, body.pagination.total],
        [length, hasMore, 5],
      );
      seen.push(...body.tasks.map(({ id }: { id: string }) => id));
      cursor = `&cursor=${body.pagination.nextCursor}`;
    }
    assert.deepEqual(seen, [...ids].reverse());
  });

  it("filters by queue and status, alone or together", async () => {
    const call = { webhook_url: "http://a/" };
    await api.call("POST", "/v1/queues", { name: "a-b" });
    await api.call("POST", "/v1/queues/a-b/pause");
    const pending = (await api.call("POST", "/v1/tasks", { queue: "default", ...call })).body.id;
    const inQueue = (await api.call("POST", "/v1/tasks", { queue: "a-b", ...call })).body.id;
    const completed = (await api.run({})).body.id;
    const waiting = (await api.run({ wait_for_callback: true })).body.id;

    const { headers } = api.team;
    assert.deepEqual(await idsOf("?queue=a-b", headers), [inQueue]);
    assert.deepEqual(await idsOf("?queue=default&status=pending", headers), [pending]);
    assert.deepEqual(await idsOf("?queue=a-b&status=failed", headers), []);
    assert.deepEqual(await idsOf("?queue=never-made", headers), []);
    for (const [status, ids] of [
      ["pending", [inQueue, pending]],
      ["active", []],
      ["completed", [completed]],
      ["failed", []],
      ["waiting", [waiting]],
      ["polling", []],
    ] as const) {
      const { body } = await list(`?status=${status}`);
      assert.deepEqual(
        body.tasks.map(({ id }: { id: string }) => id),
        ids,
        status,
      );
      assert.equal(body.pagination.total, ids.length);
    }
  });

  it("continues the search of a cursor with any page size", async () => {
    const { ids, headers } = await createTasks(4);
    const [first, second] = ids;
    const cursorOf = async (query: string, credential: Credential = headers) =>
      (await list(`?limit=2&${query}`, credential)).body.pagination.nextCursor;
    for (const query of [
      "",
      "queue=default",
      "status=pending,failed",
      "host=a&status=pending",
      "created_after=2020-01-01T00:00:00Z",
    ]) {
      const cursor = await cursorOf(query);
      for (const limit of [1, 100])
        assert.deepEqual(
          await idsOf(`?limit=${limit}&${query}&cursor=${cursor}`, headers),
          [second, first].slice(0, limit),
          query,
        );
    }
    // What says the same is the same search.
    const cursor = await cursorOf("status=pending,failed&order=desc");
    assert.deepEqual(await idsOf(`?status=failed,pending&cursor=${cursor}`, headers), [second, first]);
  });

  it("refuses a cursor with other filters, another order or of another team", async () => {
    const { headers } = await createTasks(3);
    const { headers: theirs } = await createTasks(3);
    const cursorOf = async (query: string, credential: Credential = headers) =>
      (await list(`?limit=1&${query}`, credential)).body.pagination.nextCursor;
    const own = await cursorOf("status=pending");
    const refused: [string, string][] = [
      ["status=pending&order=asc", own],
      ["", own],
      ["status=pending,failed", own],
      ["status=pending&queue=default", own],
      ["status=pending&host=a", own],
      ["status=pending&tag=x", own],
      ["status=pending&created_after=2020-01-01T00:00:00Z", own],
      ["status=pending&sandbox=true", own],
      ["status=pending", await cursorOf("status=pending", theirs)],
      ["status=pending", await cursorOf("")],
    ];
    for (const [query, cursor] of refused) {
      const { status, body } = await list(`?${query}&cursor=${cursor}`, headers);
      assert.equal(status, 400, query);
      assert.deepEqual(body, { error: "Cursor belongs to another search", code: "cursor_foreign" }, query);
    }
  });

  it("refuses a limit above 100 and other invalid parameters with the rule that they break", async () => {
    const limit = "limit must be an integer between 1 and 100";
    const offset = "offset must be an integer between 0 and 9007199254740991";
    const states = '"pending", "active", "completed", "failed", "waiting", "polling", "cancelled"';
    const queue = "queue must be 1 to 64 letters, digits, dots, underscores or hyphens";
    const cases: [string, string][] = [
      ["limit=101", limit],
      ["limit=0", limit],
      ["limit=-1", limit],
      ["limit=", limit],
      ["limit=1.5", limit],
      ["limit=1e1", limit],
      ["limit=0x10", limit],
      ["limit=%201", limit],
      ["limit=1&limit=2", limit],
      ["limit=99999999999999999999", limit],
      ["offset=-1", offset],
      ["offset=9007199254740992", offset],
      ["offset=1&offset=1", offset],
      ["offset=10001", "offset must be at most 10000; to go further, use cursor"],
      ["offset=2147483647&status=pending", "offset must be at most 10000; to go further, use cursor"],
      ["status=done", `status must be one of ${states}`],
      ["status=PENDING", `status must be one of ${states}`],
      ["status=failed&status=pending", `status must be one of ${states}`],
      ["queue=a@b", queue],
      ["queue=%00", queue],
      ["queue=a&queue=b", queue],
      ["cursor=abc", "cursor must be the nextCursor of a page"],
      ["cursor=", "cursor must be the nextCursor of a page"],
      [`cursor=${formatTaskId(newUuid())}`, "cursor must be the nextCursor of a page"],
      [`cursor=${formatTaskId(newUuid())}.abc`, "cursor must be the nextCursor of a page"],
      [`cursor=${newUuid()}&offset=0`, "Use either cursor or offset, not both"],
      ["page=2", 'Unknown field "page"'],
      ["limits=2", 'Unknown field "limits" (did you mean "limit"?)'],
      ["__proto__=1", 'Unknown field "__proto__"'],
    ];
    for (const [query, error] of cases) {
      const { status, body } = await api.call("GET", `/v1/tasks?${query}`);
      assert.equal(status, 400, query);
      assert.deepEqual(body, { error, code: "invalid" }, query);
    }
  });

  it("lists results without their bodies, in both shapes", async (test) => {
    const { target } = api.server;
    test.mock.method(target, "answer", (...[, response]: Parameters<typeof target.answer>) =>
      response.end("canary"),
    );
    const queued = await api.run({});
    const direct = await api.run({ targetUrl: target.url, body: "canary" });

    const { body, text } = await list("?limit=2");

    assert.deepEqual(
      body.tasks.map(({ id }: { id: string }) => id),
      [direct.body.task.id, queued.body.id],
    );
    assert.equal(body.tasks[0].attemptCount, 1);
    assert.equal(body.tasks[1].attempt_count, 1);
    for (const { status, result } of body.tasks) {
      assert.equal(status, "completed");
      assert.deepEqual(Object.keys(result), ["statusCode", "headers", "duration"]);
    }
    assert.ok(!text.includes("canary"), text);
    const record = (await api.call("GET", `/v1/tasks/${queued.body.id}`)).body;
    assert.deepEqual(Object.keys(record.result), ["statusCode", "headers", "body", "duration"]);
  });
});
