import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import fc from "fast-check";
import { createTestApi, type TestApi } from "./test-api.ts";

const SHORT = "/v1/tasks";
/** The same route; only Fastify reads a URL with a question mark. */
const GENERAL = "/v1/tasks?";

const QUEUE_TASK = { queue: "default", webhook_url: "http://a.example/" };
const DIRECT_TASK = { targetUrl: "http://a.example/" };

/** Requests that the short path answers by itself. */
const USUAL: readonly Sent[] = [
  { body: QUEUE_TASK },
  { body: DIRECT_TASK },
  { body: { ...QUEUE_TASK, payload: { a: null, b: [1, "\u00e9\u{1f600}"] } } },
  {
    body: '{"queue":"default","webhook_url":"http://a.example/","payload":{"n":12345678901234567890,"n":1e400}}',
  },
  { body: { ...QUEUE_TASK, priority: null, delay: 60, tags: ["a"], metadata: { b: "c" } } },
  { body: { ...QUEUE_TASK, max_retries: 0, retry_backoff: "fixed", timeout: 5, headers: { "X-A": "b" } } },
  {
    body: {
      ...QUEUE_TASK,
      run_at: new Date(Date.now() + 3_600_000).toISOString(),
      on_complete_url: "http://b.example/",
    },
  },
  { body: { ...QUEUE_TASK, provider: "replicate" } },
  { body: { ...QUEUE_TASK, wait_for_callback: true, max_wait: 60 } },
  { body: { ...DIRECT_TASK, body: { a: 1 }, waitForCallback: true } },
  { body: QUEUE_TASK, headers: { "idempotency-key": "key" } },
  { body: QUEUE_TASK, headers: { "content-type": "application/json; charset=utf-8" } },
  { body: QUEUE_TASK, headers: { "x-request-id": "own-id" } },
  { body: QUEUE_TASK, headers: { "x-request-id": "not\tone" } },
];

/** Requests that Fastify answers, from the beginning or after the short path has looked at them. */
const OTHER: readonly Sent[] = [
  { body: "" },
  { body: "{" },
  { body: "null" },
  { body: "[]" },
  { body: "5" },
  { body: "{}" },
  { body: Buffer.from([0x7b, 0xff, 0x7d]) },
  { body: { ...QUEUE_TASK, queue: "missing" } },
  { body: { ...QUEUE_TASK, queue: null } },
  { body: { ...QUEUE_TASK, prioritty: 5 } },
  { body: { ...QUEUE_TASK, priority: "5" } },
  { body: { ...QUEUE_TASK, webhook_url: "http://private.example/" } },
  { body: { ...QUEUE_TASK, ...DIRECT_TASK } },
  { body: { ...QUEUE_TASK, provider: "missing" } },
  { body: { ...QUEUE_TASK, run_at: "2001-01-01T00:00:00Z" } },
  { body: { ...QUEUE_TASK, headers: { Host: "a" } } },
  { body: { ...QUEUE_TASK, headers: { Authorization: "tok_missing" } } },
  { body: { ...QUEUE_TASK, payload: "\u0000" } },
  { body: { ...QUEUE_TASK, simulate: { status: 200 } } },
  { body: Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`field${index}`, 1])) },
  { body: { ...QUEUE_TASK, payload: "a".repeat(40_000) } },
  { body: { ...QUEUE_TASK, payload: "a".repeat(70_000) } },
  { body: QUEUE_TASK, headers: { "content-type": "text/plain" } },
  { body: QUEUE_TASK, headers: { "content-type": "application/json; charset=latin1" } },
  { body: QUEUE_TASK, headers: { "content-encoding": "gzip" } },
  { body: QUEUE_TASK, headers: { "idempotency-key": "a".repeat(256) } },
  { body: { ...QUEUE_TASK, idempotency_key: "a" }, headers: { "idempotency-key": "b" } },
  { body: QUEUE_TASK, headers: { authorization: "Bearer nonsense" } },
  { body: QUEUE_TASK, headers: { authorization: "" } },
  { body: QUEUE_TASK, headers: { "x-forwarded-for": "10.0.0.1" } },
];

