import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Compile } from "typebox/compile";
import type { Task } from "../../src/domain/task.ts";
import { formatTaskId, newTaskUuid, parseTaskId } from "../../src/service/tasks/task-id.ts";
import { NOW, OTHER_TEAM_KEY } from "./fake-services.ts";
import { createTestApi, type TestApi } from "./test-api.ts";

describe("tasks that exist", () => {
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

  async function createEndedTask(): Promise<string> {
    const { id, uuid, task } = await createTask();
    api.services.stored.set(uuid, {
      ...task,
      status: "failed",
      sandbox: true,
      call: { ...task.call, headers: { "X-A": "1" } },
      startedAt: NOW,
      completedAt: new Date("2026-03-01T09:31:00.000Z"),
      error: "The target answered 500",
      failureReason: "retries_exhausted",
      result: { statusCode: 500, headers: { "x-b": "2" }, body: "oh \ud800", duration: 12, truncated: true },
      attempts: [
        {
          number: 1,
          status: "failed",
          responseCode: 500,
          executedAt: NOW,
          durationMs: 12,
          phase: "responded",
          error: "The target answered 500",
        },
        {
          number: 2,
          status: "active",
          responseCode: null,
          executedAt: NOW,
          durationMs: null,
          phase: "not_sent",
          error: null,
        },
      ],
    });
    return id;
  }

  it("the record of a new task has no field that is not set", async () => {
    const { id } = await createTask();

    const { status, body } = await api.call("GET", `/v1/tasks/${id}`);

    assert.equal(status, 200);
    assert.deepEqual(body, {
      id,
      queue: "default",
      status: "pending",
      priority: 5,
      created_at: "2026-03-01T09:30:00.123Z",
      run_at: "2026-03-01T09:30:00.123Z",
      max_retries: 3,
      timeout: 30,
      retry_backoff: "exponential",
      webhook_url: "http://a/",
      method: "POST",
      headers: {},
      attempts: [],
      payload: {},
    });
  });

  it("the record of an ended task has its history, its result and why it failed", async () => {
    const id = await createEndedTask();

    const { body } = await api.call("GET", `/v1/tasks/${id}`);

    assert.equal(body.completed_at, "2026-03-01T09:31:00.000Z");
    assert.equal(body.started_at, "2026-03-01T09:30:00.123Z");
    assert.equal(body.error, "The target answered 500");
    assert.equal(body.failure_reason, "retries_exhausted");
    assert.equal(body.sandbox, true);
    assert.deepEqual(body.headers, { "X-A": "1" });
    assert.deepEqual(body.result, {
      statusCode: 500,
      headers: { "x-b": "2" },
      body: "oh \ud800",
      duration: 12,
      truncated: true,
    });
    assert.deepEqual(body.attempts[0], {
      number: 1,
      status: "failed",
      response_code: 500,
      executed_at: "2026-03-01T09:30:00.123Z",
      duration: 12,
      phase: "responded",
      error: "The target answered 500",
    });
    assert.deepEqual(
      [body.attempts[1].response_code, body.attempts[1].duration, body.attempts[1].error],
      [null, null, null],
    );
  });

  it("is written as the reference says, in the record and in the list", async () => {
    const id = await createEndedTask();
    const { uuid, task } = await createTask();
    api.services.page = {
      tasks: [...api.services.stored.values()],
      total: 2,
      hasMore: true,
      nextCursor: uuid,
    };
    const { schemas } = (await api.call("GET", "/openapi.json")).body.components;
    const inline = (name: string): object =>
      JSON.parse(JSON.stringify(schemas[name]), (_key, value) =>
        typeof value?.$ref === "string" ? inline(value.$ref.split("/").at(-1)) : value,
      );

    const recordErrors = Compile(inline("Task")).Errors((await api.call("GET", `/v1/tasks/${id}`)).body);
    const listErrors = Compile(inline("TaskList")).Errors((await api.call("GET", "/v1/tasks")).body);

    assert.deepEqual([...recordErrors, ...listErrors], []);
    assert.equal(task.status, "pending");
  });

  it("are found by either spelling of their id, and by no other", async () => {
    const { id, uuid } = await createTask();

    assert.equal((await api.call("GET", `/v1/tasks/${uuid}`)).body.id, id);
    for (const other of [
      formatTaskId(newTaskUuid()),
      newTaskUuid(),
      id.toUpperCase(),
      id.replace("task_", "tok_"),
      `${id}0`,
      "nonsense",
      "%00",
      "a".repeat(5000),
    ]) {
      for (const method of ["GET", "DELETE"] as const) {
        const { status, body } = await api.call(method, `/v1/tasks/${other}`);
        assert.equal(status, 404);
        assert.deepEqual(body, { error: "Task not found" });
      }
    }
  });

  it("another team's task is answered exactly like an unknown one", async () => {
    const { id } = await createTask();

    const { status, body } = await api.call("GET", `/v1/tasks/${id}`, undefined, {
      authorization: `Bearer ${OTHER_TEAM_KEY}`,
    });

    assert.equal(status, 404);
    assert.deepEqual(body, { error: "Task not found" });
  });

  it("a pending task is deleted by either spelling, any other is not", async () => {
    const { id, uuid } = await createTask();
    assert.deepEqual((await api.call("DELETE", `/v1/tasks/${uuid}`)).body, { id: uuid, deleted: true });
    assert.equal((await api.call("DELETE", `/v1/tasks/${id}`)).status, 404);

    const ended = await createEndedTask();
    const { status, body } = await api.call("DELETE", `/v1/tasks/${ended}`);
    assert.equal(status, 409);
    assert.deepEqual(body, { error: "Task is not pending (current: failed)" });
  });
});
