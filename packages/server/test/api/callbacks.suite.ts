import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Problem } from "../../src/domain/problem.ts";
import { formatTaskId, parseTaskId } from "../../src/service/tasks/task-id.ts";
import { createFakeServices } from "./fake-services.ts";
import { BODY_LIMIT, createTestApi, type TestApi, toAnswer } from "./test-api.ts";

const UNKNOWN = "f".repeat(64);

describe("POST /v1/callbacks/{callbackId}", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });
  after(() => api.app.close());

  /** A task that waits, and its callback. */
  async function wait(fields: object): Promise<{ id: string; callbackId: string }> {
    const { body } = await api.call("POST", "/v1/tasks", fields);
    const id = parseTaskId(body.task?.id ?? body.id) ?? "";
    const task = api.services.stored.get(id);
    assert.ok(task);
    api.services.stored.set(id, { ...task, status: "waiting" });
    return { id, callbackId: body.callbackId ?? body.callback_id };
  }
  const waiting = () => wait({ targetUrl: "http://a/", waitForCallback: true });

  /** As a third party does it: without a credential. */
  async function send(
    callbackId: string,
    payload?: string | Buffer,
    type: string | null = "application/json",
  ) {
    return toAnswer(
      await api.app.inject({
        method: "POST",
        url: `/v1/callbacks/${callbackId}`,
        headers: type === null ? {} : { "content-type": type },
        ...(payload !== undefined && { payload }),
      }),
    );
  }

  it("ends the task with the whole body as its result, without a credential", async () => {
    const { id, callbackId } = await waiting();

    const { status, body } = await send(callbackId, '{"status":"done"}');

    assert.equal(status, 200);
    assert.deepEqual(body, {
      task: {
        id,
        status: "completed",
        result: { statusCode: 200, headers: {}, body: '{"status":"done"}', duration: 0 },
        createdAt: "2026-03-01T09:30:00.123Z",
        completedAt: "2026-03-01T09:30:00.123Z",
      },
    });
  });

  it("names a task of a queue by the id that its creator knows", async () => {
    const { id, callbackId } = await wait({
      queue: "default",
      webhook_url: "http://a/",
      wait_for_callback: true,
    });

    const { body } = await send(callbackId, "{}");

    assert.equal(body.task.id, formatTaskId(id));
    assert.equal(body.task.status, "completed");
  });

  it("takes any JSON, as it was written", async () => {
    for (const text of [
      "[1, 2]",
      '"done"',
      "12345678901234567890",
      "null",
      "false",
      ' { "a" : "\\u0000" }\n',
    ]) {
      const { callbackId } = await waiting();
      const { status, body } = await send(callbackId, text);
      assert.deepEqual([status, body.task.result.body], [200, text]);
    }
  });

  it("takes JSON under whatever type it comes, or under none", async () => {
    for (const type of [
      "application/json; charset=utf-8",
      "application/cloudevents+json",
      "text/plain",
      "application/x-www-form-urlencoded",
      "application/octet-stream",
      null,
    ]) {
      const { callbackId } = await waiting();
      assert.equal((await send(callbackId, '{"a":1}', type)).status, 200, String(type));
    }
    assert.equal((await send(UNKNOWN, "{}", "json")).status, 415);
  });

  it("what is not JSON is refused, and reaches no task", async () => {
    const before = api.services.received.length;
    for (const payload of [
      "",
      " ",
      "{",
      "status=done",
      "<xml/>",
      Buffer.from([0x22, 0xff, 0x22]),
      undefined,
    ]) {
      for (const type of ["application/json", "text/plain", null]) {
        const { status, body } = await send(UNKNOWN, payload, type);
        assert.deepEqual([status, body], [400, { error: "Request body is not valid JSON" }], String(payload));
      }
    }
    assert.equal(api.services.received.length, before);
  });

  it("a body over the limit is too large", async () => {
    const { status, body } = await send(UNKNOWN, `"${"a".repeat(BODY_LIMIT)}"`, "text/plain");

    assert.deepEqual([status, body], [413, { error: "Request body too large" }]);
  });

  it("an unknown or used id is answered 404, whatever it looks like", async () => {
    const { callbackId } = await waiting();
    await send(callbackId, "{}");

    for (const id of [callbackId, UNKNOWN, "x", "%00", "a".repeat(5000)]) {
      const { status, body } = await send(id, "{}");
      assert.deepEqual([status, body], [404, { error: "Invalid or expired callback ID" }]);
    }
  });

  it("a task that does not wait is a conflict", async () => {
    const { body: created } = await api.call("POST", "/v1/tasks", { targetUrl: "http://a/" });

    const { status, body } = await send(created.callbackId, "{}");

    assert.equal(status, 409);
    assert.deepEqual(body, { error: "Task is not in waiting/polling state (current: pending)" });
  });

  it("over the rate limit it says when to come back", async () => {
    const services = createFakeServices();
    const admit = async () => {
      throw new Problem("rate_limited", {}, { retryAfterSeconds: 17 });
    };
    const busy = await createTestApi({ ...services, callbacks: { ...services.callbacks, admit } });

    for (const sent of ["{}", "not json"]) {
      const { status, body, headers } = await busy.call("POST", `/v1/callbacks/${UNKNOWN}`, sent);
      assert.deepEqual([status, body], [429, { error: "Rate limit exceeded" }]);
      assert.equal(headers["retry-after"], "17");
    }
    assert.deepEqual(services.received, []);
    await busy.app.close();
  });

  it("counts what is refused for its body too", async () => {
    const counted = () => api.services.callbackSources.length;
    for (const [payload, type, expected] of [
      ["not json", "application/json", 400],
      [undefined, null, 400],
      [`"${"a".repeat(BODY_LIMIT)}"`, "text/plain", 413],
      ["{}", "json", 415],
      ["{}", "application/json", 404],
    ] as const) {
      const before = counted();
      assert.equal((await send(UNKNOWN, payload, type)).status, expected);
      assert.equal(counted(), before + 1, String(expected));
    }
  });

  it("counts by the socket's address, or by what a trusted proxy says", async () => {
    const trusting = await createTestApi(createFakeServices(), { trustProxy: ["10.0.0.0/8"] });
    const sourceOf = async ({ app, services }: TestApi, remoteAddress: string) => {
      await app.inject({
        method: "POST",
        url: `/v1/callbacks/${UNKNOWN}`,
        remoteAddress,
        headers: { "x-forwarded-for": "192.0.2.1, 198.51.100.1" },
        payload: "{}",
      });
      return services.callbackSources.at(-1);
    };

    assert.equal(await sourceOf(api, "10.0.0.7"), "10.0.0.7");
    assert.equal(await sourceOf(trusting, "10.0.0.7"), "198.51.100.1");
    assert.equal(await sourceOf(trusting, "203.0.113.7"), "203.0.113.7");
    await trusting.app.close();
  });

  it("has other media types for itself alone, and no other methods", async () => {
    assert.equal((await api.call("POST", "/v1/queues", "{}", { "content-type": "text/plain" })).status, 415);
    const get = toAnswer(await api.app.inject({ url: `/v1/callbacks/${UNKNOWN}` }));
    assert.deepEqual([get.status, get.headers.allow], [405, "POST"]);
    assert.equal((await send(`${UNKNOWN}?added=by-the-third-party`, "{}")).status, 404);
  });

  it("never writes its id to the log", async () => {
    await send(UNKNOWN, "{}");

    assert.ok(!JSON.stringify(api.lines).includes(UNKNOWN));
  });
});

describe("the signing secret", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });
  after(() => api.app.close());

  it("is read and rotated by API", async () => {
    const { status, body } = await api.call("GET", "/v1/signing-secret");
    assert.equal(status, 200);
    assert.deepEqual(body, {
      signingSecret: { secret: "whsec_0", createdAt: "2026-03-01T09:30:00.123Z", previousValidUntil: null },
    });

    const rotated = await api.call("POST", "/v1/signing-secret/rotate");
    assert.equal(rotated.status, 200);
    assert.deepEqual(rotated.body, {
      signingSecret: {
        secret: "whsec_1",
        createdAt: "2026-03-01T09:30:00.123Z",
        previousValidUntil: "2026-03-01T09:30:00.123Z",
      },
    });
  });

  it("takes no body and no other method", async () => {
    assert.deepEqual((await api.call("POST", "/v1/signing-secret/rotate", { secret: "x" })).body, {
      error: 'Unknown field "secret"',
    });
    const { status, headers } = await api.call("POST", "/v1/signing-secret");
    assert.deepEqual([status, headers.allow], [405, "GET, HEAD"]);
  });
});
