import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import { until } from "../patience.ts";
import { gate } from "./gate.ts";
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

describe("the abort signal", () => {
  it("ends a call and destroys its socket", async () => {
    const target = await tcpTarget((socket) => socket.resume());
    const controller = new AbortController();
    const outcome = newCaller().call(call(target.url), { ...PATIENT, signal: controller.signal });
    await until(() => (target.sockets[0]?.bytesRead ?? 0) > 0);
    controller.abort();
    const failure = await outcome;
    assertFailure(failure);
    assert.equal(failure.code, "aborted");
    assert.equal(failure.phase, "sent");
    await connectionClosed(target);
  });

  it("keeps the status of an answer that had begun", async () => {
    const target = await scriptedTarget("HTTP/1.1 202 Accepted\r\nContent-Length: 10\r\n\r\nhalf");
    const controller = new AbortController();
    const outcome = newCaller().call(call(target.url), { ...PATIENT, signal: controller.signal });
    await until(() => (target.sockets[0]?.bytesWritten ?? 0) > 0);
    for (let turn = 0; turn < 10; turn += 1) await setImmediate();
    controller.abort();
    const failure = await outcome;
    assertFailure(failure);
    assert.equal(failure.phase, "responded");
    assert.equal(failure.statusCode, 202);
  });

  it("prevents a call when it is aborted already", async () => {
    const target = await httpTarget((_request, response) => response.end());
    const outcome = await newCaller().call(call(target.url), { ...PATIENT, signal: AbortSignal.abort() });
    assertFailure(outcome);
    assert.equal(outcome.code, "aborted");
    assert.equal(outcome.phase, "not_sent");
    assert.equal(target.sockets.length, 0);
  });

  it("is not needed to stop a call that mayLeave refuses once its connection is established", async () => {
    const target = await tcpTarget((socket) => socket.resume());
    const outcome = await newCaller().call(call(target.url), { ...PATIENT, mayLeave: () => false });
    assertFailure(outcome);
    assert.deepEqual([outcome.code, outcome.phase], ["aborted", "not_sent"]);
    await connectionClosed(target);
    assert.equal(target.sockets[0]?.bytesRead, 0);
  });

  it("ends all calls that share it, without a warning of leaked listeners", async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on("warning", onWarning);
    after(() => process.off("warning", onWarning));
    const target = await tcpTarget((socket) => socket.resume());
    const caller = newCaller();
    const { signal, abort } = boundController();
    const outcomes = Array.from({ length: 50 }, () => caller.call(call(target.url), { ...PATIENT, signal }));
    abort();
    for (const outcome of await Promise.all(outcomes)) {
      assertFailure(outcome);
      assert.equal(outcome.code, "aborted");
    }
    await setImmediate();
    assert.deepEqual(warnings, []);
  });

  it("has no effect when aborted after the answer", async () => {
    const target = await httpTarget((_request, response) => response.end("ok"));
    const caller = newCaller();
    const { signal, abort } = boundController();
    assertResponse(await caller.call(call(target.url), { ...PATIENT, signal }));
    await setImmediate();
    abort();
    assertResponse(await caller.call(call(target.url), PATIENT));
    assert.equal(target.sockets.length, 1);
  });
});

describe("stopping", () => {
  it("waits for the calls in flight, refuses new ones and closes idle connections", async () => {
    const finish = gate<void>();
    const target = await httpTarget(
      (_request, response) => void finish.opened.then(() => response.end("done")),
    );
    const caller = newCaller();
    const underWay = caller.call(call(target.url), PATIENT);
    await until(() => target.sockets.length > 0);

    const stopped = Promise.all([caller.stop(), caller.stop()]);
    const refused = await caller.call(call(target.url), PATIENT);
    assertFailure(refused);
    assert.equal(refused.code, "aborted");
    assert.equal(refused.phase, "not_sent");

    finish.open();
    assertResponse(await underWay);
    await stopped;
    await connectionClosed(target);
    assert.equal(target.sockets.length, 1);
  });

  it("may be requested twice, and before any call", async () => {
    const caller = newCaller();
    await Promise.all([caller.stop(), caller.stop()]);
    caller.destroy();
    await caller.stop();
  });

  it("ends every call in flight with destroy", async () => {
    const target = await tcpTarget((socket) => socket.resume());
    const caller = newCaller();
    const calls = [caller.call(call(target.url), PATIENT), caller.call(call(target.url), PATIENT)];
    await until(() => target.sockets.filter((socket) => socket.bytesRead > 0).length >= 2);
    const stopped = caller.stop();
    caller.destroy();
    for (const outcome of await Promise.all(calls)) {
      assertFailure(outcome);
      assert.equal(outcome.code, "aborted");
      assert.equal(outcome.phase, "sent");
    }
    await stopped;
    for (const index of target.sockets.keys()) await connectionClosed(target, index);
  });

  it("does not send a call that waits for its connection, with destroy", async () => {
    const target = await httpTarget((_request, response) => response.end());
    const lookup = gate<readonly string[]>();
    const caller = newCaller({ lookup: () => lookup.opened });
    const waiting = caller.call(call(`http://shop.test:${target.port}/`), PATIENT);
    caller.destroy();
    const outcome = await waiting;
    assertFailure(outcome);
    assert.equal(outcome.code, "aborted");
    assert.equal(outcome.phase, "not_sent");
    lookup.open(["127.0.0.1"]);
    for (let turn = 0; turn < 10; turn += 1) await setImmediate();
    assert.equal(target.sockets.length, 0);
  });
});

function boundController() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}
