import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import { gate } from "./gate.ts";
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

describe("the deadline", () => {
  it("cuts a target that never answers and closes its connection", async () => {
    const target = await tcpTarget((socket) => socket.resume());
    const outcome = await newCaller().call(call(target.url), { timeoutMs: 50, headers: {} });
    assertFailure(outcome);
    assert.equal(outcome.code, "timeout");
    assert.equal(outcome.phase, "sent");
    assert.equal(outcome.message, "The target did not answer within 0.05 s");
    assert.ok(outcome.durationMs >= 49 && outcome.durationMs < 1000, `${outcome.durationMs} ms`);
    await connectionClosed(target);
  });

  it("cuts a target that drips its answer and keeps the status", async () => {
    const target = await httpTarget((_request, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write("."), 5);
      response.on("close", () => clearInterval(drip));
    });
    const outcome = await newCaller().call(call(target.url), { timeoutMs: 200, headers: {} });
    assertFailure(outcome);
    assert.equal(outcome.code, "timeout");
    assert.equal(outcome.phase, "responded");
    assert.equal(outcome.statusCode, 200);
    assert.equal(outcome.message, "The target did not finish its answer within 0.2 s");
  });

  it("cuts a target that drips its headers", async () => {
    const target = await tcpTarget((socket) => {
      socket.resume();
      socket.write("HTTP/1.1 200 OK\r\n");
      const drip = setInterval(() => socket.write("X: y\r\n"), 5);
      socket.on("close", () => clearInterval(drip));
    });
    const outcome = await newCaller().call(call(target.url), { timeoutMs: 200, headers: {} });
    assertFailure(outcome);
    assert.equal(outcome.code, "timeout");
  });

  it("covers the time before the connection stands", async () => {
    const lookup = gate<readonly string[]>();
    const caller = newCaller({ lookup: () => lookup.opened });
    const outcome = await caller.call(call("http://shop.test/"), { timeoutMs: 30, headers: {} });
    assertFailure(outcome);
    assert.equal(outcome.code, "timeout");
    assert.equal(outcome.phase, "not_sent");
    assert.equal(outcome.message, "No connection to the target within 0.03 s");
  });

  it("does not connect for a call that it ended during the lookup", async () => {
    const target = await httpTarget((_request, response) => response.end());
    const lookup = gate<readonly string[]>();
    const caller = newCaller({ lookup: () => lookup.opened });
    await caller.call(call(`http://shop.test:${target.port}/`), { timeoutMs: 10, headers: {} });
    lookup.open(["127.0.0.1"]);
    for (let turn = 0; turn < 10; turn += 1) await setImmediate();
    assert.equal(target.sockets.length, 0);
  });

  it("keeps an ended call from leaving on a connection that comes too late", async () => {
    const paths: (string | undefined)[] = [];
    const target = await httpTarget((request, response) => {
      paths.push(request.url);
      response.end();
    });
    const lookup = gate<readonly string[]>();
    const caller = newCaller({ lookup: () => lookup.opened });
    const url = `http://shop.test:${target.port}`;
    const patient = caller.call(call(`${url}/patient`), PATIENT);
    const hasty = await caller.call(call(`${url}/hasty`), { timeoutMs: 10, headers: {} });
    lookup.open(["127.0.0.1"]);
    assertFailure(hasty);
    assertResponse(await patient);
    while (target.sockets.length < 2) await setImmediate();
    await connectionClosed(target, target.sockets[0]?.bytesRead === 0 ? 0 : 1);
    assert.deepEqual(paths, ["/patient"]);
  });

  it("never fires early for a timeout longer than a timer can hold", async () => {
    const target = await httpTarget((_request, response) => response.end("ok"));
    assertResponse(await newCaller().call(call(target.url), { timeoutMs: 2 ** 40, headers: {} }));
  });

  it("leaves the target alone afterwards", async () => {
    const target = await tcpTarget((socket) => socket.resume());
    await newCaller().call(call(target.url), { timeoutMs: 20, headers: {} });
    await connectionClosed(target);
    for (let turn = 0; turn < 10; turn += 1) await setImmediate();
    assert.equal(target.sockets.length, 1);
  });
});
