import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, describe, it } from "node:test";
import { answerClientError } from "../../src/api/http/client-error.ts";
import type { ConnectionBounds } from "../../src/api/http/http-server.ts";
import { BODY_LIMIT, createTestApi, type TestApi } from "./test-api.ts";

const LIVEZ = "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n";
/** Long enough never to be what ends a connection here. */
const LONG_MS = 60_000;

describe("HTTP connections", () => {
  let api: TestApi;
  let sockets: Socket[];
  let post: string;
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    await api.close();
  });

  async function listen(connections: Partial<ConnectionBounds> = {}): Promise<void> {
    sockets = [];
    api = await createTestApi({
      connections: { headersTimeoutMs: LONG_MS, checkEveryMs: 10, ...connections },
    });
    const auth = `Authorization: Bearer ${api.team.key}\r\n`;
    post = `POST /v1/queues HTTP/1.1\r\nHost: a\r\n${auth}Content-Type: application/json\r\n`;
    await api.app.listen({ host: "127.0.0.1", port: 0 });
  }

  function open(text = "", server: Server = api.app.server): Socket {
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    sockets.push(socket);
    socket.setEncoding("utf8");
    // The server may be done with it before we are.
    socket.on("error", () => {});
    socket.write(text);
    return socket;
  }

  /** All that comes until the server closes. */
  async function ended(socket: Socket): Promise<string> {
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
    });
    await once(socket, "close");
    return text;
  }

  /** The first answer, as far as it has come. */
  async function answered(socket: Socket): Promise<string> {
    const [chunk] = await once(socket, "data");
    return String(chunk);
  }

  it("are closed with 408 when the headers do not arrive in time", async () => {
    await listen({ headersTimeoutMs: 30 });

    for (const text of ["", "GET /livez HTTP/1.1\r\nHost: a\r\nX-A: "]) {
      const answer = await ended(open(text));
      assert.match(answer, /^HTTP\/1\.1 408 Request Timeout\r\n/);
      assert.ok(answer.endsWith('{"error":"Request took too long to arrive","code":"request_timeout"}'));
    }
  });

  it("are closed with 408 when the body arrives too slowly, even if data keeps arriving", async () => {
    await listen({ requestTimeoutMs: 60, headersTimeoutMs: 60 });
    const socket = open(`${post}Transfer-Encoding: chunked\r\n\r\n`);
    const drip = () => {
      if (!socket.destroyed) socket.write("1\r\na\r\n", () => setImmediate(drip));
    };
    drip();

    assert.match(await ended(socket), /^HTTP\/1\.1 408 /);
    await api.app.close();
    assert.deepEqual(
      api.lines.filter((line) => Number(line.level) >= 50),
      [],
    );
  });

  it("get 413 when a chunked body exceeds the limit", async () => {
    await listen();
    const socket = open(`${post}Transfer-Encoding: chunked\r\n\r\n`);
    const kilobyte = `400\r\n${"a".repeat(1024)}\r\n`;
    for (let sent = 0; sent <= BODY_LIMIT; sent += 1024) socket.write(kilobyte);

    const answer = await answered(socket);
    assert.match(answer, /^HTTP\/1\.1 413 /);
    assert.match(answer, /\{"error":"Request body too large","code":"body_too_large"\}$/);
  });

  it("get 413 before the body is sent when Content-Length exceeds the limit", async () => {
    await listen();

    assert.match(
      await answered(open(`${post}Content-Length: ${BODY_LIMIT + 1}\r\n\r\n`)),
      /^HTTP\/1\.1 413 /,
    );
  });

  it("are closed with 431 when the request has too many headers", async () => {
    await listen();
    const headers = (count: number) => `GET /livez HTTP/1.1\r\nHost: a\r\n${"A: b\r\n".repeat(count)}`;

    assert.match(await answered(open(`${headers(99)}\r\n`)), /^HTTP\/1\.1 200 /);
    for (const count of [100, 2100]) {
      const answer = await ended(open(`${headers(count)}\r\n`));
      assert.match(answer, /^HTTP\/1\.1 431 /);
      assert.match(answer, /\r\nx-request-id: /i);
      assert.ok(answer.endsWith('{"error":"Request headers too large","code":"headers_too_large"}'));
    }
  });

  it("are closed when the client does not read its answer", async () => {
    await listen({ stallTimeoutMs: 50 });
    const socket = open();
    const [served] = await once(api.app.server, "connection");
    socket.pause();
    // Far more than the system keeps for a reader who does not come: the 3.5 MB of the reference, several times.
    socket.write("GET /docs/js/scalar.js HTTP/1.1\r\nHost: a\r\n\r\n".repeat(8));

    await once(served, "close");
  });

  /** Connections with a request under way: nobody reads the end of its body. */
  async function openBusy(count: number): Promise<Socket[]> {
    const busy: Socket[] = [];
    for (let number = 0; number < count; number += 1) {
      busy.push(open(`${post}Content-Length: 5\r\n\r\n`));
      await once(api.app.server, "request");
    }
    return busy;
  }

  for (const bound of ["mostConnections", "mostPerSource"] as const) {
    it(`are closed, oldest first, for a new request while incomplete (${bound})`, async () => {
      await listen({ [bound]: 2 });
      const halves = [1, 2].map(() => open("GET /livez HTTP/1.1\r\n"));
      for (const _ of halves) await once(api.app.server, "connection");
      const [oldest, second] = halves;
      assert.ok(oldest && second);
      const closed = once(oldest, "close");

      assert.match(await answered(open(LIVEZ)), /^HTTP\/1\.1 200 /);
      await closed;
      second.write("Host: a\r\n\r\n");
      assert.match(await answered(second), /^HTTP\/1\.1 200 /);
    });
  }

  it("have no limit per source when they come from a trusted proxy", async () => {
    await listen({ mostPerSource: 2, isProxy: (address) => address === "127.0.0.1" });
    const waiting = [1, 2, 3].map(() => open("GET /livez HTTP/1.1\r\n"));
    for (const _ of waiting) await once(api.app.server, "connection");
    for (const socket of waiting) {
      socket.write("Host: a\r\n\r\n");
      assert.match(await answered(socket), /^HTTP\/1\.1 200 /);
    }
  });

  it("are answered for health checks while all others are refused", async () => {
    await listen({ mostConnections: 20 });
    await openBusy(20);
    assert.match(await ended(open(LIVEZ.replace("livez", "docs"))), /^HTTP\/1\.1 503 /);
    assert.match(await answered(open(LIVEZ)), /^HTTP\/1\.1 200 /);
  });

  it("get 503 at the limit of busy connections, without effect on the open ones", async () => {
    await listen({ mostConnections: 2 });
    const [first, second] = await openBusy(2);
    assert.ok(first && second);

    const answer = await ended(open(LIVEZ.replace("livez", "docs")));
    assert.match(answer, /^HTTP\/1\.1 503 /);
    assert.match(answer, /\r\nretry-after: 1\r\n/i);
    assert.ok(answer.endsWith('{"error":"Too many open connections, try again shortly","code":"crowded"}'));
    assert.ok(api.lines.some(({ msg, open }) => msg === "connections.crowded" && open === 3));
    for (const socket of [first, second]) {
      socket.write("nonse");
      assert.match(await answered(socket), /^HTTP\/1\.1 400 /);
    }
  });

  it("are closed without an answer far above the limit", async () => {
    await listen({ mostConnections: 2 });
    await openBusy(2);
    open(LIVEZ.slice(0, 20));
    await once(api.app.server, "connection");

    assert.equal(await ended(open(LIVEZ)), "");
  });

  it("are closed when idle to make room for a new request", async () => {
    await listen({ mostConnections: 2 });
    const idle = open(LIVEZ);
    assert.match(await answered(idle), /^HTTP\/1\.1 200 /);
    await openBusy(1);
    const closed = once(idle, "close");

    assert.match(await answered(open(LIVEZ)), /^HTTP\/1\.1 200 /);
    await closed;
  });

  it("are closed without a second answer when garbage arrives during an answer", async () => {
    await listen();
    const server = createServer((_request, response) => {
      response.write("half");
    });
    server.on("clientError", answerClientError);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const socket = open(LIVEZ, server);
    await answered(socket);
    socket.write("nonsense\r\n\r\n");

    assert.equal(await ended(socket), "");
    server.close();
  });
});
