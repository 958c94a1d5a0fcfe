import assert from "node:assert/strict";
import { afterEach, describe, it, mock } from "node:test";
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
  tcpTarget,
} from "./target.ts";

/** From here on time passes only when the test says so: on a busy machine a real deadline comes before its cause. */
function stopTheClock(): (ms: number) => void {
  mock.timers.enable({ apis: ["setTimeout"] });
  return (ms) => mock.timers.tick(ms);
}

/** What was written to a socket of this machine is there; each turn of the loop reads what is there. */
async function letItArrive(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await setImmediate();
}

describe("the deadline", () => {
  afterEach(() => mock.timers.reset());

  it("ends a call to a target that never answers, and closes the connection", async () => {
    const asked = gate<Buffer>();
    const target = await tcpTarget((socket) => socket.once("data", asked.open));
    const pass = stopTheClock();
    let ended = false;
    const answered = newCaller().call(call(target.url), { timeoutMs: 50, headers: {} });
    void answered.then(() => {
      ended = true;
    });
    await asked.opened;
    pass(49);
    await letItArrive();
    assert.equal(ended, false);
    pass(1);
    const outcome = await answered;
    assertFailure(outcome);
    assert.equal(outcome.code, "timeout");
    assert.equal(outcome.phase, "sent");
    assert.equal(outcome.message, "The target did not answer within 0.05 s");
    await connectionClosed(target);
  });

  it("ends a call whose body arrives too slowly, and keeps the status", async () => {
    const dripped = gate<unknown>();
    const target = await httpTarget((_request, response) => {
      response.writeHead(200);
      response.write(".", dripped.open);
    });
    const pass = stopTheClock();
    const answered = newCaller().call(call(target.url), { timeoutMs: 200, headers: {} });
    await dripped.opened;
    await letItArrive();
    pass(200);
    const outcome = await answered;
    assertFailure(outcome);
    assert.equal(outcome.code, "timeout");
    assert.equal(outcome.phase, "responded");
    assert.equal(outcome.statusCode, 200);
    assert.equal(outcome.message, "The target did not finish its answer within 0.2 s");
  });

  it("ends a call whose headers arrive too slowly", async () => {
    const dripped = gate<unknown>();
    const target = await tcpTarget((socket) => {
      socket.resume();
      socket.write("HTTP/1.1 200 OK\r\nX: y\r\n", dripped.open);
    });
    const pass = stopTheClock();
    const answered = newCaller().call(call(target.url), { timeoutMs: 200, headers: {} });
    await dripped.opened;
    await letItArrive();
    pass(200);
    const outcome = await answered;
    assertFailure(outcome);
    assert.equal(outcome.code, "timeout");
  });

  it("covers the time before the connection is established", async () => {
    const lookup = gate<readonly string[]>();
    const caller = newCaller({ lookup: () => lookup.opened });
    const pass = stopTheClock();
    const answered = caller.call(call("http://shop.test/"), { timeoutMs: 30, headers: {} });
    pass(30);
    const outcome = await answered;
    assertFailure(outcome);
    assert.equal(outcome.code, "timeout");
    assert.equal(outcome.phase, "not_sent");
    assert.equal(outcome.message, "No connection to the target within 0.03 s");
  });

  it("does not connect for a call that timed out during the lookup", async () => {
    const target = await httpTarget((_request, response) => response.end());
    const lookup = gate<readonly string[]>();
    const caller = newCaller({ lookup: () => lookup.opened });
    const pass = stopTheClock();
    const answered = caller.call(call(`http://shop.test:${target.port}/`), { timeoutMs: 10, headers: {} });
    pass(10);
    await answered;
    lookup.open(["127.0.0.1"]);
    await letItArrive();
    assert.equal(target.sockets.length, 0);
  });

  it("does not send a call that timed out before its connection was established", async () => {
    const paths: (string | undefined)[] = [];
    const target = await httpTarget((request, response) => {
      paths.push(request.url);
      response.end();
    });
    const lookup = gate<readonly string[]>();
    const caller = newCaller({ lookup: () => lookup.opened });
    const url = `http://shop.test:${target.port}`;
    const pass = stopTheClock();
    const patient = caller.call(call(`${url}/patient`), PATIENT);
    const hasty = caller.call(call(`${url}/hasty`), { timeoutMs: 10, headers: {} });
    pass(10);
    assertFailure(await hasty);
    lookup.open(["127.0.0.1"]);
    assertResponse(await patient);
    await until(() => target.sockets.length >= 2);
    await connectionClosed(target, target.sockets[0]?.bytesRead === 0 ? 0 : 1);
    assert.deepEqual(paths, ["/patient"]);
  });

  it("does not end a call early when the timeout exceeds the range of a timer", async () => {
    const target = await httpTarget((_request, response) => response.end("ok"));
    assertResponse(await newCaller().call(call(target.url), { timeoutMs: 2 ** 40, headers: {} }));
  });

  it("opens no further connection afterwards", async () => {
    const asked = gate<Buffer>();
    const target = await tcpTarget((socket) => socket.once("data", asked.open));
    const pass = stopTheClock();
    const answered = newCaller().call(call(target.url), { timeoutMs: 20, headers: {} });
    await asked.opened;
    pass(20);
    await answered;
    await connectionClosed(target);
    await letItArrive();
    assert.equal(target.sockets.length, 1);
  });
});
