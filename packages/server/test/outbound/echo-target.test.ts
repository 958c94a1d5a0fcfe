import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Call } from "../../src/domain/call.ts";
import { Secret } from "../../src/domain/secret.ts";
import type { AddressGuard } from "../../src/outbound/address-guard.ts";
import { createCaller } from "../../src/outbound/caller.ts";
import { ECHO_ORIGIN } from "../../src/outbound/echo-target.ts";
import { fixedLookup } from "./lookup.ts";

const call = (change: Partial<Call> = {}): Call => ({
  url: `${ECHO_ORIGIN}/hello`,
  method: "POST",
  headers: { "X-Mine": "1" },
  body: '{"a":1}',
  ...change,
});
const options = { timeoutMs: 1000, headers: { "bellhop-attempt": "1" } };

/** A caller that looks up no name and allows no address, and what it was asked for all the same. */
function closedCaller() {
  const { asked, lookup } = fixedLookup({});
  const guard: AddressGuard = {
    check: () => ({ allowed: false, message: "Nothing is allowed" }),
    checkName(hostname) {
      asked.push(hostname);
      return { allowed: true };
    },
  };
  return { caller: createCaller({ userAgent: "test", guard, lookup }), asked };
}

describe("the built-in echo target", () => {
  it("answers with the request, without a check by the guard and without a lookup", async () => {
    const { caller, asked } = closedCaller();
    const outcome = await caller.call(call(), options);
    assert.ok(outcome.kind === "response");
    const answer = JSON.parse(outcome.body);
    assert.deepEqual(
      [outcome.statusCode, answer.method, answer.path, answer.headers["X-Mine"], answer.body],
      [200, "POST", "/hello", "1", '{"a":1}'],
    );
    assert.deepEqual(asked, []);
  });

  it("answers with the status in the path", async () => {
    const { caller } = closedCaller();
    const outcome = await caller.call(call({ url: `${ECHO_ORIGIN}/status/503` }), options);
    assert.equal(outcome.statusCode, 503);
  });

  it("is only this host on this port: any other URL is called", async () => {
    const { caller } = closedCaller();
    for (const url of [
      "https://echo.bellhop.invalid/",
      "http://echo.bellhop.invalid:81/",
      "http://echo.bellhop.invalid.example.com/",
      "http://x.echo.bellhop.invalid/",
    ]) {
      const outcome = await caller.call(call({ url }), options);
      assert.equal(outcome.kind, "failure", url);
    }
  });

  it("does not echo a vault credential", async () => {
    const { caller } = closedCaller();
    const secrets = { byReference: new Map([["tok_a", new Secret("s3cret-value")]]), others: [] };
    const outcome = await caller.call(call({ headers: { Authorization: "tok_a" } }), { ...options, secrets });
    assert.ok(outcome.kind === "response");
    assert.doesNotMatch(outcome.body, /s3cret/);
  });

  it("does not answer a call that may no longer be made", async () => {
    const { caller } = closedCaller();
    const outcome = await caller.call(call(), { ...options, mayLeave: () => false });
    assert.ok(outcome.kind === "failure" && outcome.code === "aborted");
  });
});
