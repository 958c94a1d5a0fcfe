import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { SignatureError } from "../src/errors.ts";
import { handler } from "../src/handler.ts";
import { type HandlerOptions, NoRetry, type ReceivedCall } from "../src/receiver.ts";
import { signedRequest } from "../src/testing.ts";
import { verifyWebhook } from "../src/webhook.ts";

const SECRET = `whsec_${Buffer.from("a secret of the team").toString("base64")}`;
const OTHER = `whsec_${Buffer.from("a secret of others").toString("base64")}`;
const URL = "https://receiver.example/";

function signedByLibrary(secret: string, id: string, body: string, at = new Date()) {
  return {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": new Webhook(secret).sign(id, at, body),
  };
}

describe("verifyWebhook", () => {
  it("agrees with the Standard Webhooks library, in both directions", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.jsonValue(),
        fc.uint8Array({ minLength: 1, maxLength: 64 }),
        async (payload, key) => {
          const secret = `whsec_${Buffer.from(key).toString("base64")}`;
          const body = JSON.stringify(payload);
          const headers = signedByLibrary(secret, "task_1", body);
          const verified = await verifyWebhook({ body, headers, secret });
          assert.equal(JSON.stringify(verified.payload), JSON.stringify(JSON.parse(body)));

          const request = await signedRequest(URL, { secret, payload });
          new Webhook(secret).verify(await request.text(), Object.fromEntries(request.headers));
        },
      ),
      { numRuns: 50 },
    );
  });

  it("accepts either of two signatures, and headers of fetch or of Node", async () => {
    const body = '{"a":1}';
    const old = signedByLibrary(OTHER, "task_1", body);
    const both = { ...signedByLibrary(SECRET, "task_1", body) };
    both["webhook-signature"] = `${old["webhook-signature"]} ${both["webhook-signature"]}`;
    for (const headers of [both, new Headers(both)]) {
      const { id, payload } = await verifyWebhook({ body: Buffer.from(body), headers, secret: SECRET });
      assert.deepEqual([id, payload], ["task_1", { a: 1 }]);
    }
  });

  it("refuses another secret, body, id or time, and unsigned requests", async () => {
    const body = "{}";
    const headers = signedByLibrary(SECRET, "task_1", body);
    const stale = signedByLibrary(SECRET, "task_1", body, new Date(Date.now() - 301_000));
    const early = signedByLibrary(SECRET, "task_1", body, new Date(Date.now() + 302_000));
    const cut = headers["webhook-signature"].slice(0, -1);
    for (const changed of [
      { body, headers, secret: OTHER },
      { body: "{} ", headers, secret: SECRET },
      { body, headers: { ...headers, "webhook-id": "task_2" }, secret: SECRET },
      { body, headers: { ...headers, "webhook-timestamp": "1e9" }, secret: SECRET },
      { body, headers: { ...headers, "webhook-signature": cut }, secret: SECRET },
      { body, headers: { ...headers, "webhook-signature": "v1," }, secret: SECRET },
      { body, headers: stale, secret: SECRET },
      { body, headers: early, secret: SECRET },
      { body, headers: {}, secret: SECRET },
    ]) {
      await assert.rejects(verifyWebhook(changed), SignatureError);
    }
  });

  it("refuses an invalid secret without showing it", async () => {
    const headers = signedByLibrary(SECRET, "task_1", "{}");
    for (const secret of ["whsec_not base64!", "whsec_", ""]) {
      await assert.rejects(
        verifyWebhook({ body: "{}", headers, secret }),
        (error: Error) => /must be/.test(error.message) && !error.message.includes("not base64!"),
      );
    }
  });
});

type Receive = (
  handle: (call: ReceivedCall) => unknown,
  request: Request,
  options?: Partial<HandlerOptions>,
) => Promise<Response>;

const receiveFetch: Receive = (handle, request, options) =>
  handler({ secret: SECRET, ...options }, handle)(request, { params: {} });

