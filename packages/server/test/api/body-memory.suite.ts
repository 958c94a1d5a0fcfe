import assert from "node:assert/strict";
import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, describe, it } from "node:test";
import type { Deadlines } from "../../src/api/http/answer-deadline.ts";
import type { BodyBounds } from "../../src/api/http/body-memory.ts";
import { until } from "../patience.ts";
import { createTestApi, type TestApi } from "./test-api.ts";
import type { TestTeam } from "./test-team.ts";

/** One team may have two of these large bodies at a time, all teams together four. */
const BOUNDS: BodyBounds = { mostBytes: 7_000, largeBytes: 1_000, waitMs: 60_000 };
const LARGE = JSON.stringify({
  queue: "default",
  webhook_url: "https://target.test/",
  payload: "x".repeat(1_500),
});
const SMALL = JSON.stringify({ queue: "default", webhook_url: "https://target.test/" });

describe("admission of large bodies", () => {
  let api: TestApi;
  let asked: ClientRequest[];
  afterEach(async () => {
    for (const each of asked) each.destroy();
    await api.close();
  });

  async function listen(bounds: Partial<BodyBounds> = {}, deadlines?: Deadlines): Promise<void> {
    asked = [];
    api = await createTestApi({ bodies: { ...BOUNDS, ...bounds }, ...(deadlines && { deadlines }) });
    await api.app.listen({ host: "127.0.0.1", port: 0 });
  }

  interface Sent {
    readonly client: ClientRequest;
    /** As the server has it. */
    readonly received: IncomingMessage;
    readonly answer: Promise<{ status: number | undefined; code: string | undefined; retryAfter: unknown }>;
  }

  /** Sends headers and half of the body; the rest only by `client.end`. */
  async function begin(
    body = LARGE,
    { team = api.team, query = "" }: { team?: TestTeam; query?: string } = {},
  ): Promise<Sent> {
    const { port } = api.app.server.address() as AddressInfo;
    const headers = {
      ...team.headers,
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
    };
    const path = `/v1/tasks${query}`;
    const client = request({ host: "127.0.0.1", port, method: "POST", path, headers, agent: false });
    asked.push(client);
    client.on("error", () => {});
    const answer = once(client, "response").then(async ([response]) => ({
      status: response.statusCode,
      code: JSON.parse(await text(response)).code,
      retryAfter: response.headers["retry-after"],
    }));
    answer.catch(() => {});
    const arrived = once(api.app.server, "request");
    client.write(body.slice(0, body.length / 2));
    const [received] = await arrived;
    return { client, received, answer };
  }

  const finish = ({ client }: Sent, body = LARGE) => client.end(body.slice(body.length / 2));

  async function send(body: string, options: { team?: TestTeam; query?: string } = {}): Promise<Sent> {
    const sent = await begin(body, options);
    finish(sent, body);
    return sent;
  }

  /** One that waits is not read; one that is admitted is, as soon as its credential is known. */
  async function read({ received }: Sent): Promise<void> {
    await until(() => received.readableFlowing !== null);
  }

  it("leaves a large body unread while its team is at its limit, and still reads small bodies", async () => {
    await listen();
    const first = await begin();
    const second = await begin();
    await Promise.all([first, second].map(read));
    const third = await send(LARGE);

    assert.equal((await (await send(SMALL)).answer).status, 201);
    assert.equal(third.received.readableFlowing, null);

    finish(first);
    assert.equal((await first.answer).status, 201);
    assert.equal((await third.answer).status, 201);
    finish(second);
    assert.equal((await second.answer).status, 201);
  });

  it("does not count the wait for memory towards the time in which a request is answered", async () => {
    const deadlines: (() => void)[] = [];
    await listen(
      {},
      {
        begin(ms, onMissed) {
          deadlines.push(onMissed);
          return { atMs: performance.now() + ms };
        },
        end: () => {},
      },
    );
    const held = [await begin(), await begin()];
    await Promise.all(held.map(read));
    const waiting = await send(LARGE);
    // By its answer the credential of the one before it is known.
    assert.equal((await (await send(SMALL)).answer).status, 201);
    const begun = deadlines.length;
    deadlines[2]?.();
    assert.equal(deadlines.length, begun + 1);

    for (const each of held) finish(each);
    assert.equal((await waiting.answer).status, 201);
  });

  it("reads large bodies of other teams until the limit for all teams is reached", async () => {
    await listen();
    const held = [await begin(), await begin()];
    const waiting = await send(LARGE);
    const other = await api.openTeam();
    const others = [await begin(LARGE, { team: other }), await begin(LARGE, { team: other })];
    await Promise.all([...held, ...others].map(read));
    const last = await send(LARGE, { team: await api.openTeam() });
    assert.equal((await (await send(SMALL)).answer).status, 201);
    assert.deepEqual([waiting.received.readableFlowing, last.received.readableFlowing], [null, null]);

    for (const each of others) finish(each);
    assert.equal((await last.answer).status, 201);
    assert.equal(waiting.received.readableFlowing, null);
    for (const each of held) finish(each);
    assert.equal((await waiting.answer).status, 201);
  });

  it("refuses a body as overloaded after the maximum wait, and stores the admitted ones", async () => {
    await listen({ waitMs: 20 });
    const held = [await begin(), await begin()];
    await Promise.all(held.map(read));

    const refused = await (await send(LARGE)).answer;

    assert.deepEqual(refused, { status: 503, code: "overloaded", retryAfter: "1" });
    for (const each of held) {
      finish(each);
      assert.equal((await each.answer).status, 201);
    }
  });

  it("frees its place when the client disconnects, whether the body was admitted or waiting", async () => {
    await listen();
    const held = [await begin(), await begin()];
    await Promise.all(held.map(read));
    const gone = await send(LARGE);
    const waiting = await send(LARGE);
    gone.client.destroy();
    held[0]?.client.destroy();

    assert.equal((await waiting.answer).status, 201);
    assert.equal((await (await send(LARGE)).answer).status, 201);
  });

  it("frees its place once the body is read, even if the client waits for the task to end", async () => {
    await listen();
    for (let waits = 0; waits < 2; waits += 1) {
      const sent = await send(LARGE, { query: "?wait=60" });
      await read(sent);
    }

    assert.equal((await (await send(LARGE)).answer).status, 201);
  });

  it("counts a chunked body as the route's maximum size", async () => {
    await listen();
    const first = await begin();
    await read(first);
    const { port } = api.app.server.address() as AddressInfo;
    const headers = { ...api.team.headers, "content-type": "application/json" };
    const chunked = request({
      host: "127.0.0.1",
      port,
      method: "POST",
      path: "/v1/tasks",
      headers,
      agent: false,
    });
    asked.push(chunked);
    const arrived = once(api.app.server, "request");
    chunked.flushHeaders();
    chunked.end(LARGE);
    const [received] = await arrived;
    assert.equal((await (await send(SMALL)).answer).status, 201);
    assert.equal(received.readableFlowing, null);

    finish(first);
    const [response] = await once(chunked, "response");
    assert.equal(response.statusCode, 201);
  });
});
