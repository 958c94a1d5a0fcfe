import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AddressGuard } from "../../src/outbound/address-guard.ts";
import { fixedLookup } from "./lookup.ts";
import { assertFailure, assertResponse, call, httpTarget, newCaller, PATIENT } from "./target.ts";

function recordingGuard(refused: readonly string[] = []) {
  const checks: [string, readonly string[]][] = [];
  const guard: AddressGuard = {
    check(hostname, addresses) {
      checks.push([hostname, addresses]);
      return addresses.some((address) => refused.includes(address))
        ? { allowed: false, message: `Host ${hostname} is not allowed` }
        : { allowed: true };
    },
  };
  return { checks, guard };
}

describe("the address guard", () => {
  it("refuses an IP literal before any connection", async () => {
    const target = await httpTarget((_request, response) => response.end());
    const { guard, checks } = recordingGuard(["127.0.0.1"]);
    const outcome = await newCaller({ guard }).call(call(target.url), PATIENT);
    assertFailure(outcome);
    assert.equal(outcome.code, "blocked");
    assert.equal(outcome.phase, "not_sent");
    assert.equal(outcome.message, "Host 127.0.0.1 is not allowed");
    assert.deepEqual(checks, [["127.0.0.1", ["127.0.0.1"]]]);
    assert.equal(target.sockets.length, 0);
  });

  for (const host of ["2130706433", "0x7f.1", "0177.0.0.1", "①②⑦.0.0.1", "127.1", "127.0.0.1."]) {
    it(`checks ${host} as 127.0.0.1`, async () => {
      const { guard, checks } = recordingGuard(["127.0.0.1"]);
      const outcome = await newCaller({ guard }).call(call(`http://${host}:9/`), PATIENT);
      assertFailure(outcome);
      assert.equal(outcome.code, "blocked");
      assert.deepEqual(checks, [["127.0.0.1", ["127.0.0.1"]]]);
    });
  }

  it("checks an IPv6 literal without its brackets", async () => {
    const { guard, checks } = recordingGuard(["::1"]);
    const outcome = await newCaller({ guard }).call(call("http://[0:0::1]:9/"), PATIENT);
    assertFailure(outcome);
    assert.equal(outcome.code, "blocked");
    assert.deepEqual(checks, [["::1", ["::1"]]]);
  });

  it("checks every address of a name and refuses the name for one of them", async () => {
    const target = await httpTarget((_request, response) => response.end());
    const { guard, checks } = recordingGuard(["169.254.169.254"]);
    const { lookup } = fixedLookup({ "shop.test": ["127.0.0.1", "169.254.169.254"] });
    const outcome = await newCaller({ guard, lookup }).call(
      call(`http://shop.test:${target.port}/`),
      PATIENT,
    );
    assertFailure(outcome);
    assert.equal(outcome.code, "blocked");
    assert.deepEqual(checks, [["shop.test", ["127.0.0.1", "169.254.169.254"]]]);
    assert.equal(target.sockets.length, 0);
  });

  it("checks the address that is connected to, after a single lookup", async () => {
    const target = await httpTarget((request, response) => response.end(request.headers.host));
    const { guard, checks } = recordingGuard();
    const { lookup, asked } = fixedLookup({ "shop.test": ["127.0.0.1"] });
    const outcome = await newCaller({ guard, lookup }).call(
      call(`http://shop.test:${target.port}/`),
      PATIENT,
    );
    assertResponse(outcome);
    assert.equal(outcome.body, `shop.test:${target.port}`, "the Host header is the name");
    assert.deepEqual(asked, ["shop.test"]);
    assert.equal(checks.length, 1);
  });

  it("refuses the call when the guard throws", async () => {
    const target = await httpTarget((_request, response) => response.end());
    const guard: AddressGuard = {
      check() {
        throw new Error("bug");
      },
    };
    const outcome = await newCaller({ guard }).call(call(target.url), PATIENT);
    assertFailure(outcome);
    assert.equal(outcome.code, "blocked");
    assert.equal(target.sockets.length, 0);
  });
});
