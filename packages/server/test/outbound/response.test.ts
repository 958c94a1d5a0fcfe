import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  assertFailure,
  assertResponse,
  call,
  httpTarget,
  newCaller,
  PATIENT,
  scriptedTarget,
  tcpTarget,
} from "./target.ts";

describe("an answered call", () => {
  it("sends method, path, headers and body as given and reports the answer", async () => {
    const target = await httpTarget((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const { authorization, host } = request.headers;
        const body = Buffer.concat(chunks).toString();
        response.writeHead(201, { "X-Echo": "yes" });
        response.end(JSON.stringify({ method: request.method, url: request.url, authorization, host, body }));
      });
    });

    const outcome = await newCaller().call(
      call(`${target.url}/a%20b?c=d#fragment`, {
        method: "PUT",
        headers: { Authorization: "Bearer x" },
        body: "grüße",
      }),
      PATIENT,
    );

    assertResponse(outcome);
    assert.equal(outcome.statusCode, 201);
    assert.equal(outcome.headers["x-echo"], "yes");
    assert.equal(outcome.truncated, false);
    assert.ok(outcome.durationMs >= 0);
    assert.deepEqual(JSON.parse(outcome.body), {
      method: "PUT",
      url: "/a%20b?c=d",
      authorization: "Bearer x",
      host: `127.0.0.1:${target.port}`,
      body: "grüße",
    });
  });

  it("reports the times of connection, first byte and end", async () => {
    const target = await httpTarget((_request, response) => {
      response.write("begun, ");
      setTimeout(() => response.end("ended"), 100);
    });
    const caller = newCaller({ lookup: () => new Promise((found) => setTimeout(found, 20, ["127.0.0.1"])) });
    const outcome = await caller.call(call(`http://slow.test:${target.port}`), PATIENT);

    const { connectMs = 0, firstByteMs = 0, durationMs } = outcome;
    const isInOrder = connectMs >= 19 && firstByteMs >= connectMs && durationMs > firstByteMs;
    assert.ok(isInOrder, JSON.stringify(outcome));
  });

  it("can have a body with every method", async () => {
    const target = await httpTarget((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => {
        body += chunk.toString();
      });
      request.on("end", () => response.end(`${request.method} ${body}`));
    });
    const caller = newCaller();
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"] as const) {
      const outcome = await caller.call(call(target.url, { method, body: "x" }), PATIENT);
      assertResponse(outcome);
      assert.equal(outcome.body, `${method} x`);
    }
  });

  it("has default Accept-Encoding and User-Agent headers, which the caller can override", async () => {
    const target = await httpTarget((request, response) => response.end(JSON.stringify(request.headers)));
    const caller = newCaller();
    const own = { timeoutMs: 10_000, headers: { "Bellhop-Task-Id": "task_1", "Bellhop-Queue": "default" } };

    const plain = await caller.call(call(target.url), own);
    assertResponse(plain);
    const sent = JSON.parse(plain.body);
    assert.equal(sent["accept-encoding"], "identity");
    assert.equal(sent["user-agent"], "Bellhop/test");
    assert.equal(sent["bellhop-task-id"], "task_1");

    const headers = { "ACCEPT-ENCODING": "br", "User-agent": "mine", "bellhop-queue": "theirs" };
    const overridden = await caller.call(call(target.url, { headers }), own);
    assertResponse(overridden);
    const sentThen = JSON.parse(overridden.body);
    assert.equal(sentThen["accept-encoding"], "br");
    assert.equal(sentThen["user-agent"], "mine");
    assert.equal(sentThen["bellhop-queue"], "theirs");
    assert.equal(sentThen["bellhop-task-id"], "task_1");
  });

  it("does not follow a redirect", async () => {
    let requests = 0;
    const target = await httpTarget((_request, response) => {
      requests += 1;
      response.writeHead(302, { location: "/elsewhere" }).end();
    });

    const outcome = await newCaller().call(call(target.url), PATIENT);

    assertResponse(outcome);
    assert.equal(outcome.statusCode, 302);
    assert.equal(outcome.headers.location, "/elsewhere");
    assert.equal(requests, 1);
  });

  it("reports an error status as a response", async () => {
    const target = await httpTarget((_request, response) => response.writeHead(503).end("busy"));
    const outcome = await newCaller().call(call(target.url), PATIENT);
    assertResponse(outcome);
    assert.equal(outcome.statusCode, 503);
    assert.equal(outcome.body, "busy");
  });

  it("reports an empty body for 204", async () => {
    const target = await httpTarget((_request, response) => response.writeHead(204).end());
    const outcome = await newCaller().call(call(target.url), PATIENT);
    assertResponse(outcome);
    assert.equal(outcome.statusCode, 204);
    assert.equal(outcome.body, "");
  });

  it("accepts a 304 with the Content-Length of a body that it does not send", async () => {
    const target = await scriptedTarget("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n");
    const outcome = await newCaller().call(call(target.url, { method: "GET" }), PATIENT);
    assertResponse(outcome);
    assert.equal(outcome.statusCode, 304);
    assert.equal(outcome.body, "");
  });

  it("reads a body that ends with the connection", async () => {
    const target = await tcpTarget((socket) =>
      socket.once("data", () => socket.end("HTTP/1.0 200 OK\r\n\r\nold but honest")),
    );
    const outcome = await newCaller().call(call(target.url), PATIENT);
    assertResponse(outcome);
    assert.equal(outcome.body, "old but honest");
  });

  it("ignores interim responses before the answer", async () => {
    const target = await scriptedTarget(
      "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    );
    const outcome = await newCaller().call(call(target.url), PATIENT);
    assertResponse(outcome);
    assert.equal(outcome.statusCode, 200);
    assert.equal(outcome.headers.link, undefined);
    assert.equal(outcome.body, "ok");
  });

  it("is not responded to while only interim responses arrived", async () => {
    const target = await scriptedTarget("HTTP/1.1 103 Early Hints\r\n\r\n");
    const outcome = await newCaller().call(call(target.url), { timeoutMs: 1_000, headers: {} });
    assertFailure(outcome);
    assert.equal(outcome.code, "timeout");
    assert.equal(outcome.phase, "sent");
    assert.equal(outcome.statusCode, null);
  });
});

