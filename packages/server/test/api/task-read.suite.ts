import assert from "node:assert/strict";
import { before, describe, it, type TestContext } from "node:test";
import { formatTaskId, parseTaskId } from "../../src/domain/task-id.ts";
import { newUuid } from "../../src/service/new-uuid.ts";
import { differencesFrom } from "./reference.ts";
import { assertNow, createTestApi, type TestApi } from "./test-api.ts";

/** More than is kept of an answer. */
const LONG = "oh ".repeat(400_000);
/** With as much of the answer as an error has room for. */
const ERROR = `The target answered 500: ${LONG.slice(0, 199)}…`;

describe("reading queue tasks", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  async function createTask(): Promise<{ id: string; uuid: string }> {
    const { body } = await api.call("POST", "/v1/tasks", { queue: "default", webhook_url: "http://a/" });
    return { id: body.id, uuid: parseTaskId(body.id) ?? "" };
  }
  const get = (id: string) => api.call("GET", `/v1/tasks/${id}`);

  /** A task that its target answered 500 as often as it was tried. */
  async function createFailedTask(test: TestContext, fields: object = {}): Promise<string> {
    const { target } = api.server;
    test.mock.method(target, "answer", (...[, response]: Parameters<typeof target.answer>) =>
      response.writeHead(500, { "x-b": "2" }).end(LONG),
    );
    const { body } = await api.run({ headers: { "X-A": "1" }, ...fields });
    return body.id;
  }

  it("shows a new task without fields that are not set", async () => {
    const { id } = await createTask();

    const { status, body } = await get(id);

    assert.equal(status, 200);
    assert.deepEqual(body, {
      id,
      queue: "default",
      status: "pending",
      priority: 5,
      created_at: body.created_at,
      run_at: body.created_at,
      max_retries: 3,
      timeout: 30,
      retry_backoff: "exponential",
      retry_delay: 1,
      retry_max_delay: 3600,
      webhook_url: "http://a/",
      method: "POST",
      headers: {},
      attempts: [],
      payload: {},
    });
    assertNow(body.created_at);
  });

  it("shows an ended task with its attempts, its result and the reason of its failure", async (test) => {
    const id = await createFailedTask(test);

    const { body } = await get(id);

    assert.equal(body.status, "failed");
    assertNow(body.started_at);
    assertNow(body.completed_at);
    assert.equal(body.error, ERROR);
    assert.equal(body.failure_reason, "retries_exhausted");
    assert.deepEqual(body.headers, { "X-A": "1" });
    const { result } = body;
    assert.deepEqual(Object.keys(result), ["statusCode", "headers", "body", "duration", "truncated"]);
    assert.deepEqual([result.statusCode, result.headers["x-b"], result.truncated], [500, "2", true]);
    assert.ok(result.body.length < LONG.length && LONG.startsWith(result.body));
    assert.equal(typeof result.duration, "number");
    assert.equal(body.attempts.length, 1);
    // Where they took a millisecond, connecting and the body of the answer are told by themselves.
    const { connect_ms = 0, first_byte_ms = 0, ...attempt } = body.attempts[0];
    assert.deepEqual(attempt, {
      number: 1,
      status: "failed",
      response_code: 500,
      executed_at: body.started_at,
      duration: attempt.duration,
      phase: "responded",
      error: ERROR,
    });
    assert.ok(connect_ms <= attempt.duration && first_byte_ms <= attempt.duration);
  });

  it("shows an open attempt while a call is in flight", async (test) => {
    const { target, look } = api.server;
    const { answer } = target;
    const id = await createFailedTask(test, { max_retries: 1 });
    test.mock.reset();
    const before = target.calls.length;
    target.hold();
    await look();
    await target.received(before + 1);
    target.answer = answer;

    const { body } = await get(id);

    assert.equal(body.status, "active");
    const [failed, open] = body.attempts;
    assert.deepEqual([failed.number, failed.status], [1, "failed"]);
    assert.deepEqual(open, {
      number: 2,
      status: "active",
      response_code: null,
      executed_at: open.executed_at,
      duration: null,
      phase: "sent",
      error: null,
    });
    assertNow(open.executed_at);
    assert.equal((await api.call("DELETE", `/v1/tasks/${id}`)).status, 409);
    target.release();
    await api.server.engine.attempts.finished();
    assert.equal((await get(id)).body.status, "completed");
  });

  it("marks a task of a test key as sandbox", async () => {
    const task = { queue: "default", webhook_url: "http://a/" };
    const { body } = await api.call("POST", "/v1/tasks", task, await api.team.newKey("test"));

    assert.equal((await get(body.id)).body.sandbox, true);
  });

  it("answers as the OpenAPI models say, in the record and in the list", async (test) => {
    await createTask();
    const id = await createFailedTask(test);
    const list = (await api.call("GET", "/v1/tasks")).body;

    assert.deepEqual(await differencesFrom(api, "Task", (await get(id)).body), []);
    assert.deepEqual(await differencesFrom(api, "TaskList", list), []);
    const statuses = list.tasks.map(({ status }: { status: string }) => status);
    assert.ok(statuses.includes("pending") && statuses.includes("failed"));
  });

  it("finds a task by either spelling of its id, and by no other", async () => {
    const { id, uuid } = await createTask();

    assert.equal((await get(uuid)).body.id, id);
    for (const other of [
      formatTaskId(newUuid()),
      newUuid(),
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
        assert.deepEqual(body, { error: "Task not found", code: "task_not_found" });
      }
    }
  });

  it("answers 404 for a task of another team, as for an unknown one", async () => {
    const { id } = await createTask();
    const { headers } = await api.openTeam();

    for (const method of ["GET", "DELETE"] as const) {
      const { status, body } = await api.call(method, `/v1/tasks/${id}`, undefined, headers);
      assert.equal(status, 404);
      assert.deepEqual(body, { error: "Task not found", code: "task_not_found" });
    }
    assert.equal((await get(id)).status, 200);
  });

  it("deletes a pending task by either spelling of its id, and no ended one", async (test) => {
    const { id, uuid } = await createTask();
    assert.deepEqual((await api.call("DELETE", `/v1/tasks/${uuid}`)).body, { id: uuid, deleted: true });
    assert.equal((await api.call("DELETE", `/v1/tasks/${id}`)).status, 404);

    const ended = await createFailedTask(test);
    const { status, body } = await api.call("DELETE", `/v1/tasks/${ended}`);
    assert.equal(status, 409);
    assert.deepEqual(body, { error: "Task is not pending (current: failed)", code: "task_not_pending" });
  });
});
