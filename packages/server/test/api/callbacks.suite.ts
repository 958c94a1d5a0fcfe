import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { assertNow, BODY_LIMIT, createTestApi, type TestApi } from "./test-api.ts";

const UNKNOWN = "f".repeat(64);
/** Callbacks from one address within a minute. */
const MOST = 30;

describe("POST /v1/callbacks/{callbackId}", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  /** A task whose call was made, so that it waits by now, and its callback. */
  async function wait(fields: object): Promise<{ id: string; callbackId: string }> {
    const { body } = await api.run(fields);
    const id = body.task?.id ?? body.id;
    assert.equal((await recordOf(id)).status, "waiting");
    return { id, callbackId: body.callbackId ?? body.callback_id };
  }
  const waiting = () => wait({ targetUrl: api.server.target.url, waitForCallback: true });
  const recordOf = async (id: string) => {
    const { body } = await api.call("GET", `/v1/tasks/${id}`);
    return body.task ?? body;
  };

  /** As a third party does it: without a credential. */
  const send = (
    callbackId: string,
    payload?: string | Buffer,
    type: string | null = "application/json",
    source: { readonly remoteAddress?: string } = {},
  ) =>
    api.send({
      method: "POST",
      url: `/v1/callbacks/${callbackId}`,
      headers: type === null ? {} : { "content-type": type },
      ...(payload !== undefined && { payload }),
      ...source,
    });

  it("completes the task without a credential, with the whole body as its result", async () => {
    const { id, callbackId } = await waiting();

    const { status, body } = await send(callbackId, '{"status":"done"}');

    assert.equal(status, 200);
    const { createdAt, completedAt } = body.task;
    const result = { statusCode: 200, headers: {}, body: '{"status":"done"}', duration: 0 };
    assert.deepEqual(body, { task: { id, status: "completed", result, createdAt, completedAt } });
    assertNow(completedAt);
    const record = await recordOf(id);
    assert.deepEqual(
      [record.status, record.result, record.createdAt, record.completedAt],
      ["completed", result, createdAt, completedAt],
    );
  });

  it("answers with a queue task's id as its creator knows it", async () => {
    const { id, callbackId } = await wait({ wait_for_callback: true });

    const { body } = await send(callbackId, "{}");

    assert.match(id, /^task_/);
    assert.equal(body.task.id, id);
    assert.equal(body.task.status, "completed");
  });

  it("accepts any JSON value and keeps it byte for byte", async () => {
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

  it("accepts JSON under any valid content type, or under none", async () => {
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
    assert.equal((await send((await waiting()).callbackId, "{}", "json")).status, 415);
  });

  it("refuses a body that is not JSON and leaves the task waiting", async () => {
    const { id, callbackId } = await waiting();
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
        const { status, body } = await send(callbackId, payload, type);
        assert.deepEqual(
          [status, body],
          [400, { error: "Request body is not valid JSON", code: "body_not_json" }],
          String(payload),
        );
      }
    }
    assert.equal((await recordOf(id)).status, "waiting");
  });

  it("keeps a body up to the limit whole, and answers 413 to a larger one without using the id", async () => {
    const { id, callbackId } = await waiting();
    const largest = `"${"a".repeat(BODY_LIMIT - 2)}"`;
    assert.equal((await send(callbackId, `${largest} `)).status, 413);
    assert.equal((await recordOf(id)).status, "waiting");
    assert.equal((await send(callbackId, largest)).status, 200);
    assert.equal((await recordOf(id)).result.body, largest);

    const other = await waiting();
    const { status, body } = await send(other.callbackId, `"${"a".repeat(BODY_LIMIT)}"`, "text/plain");
    assert.deepEqual([status, body], [413, { error: "Request body too large", code: "body_too_large" }]);
  });

  it("answers 404 to an unknown id before it reads the body", async () => {
    for (const payload of [`"${"a".repeat(BODY_LIMIT)}"`, "no JSON"])
      assert.equal((await send(UNKNOWN, payload)).status, 404);
  });

  it("answers 404 to an unknown, used or malformed id", async () => {
    const { callbackId } = await waiting();
    await send(callbackId, "{}");

    for (const id of [callbackId, UNKNOWN, "x", "%00", "a".repeat(5000)]) {
      const { status, body } = await send(id, "{}");
      assert.deepEqual(
        [status, body],
        [404, { error: "Invalid or expired callback ID", code: "callback_unknown" }],
      );
    }
  });

  it("answers 409 for a task that is not waiting or polling", async () => {
    const { body: created } = await api.call("POST", "/v1/tasks", { targetUrl: "http://a/" });

    const { status, body } = await send(created.callbackId, "{}");

    assert.equal(status, 409);
    assert.deepEqual(body, {
      error: "Task is not in waiting/polling state (current: pending)",
      code: "callback_not_awaited",
    });
  });

  it("answers 429 with Retry-After over the rate limit, and leaves the task waiting", async () => {
    const { id, callbackId } = await waiting();
    const source = { remoteAddress: "192.0.2.40" };
    for (let sent = 0; sent < MOST; sent += 1)
      assert.equal((await send(UNKNOWN, "{}", "application/json", source)).status, 404);

    for (const sent of ["{}", "not json"]) {
      const { status, body, headers } = await send(callbackId, sent, "application/json", source);
      assert.deepEqual([status, body], [429, { error: "Rate limit exceeded", code: "rate_limited" }]);
      const retryAfter = Number(headers["retry-after"]);
      assert.ok(retryAfter > 0 && retryAfter <= 60, String(retryAfter));
    }
    assert.equal((await recordOf(id)).status, "waiting");
  });

  it("counts a request against the rate limit even if its body is refused", async () => {
    for (const [index, [payload, type, expected]] of (
      [
        ["not json", "application/json", 400],
        [undefined, null, 400],
        [`"${"a".repeat(BODY_LIMIT)}"`, "text/plain", 413],
        ["{}", "json", 415],
        ["{}", "application/json", 404],
      ] as const
    ).entries()) {
      const source = { remoteAddress: `192.0.2.${50 + index}` };
      const id = expected === 404 ? UNKNOWN : (await waiting()).callbackId;
      for (let sent = 0; sent < MOST; sent += 1)
        assert.equal((await send(id, payload, type, source)).status, expected);
      assert.equal((await send(id, payload, type, source)).status, 429, String(expected));
    }
  });

  it("counts by the socket's address, or by the address that a trusted proxy reports", async () => {
    const trusting = await createTestApi({ trustProxy: ["10.0.0.0/8"] });
    const sourceOf = async (asked: TestApi, remoteAddress: string) => {
      await asked.send({
        method: "POST",
        url: `/v1/callbacks/${UNKNOWN}`,
        remoteAddress,
        headers: { "x-forwarded-for": "192.0.2.1, 198.51.100.1" },
        payload: "{}",
      });
      const [last] = await api.server.database.rows<{ source: string }>(
        "select source from source_hits where source like 'callback %' order by looked_at desc limit 1",
      );
      return last?.source;
    };

    assert.equal(await sourceOf(api, "10.0.0.7"), "callback 10.0.0.7");
    assert.equal(await sourceOf(trusting, "10.0.0.7"), "callback 198.51.100.1");
    assert.equal(await sourceOf(trusting, "203.0.113.7"), "callback 203.0.113.7");
    await trusting.close();
  });

  it("is the only route that accepts other media types, and accepts only POST", async () => {
    assert.equal((await api.call("POST", "/v1/queues", "{}", { "content-type": "text/plain" })).status, 415);
    const get = await api.send({ url: `/v1/callbacks/${UNKNOWN}` });
    assert.deepEqual([get.status, get.headers.allow], [405, "POST"]);
    assert.equal((await send(`${UNKNOWN}?added=by-the-third-party`, "{}")).status, 404);
  });

  it("keeps callback ids out of the log", async () => {
    await send(UNKNOWN, "{}");

    assert.ok(!JSON.stringify(api.lines).includes(UNKNOWN));
  });
});

