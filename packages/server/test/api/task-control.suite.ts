import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { createTestApi, type TestApi } from "./test-api.ts";

const TASK = { queue: "default", webhook_url: "https://target.example/hook", delay: 60 };
const DIRECT = { targetUrl: "https://target.example/start", delay: 60 };

describe("cancel, retry and explain", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  const make = async (fields: object) => {
    const { body } = await api.call("POST", "/v1/tasks", fields);
    return String(body.task?.id ?? body.id);
  };
  const act = (id: string, verb: "cancel" | "retry", body?: unknown) =>
    api.call("POST", `/v1/tasks/${id}/${verb}`, body);

  it("answer with the record in the task's own shape", async () => {
    const queued = await make(TASK);
    const direct = await make(DIRECT);

    const cancelled = await act(queued, "cancel");
    assert.equal(cancelled.status, 200);
    assert.deepEqual([cancelled.body.id, cancelled.body.status], [queued, "cancelled"]);
    assert.ok(cancelled.body.completed_at);
    const { task } = (await act(direct, "cancel")).body;
    assert.deepEqual([task.id, task.status], [direct, "cancelled"]);

    const retried = await act(queued, "retry", { delay: 30, priority: 9 });
    assert.equal(retried.status, 200);
    const { status, retries, priority, completed_at } = retried.body;
    assert.deepEqual([status, retries, priority, completed_at], ["pending", 1, 9, undefined]);
    assert.equal((await act(direct, "retry")).body.task.retries, 1);
  });

  it("refuse a task in the wrong state, an unknown id and invalid fields", async () => {
    const id = await make(TASK);
    const unknown = "task_01k9z3mxe5f8hrk3yv5pzq8c2d";

    assert.deepEqual((await act(id, "retry")).body, {
      error: "Task is not in failed/cancelled state (current: pending)",
      code: "task_not_retryable",
    });
    await act(id, "cancel");
    assert.deepEqual((await act(id, "cancel")).body, {
      error: "Task has already ended (current: cancelled)",
      code: "task_ended",
    });
    for (const verb of ["cancel", "retry"] as const) assert.equal((await act(unknown, verb)).status, 404);
    for (const [body, error] of [
      [{ delay: -1 }, "delay must be an integer between 0 and 31536000"],
      [{ priority: 11 }, "priority must be an integer between 1 and 10"],
      [{ delays: 1 }, 'Unknown field "delays" (did you mean "delay"?)'],
    ] as const) {
      const refused = await act(id, "retry", body);
      assert.deepEqual([refused.status, refused.body.error], [400, error]);
    }
    assert.equal((await act(id, "retry", { delay: null, priority: null })).body.priority, 5);
  });

  it("write an audit event for each change of a task", async () => {
    const id = await make(TASK);
    await act(id, "cancel");
    await act(id, "retry");

    const { body } = await api.call("GET", "/v1/audit?limit=10");
    const actions = body.events
      .filter(({ target }: { target: string }) => target === id)
      .map(({ action }: { action: string }) => action);
    assert.deepEqual(actions.sort(), ["task.cancelled", "task.retried"]);
  });

  it("explain why a task is not running", async () => {
    const id = await make(DIRECT);

    const { status, body } = await api.call("GET", `/v1/tasks/${id}/explain`);

    assert.equal(status, 200);
    assert.deepEqual([body.task, body.runnable], [{ id, status: "pending" }, false]);
    assert.deepEqual(body.reasons.map(({ code }: { code: string }) => code).slice(0, 2), [
      "delayed",
      "queue_paused",
    ]);
    assert.match(body.reasons[0].until, /^2.+Z$/);
  });
});
