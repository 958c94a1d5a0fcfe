import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import {
  assertFailure,
  assertResponse,
  call,
  connectionClosed,
  httpTarget,
  newCaller,
  PATIENT,
} from "./target.ts";

describe("a kept-alive connection", () => {
  it("is reused by the next call", async () => {
    const target = await httpTarget((_request, response) => response.end("ok"));
    const caller = newCaller();
    for (let round = 0; round < 3; round += 1) {
      assertResponse(await caller.call(call(target.url), PATIENT));
      // Undici lends a socket again one turn of the event loop after its last answer.
      await setImmediate();
    }
    assert.equal(target.sockets.length, 1);
  });

  it("is opened for each concurrent call", async () => {
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

  it("is replaced when the target closed it while idle, without a failed call", async () => {
    const target = await httpTarget((_request, response) => response.end("ok"));
    const caller = newCaller();
    assertResponse(await caller.call(call(target.url), PATIENT));
    await setImmediate();
    target.sockets[0]?.end();
    assertResponse(await caller.call(call(target.url), PATIENT));
    assert.equal(target.sockets.length, 2);
  });

  it("is replaced when the target reset it just before the next call, without a failed call", async () => {
    const target = await httpTarget((_request, response) => response.end("ok"));
    const caller = newCaller();
    assertResponse(await caller.call(call(target.url), PATIENT));
    await setImmediate();
    target.sockets[0]?.resetAndDestroy();
    assertResponse(await caller.call(call(target.url), PATIENT));
    assert.equal(target.sockets.length, 2);
  });

  it("fails a call that was sent on it and not answered, without a second request", async () => {
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

  it("is not reused after a truncated answer", async () => {
    const target = await httpTarget((_request, response) => response.end("x".repeat(5000)));
    const caller = newCaller({ maxResponseBytes: 1000 });
    await caller.call(call(target.url), PATIENT);
    await connectionClosed(target);
    await caller.call(call(target.url), PATIENT);
    assert.equal(target.sockets.length, 2);
  });
});