describe("the text of an answer", () => {
  async function answer(headers: string, body: Buffer) {
    const target = await tcpTarget((socket) =>
      socket.once("data", () => {
        socket.write(`HTTP/1.1 200 OK\r\n${headers}Content-Length: ${body.length}\r\n\r\n`, "latin1");
        socket.write(body);
      }),
    );
    const outcome = await newCaller().call(call(target.url), PATIENT);
    assertResponse(outcome);
    return outcome;
  }

  it("replaces NUL characters, which PostgreSQL cannot store", async () => {
    assert.equal((await answer("", Buffer.from("a\0b"))).body, "a\uFFFDb");
  });

  it("replaces invalid UTF-8 and encoded lone surrogates", async () => {
    const { body } = await answer("", Buffer.from([0x61, 0xff, 0xed, 0xa0, 0x80, 0x62]));
    assert.match(body, /^a\uFFFD+b$/);
    assert.doesNotThrow(() => encodeURIComponent(body), "a lone surrogate would throw here");
  });

  it("joins repeated headers and lowercases their names", async () => {
    const { headers } = await answer(
      "Set-Cookie: a=1\r\nset-cookie: b=2\r\nX-Latin: caf\xe9\r\n",
      Buffer.from("x"),
    );
    assert.equal(headers["set-cookie"], "a=1, b=2");
    assert.equal(headers["x-latin"], "café");
  });

  it("is safe with header names such as __proto__", async () => {
    const { headers } = await answer("__proto__: 1\r\n__proto__: 2\r\nconstructor: 3\r\n", Buffer.from("x"));
    assert.deepEqual(Object.entries(headers)[0], ["constructor", "3"]);
    assert.equal(Object.getPrototypeOf(headers), Object.prototype);
    assert.equal(Object.hasOwn(headers, "__proto__"), false);
  });
});
