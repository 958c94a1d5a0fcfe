import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Task } from "../../src/domain/task.ts";
import { formatTaskId, newTaskUuid, parseTaskId } from "../../src/service/tasks/task-id.ts";
import { createTestApi, type TestApi } from "./test-api.ts";

describe("GET /v1/tasks", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });
  after(() => api.app.close());

  async function createTask(): Promise<{ id: string; uuid: string; task: Task }> {
    const { body } = await api.call("POST", "/v1/tasks", { queue: "default", webhook_url: "http://a/" });
    const uuid = parseTaskId(body.id) ?? "";
    const task = api.services.stored.get(uuid);
    assert.ok(task);
    return { id: body.id, uuid, task };
  }

  it("the list holds records without payload and attempts, and says where it goes on", async () => {
    const { uuid, task, id } = await createTask();
    api.services.page = { tasks: [task], total: 7, hasMore: true, nextCursor: uuid };

    const { status, body } = await api.call("GET", "/v1/tasks?limit=1&offset=3");

    assert.equal(status, 200);
    assert.deepEqual(body.pagination, { total: 7, limit: 1, offset: 3, hasMore: true, nextCursor: id });
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
      "webhook_url",
      "method",
      "headers",
    ]);
  });

  it("the list takes queue, status, limit (default 20) and offset", async () => {
    await api.call("GET", "/v1/tasks");
    assert.deepEqual(api.services.queries.at(-1), {
      queue: null,
      status: null,
      limit: 20,
      offset: 0,
      cursor: null,
    });

    await api.call("GET", "/v1/tasks?queue=a-b&status=failed&limit=100&offset=9007199254740991");
    assert.deepEqual(api.services.queries.at(-1), {
      queue: "a-b",
      status: "failed",
      limit: 100,
      offset: 9007199254740991,
      cursor: null,
    });
    for (const status of ["pending", "active", "completed", "failed", "waiting", "polling"]) {
      assert.equal((await api.call("GET", `/v1/tasks?status=${status}`)).status, 200);
    }
  });

  it("takes a cursor in either spelling instead of an offset", async () => {
    const uuid = newTaskUuid();
    for (const cursor of [uuid, formatTaskId(uuid)]) {
      await api.call("GET", `/v1/tasks?cursor=${cursor}`);
      assert.equal(api.services.queries.at(-1)?.cursor, uuid);
    }
  });

  it("limit is at most 100; every other wrong parameter is refused by its rule too", async () => {
    const limit = "limit must be an integer between 1 and 100";
    const offset = "offset must be an integer between 0 and 9007199254740991";
    const states = '"pending", "active", "completed", "failed", "waiting", "polling"';
    const queue = "queue must be 1 to 64 letters, digits or hyphens";
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
      ["status=done", `status must be one of ${states}`],
      ["status=PENDING", `status must be one of ${states}`],
      ["status=failed&status=pending", `status must be one of ${states}`],
      ["queue=a_b", queue],
      ["queue=%00", queue],
      ["queue=a&queue=b", queue],
      ["cursor=abc", "cursor must be the nextCursor of a page"],
      [`cursor=${newTaskUuid()}&offset=0`, "Use either cursor or offset, not both"],
      ["page=2", 'Unknown field "page"'],
      ["limits=2", 'Unknown field "limits" (did you mean "limit"?)'],
      ["__proto__=1", 'Unknown field "__proto__"'],
    ];
    for (const [query, error] of cases) {
      const { status, body } = await api.call("GET", `/v1/tasks?${query}`);
      assert.equal(status, 400, query);
      assert.deepEqual(body, { error }, query);
    }
  });
});
