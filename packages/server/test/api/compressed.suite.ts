import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { before, describe, it } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import type { RequestPayload } from "fastify";
import { decodeBody } from "../../src/api/http/body-encoding.ts";
import { Problem } from "../../src/domain/problem.ts";
import { BODY_LIMIT, createTestApi, type TestApi } from "./test-api.ts";

const TASK = JSON.stringify({
  queue: "default",
  webhook_url: "http://a/",
  payload: { a: 1 },
});

describe("compressed request bodies", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  const post = (payload: Buffer, coding: string, headers: Record<string, string> = {}) =>
    api.send({
      method: "POST",
      url: "/v1/tasks",
      payload,
      headers: {
        ...api.team.headers,
        "content-type": "application/json",
        "content-encoding": coding,
        ...headers,
      },
    });

  it("are decoded from gzip, deflate and br", async () => {
    for (const [coding, bytes] of [
      ["gzip", gzipSync(TASK)],
      ["x-gzip", gzipSync(TASK)],
      ["GZIP", gzipSync(TASK)],
      ["deflate", deflateSync(TASK)],
      ["br", brotliCompressSync(TASK)],
      ["identity", Buffer.from(TASK)],
      ["", Buffer.from(TASK)],
    ] as const) {
      const { status, body } = await post(bytes, coding);
      assert.equal(status, 201, coding);
      const record = await api.call("GET", `/v1/tasks/${body.id}`);
      assert.deepEqual(record.body.payload, JSON.parse(TASK).payload);
    }
  });

  it("are refused with 415 and the supported codings when the coding is unknown", async () => {
    for (const coding of ["zstd", "compress", "gzip, br", "utf-8"]) {
      const { status, body, headers } = await post(gzipSync(TASK), coding);
      assert.deepEqual(
        [status, body],
        [415, { error: "Content-Encoding must be gzip, deflate or br", code: "body_coding_unknown" }],
      );
      assert.equal(headers["accept-encoding"], "gzip, deflate, br");
    }
  });

  it("are refused with 400 when they are corrupt or truncated", async () => {
    const whole = gzipSync(TASK);
    const flipped = Buffer.from(whole);
    flipped.writeUInt32LE(1, whole.length - 8);
    for (const [coding, bytes] of [
      ["gzip", Buffer.from(TASK)],
      ["gzip", whole.subarray(0, -9)],
      ["gzip", flipped],
      ["deflate", whole],
      ["br", whole],
    ] as const) {
      const { status, body } = await post(bytes, coding);
      const refusal = { error: `Request body is not valid ${coding}`, code: "body_not_decoded" };
      assert.deepEqual([status, body], [400, refusal]);
    }
  });

  it("are refused with 413 when the decoded size exceeds the limit", async () => {
    const sized = (bytes: number) => gzipSync(TASK.padEnd(bytes));
    assert.equal((await post(sized(BODY_LIMIT), "gzip")).status, 201);

    for (const bytes of [BODY_LIMIT + 1, 30_000_000]) {
      const bomb = sized(bytes);
      assert.ok(bomb.length < BODY_LIMIT);
      const { status, body } = await post(bomb, "gzip");
      assert.deepEqual([status, body], [413, { error: "Request body too large", code: "body_too_large" }]);
    }
  });

  it("may be empty on a route that takes no body", async () => {
    const { status } = await api.call("POST", "/v1/queues/default/pause", undefined, {
      "content-encoding": "gzip",
      "content-type": "application/json",
    });
    assert.equal(status, 200);
  });

  it("are decoded only when read, and no further than the limit", async () => {
    const source = sourceOf(gzipSync(Buffer.alloc(3_000_000)));
    const decoded = decode(source.payload, 100_000);
    await new Promise(setImmediate);
    assert.equal(source.isRead(), false);

    let decodedBytes = 0;
    const reading = async () => {
      for await (const chunk of decoded) decodedBytes += chunk.length;
    };

    await assert.rejects(reading, { code: "body_too_large" });
    assert.ok(decodedBytes <= 100_000, String(decodedBytes));
  });

  it("end with a Problem when truncated, even after the reader has stopped listening", async () => {
    const { payload } = sourceOf(gzipSync(randomBytes(500_000)).subarray(0, -9));
    const decoded = decode(payload, 1_000_000);

    await new Promise<void>((resolve) => {
      decoded.once("data", () => resolve());
    });
    await new Promise((resolve) => decoded.once("close", resolve));

    assert.ok(decoded.errored instanceof Problem);
  });

  it("are decoded for callbacks and forms too", async () => {
    const { body: task } = await api.call("POST", "/v1/tasks", {
      targetUrl: api.server.target.url,
      waitForCallback: true,
    });
    const callback = await api.send({
      method: "POST",
      url: `/v1/callbacks/${task.callbackId}`,
      headers: { "content-encoding": "gzip" },
      payload: gzipSync('{"done":true}'),
    });
    assert.equal(callback.body.code, "callback_not_awaited");

    const form = await api.send({
      method: "POST",
      url: "/v1/oauth/token",
      headers: { "content-type": "application/x-www-form-urlencoded", "content-encoding": "br" },
      payload: brotliCompressSync("grant_type=nonsense&client_id=a&client_secret=b"),
    });
    assert.equal(form.body.error, "unsupported_grant_type");
  });
});

function sourceOf(bytes: Buffer): { readonly payload: Readable; isRead(): boolean } {
  let read = false;
  const payload = new Readable({
    read() {
      read = true;
      this.push(bytes);
      this.push(null);
    },
  });
  return { payload, isRead: () => read };
}

/** What the hook makes of a request with this body. */
function decode(payload: RequestPayload, bodyLimit: number): Readable {
  let decoded: unknown;
  const headers = { "content-encoding": "gzip", "transfer-encoding": "chunked" };
  const done = (_error: unknown, made: unknown) => {
    decoded = made;
  };
  Reflect.apply(decodeBody, undefined, [{ headers, routeOptions: { bodyLimit } }, {}, payload, done]);
  assert.ok(decoded instanceof Readable);
  return decoded;
}
