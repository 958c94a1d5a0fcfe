import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { FailureCode, Phase } from "../../src/domain/outcome.ts";
import {
  assertFailure,
  assertResponse,
  call,
  connectionClosed,
  httpTarget,
  newCaller,
  PATIENT,
  scriptedTarget,
  tcpTarget,
} from "./target.ts";

async function expectFailure(
  url: string,
  expected: { code: FailureCode; phase: Phase; statusCode?: number },
) {
  const outcome = await newCaller().call(call(url), PATIENT);
  assertFailure(outcome);
  assert.equal(outcome.code, expected.code);
  assert.equal(outcome.phase, expected.phase);
  assert.equal(outcome.statusCode, expected.statusCode ?? null);
  return outcome;
}

describe("a call that cannot be built", () => {
  for (const [url, message] of [
    ["nonsense", "The URL is not valid"],
    ["ftp://example.com/", "The URL is neither http nor https"],
    ["http://user:secret@example.com/", "The URL holds a user name or password"],
  ] as const) {
    it(`is an invalid request: ${message}`, async () => {
      const outcome = await expectFailure(url, { code: "invalid_request", phase: "not_sent" });
      assert.equal(outcome.message, message);
    });
  }

  it("does not repeat a header value that is not valid", async () => {
    const target = await httpTarget((_request, response) => response.end());
    const headers = { Authorization: "Bearer s3cret\r\nX-Injected: 1" };
    const outcome = await newCaller().call(call(target.url, { headers }), PATIENT);
    assertFailure(outcome);
    assert.equal(outcome.code, "invalid_request");
    assert.equal(outcome.phase, "not_sent");
    assert.doesNotMatch(JSON.stringify(outcome), /s3cret|Injected/);
    assert.equal(target.sockets.length, 0);
  });

  it("is refused when it sets a header of the connection", async () => {
    const target = await httpTarget((_request, response) => response.end());
    for (const name of ["Host", "Transfer-Encoding", "Content-Length", "Connection"]) {
      const outcome = await newCaller().call(call(target.url, { headers: { [name]: "1" } }), PATIENT);
      assertFailure(outcome);
      assert.equal(outcome.code, "invalid_request");
      assert.equal(outcome.message, `The header ${name.toLowerCase()} may not be set`);
    }
    assert.equal(target.sockets.length, 0);
  });
});

describe("a target that breaks off", () => {
  it("is a reset after the call was sent when it closes without a word", async () => {
    const target = await tcpTarget((socket) => socket.once("data", () => socket.end()));
    const outcome = await expectFailure(target.url, { code: "connection_reset", phase: "sent" });
    assert.equal(outcome.message, "The target closed the connection before it answered");
  });

  it("is a reset after the call was sent when it resets the connection", async () => {
    const target = await tcpTarget((socket) => socket.once("data", () => socket.resetAndDestroy()));
    await expectFailure(target.url, { code: "connection_reset", phase: "sent" });
  });

  it("keeps the status when the body ends early", async () => {
    const target = await tcpTarget((socket) =>
      socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")),
    );
    const expected = { code: "connection_reset", phase: "responded", statusCode: 200 } as const;
    const outcome = await expectFailure(target.url, expected);
    assert.equal(outcome.message, "The target closed the connection before its answer was complete");
  });

  it("keeps the status when a chunked body ends early on a connection it said it would close", async () => {
    const target = await tcpTarget((socket) =>
      socket.once("data", () =>
        socket.end("HTTP/1.1 500 Oops\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"),
      ),
    );
    const outcome = await newCaller().call(call(target.url), PATIENT);
    assertFailure(outcome);
    assert.equal(outcome.phase, "responded");
    assert.equal(outcome.statusCode, 500);
  });
});

