import assert from "node:assert/strict";
import { before, describe, it, type TestContext } from "node:test";
import { PROVIDER_CATALOG } from "../../src/domain/poll/provider-catalog.ts";
import { formatTaskId } from "../../src/domain/task-id.ts";
import { differencesFrom } from "./reference.ts";
import { assertNow, createTestApi, type TestApi } from "./test-api.ts";

const FAL = PROVIDER_CATALOG[0]?.pollConfig;

describe("reading direct tasks", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  const get = async (id: string) => (await api.call("GET", `/v1/tasks/${id}`)).body;
  const create = async (fields: object): Promise<string> => {
    const { body } = await api.call("POST", "/v1/tasks", fields);
    return body.task?.id ?? body.id;
  };
  const direct = (fields: object = {}) => create({ targetUrl: "http://a/", ...fields });

  /** A job that the provider takes on and that fails there: its poll says so. */
  async function createFailedJob(test: TestContext, fields: object = {}): Promise<string> {
    const { target, engine, advance } = api.server;
    const taken = { status_url: `${target.url}/status`, response_url: `${target.url}/result` };
    test.mock.method(target, "answer", (...[{ method }, response]: Parameters<typeof target.answer>) =>
      method === "POST"
        ? response.writeHead(201).end(JSON.stringify(taken))
        : response.writeHead(200, { "x-b": "2" }).end('{"status":"FAILED"}'),
    );
    const { body } = await api.run({ targetUrl: target.url, provider: "fal", ...fields });
    await advance(FAL?.interval ?? 0);
    await engine.poller.workOnce();
    await engine.poller.finished();
    return body.task.id;
  }

  it("answers the record inside `task`, without fields that are not set", async () => {
    const id = await direct();

    const body = await get(id);

    const { createdAt } = body.task;
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
        createdAt,
        runAt: createdAt,
        maxRetries: 3,
        retryBackoff: "exponential",
        retryDelay: 1,
        retryMaxDelay: 3600,
        timeout: 30,
      },
    });
    assertNow(createdAt);
  });

  it("shows every field of an ended task in the spelling of direct tasks", async (test) => {
    const { token } = (await api.call("POST", "/v1/tokens", { name: "T", value: "Bearer secret" })).body;
    const onCompleteUrl = `${api.server.target.url}/done`;
    const fields = { headers: { Authorization: token.id }, body: "text", sign: true, onCompleteUrl };
    const id = await createFailedJob(test, fields);

    const { task } = await get(id);

    const { createdAt, runAt, startedAt, completedAt, attempts, result } = task;
    assert.deepEqual(task, {
      id,
      status: "failed",
      queue: "runs",
      targetUrl: api.server.target.url,
      method: "POST",
      ...fields,
      priority: 5,
      provider: "fal",
      pollConfig: FAL,
      attempts: [
        {
          number: 1,
          status: "success",
          responseCode: 201,
          executedAt: startedAt,
          duration: attempts[0].duration,
          // Where they took a millisecond.
          ...("connectMs" in attempts[0] && { connectMs: attempts[0].connectMs }),
          ...("firstByteMs" in attempts[0] && { firstByteMs: attempts[0].firstByteMs }),
          phase: "responded",
          error: null,
        },
      ],
      result: {
        statusCode: 200,
        headers: result.headers,
        body: '{"status":"FAILED"}',
        duration: result.duration,
      },
      notifications: [
        { url: onCompleteUrl, status: "pending", attempts: 0, lastError: null, nextAt: completedAt },
      ],
      error: 'The provider reported the status "FAILED"',
      failureReason: "poll_failed",
      createdAt,
      runAt,
      startedAt,
      completedAt,
      maxRetries: 0,
      retryBackoff: "exponential",
      retryDelay: 0,
      retryMaxDelay: 3600,
      timeout: 30,
    });
    assert.equal(result.headers["x-b"], "2");
    for (const duration of [attempts[0].duration, result.duration]) assert.equal(typeof duration, "number");
    for (const instant of [createdAt, startedAt, completedAt]) assertNow(instant);
  });

  it("marks a task of a test key as sandbox", async () => {
    const task = { targetUrl: "http://a/" };
    const { body } = await api.call("POST", "/v1/tasks", task, await api.team.newKey("test"));

    assert.equal((await get(body.task.id)).task.sandbox, true);
  });

  it("shows callback and provider settings, for direct and queue tasks", async () => {
    const b = await direct({ waitForCallback: true, maxWait: 60 });
    const a = await create({
      queue: "default",
      webhook_url: "http://a/",
      wait_for_callback: true,
      on_complete_url: "http://a/done",
    });
    const polled = await create({ queue: "default", webhook_url: "http://a/", provider: "fal" });

    const { task } = await get(b);
    assert.deepEqual([task.waitForCallback, task.maxWait, task.sign], [true, 60, undefined]);
    const { wait_for_callback, max_wait, on_complete_url } = await get(a);
    assert.deepEqual([wait_for_callback, max_wait, on_complete_url], [true, 3600, "http://a/done"]);
    const { provider, poll_config } = await get(polled);
    assert.deepEqual([provider, poll_config], ["fal", FAL]);
  });

  it("finds and deletes a task by either spelling of its id, and answers with that spelling", async () => {
    const id = await direct();
    assert.equal((await get(formatTaskId(id))).task.id, id);

    assert.deepEqual((await api.call("DELETE", `/v1/tasks/${id}`)).body, { id, deleted: true });
    const other = formatTaskId(await direct());
    assert.deepEqual((await api.call("DELETE", `/v1/tasks/${other}`)).body, { id: other, deleted: true });
  });

  it("lists direct and queue tasks each in its own shape, without bodies and attempts", async (test) => {
    const a = (await api.run({ payload: { a: 1 } })).body.id;
    const b = await createFailedJob(test, { body: "text" });

    const { tasks } = (await api.call("GET", "/v1/tasks?limit=2")).body;

    const { url } = api.server.target;
    assert.deepEqual([tasks[0].id, tasks[0].targetUrl], [b, url]);
    assertNow(tasks[0].completedAt);
    assert.deepEqual([tasks[1].id, tasks[1].webhook_url], [a, url]);
    assertNow(tasks[1].completed_at);
    for (const task of tasks) {
      for (const name of ["body", "payload", "attempts", "task"]) assert.equal(name in task, false);
    }
  });

  it("answers as the OpenAPI models say", async (test) => {
    const id = await createFailedJob(test, { body: "text" });
    const polled = { targetUrl: "http://a/", body: "text", provider: "elevenlabs-dubbing" };
    const created = await api.call("POST", "/v1/tasks", polled);
    const waiting = await create({ queue: "default", webhook_url: "http://a/", wait_for_callback: true });

    for (const [model, body] of [
      ["CreatedDirectTask", created.body],
      ["DirectTaskAnswer", await get(created.body.task.id)],
      ["DirectTaskAnswer", await get(id)],
      ["Task", await get(waiting)],
      ["TaskList", (await api.call("GET", "/v1/tasks")).body],
    ] as const) {
      assert.deepEqual(await differencesFrom(api, model, body), [], model);
    }
  });

  it("notifies at the end with the record as the API shows it, for both kinds", async (test) => {
    const { target, engine } = api.server;
    const done = `${target.url}/done`;
    const told = async (id: string): Promise<string> => {
      await engine.courier.workOnce();
      await engine.courier.finished();
      const call = target.calls.find(({ path, body }) => path === "/done" && body.includes(id));
      assert.ok(call);
      return call.body;
    };
    const payload = '{"id":12345678901234567890,"a":1,"a":2}';
    const { body: a } = await api.run(
      `{"queue":"runs","webhook_url":"${target.url}","on_complete_url":"${done}","payload":${payload}}`,
    );

    const textA = await told(a.id);
    const { type, timestamp, data } = JSON.parse(textA);
    const { notifications, ...record } = await get(a.id);
    assert.equal(notifications.length, 1);
    assert.deepEqual([type, timestamp], ["task.completed", record.completed_at]);
    assert.deepEqual([data.task.id, data.task.attempts[0].response_code], [a.id, 200]);
    assert.deepEqual(data, { task: record });
    assert.ok(textA.includes(`"payload":${payload}`));
    assert.deepEqual(Object.keys(JSON.parse(textA)), ["type", "timestamp", "data"]);

    const b = await createFailedJob(test, { body: 'te"xt', onCompleteUrl: done });
    const notification = JSON.parse(await told(b));
    assert.equal(notification.type, "task.failed");
    const { notifications: _, ...failed } = (await get(b)).task;
    assert.deepEqual(notification.data, { task: failed });
  });
});
