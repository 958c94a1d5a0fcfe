import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, it } from "node:test";
import { createTestApi, type TestApi } from "./test-api.ts";

describe("raw sockets", () => {
  let api: TestApi;
  let auth: string;
  beforeEach(async () => {
    api = await createTestApi({ connections: {} });
    auth = `Authorization: Bearer ${api.team.key}\r\n`;
    await api.app.listen({ host: "127.0.0.1", port: 0 });
  });
  afterEach(() => api.close());

  function open(): Socket {
    const address = api.app.server.address() as AddressInfo;
    return connect(address.port, "127.0.0.1");
  }

  async function exchange(text: string): Promise<string> {
    const socket = open();
    socket.write(text);
    return readAll(socket);
  }

  it("get a JSON error with a request id for a request that is not HTTP", async () => {
    for (const text of ["nonsense\r\n\r\n", "BREW /v1/tasks HTTP/1.1\r\nHost: a\r\n\r\n"]) {
      const answer = await exchange(text);
      assert.match(answer, /^HTTP\/1\.1 400 Bad Request\r\n/);
      assert.match(answer, /\r\nContent-Type: application\/json/);
      assert.match(answer, /\r\nX-Request-Id: [0-9a-f-]{36}\r\n/);
      assert.ok(answer.endsWith('\r\n\r\n{"error":"Request is not valid HTTP","code":"request_malformed"}'));
    }
  });

  it("get 431 for a header that is too long", async () => {
    const answer = await exchange(`GET /livez HTTP/1.1\r\nHost: a\r\nX-A: ${"a".repeat(20_000)}\r\n\r\n`);

    assert.match(answer, /^HTTP\/1\.1 431 /);
    assert.ok(answer.endsWith('{"error":"Request headers too large","code":"headers_too_large"}'));
  });

  it("are closed without an answer when the client ends in the middle of the headers", async () => {
    const socket = open();
    socket.end("GET /livez HTTP/1.1\r\nHost: a\r\nX-A: ");
    assert.equal(await readAll(socket), "");
  });

  for (const coding of ["", "Content-Encoding: gzip\r\n"]) {
    it(`log no error when they close in the middle of a body ${coding.trim()}`, async () => {
      const socket = open();
      const type = `Content-Type: application/json\r\n${coding}`;
      socket.write(`POST /v1/tasks HTTP/1.1\r\nHost: a\r\n${auth}${type}Content-Length: 99\r\n\r\n{`);
      const [request] = await once(api.app.server, "request");
      socket.destroy();
      await new Promise((resolve) => request.on("close", resolve));
      await api.app.close();

      assert.deepEqual(
        api.lines.filter((line) => Number(line.level) >= 50),
        [],
      );
    });
  }

  it("do not delay the stop of the server while idle", async (test) => {
    const silent = open();
    const asking = open();
    const answers = readAll(asking);
    const { queues } = api.services;
    const list = queues.list.bind(queues);
    let closed: Promise<unknown> | null = null;
    const listing = new Promise<void>((resolve) => {
      test.mock.method(queues, "list", async (...asked: Parameters<typeof list>) => {
        closed = api.app.close();
        resolve();
        return list(...asked);
      });
    });
    await once(silent, "connect");
    asking.write(`GET /v1/queues HTTP/1.1\r\nHost: a\r\n${auth}\r\n`);
    await listing;

    await closed;

    assert.match(await answers, /^HTTP\/1\.1 200 OK/);
    assert.equal(await readAll(silent), "");
  });

  it("get 503 for a request that arrives while the server stops", async (test) => {
    const socket = open();
    const answers = readAll(socket);
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { queues } = api.services;
    const list = queues.list.bind(queues);
    const listing = new Promise<void>((resolve) => {
      test.mock.method(queues, "list", async (...asked: Parameters<typeof list>) => {
        resolve();
        await held;
        return list(...asked);
      });
    });
    socket.write(`GET /v1/queues HTTP/1.1\r\nHost: a\r\n${auth}\r\n`);
    await listing;

    const closed = api.app.close();
    socket.write(`GET /v1/queues HTTP/1.1\r\nHost: a\r\n${auth}\r\n`);
    await once(api.app.server, "request");
    release();
    await closed;

    const text = await answers;
    assert.match(text, /^HTTP\/1\.1 200 OK/);
    assert.match(text, /HTTP\/1\.1 503 [\s\S]*\{"error":"The server is stopping","code":"stopping"\}$/);
  });
});

async function readAll(socket: Socket): Promise<string> {
  let text = "";
  socket.setEncoding("utf8");
  for await (const chunk of socket) text += chunk;
  return text;
}