describe("a target that does not speak HTTP", () => {
  it("is an invalid response", async () => {
    const target = await scriptedTarget("SSH-2.0-OpenSSH_9.6\r\n");
    const outcome = await expectFailure(target.url, { code: "invalid_response", phase: "sent" });
    assert.equal(outcome.message, "The target sent an answer that could not be read as HTTP");
  });

  it("is an invalid response when its headers end halfway", async () => {
    const target = await tcpTarget((socket) =>
      socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nX-Ha")),
    );
    await expectFailure(target.url, { code: "invalid_response", phase: "sent" });
  });

  it("is an invalid response when it sends more than 16 KiB of headers", async () => {
    const line = `X-Pad: ${"x".repeat(1000)}\r\n`;
    const target = await scriptedTarget(`HTTP/1.1 200 OK\r\n${line.repeat(17)}\r\n`);
    const outcome = await expectFailure(target.url, { code: "invalid_response", phase: "sent" });
    assert.equal(outcome.message, "The target sent more than 16 KiB of headers");
  });

  it("is an invalid response when it sends more than 16 KiB of trailers, and keeps the status", async () => {
    const line = `X-Pad: ${"x".repeat(1000)}\r\n`;
    const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n";
    const target = await scriptedTarget(`${head}${line.repeat(17)}\r\n`);
    await expectFailure(target.url, { code: "invalid_response", phase: "responded", statusCode: 200 });
  });

  it("is an invalid response when it frames its body twice", async () => {
    const target = await scriptedTarget(
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    );
    const outcome = await newCaller().call(call(target.url), PATIENT);
    assertFailure(outcome);
    assert.equal(outcome.code, "invalid_response");
  });

  it("is an invalid response when it changes protocols unasked", async () => {
    const target = await scriptedTarget(
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    );
    await expectFailure(target.url, { code: "invalid_response", phase: "sent" });
  });

  // Undici refuses an unasked 100 although RFC 9110 would have it ignored; what matters is that we say so.
  it("is an invalid response, and no reset, when it sends 100 Continue unasked", async () => {
    const target = await scriptedTarget(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    );
    await expectFailure(target.url, { code: "invalid_response", phase: "sent" });
  });
});

describe("a kept-alive connection", () => {
  it("is used again by the next call", async () => {
    const target = await httpTarget((_request, response) => response.end("ok"));
    const caller = newCaller();
    for (let round = 0; round < 3; round += 1) {
      assertResponse(await caller.call(call(target.url), PATIENT));
      // Undici lends a socket again one turn of the event loop after its last answer.
      await setImmediate();
    }
    assert.equal(target.sockets.length, 1);
  });

  it("is one of as many as there are calls at once", async () => {
    let waiting: (() => void)[] = [];
    const target = await httpTarget((_request, response) => {
      waiting.push(() => response.end("ok"));
      if (waiting.length < 20) return;
      for (const answer of waiting) answer();
      waiting = [];
    });
    const caller = newCaller();
    const calls = Array.from({ length: 20 }, () => caller.call(call(target.url), PATIENT));
    for (const outcome of await Promise.all(calls)) assertResponse(outcome);
    assert.equal(target.sockets.length, 20);
  });

  it("costs no call when the target closed it while idle", async () => {
    const target = await httpTarget((_request, response) => response.end("ok"));
    const caller = newCaller();
    assertResponse(await caller.call(call(target.url), PATIENT));
    await setImmediate();
    target.sockets[0]?.end();
    assertResponse(await caller.call(call(target.url), PATIENT));
    assert.equal(target.sockets.length, 2);
  });

  it("costs no call when the target reset it in the moment the next call wanted it", async () => {
    const target = await httpTarget((_request, response) => response.end("ok"));
    const caller = newCaller();
    assertResponse(await caller.call(call(target.url), PATIENT));
    await setImmediate();
    target.sockets[0]?.resetAndDestroy();
    assertResponse(await caller.call(call(target.url), PATIENT));
    assert.equal(target.sockets.length, 2);
  });

  it("fails a call that it swallowed, without sending it again", async () => {
    let requests = 0;
    const target = await httpTarget((request, response) => {
      requests += 1;
      if (requests === 1) response.end("ok");
      else request.socket.destroy();
    });
    const caller = newCaller();
    assertResponse(await caller.call(call(target.url), PATIENT));
    await setImmediate();

    const outcome = await caller.call(call(target.url, { method: "GET" }), PATIENT);

    assertFailure(outcome);
    assert.equal(outcome.code, "connection_reset");
    assert.equal(outcome.phase, "sent");
    assert.equal(target.sockets.length, 1, "on the same connection");
    assert.equal(requests, 2);
  });

  it("is not used again after an answer that was cut", async () => {
    const target = await httpTarget((_request, response) => response.end("x".repeat(5000)));
    const caller = newCaller({ maxResponseBytes: 1000 });
    await caller.call(call(target.url), PATIENT);
    await connectionClosed(target);
    await caller.call(call(target.url), PATIENT);
    assert.equal(target.sockets.length, 2);
  });
});