interface Sent {
  readonly body: string | Buffer | object;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Received {
  readonly status: number | undefined;
  readonly headers: Record<string, unknown>;
  readonly text: string;
}

describe("the short path of POST /v1/tasks", () => {
  let api: TestApi;
  const agent = new Agent({ keepAlive: true });
  /** Requests that reached the handler of Fastify. */
  let handled = 0;
  const count = () => {
    handled += 1;
  };
  const HANDLER = "tracing:fastify.request.handler:start";
  before(async () => {
    api = await createTestApi({ connections: {} });
    await api.app.listen({ host: "127.0.0.1", port: 0 });
    // The short path learns the schemas from it.
    assert.equal((await api.call("POST", "/v1/tasks", QUEUE_TASK)).status, 201);
    subscribe(HANDLER, count);
  });
  after(async () => {
    unsubscribe(HANDLER, count);
    agent.destroy();
    await api.close();
  });

  async function send(
    path: string,
    { body, headers }: Sent,
    credential = api.team.headers,
  ): Promise<Received> {
    const { port } = api.app.server.address() as AddressInfo;
    const bytes = typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const own = { "content-type": "application/json", "content-length": Buffer.byteLength(bytes) };
    const asked = request({
      host: "127.0.0.1",
      port,
      agent,
      method: "POST",
      path,
      headers: { ...credential, ...own, ...headers },
    });
    asked.end(bytes);
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    return { status: response.statusCode, headers: response.headers, text: await text(response) };
  }

  /** Answers of two requests differ in ids and times alone. */
  function comparable({ status, headers: { date, ...headers }, text: answer }: Received) {
    const requestId = String(headers["x-request-id"]).replace(/^[0-9a-f-]{36}$/, "<uuid>");
    const body = answer
      .replaceAll(/task_[0-9a-z]{26}/g, "<task>")
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<uuid>")
      .replaceAll(/[0-9a-f]{64}/g, "<callback>")
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "<time>");
    return { status, headers: { ...headers, "x-request-id": requestId }, body };
  }

  async function assertSame(sent: Sent): Promise<Received> {
    const [short, general] = [await send(SHORT, sent), await send(GENERAL, sent)];
    assert.deepEqual(comparable(short), comparable(general), JSON.stringify(sent).slice(0, 300));
    return short;
  }

  /**
   * Sends a request that takes the short path. A credential is remembered for a second: if that is over, Fastify takes the request, and the
   * next one finds the credential.
   */
  async function sendShort(sentFor: (attempt: number) => Sent): Promise<Received> {
    for (let attempt = 1; attempt <= 10; attempt += 1) {
      const before = handled;
      const received = await send(SHORT, sentFor(attempt));
      if (handled === before) return received;
    }
    return assert.fail(`Fastify took ${JSON.stringify(sentFor(0))} each time`);
  }

  it("creates tasks without Fastify, and answers as Fastify does", async () => {
    for (const [index, sent] of USUAL.entries()) {
      // A second request with one key would be a repetition.
      const withKey = (name: string) =>
        sent.headers?.["idempotency-key"] === undefined
          ? sent
          : { ...sent, headers: { ...sent.headers, "idempotency-key": `key ${index} ${name}` } };
      const short = await sendShort((attempt) => withKey(`short ${attempt}`));
      assert.equal(short.status, 201, short.text);
      const before = handled;
      const general = await send(GENERAL, withKey("general"));
      assert.equal(handled - before, 1);
      assert.deepEqual(comparable(short), comparable(general));
    }
  });

  it("leaves every other request, and every refusal, to Fastify", async () => {
    for (const sent of OTHER) {
      const { status } = await assertSame(sent);
      assert.ok(status !== undefined && (status >= 400 || status === 201), String(status));
    }
  });

  it("answers a repeated request with the first task, and refuses another under the same key", async () => {
    const headers = { "idempotency-key": "repeated" };
    const first = await send(SHORT, { body: QUEUE_TASK, headers });
    const again = await sendShort(() => ({ body: QUEUE_TASK, headers }));
    assert.deepEqual([again.status, again.headers["idempotent-replayed"]], [200, "true"]);
    assert.equal(JSON.parse(again.text).id, JSON.parse(first.text).id);
    assert.deepEqual(comparable(again), comparable(await send(GENERAL, { body: QUEUE_TASK, headers })));
    const conflict = await assertSame({ body: { ...QUEUE_TASK, priority: 9 }, headers });
    assert.equal(conflict.status, 409);
  });

  it("counts each request once against the limit of its team, on the short path and in Fastify", async () => {
    const limited = await api.openTeam();
    await api.server.database.rows("update teams set requests_per_minute = 6 where id = $1", [limited.id]);
    const bodies = [
      QUEUE_TASK,
      QUEUE_TASK,
      { ...QUEUE_TASK, queue: "missing" },
      "{",
      { wrong: 1 },
      QUEUE_TASK,
    ];
    const left = [];
    for (const body of bodies)
      left.push((await send(SHORT, { body }, limited.headers)).headers["x-ratelimit-remaining"]);
    assert.deepEqual(left, ["5", "4", "3", "2", "1", "0"]);
    const refused = await send(SHORT, { body: QUEUE_TASK }, limited.headers);
    assert.deepEqual([refused.status, JSON.parse(refused.text).code], [429, "rate_limited"]);
  });

  it("writes one log line for each request, with what Fastify's has", async () => {
    for (const sent of [{ body: QUEUE_TASK }, { body: { ...QUEUE_TASK, queue: "missing" } }, { body: "{" }]) {
      const lines: Record<string, unknown>[] = [];
      for (const path of [SHORT, GENERAL]) {
        const before = api.lines.length;
        await send(path, sent);
        while (api.lines.length === before) await new Promise(setImmediate);
        const [line, ...more] = api.lines.slice(before);
        assert.deepEqual(more, []);
        const { time, ms, requestId, ...rest } = line ?? {};
        assert.deepEqual([typeof time, typeof ms, typeof requestId], ["number", "number", "string"]);
        lines.push(rest);
      }
      assert.deepEqual(lines[0], lines[1]);
    }
  });

  it("answers as Fastify does whatever the body is", async () => {
    const names = [
      "queue",
      "webhook_url",
      "payload",
      "delay",
      "priority",
      "targetUrl",
      "body",
      "tags",
      "headers",
      "x",
    ];
    const field = fc.tuple(
      fc.constantFrom(...names),
      fc.oneof(fc.jsonValue(), fc.constantFrom("default", 5, null)),
    );
    const nearly = fc
      .tuple(fc.constantFrom(QUEUE_TASK, DIRECT_TASK, {}), fc.array(field, { maxLength: 3 }))
      .map(([task, fields]) => JSON.stringify({ ...task, ...Object.fromEntries(fields) }));
    const body = fc.oneof(nearly, fc.json(), fc.string(), fc.uint8Array({ maxLength: 20 }).map(Buffer.from));
    await fc.assert(
      fc.asyncProperty(body, async (each) => {
        await assertSame({ body: each });
      }),
      { numRuns: 200 },
    );
  });
});
