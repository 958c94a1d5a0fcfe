import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Compile } from "typebox/compile";
import { notificationText } from "../../src/api/tasks/notification-view.ts";
import { PROVIDER_CATALOG } from "../../src/domain/poll/provider-catalog.ts";
import type { Task } from "../../src/domain/task.ts";
import { formatTaskId, parseTaskId } from "../../src/service/tasks/task-id.ts";
import { NOW } from "./fake-services.ts";
import { createTestApi, type TestApi } from "./test-api.ts";

const ENDED = {
  status: "failed",
  sandbox: true,
  startedAt: NOW,
  completedAt: new Date("2026-03-01T09:31:00.000Z"),
  error: "The job failed",
  failureReason: "poll_failed",
  result: { statusCode: 200, headers: { "x-b": "2" }, body: "oh", duration: 12 },
  attempts: [
    {
      number: 1,
      status: "success",
      responseCode: 201,
      executedAt: NOW,
      durationMs: 12,
      phase: "responded",
      error: null,
    },
  ],
} as const satisfies Partial<Task>;

describe("direct calls that exist", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });
  after(() => api.app.close());

  async function create(fields: object, changes: Partial<Task> = {}): Promise<Task> {
    const { body } = await api.call("POST", "/v1/tasks", fields);
    const id = parseTaskId(body.task?.id ?? body.id) ?? "";
    const task = api.services.stored.get(id);
    assert.ok(task);
    const changed = { ...task, ...changes };
    api.services.stored.set(id, changed);
    return changed;
  }
  const direct = (fields: object = {}, changes: Partial<Task> = {}) =>
    create({ targetUrl: "http://a/", ...fields }, changes);

  it("contract 3: the record stands inside `task` and has no field that is not set", async () => {
    const { id } = await direct();

    const { status, body } = await api.call("GET", `/v1/tasks/${id}`);

    assert.equal(status, 200);
    assert.deepEqual(body, {
      task: {
        id,
        status: "pending",
        queue: "default",
        targetUrl: "http://a/",
        method: "POST",
        headers: {},
        priority: 5,
        attempts: [],
        createdAt: "2026-03-01T09:30:00.123Z",
        runAt: "2026-03-01T09:30:00.123Z",
        maxRetries: 3,
        retryBackoff: "exponential",
        timeout: 30,
      },
    });
  });

  it("contract 3: the record of an ended call has everything, in its own words", async () => {
    const fields = {
      headers: { Authorization: "tok_1" },
      body: "text",
      provider: "replicate",
      sign: true,
      onCompleteUrl: "http://a/done",
    };
    const { id, follow } = await direct(fields, ENDED);

    const { task } = (await api.call("GET", `/v1/tasks/${id}`)).body;

    assert.deepEqual(follow.pollConfig, PROVIDER_CATALOG[1]?.pollConfig);
    assert.deepEqual(task, {
      id,
      status: "failed",
      queue: "default",
      targetUrl: "http://a/",
      method: "POST",
      headers: { Authorization: "tok_1" },
      body: "text",
      priority: 5,
      provider: "replicate",
      pollConfig: follow.pollConfig,
      attempts: [
        {
          number: 1,
          status: "success",
          responseCode: 201,
          executedAt: "2026-03-01T09:30:00.123Z",
          duration: 12,
          phase: "responded",
          error: null,
        },
      ],
      result: { statusCode: 200, headers: { "x-b": "2" }, body: "oh", duration: 12 },
      error: "The job failed",
      failureReason: "poll_failed",
      createdAt: "2026-03-01T09:30:00.123Z",
      runAt: "2026-03-01T09:30:00.123Z",
      startedAt: "2026-03-01T09:30:00.123Z",
      completedAt: "2026-03-01T09:31:00.000Z",
      maxRetries: 3,
      retryBackoff: "exponential",
      timeout: 30,
      onCompleteUrl: "http://a/done",
      sign: true,
      sandbox: true,
    });
  });

  it("shows for both kinds how a task goes on", async () => {
    const b = await direct({ waitForCallback: true, maxWait: 60 });
    const a = await create({
      queue: "default",
      webhook_url: "http://a/",
      wait_for_callback: true,
      on_complete_url: "http://a/done",
    });
    const polled = await create({ queue: "default", webhook_url: "http://a/", provider: "fal" });

    const { task } = (await api.call("GET", `/v1/tasks/${b.id}`)).body;
    assert.deepEqual([task.waitForCallback, task.maxWait, task.sign], [true, 60, undefined]);
    const { body } = await api.call("GET", `/v1/tasks/${a.id}`);
    assert.deepEqual(
      [body.wait_for_callback, body.max_wait, body.on_complete_url],
      [true, 3600, "http://a/done"],
    );
    const { provider, poll_config } = (await api.call("GET", `/v1/tasks/${polled.id}`)).body;
    assert.deepEqual([provider, poll_config], ["fal", PROVIDER_CATALOG[0]?.pollConfig]);
  });

  it("contract 3: are found and deleted by either spelling of their id; the answer has the one asked for", async () => {
    const { id } = await direct();
    assert.equal((await api.call("GET", `/v1/tasks/${formatTaskId(id)}`)).body.task.id, id);

    assert.deepEqual((await api.call("DELETE", `/v1/tasks/${id}`)).body, { id, deleted: true });
    const other = formatTaskId((await direct()).id);
    assert.deepEqual((await api.call("DELETE", `/v1/tasks/${other}`)).body, { id: other, deleted: true });
  });

  it("contract 3: a list holds each as its own kind, without what it carries and its attempts", async () => {
    const a = await create({ queue: "default", webhook_url: "http://a/", payload: { a: 1 } }, ENDED);
    const b = await direct({ body: "text" }, ENDED);
    api.services.page = { tasks: [b, a], total: 2, hasMore: false, nextCursor: null };

    const { tasks } = (await api.call("GET", "/v1/tasks")).body;

    assert.deepEqual(
      [tasks[0].id, tasks[0].targetUrl, tasks[0].completedAt],
      [b.id, "http://a/", "2026-03-01T09:31:00.000Z"],
    );
    assert.deepEqual([tasks[1].id, tasks[1].webhook_url], [formatTaskId(a.id), "http://a/"]);
    for (const task of tasks) {
      for (const name of ["body", "payload", "attempts", "task"]) assert.equal(name in task, false);
    }
  });

  it("are written as the reference says, in every answer", async () => {
    const poll = { targetUrl: "http://a/", body: "text", provider: "elevenlabs-dubbing" };
    const task = await create(poll, ENDED);
    const waiting = await create({ queue: "default", webhook_url: "http://a/", wait_for_callback: true });
    api.services.page = { tasks: [task, waiting], total: 2, hasMore: false, nextCursor: null };
    const { schemas } = (await api.call("GET", "/openapi.json")).body.components;
    const inline = (name: string): object =>
      JSON.parse(JSON.stringify({ ...schemas[name], additionalProperties: false }), (_key, value) =>
        typeof value?.$ref === "string" ? inline(value.$ref.split("/").at(-1)) : value,
      );
    const errors = (name: string, body: unknown) => [...Compile(inline(name)).Errors(body)];

    assert.deepEqual(
      [
        ...errors("CreatedDirectTask", (await api.call("POST", "/v1/tasks", poll)).body),
        ...errors("DirectTaskAnswer", (await api.call("GET", `/v1/tasks/${task.id}`)).body),
        ...errors("Task", (await api.call("GET", `/v1/tasks/${waiting.id}`)).body),
        ...errors("TaskList", (await api.call("GET", "/v1/tasks")).body),
      ],
      [],
    );
  });

  it("contract 4: the notification of an ended task holds its record as its kind", async () => {
    const payload = '{"id":12345678901234567890,"a":1,"a":2}';
    const a = await create({ queue: "default", webhook_url: "http://a/" }, { ...ENDED, status: "completed" });
    const b = await direct({ body: 'te"xt' }, ENDED);

    const textA = notificationText({ ...a, call: { ...a.call, body: payload } });
    const { type, timestamp, data } = JSON.parse(textA);
    assert.deepEqual([type, timestamp], ["task.completed", "2026-03-01T09:31:00.000Z"]);
    assert.deepEqual([data.task.id, data.task.attempts[0].response_code], [formatTaskId(a.id), 201]);
    assert.ok(textA.includes(`"payload":${payload}`));
    assert.deepEqual(Object.keys(JSON.parse(textA)), ["type", "timestamp", "data"]);

    const told = JSON.parse(notificationText(b));
    assert.equal(told.type, "task.failed");
    assert.deepEqual(told.data, (await api.call("GET", `/v1/tasks/${b.id}`)).body);
  });
});
