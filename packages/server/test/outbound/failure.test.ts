import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { FailureCode, Phase } from "../../src/domain/outcome.ts";
import { assertFailure, call, httpTarget, newCaller, PATIENT, scriptedTarget, tcpTarget } from "./target.ts";

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

  it("does not repeat an invalid header value in the failure", async () => {
    const target = await httpTarget((_request, response) => response.end());
    const headers = { Authorization: "Bearer s3cret\r\nX-Injected: 1" };
    const outcome = await newCaller().call(call(target.url, { headers }), PATIENT);
    assertFailure(outcome);
    assert.equal(outcome.code, "invalid_request");
    assert.equal(outcome.phase, "not_sent");
    assert.doesNotMatch(JSON.stringify(outcome), /s3cret|Injected/);
    assert.equal(target.sockets.length, 0);
  });

  it("is refused when it sets a hop-by-hop header, Host or Content-Length", async () => {
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

describe("a target that closes the connection", () => {
  it("is connection_reset after the call was sent, when it closes without an answer", async () => {
    const target = await tcpTarget((socket) => socket.once("data", () => socket.end()));
    const outcome = await expectFailure(target.url, { code: "connection_reset", phase: "sent" });
    assert.equal(outcome.message, "The target closed the connection before it answered");
  });

  it("is connection_reset after the call was sent, when it resets the connection", async () => {
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

  it("keeps the status when a chunked body with Connection: close ends early", async () => {
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

  it("is an invalid response when it closes in the middle of a header", async () => {
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

  it("is an invalid response when it sends both Content-Length and Transfer-Encoding", async () => {
    const target = await scriptedTarget(
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    );
    const outcome = await newCaller().call(call(target.url), PATIENT);
    assertFailure(outcome);
    assert.equal(outcome.code, "invalid_response");
  });

  it("is an invalid response when it switches protocols without a request", async () => {
    const target = await scriptedTarget(
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    );
    await expectFailure(target.url, { code: "invalid_response", phase: "sent" });
  });

  // Undici refuses an unasked 100 although RFC 9110 would have it ignored; what matters is that we say so.
  it("is an invalid response, not a reset, when it sends 100 Continue without a request", async () => {
    const target = await scriptedTarget(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    );
    await expectFailure(target.url, { code: "invalid_response", phase: "sent" });
  });
});
