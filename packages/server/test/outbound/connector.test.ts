import assert from "node:assert/strict";
import { createServer } from "node:http";
import { describe, it } from "node:test";
import { readErrorCode } from "../../src/outbound/error-code.ts";
import { until } from "../patience.ts";
import { failingLookup, fixedLookup } from "./lookup.ts";
import { assertFailure, assertResponse, call, httpTarget, listen, newCaller, PATIENT } from "./target.ts";

describe("connecting", () => {
  it("fails with dns_failed when the name does not exist", async () => {
    const caller = newCaller({ lookup: failingLookup("ENOTFOUND") });
    const outcome = await caller.call(call("http://example.invalid/"), PATIENT);
    assertFailure(outcome);
    assert.equal(outcome.code, "dns_failed");
    assert.equal(outcome.phase, "not_sent");
    assert.equal(outcome.message, "No address found for host example.invalid");
  });

  it("fails with dns_failed when the name has no address", async () => {
    const { lookup } = fixedLookup({});
    const outcome = await newCaller({ lookup }).call(call("http://example.invalid/"), PATIENT);
    assertFailure(outcome);
    assert.equal(outcome.code, "dns_failed");
  });

  it("fails with dns_failed and a message of its own when the resolver fails", async () => {
    const caller = newCaller({ lookup: failingLookup("EAI_AGAIN") });
    const outcome = await caller.call(call("http://shop.test/"), PATIENT);
    assertFailure(outcome);
    assert.equal(outcome.code, "dns_failed");
    assert.equal(outcome.message, "The address of host shop.test could not be looked up");
  });

  it("fails with dns_failed when the resolver does not answer within the connect timeout", async () => {
    const caller = newCaller({ lookup: () => new Promise(() => {}), connectTimeoutMs: 20 });
    const outcome = await caller.call(call("http://shop.test/"), PATIENT);
    assertFailure(outcome);
    assert.equal(outcome.code, "dns_failed");
    assert.equal(outcome.message, "The address of host shop.test was not found within 0.02 s");
  });

  it("fails with connect_failed when no server listens, and reports the system's error", async () => {
    const port = await freePort();
    const errors: unknown[] = [];
    const outcome = await newCaller({ onConnectError: (error) => errors.push(error) }).call(
      call(`http://127.0.0.1:${port}/`),
      PATIENT,
    );
    assertFailure(outcome);
    assert.equal(outcome.code, "connect_failed");
    assert.equal(outcome.phase, "not_sent");
    assert.equal(outcome.message, "Host 127.0.0.1 refused the connection");
    assert.deepEqual(errors.map(readErrorCode), ["ECONNREFUSED"]);
  });

  it("fails each of many concurrent calls when no server listens", async () => {
    const port = await freePort();
    const caller = newCaller();
    const calls = Array.from({ length: 30 }, () => caller.call(call(`http://127.0.0.1:${port}/`), PATIENT));
    for (const outcome of await Promise.all(calls)) {
      assertFailure(outcome);
      assert.equal(outcome.code, "connect_failed");
    }
  });

  it("tries the next address when one refuses the connection", async () => {
    const target = await httpTarget((_request, response) => response.end("ok"));
    const { lookup } = fixedLookup({ "shop.test": ["::1", "127.0.0.1"] });
    assertResponse(await newCaller({ lookup }).call(call(`http://shop.test:${target.port}/`), PATIENT));
  });

  it("gives up after four addresses", async () => {
    const target = await httpTarget((_request, response) => response.end("ok"));
    const { lookup } = fixedLookup({ "shop.test": ["::1", "::1", "::1", "::1", "127.0.0.1"] });
    const outcome = await newCaller({ lookup }).call(call(`http://shop.test:${target.port}/`), PATIENT);
    assertFailure(outcome);
    assert.equal(outcome.code, "connect_failed");
    assert.equal(target.sockets.length, 0);
  });

  it("shares one lookup among concurrent calls to the same name, and does not cache it", async () => {
    const target = await httpTarget((_request, response) =>
      response.writeHead(200, { connection: "close" }).end(),
    );
    const { lookup, asked } = fixedLookup({ "shop.test": ["127.0.0.1"] });
    const caller = newCaller({ lookup });
    const url = `http://shop.test:${target.port}/`;
    const calls = Array.from({ length: 10 }, () => caller.call(call(url), PATIENT));
    for (const outcome of await Promise.all(calls)) assertResponse(outcome);
    assert.equal(asked.length, 1);
    await until(() => target.sockets.every((socket) => socket.destroyed));
    assertResponse(await caller.call(call(url), PATIENT));
    assert.equal(asked.length, 2);
  });

  it("resolves localhost with the system's resolver", async () => {
    const target = await httpTarget((_request, response) => response.end("ok"));
    assertResponse(await newCaller().call(call(`http://localhost:${target.port}/`), PATIENT));
  });

  it("connects to an IPv6 literal", async (t) => {
    const target = await listen(
      createServer((request, response) => response.end(request.headers.host)),
      "::1",
    ).catch(() => null);
    if (target === null) return t.skip("no IPv6 here");
    const outcome = await newCaller().call(call(`http://[::1]:${target.port}/`), PATIENT);
    assertResponse(outcome);
    assert.equal(outcome.body, `[::1]:${target.port}`);
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  const { port } = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}
