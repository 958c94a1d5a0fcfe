import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  BREAKER_DEFAULTS,
  type BreakerRow,
  breakerHost,
  judgeBreaker,
  targetState,
} from "../../src/domain/breaker.ts";
import type { FailureCode } from "../../src/domain/outcome.ts";

const NOTHING = { failed: 0, total: 0, passesUp: 0, passesDown: 0 };
const OPEN: BreakerRow = { phase: "open", cooldown: 30, allowed: 1 };
const after = (current: BreakerRow | null, seen: Partial<typeof NOTHING>, concurrency = 5) =>
  judgeBreaker(BREAKER_DEFAULTS, current, { ...NOTHING, ...seen }, concurrency);

describe("a breaker", () => {
  it("opens when the failures are many enough, and are enough of all attempts", () => {
    assert.equal(after(null, { failed: 19, total: 19 }), null);
    assert.equal(after(null, { failed: 20, total: 23 }), null);
    assert.deepEqual(after(null, { failed: 20, total: 22 }), OPEN);
    assert.deepEqual(after({ phase: "closing", cooldown: 30, allowed: 2 }, { failed: 20, total: 20 }), OPEN);
  });

  it("doubles its time with every probe that fails, up to ten minutes, and ignores calls from before", () => {
    assert.equal(after(OPEN, { failed: 100, total: 100 }), null);
    assert.deepEqual(after(OPEN, { passesDown: 1 }), { ...OPEN, cooldown: 60 });
    assert.deepEqual(after({ ...OPEN, cooldown: 400 }, { passesDown: 1 }), { ...OPEN, cooldown: 600 });
  });

  it("closes by one answer, and lets one more task go with each, until the queue's concurrency is reached", () => {
    const closing = after({ ...OPEN, cooldown: 600 }, { passesUp: 1 });
    assert.deepEqual(closing, { phase: "closing", cooldown: 30, allowed: 2 });
    assert.deepEqual(after(closing, { passesUp: 2 }), { phase: "closing", cooldown: 30, allowed: 4 });
    assert.equal(after(closing, { passesDown: 2 }), null);
    assert.equal(after({ phase: "closing", cooldown: 30, allowed: 4 }, { passesUp: 1 })?.phase, "draining");
  });

  it("counts timeouts, network errors and 5xx, and no call that did not leave", () => {
    const failure = (code: FailureCode) =>
      targetState({ kind: "failure", code, message: "", phase: "sent", statusCode: null, durationMs: 1 });
    const answer = (statusCode: number) =>
      targetState({ kind: "response", statusCode, headers: {}, body: "", truncated: false, durationMs: 1 });

    for (const code of [
      "timeout",
      "connect_failed",
      "connect_timeout",
      "connection_reset",
      "dns_failed",
      "tls_error",
    ] as const)
      assert.equal(failure(code), "down");
    for (const code of ["aborted", "blocked", "invalid_request"] as const) assert.equal(failure(code), null);
    assert.deepEqual(
      [answer(200), answer(404), answer(429), answer(500), answer(503)],
      ["up", "up", "up", "down", "down"],
    );
  });

  it("is of a host with the port that the URL names", () => {
    const hosts = [
      "https://A.example/x",
      "HTTP://a.example:8080?q",
      "http://[::1]:9/#x",
      "https://a.example:443",
    ];
    assert.deepEqual(hosts.map(breakerHost), ["a.example", "a.example:8080", "[::1]:9", "a.example:443"]);
    assert.equal(breakerHost(`https://${"a".repeat(400)}/`), null);
  });
});
