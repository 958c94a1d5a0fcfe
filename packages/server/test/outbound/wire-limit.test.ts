import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  assertFailure,
  assertResponse,
  call,
  connectionClosed,
  httpTarget,
  newCaller,
  PATIENT,
  tcpTarget,
} from "./target.ts";

const KIBIBYTE = 1024;

/** Begins with the one text, then repeats the other for as long as it is listened to. */
function endless(begin: string, repeat: string) {
  return tcpTarget((socket) => {
    socket.once("data", () => {
      socket.write(begin);
      const pour = () => {
        while (!socket.destroyed && socket.write(repeat));
      };
      socket.on("drain", pour);
      pour();
    });
  });
}

const filler = "x".repeat(16 * KIBIBYTE);

describe("the bytes of one exchange", () => {
  for (const [name, begin, repeat] of [
    ["an endless reason phrase", "HTTP/1.1 200 ", filler],
    ["an endless extension of a chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;", filler],
    [
      "chunks of one byte with long extensions",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
      `1;${filler}\r\nx\r\n`,
    ],
    ["endless interim answers", "", "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"],
  ] as const) {
    it(`end the call beyond the limit: ${name}`, async () => {
      const target = await endless(begin, repeat);
      const caller = newCaller({ maxWireBytes: 256 * KIBIBYTE });
      const outcome = await caller.call(call(target.url), PATIENT);
      assertFailure(outcome);
      assert.deepEqual(
        [outcome.code, outcome.message],
        ["invalid_response", "The target sent far more than its answer"],
      );
      await connectionClosed(target);
    });
  }

  it("are counted separately for each exchange of a connection", async () => {
    const target = await httpTarget((_request, response) => response.end("x".repeat(6 * KIBIBYTE)));
    const caller = newCaller({ maxWireBytes: 8 * KIBIBYTE });
    for (let made = 0; made < 6; made += 1) assertResponse(await caller.call(call(target.url), PATIENT));
    assert.ok(target.sockets.length <= 3, "at least two exchanges on one of them");
  });

  it("may include a few interim responses before the answer", async () => {
    const target = await tcpTarget((socket) =>
      socket.once("data", () => {
        socket.write("HTTP/1.1 103 Early Hints\r\n\r\n".repeat(16));
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
      }),
    );
    const outcome = await newCaller().call(call(target.url), PATIENT);
    assertResponse(outcome);
    assert.equal(outcome.body, "ok");
  });
});
