import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { Problem } from "../../src/domain/problem.ts";
import { BODY_LIMIT, createTestApi, type TestApi } from "./test-api.ts";

const TASK = { queue: "default", webhook_url: "http://a/" };

describe("requests", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  it("are refused when the body is malformed JSON", async () => {
    for (const text of ["{", "{'a':1}", '{"a":1,}', "﻿{}", "undefined", '{"a":1}x', '{"a":"\u0001"}', " "]) {
      const { status, body } = await api.call("POST", "/v1/tasks", text);
      assert.deepEqual(
        [status, body],
        [400, { error: "Request body is not valid JSON", code: "body_not_json" }],
        text,
      );
    }
  });

  it("are refused when the body is not UTF-8", async () => {
    const bytes = Buffer.concat([
      Buffer.from('{"queue":"default","webhook_url":"http://a/","payload":{"a":"'),
      Buffer.from([0xff, 0xc3]),
      Buffer.from('"}}'),
    ]);
    const { body } = await api.send({
      method: "POST",
      url: "/v1/tasks",
      headers: { "content-type": "application/json", "x-api-key": api.team.key },
      payload: bytes,
    });

    assert.deepEqual(body, { error: "Request body is not valid JSON", code: "body_not_json" });
  });

  it("require the media type application/json, with or without parameters", async () => {
    for (const type of [
      "application/json",
      "application/json; charset=utf-8",
      'application/json;a=b; charset="UTF-8"',
      "APPLICATION/JSON;a=b",
    ]) {
      assert.equal((await api.call("POST", "/v1/tasks", TASK, { "content-type": type })).status, 201, type);
    }
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "application/jsonp",
      "json",
      "application/json; charset=utf-16",
      "application/json;charset=ISO-8859-1",
      "/",
      "",
    ]) {
      const { status, body } = await api.call("POST", "/v1/tasks", TASK, { "content-type": type });
      assert.deepEqual(
        [status, body],
        [415, { error: "Content-Type must be application/json", code: "body_not_typed" }],
        type,
      );
    }
    assert.equal(
      (await api.call("DELETE", "/v1/tasks/x", "a", { "content-type": "text/plain" })).status,
      415,
    );
  });

  it("are refused when the body exceeds the limit by a byte", async () => {
    const sized = (bytes: number) => {
      const empty = JSON.stringify({ ...TASK, payload: { a: "" } });
      return empty.replace('""', `"${"a".repeat(bytes - empty.length)}"`);
    };

    assert.equal((await api.call("POST", "/v1/tasks", sized(BODY_LIMIT))).status, 201);
    const { status, body } = await api.call("POST", "/v1/tasks", sized(BODY_LIMIT + 1));
    assert.deepEqual([status, body], [413, { error: "Request body too large", code: "body_too_large" }]);
  });

  it("treat a null field as missing, and refuse it when it is required or unknown", async () => {
    const nulls = (...names: string[]) => Object.fromEntries(names.map((name) => [name, null]));
    const settings = nulls("concurrency", "max_retries", "retry_backoff", "retry_delay", "timeout");
    for (const [method, url, body] of [
      ["POST", "/v1/queues", { name: "nulls", ...settings }],
      ["PATCH", "/v1/queues/nulls", settings],
      ["POST", "/v1/tokens", { name: "a", value: "b", ...nulls("allowedHosts") }],
      ["POST", "/v1/apikeys", { name: "a", ...nulls("environment") }],
      ["POST", "/v1/team/invitations", { email: "null@example.com", ...nulls("role") }],
      [
        "POST",
        "/v1/oauth/applications",
        { name: "a", scopes: ["tasks:read"], redirectUris: ["https://a.example/"], ...nulls("grantTypes") },
      ],
    ] as const) {
      const { status, text } = await api.call(method, url, body);
      assert.ok(status < 300, `${url} ${text}`);
    }
    const queue = (await api.call("GET", "/v1/queues/nulls")).body;
    assert.deepEqual([queue.concurrency, queue.max_retries, queue.timeout], [5, 3, 30]);
    for (const [url, body, error] of [
      ["/v1/queues", { name: null }, "name is required"],
      ["/v1/tokens", { name: "a", value: null }, "value is required"],
      ["/v1/apikeys", { name: null }, "name is required"],
      ["/v1/auth/magic-link", { email: null }, "email is required"],
      ["/v1/auth/session", { token: null }, "token is required"],
      [
        "/v1/queues",
        { name: "a", max_retry: null },
        'Unknown field "max_retry" (did you mean "max_retries"?)',
      ],
      ["/v1/queues/default/pause", { until: null }, 'Unknown field "until"'],
    ] as const) {
      const { status, body: refusal } = await api.call("POST", url, body);
      assert.deepEqual([status, refusal.error], [400, error]);
    }
  });

  it("are answered 404 for an unknown route, whatever the method, body or credential", async () => {
    for (const [method, url] of [
      ["GET", "/v1"],
      ["GET", "/v1/"],
      ["GET", "/v2/tasks"],
      ["POST", "/v1/nothing"],
      ["GET", "/V1/tasks"],
      ["GET", "/v1/queues/a/b/c"],
      ["DELETE", "/v1/queues/a/stop"],
    ] as const) {
      const { status, body } = await api.send({
        method,
        url,
        headers: { "content-type": "text/plain" },
        payload: "x",
      });
      assert.deepEqual([status, body], [404, { error: "Not found", code: "not_found" }], url);
    }
  });

  it("may have a slash at the end of the path", async () => {
    const { body: queue } = await api.call("GET", "/v1/queues/default");

    assert.deepEqual((await api.call("GET", "/v1/queues/default/")).body, queue);
    assert.ok((await api.call("GET", "/v1/queues/")).body.queues.length > 0);
    assert.equal((await api.call("GET", "/v1/tasks/?limit=1")).body.pagination.limit, 1);
    assert.equal((await api.call("POST", "/v1/tasks/", TASK)).status, 201);
    assert.equal((await api.call("POST", "/v1/queues/default/pause/")).status, 200);
    assert.equal((await api.send({ url: "/livez/" })).status, 200);
    assert.equal((await api.send({ url: "/sign-in/" })).status, 200);
  });

  it("are answered 404 for an empty name in the path", async () => {
    assert.deepEqual((await api.call("POST", "/v1/queues//pause")).body, {
      error: 'Queue "" not found',
      code: "queue_not_found",
    });
  });

  it("are answered 405 with Allow for a wrong method", async () => {
    for (const [method, url, allow] of [
      ["PUT", "/v1/tasks", "GET, HEAD, POST"],
      ["DELETE", "/v1/tasks?a=1", "GET, HEAD, POST"],
      ["POST", "/v1/tasks/task_1", "GET, HEAD, DELETE"],
      ["POST", "/v1/queues/default", "GET, HEAD, PATCH, DELETE"],
      ["GET", "/v1/queues/default/pause", "POST"],
      ["HEAD", "/v1/queues/default/resume", "POST"],
      ["OPTIONS", "/v1/tasks", "GET, HEAD, POST"],
      ["TRACE", "/v1/tasks", "GET, HEAD, POST"],
      ["PROPFIND", "/v1/queues", "GET, HEAD, POST"],
      ["POST", "/livez", "GET, HEAD"],
      ["POST", "/", "GET, HEAD"],
      ["PUT", "/v1/tasks/", "GET, HEAD, POST"],
      ["POST", "/docs", "GET, HEAD"],
      ["PUT", "/openapi.json", "GET, HEAD"],
      ["POST", "/docs/", "GET, HEAD"],
    ] as const) {
      const { status, headers, body } = await api.send({
        method: method as "GET",
        url,
        headers: { "content-type": "application/json" },
        payload: "not json",
      });
      assert.equal(status, 405, `${method} ${url}`);
      assert.equal(headers.allow, allow);
      if (method !== "HEAD")
        assert.deepEqual(body, { error: "Method not allowed", code: "method_not_allowed" });
    }
  });

  it("are answered alike for HEAD and GET, without the body for HEAD", async () => {
    const head = await api.call("HEAD", "/v1/queues");
    const get = await api.call("GET", "/v1/queues");

    assert.deepEqual([head.status, head.text], [200, ""]);
    assert.equal(head.headers["content-length"], get.headers["content-length"]);
  });

  it("are refused when the URL cannot be decoded", async () => {
    for (const url of ["/v1/tasks/%zz", "/%ff", "/v1/queues/%E0%A4%A"]) {
      const { status, body, headers } = await api.call("GET", url, undefined, { "x-request-id": "mine" });
      assert.deepEqual([status, body], [400, { error: "Request URL is not valid", code: "url_malformed" }]);
      assert.equal(headers["x-request-id"], "mine");
    }
  });

  it("keep the caller's request id if it is valid, and otherwise get a new one", async () => {
    const idOf = async (id: string) =>
      (await api.call("GET", "/v1/queues", undefined, { "x-request-id": id })).headers["x-request-id"];

    for (const sane of ["a", "req-1.2:3_4/x=+@~", "f47ac10b-58cc-4372-a567-0e02b2c3d479", "a".repeat(128)]) {
      assert.equal(await idOf(sane), sane);
    }
    for (const odd of ["", "a b", 'a"b', "<script>", "ü", "a".repeat(129)]) {
      assert.match(String(await idOf(odd)), /^[0-9a-f-]{36}$/);
    }
  });

  it("are answered as JSON with a request id and security headers", async () => {
    for (const [method, url, body] of [
      ["GET", "/livez"],
      ["GET", "/nothing"],
      ["PUT", "/v1/tasks"],
      ["POST", "/v1/tasks", "{"],
      ["POST", "/v1/tasks", TASK],
    ] as const) {
      const { headers } = await api.call(method, url, body);
      assert.match(String(headers["x-request-id"]), /^[0-9a-f-]{36}$/, url);
      assert.equal(headers["content-type"], "application/json; charset=utf-8");
      assert.equal(headers["x-content-type-options"], "nosniff");
      assert.equal(headers["strict-transport-security"], "max-age=31536000");
    }
    const plain = await createTestApi({ publicUrl: "http://bellhop.test" });
    assert.equal((await plain.send({ url: "/livez" })).headers["strict-transport-security"], undefined);
    await plain.close();
  });

  it("are refused for too many fields before each field is checked", async () => {
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, number) => [`f${number}`, 1]));
    const cases: [object, string][] = [
      [many(101), "Request body must have at most 100 fields"],
      [{ ...TASK, headers: many(1001) }, "headers must have at most 1000 members"],
      [{ ...TASK, metadata: many(1001) }, "metadata must have at most 1000 members"],
    ];
    for (const [body, error] of cases) {
      const answer = await api.call("POST", "/v1/tasks", body);
      assert.deepEqual([answer.status, answer.body], [400, { error, code: "invalid" }]);
    }
    assert.equal((await api.call("POST", "/v1/tasks", { ...TASK, payload: many(1500) })).status, 201);
  });

  it("without a credential are limited to bodies of 4 KiB", async () => {
    const send = (url: string, payload: string) =>
      api.send({ method: "POST", url, payload, headers: { "content-type": "application/json" } });
    for (const url of ["/v1/auth/magic-link", "/v1/auth/session"]) {
      assert.equal((await send(url, `{"a":"${"x".repeat(4096)}"}`)).status, 413, url);
      assert.notEqual((await send(url, `{"a":"${"x".repeat(4000)}"}`)).status, 413, url);
    }
    const callback = await send(`/v1/callbacks/${"f".repeat(64)}`, "no JSON");
    assert.deepEqual([callback.status, callback.body.code], [404, "callback_unknown"]);
  });

  it("log one warning when they come from a proxy that is not trusted", async () => {
    const untold = await createTestApi({});
    for (let time = 0; time < 3; time += 1)
      await untold.send({ url: "/livez", headers: { "x-forwarded-for": "203.0.113.5" } });
    await untold.close();
    const warnings = untold.lines.filter(({ msg }) => msg === "proxy.not_trusted");
    assert.deepEqual(
      warnings.map(({ setting }) => setting),
      ["BELLHOP_TRUST_PROXY"],
    );
    const trusting = await createTestApi({ trustProxy: ["0.0.0.0/1", "128.0.0.0/1"] });
    await trusting.send({ url: "/livez", headers: { "x-forwarded-for": "203.0.113.5" } });
    assert.ok(!trusting.lines.some(({ msg }) => msg === "proxy.not_trusted"));
    await trusting.close();
  });

  it("are answered 503 with Retry-After when the server is overloaded", async (test) => {
    test.mock.method(api.services.tasks, "create", async () => {
      throw new Problem("overloaded");
    });

    const { status, headers } = await api.call("POST", "/v1/tasks", TASK);

    assert.equal(status, 503);
    assert.equal(headers["retry-after"], "1");
  });
});
