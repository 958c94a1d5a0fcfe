import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { PROVIDER_CATALOG } from "../../src/domain/poll/provider-catalog.ts";
import { assertNow, createTestApi, PUBLIC_URL, type TestApi } from "./test-api.ts";

const BASE = { targetUrl: "https://target.example/start" };
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("POST /v1/tasks, a direct task", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  const create = (fields: object) => api.call("POST", "/v1/tasks", { ...BASE, ...fields });
  const refusal = async (fields: object) => {
    const { status, body } = await create(fields);
    assert.equal(status, 400, JSON.stringify(fields));
    return body;
  };
  /** The record of a new task with these fields. */
  const recordOf = async (fields: object) => {
    const { status, body } = await create(fields);
    assert.equal(status, 201, JSON.stringify(fields));
    return (await api.call("GET", `/v1/tasks/${body.task.id}`)).body.task;
  };

  it("answers with the task inside `task`, its UUID, and the callback beside it", async () => {
    const fields = { headers: { "X-A": "1" }, body: "text", delay: 60, priority: 8 };
    const { status, body } = await create(fields);

    assert.equal(status, 201);
    assert.match(body.task.id, UUID);
    assert.match(body.callbackId, /^[0-9a-f]{64}$/);
    assert.deepEqual(body, {
      task: {
        id: body.task.id,
        status: "pending",
        queue: "default",
        targetUrl: BASE.targetUrl,
        method: "POST",
        headers: { "X-A": "1" },
        body: "text",
        priority: 8,
        createdAt: body.task.createdAt,
        runAt: body.task.runAt,
      },
      callbackId: body.callbackId,
      callbackUrl: `${PUBLIC_URL}/v1/callbacks/${body.callbackId}`,
    });
    assertNow(body.task.createdAt);
    assert.equal(Date.parse(body.task.runAt) - Date.parse(body.task.createdAt), 60_000);
  });

  it("keeps every field in the record", async () => {
    const { token } = (await api.call("POST", "/v1/tokens", { name: "T", value: "Bearer secret" })).body;
    const fields = {
      headers: { Authorization: token.id },
      body: " not { json\n",
      queue: "default",
      method: "PUT",
      delay: 31_536_000,
      priority: 10,
      maxRetries: 100,
      retryBackoff: "fixed",
      retryDelay: 3600,
      retryMaxDelay: 86_400,
      noRetryStatuses: [100, 599],
      expiresIn: 31_536_000,
      timeout: 3600,
      waitForCallback: true,
      maxWait: 2_592_000,
      onCompleteUrl: "https://target.example/done",
      idempotencyKey: "direct-1",
      sign: true,
    };
    const record = await recordOf(fields);

    const { delay, idempotencyKey: _, ...shown } = fields;
    const { id, createdAt, runAt } = record;
    assert.deepEqual(record, { ...BASE, ...shown, id, createdAt, runAt, status: "pending", attempts: [] });
    assert.equal(Date.parse(runAt) - Date.parse(createdAt), delay * 1000);
    assert.equal((await create(fields)).body.task.id, id);
  });

  it("needs only targetUrl: default queue, an unsigned POST without a body", async () => {
    const { calls, url: targetUrl } = api.server.target;
    const record = await recordOf({});

    const { queue, method, headers, priority, createdAt, runAt } = record;
    assert.deepEqual([queue, method, headers, priority, runAt], ["default", "POST", {}, 5, createdAt]);
    for (const name of ["body", "sign", "waitForCallback", "maxWait"]) assert.equal(name in record, false);
    await api.run({ targetUrl });
    const call = calls.at(-1);
    assert.deepEqual([call?.method, call?.body, call?.headers["webhook-signature"]], ["POST", "", undefined]);
  });

  it("keeps a text body unchanged, also an empty one", async () => {
    for (const body of ["", "{callbackUrl}", "é😀\r\n\t", '{"a":1,"a":2}']) {
      const created = (await create({ body })).body.task;
      assert.equal(created.body, body);
      assert.equal((await api.call("GET", `/v1/tasks/${created.id}`)).body.task.body, body);
    }
  });

  it("sends an object or array as JSON byte for byte, and shows it as it was given", async () => {
    const { calls, url } = api.server.target;
    for (const body of [
      '{ "id" : 12345678901234567890, "price": 1.10, "\\u0061": "\\ud800" }',
      "[1.0, [], {}]",
      "{}",
      "[]",
    ]) {
      const created = await api.run(`{"queue":"runs","body" : ${body} ,"targetUrl":"${url}"}`);

      const call = calls.at(-1);
      assert.deepEqual([call?.body, call?.headers["content-type"]], [body, "application/json"]);
      assert.ok(created.text.includes(`"body":${body},`), created.text);
      const { text } = await api.call("GET", `/v1/tasks/${created.body.task.id}`);
      assert.ok(text.includes(`"body":${body},`), text);
      assert.deepEqual(JSON.parse(text).task.headers, {});
    }
  });

  it("keeps the caller's content type for a JSON body, and adds none for text", async () => {
    const { calls, url: targetUrl } = api.server.target;
    const typeOf = async (fields: object) => {
      await api.run({ targetUrl, ...fields });
      return calls.at(-1)?.headers["content-type"];
    };
    const own = { "content-type": "application/ld+json" };
    assert.equal(await typeOf({ body: { a: 1 }, headers: own }), "application/ld+json");
    assert.equal(await typeOf({ body: '{"a":1}' }), undefined);
  });

  it("sends the content type of a JSON body on a retry too", async (test) => {
    const { target } = api.server;
    const { answer } = target;
    test.mock.method(target, "answer", (...[call, response]: Parameters<typeof answer>) =>
      call.headers["bellhop-attempt"] === "1" ? response.writeHead(500).end() : response.end(),
    );
    const { body } = await api.run({ targetUrl: target.url, body: ["{callbackId}"], maxRetries: 1 });
    await api.server.dispatchOnce();

    const [first, second] = target.calls.slice(-2);
    assert.deepEqual([first?.headers["bellhop-attempt"], second?.headers["bellhop-attempt"]], ["1", "2"]);
    assert.equal(second?.headers["content-type"], "application/json");
    assert.equal(second?.body, `["${body.callbackId}"]`);
  });

  it("refuses a body with NUL characters or lone surrogates", async () => {
    for (const body of ["a\u0000b", "\ud800", "a\udc00"]) {
      assert.deepEqual(await refusal({ body }), {
        error: "body must be text without NUL characters or lone surrogates",
        code: "invalid",
      });
    }
  });

  it("refuses a body with both webhook_url and targetUrl, whatever else is wrong with it", async () => {
    const error = "Use either webhook_url or targetUrl, not both";
    assert.deepEqual(await refusal({ webhook_url: "http://a/" }), { error, code: "invalid" });
    assert.deepEqual(await refusal({ webhook_url: 5, targetUrl: 5, colour: 1 }), { error, code: "invalid" });
  });

  it("refuses each invalid field with the rule that it breaks", async () => {
    const cases: [object, string][] = [
      [{ targetUrl: 5 }, "targetUrl must be a string"],
      [{ targetUrl: "example.com" }, "targetUrl must be a valid http or https URL"],
      [{ targetUrl: "http://u:p@example.com/" }, "targetUrl must be a valid http or https URL"],
      [{ targetUrl: "http://{callbackId}/" }, "targetUrl must be a valid http or https URL"],
      [{ headers: [] }, "headers must be an object"],
      [{ headers: { "X-A": 1 } }, 'headers["X-A"] must be a string'],
      [{ headers: { Host: "a" } }, 'Header "Host" cannot be set'],
      [{ body: 5 }, "body must be a string, an object or an array"],
      [{ body: true }, "body must be a string, an object or an array"],
      [{ queue: 5 }, "queue must be a string"],
      [{ method: "HEAD" }, 'method must be one of "GET", "POST", "PUT", "PATCH", "DELETE"'],
      [{ delay: -1 }, "delay must be an integer between 0 and 31536000"],
      [{ priority: 11 }, "priority must be an integer between 1 and 10"],
      [{ maxRetries: 101 }, "maxRetries must be an integer between 0 and 100"],
      [{ noRetryStatuses: [99] }, 'noRetryStatuses["0"] must be an integer between 100 and 599'],
      [{ expiresIn: 0 }, "expiresIn must be an integer between 1 and 31536000"],
      [{ retryBackoff: "linear" }, 'retryBackoff must be one of "fixed", "exponential"'],
      [{ timeout: 0 }, "timeout must be an integer between 1 and 3600"],
      [{ sign: "yes" }, "sign must be true or false"],
      [{ delayUntil: 5 }, "delayUntil must be a string"],
      [
        { delayUntil: "soon" },
        "delayUntil must be an ISO 8601 time with a zone, such as 2030-01-31T09:00:00Z",
      ],
      [{ delayUntil: "9999-01-31T09:00:00Z" }, "delayUntil must be at most 1 year ahead"],
      [
        { delay: 61, expiresIn: 60 },
        "delay is beyond expiresIn (60 s): the task would expire before it is due",
      ],
      [
        { delayUntil: new Date(Date.now() + 3_600_000).toISOString(), expiresIn: 60 },
        "delayUntil is beyond expiresIn (60 s): the task would expire before it is due",
      ],
      [{ delayUntil: "2030-01-31T09:00:00Z", delay: 0 }, "Use either delay or delayUntil, not both"],
    ];
    for (const [fields, error] of cases) assert.deepEqual(await refusal(fields), { error, code: "invalid" });
  });

  it("refuses an unknown field and suggests the closest field of direct tasks", async () => {
    const cases: [string, string][] = [
      ["max_retries", ' (did you mean "maxRetries"?)'],
      ["wait_for_callback", ' (did you mean "waitForCallback"?)'],
      ["polConfig", ' (did you mean "pollConfig"?)'],
      ["payload", ""],
      ["__proto__", ""],
    ];
    for (const [name, hint] of cases) {
      const { status, body } = await api.call("POST", "/v1/tasks", `{"targetUrl":"http://a/","${name}":{}}`);
      assert.equal(status, 400);
      assert.deepEqual(body, { error: `Unknown field "${name}"${hint}`, code: "invalid" });
    }
  });

  it("requires targetUrl when only fields of direct tasks are sent, and suggests it for typos", async () => {
    const send = async (body: object) => (await api.call("POST", "/v1/tasks", body)).body;
    const required = "targetUrl is required";
    for (const fields of [{ body: {} }, { queue: "default", maxRetries: 1 }, { sign: true, method: "GET" }])
      assert.deepEqual(await send(fields), { error: required, code: "invalid" });
    for (const name of ["target_url", "targetURL", "targeturl", "tagetUrl"]) {
      const error = `Unknown field "${name}" (did you mean "targetUrl"?)`;
      const details = [
        { field: name, error },
        { field: "targetUrl", error: required },
      ];
      for (const more of [{}, { body: { n: 1 } }, { queue: "default" }])
        assert.deepEqual(await send({ [name]: "http://a/", ...more }), { error, code: "invalid", details });
    }
    const batch = await api.call("POST", "/v1/tasks/batch", { tasks: [{ body: "x" }] });
    assert.equal(batch.body.results[0].error, required);
  });

  it("treats any other body without a URL as a queue task", async () => {
    const cases: [object, string][] = [
      [{ queue: "default" }, "webhook_url is required"],
      [{ queue: "default", payload: {}, body: {} }, 'Unknown field "body"'],
      [{ webhookUrl: "http://a/", body: {} }, 'Unknown field "webhookUrl" (did you mean "webhook_url"?)'],
      [{ webhook_url: "http://a/", queue: "default", body: {} }, 'Unknown field "body"'],
    ];
    for (const [fields, error] of cases)
      assert.equal((await api.call("POST", "/v1/tasks", fields)).body.error, error);
    const list = await api.call("POST", "/v1/tasks", [{ body: 1 }]);
    assert.equal(list.body.error, "Request body must be a JSON object");
  });

  it("lists every broken rule of direct tasks, and none of queue tasks", async () => {
    assert.deepEqual(await refusal({ timeout: 0, priorty: 1, body: 5 }), {
      error: 'Unknown field "priorty" (did you mean "priority"?)',
      code: "invalid",
      details: [
        { field: "priorty", error: 'Unknown field "priorty" (did you mean "priority"?)' },
        { field: "body", error: "body must be a string, an object or an array" },
        { field: "timeout", error: "timeout must be an integer between 1 and 3600" },
      ],
    });
  });

  it("shows delayUntil as runAt in the answer and in the record", async () => {
    const delayUntil = new Date(Date.now() + 60_000).toISOString();

    assert.equal((await create({ delayUntil })).body.task.runAt, delayUntil);
    assert.equal((await recordOf({ delayUntil })).runAt, delayUntil);
  });

  it("shows the provider and its pollConfig", async () => {
    const { body } = await create({ provider: "replicate" });

    const entry = PROVIDER_CATALOG.find(({ id }) => id === "replicate");
    assert.deepEqual([body.task.provider, body.task.pollConfig], ["replicate", entry?.pollConfig]);
    const record = await recordOf({ provider: "replicate" });
    assert.deepEqual([record.provider, record.pollConfig], ["replicate", entry?.pollConfig]);
  });

  it("answers 404 to an unknown queue", async () => {
    const { status, body } = await create({ queue: "no_such queue" });

    assert.deepEqual(
      [status, body],
      [404, { error: 'Queue "no_such queue" not found', code: "queue_not_found" }],
    );
  });
});