describe("the signing secret", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  it("can be read and rotated, and the previous secret stays valid for a day", async () => {
    const { status, body } = await api.call("GET", "/v1/signing-secret");
    assert.equal(status, 200);
    const { secret, createdAt } = body.signingSecret;
    assert.deepEqual(body, { signingSecret: { secret, createdAt, previousValidUntil: null } });
    assert.match(secret, /^whsec_/);
    assertNow(createdAt);

    const rotated = await api.call("POST", "/v1/signing-secret/rotate");
    assert.equal(rotated.status, 200);
    const { signingSecret } = rotated.body;
    assert.deepEqual(Object.keys(signingSecret), ["secret", "createdAt", "previousValidUntil"]);
    assert.match(signingSecret.secret, /^whsec_/);
    assert.notEqual(signingSecret.secret, secret);
    assertNow(signingSecret.createdAt);
    assertNow(signingSecret.previousValidUntil, 24 * 3600);
    assert.deepEqual((await api.call("GET", "/v1/signing-secret")).body, rotated.body);
  });

  it("refuses a rotation with a body, and other methods", async () => {
    assert.deepEqual((await api.call("POST", "/v1/signing-secret/rotate", { secret: "x" })).body, {
      error: 'Unknown field "secret"',
      code: "invalid",
    });
    const { status, headers } = await api.call("POST", "/v1/signing-secret");
    assert.deepEqual([status, headers.allow], [405, "GET, HEAD"]);
  });
});