describe("handler", () => {
  const node = createServer();
  let url: string;
  before(async () => {
    await new Promise<void>((resolve) => node.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(node.address() as AddressInfo).port}/`;
  });
  after(() => node.close());

  const receiveNode: Receive = async (handle, request, options) => {
    node.removeAllListeners("request").on("request", handler({ secret: SECRET, ...options }, handle));
    const { method, headers } = request;
    return fetch(url, { method, headers, body: await request.text() });
  };

  for (const [kind, receive] of [
    ["Request and Response", receiveFetch],
    ["Node's own server", receiveNode],
  ] as const) {
    describe(`with ${kind}`, () => {
      it("passes payload, task and attempt to the function, and answers with its result", async () => {
        const seen: unknown[] = [];
        const response = await receive(
          ({ payload, taskId, attempt, queue, notification }) => {
            seen.push(payload, taskId, attempt, queue, notification);
            return { sent: true };
          },
          await signedRequest(URL, { secret: SECRET, payload: { user_id: 1 }, taskId: "task_7", attempt: 3 }),
        );
        assert.deepEqual(seen, [{ user_id: 1 }, "task_7", 3, "default", null]);
        assert.deepEqual([response.status, await response.json()], [200, { sent: true }]);
      });

      it("answers 204 without a result, or with the function's own Response", async () => {
        const empty = await receive(() => {}, await signedRequest(URL, { secret: SECRET }));
        assert.deepEqual([empty.status, await empty.text()], [204, ""]);
        const own = await receive(
          () => new Response("later", { status: 202, headers: { "x-own": "1" } }),
          await signedRequest(URL, { secret: SECRET }),
        );
        assert.deepEqual([own.status, own.headers.get("x-own"), await own.text()], [202, "1", "later"]);
      });

      it("does not pass on a request that the team's secret did not sign", async () => {
        const never = () => assert.fail("was handed over");
        const response = await receive(never, await signedRequest(URL, { secret: OTHER }));
        assert.equal(response.status, 401);
        assert.equal(response.headers.get("bellhop-no-retry"), null);
      });

      it("answers 500 when the function throws, without the text of the error", async () => {
        const errors: unknown[] = [];
        const failure = new Error("password of the database");
        const response = await receive(
          () => Promise.reject(failure),
          await signedRequest(URL, { secret: SECRET }),
          { onError: (error) => errors.push(error) },
        );
        assert.deepEqual(errors, [failure]);
        assert.equal(response.status, 500);
        assert.equal(response.headers.get("bellhop-no-retry"), null);
        assert.ok(!(await response.text()).includes("password"));
      });

      it("answers 422 with Bellhop-No-Retry when the function throws NoRetry", async () => {
        const response = await receive(
          () => {
            throw new NoRetry("no such user");
          },
          await signedRequest(URL, { secret: SECRET }),
        );
        assert.deepEqual(
          [response.status, response.headers.get("bellhop-no-retry"), await response.json()],
          [422, "true", { error: "no such user" }],
        );
      });

      it("answers 413 to a body that is too large", async () => {
        const never = () => assert.fail("was handed over");
        const request = await signedRequest(URL, { secret: SECRET, payload: "x".repeat(100) });
        assert.equal((await receive(never, request, { maxBytes: 100 })).status, 413);
      });
    });
  }

  it("passes a notification with camelCase names and its task's id", async () => {
    const payload = {
      type: "task.completed",
      timestamp: "2026-01-01T00:00:00.000Z",
      data: { task: { id: "task_1", webhook_url: "u", payload: { a_b: 1 } } },
    };
    let call: ReceivedCall | undefined;
    await receiveFetch(
      (received) => {
        call = received;
      },
      await signedRequest(URL, { secret: SECRET, payload, taskId: "ntf_1" }),
    );
    assert.equal(call?.taskId, "task_1");
    assert.deepEqual(call?.notification?.data.task, { id: "task_1", webhookUrl: "u", payload: { a_b: 1 } });
    assert.deepEqual(call?.payload, payload);
  });

  it("reports that a parser has already read the body", async () => {
    const errors: unknown[] = [];
    const receive = handler({ secret: SECRET, onError: (error) => errors.push(error) }, () => {});
    const answered = { statusCode: 0, setHeader() {}, end() {} };
    const request = { headers: {}, body: { parsed: true }, async *[Symbol.asyncIterator]() {} };
    await receive(request, answered);
    assert.equal(answered.statusCode, 500);
    assert.match(String(errors[0]), /before the parser/);
  });
});
