import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { CallFailure, CallResponse, FailureCode, Outcome, Phase } from "../../src/domain/outcome.ts";
import { NO_FOLLOW_UP } from "../../src/domain/task.ts";
import { closeAttempt, judge, type Trial, type Verdict } from "../../src/domain/verdict.ts";

const now = new Date("2030-01-01T00:00:00Z");
const trial: Trial = {
  failures: 0,
  maxRetries: 3,
  backoff: "exponential",
  retryDelaySeconds: 1,
  retryMaxDelaySeconds: null,
  noRetryStatuses: null,
  call: { url: "http://localhost/", headers: {} },
  follow: NO_FOLLOW_UP,
};

function response(statusCode: number, more: Partial<CallResponse> = {}): CallResponse {
  return { kind: "response", statusCode, headers: {}, body: "", truncated: false, durationMs: 12, ...more };
}

function failure(code: FailureCode, phase: Phase = "sent", statusCode: number | null = null): CallFailure {
  return { kind: "failure", code, message: `It went wrong: ${code}`, phase, statusCode, durationMs: 34 };
}

const CODES: readonly FailureCode[] = [
  "dns_failed",
  "connect_failed",
  "connect_timeout",
  "connection_reset",
  "tls_error",
  "timeout",
  "blocked",
  "aborted",
  "invalid_request",
  "invalid_response",
];

describe("judge", () => {
  it("completes a task on every 2xx, and on nothing else", () => {
    for (let status = 100; status < 600; status += 1) {
      const verdict = judge(trial, response(status), now, 0);
      assert.equal(verdict.kind, status >= 200 && status < 300 ? "completed" : "retry", String(status));
    }
  });

  it("does not treat a redirect as a success", () => {
    for (const status of [301, 302, 303, 304, 307, 308]) {
      assert.equal(judge({ ...trial, maxRetries: 0 }, response(status), now, 0).kind, "failed");
    }
  });

  it("fails a task at once when the egress policy blocks its address", () => {
    assert.deepEqual(judge(trial, failure("blocked", "not_sent"), now, 0), {
      kind: "failed",
      reason: "blocked",
      error: "It went wrong: blocked",
      result: null,
    });
  });

  it("fails a task at once for a listed status or a no-retry header", () => {
    const gone = response(410, { body: "gone" });
    const ended = { kind: "failed", reason: "not_retryable", error: "The target answered 410: gone" };
    const listed = judge({ ...trial, noRetryStatuses: [404, 410] }, gone, now, 0);
    assert.deepEqual(listed.kind === "failed" && { ...listed, result: listed.result?.body }, {
      ...ended,
      result: "gone",
    });
    for (const headers of [{ "bellhop-no-retry": "True" }, { "webhook-delivery": "abort-message" }]) {
      assert.equal(judge(trial, { ...gone, headers }, now, 0).kind, "failed");
      assert.equal(judge(trial, response(200, { headers }), now, 0).kind, "completed");
    }
    assert.equal(judge(trial, { ...gone, headers: { "bellhop-no-retry": "false" } }, now, 0).kind, "retry");
    assert.equal(judge({ ...trial, noRetryStatuses: [404] }, gone, now, 0).kind, "retry");
  });

  it("retries after every other network failure", () => {
    for (const code of CODES.filter((each) => each !== "blocked")) {
      assert.deepEqual(judge(trial, failure(code), now, 0), {
        kind: "retry",
        waitMs: 1000,
        error: `It went wrong: ${code}`,
      });
    }
  });

  it("makes 1 + max_retries attempts in all", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100 }), (maxRetries) => {
        let attempts = 0;
        let verdict: Verdict;
        do {
          verdict = judge({ ...trial, maxRetries, failures: attempts }, response(500), now, 0);
          attempts += 1;
        } while (verdict.kind === "retry");
        assert.equal(attempts, 1 + maxRetries);
        assert.equal(verdict.kind, "failed");
      }),
    );
  });

  it("fails a task without retries at its first failure", () => {
    assert.deepEqual(judge({ ...trial, maxRetries: 0 }, failure("timeout"), now, 0), {
      kind: "failed",
      reason: "retries_exhausted",
      error: "It went wrong: timeout",
      result: null,
    });
  });

  it("keeps the last response of a failed task", () => {
    const verdict = judge({ ...trial, maxRetries: 0 }, response(503, { body: "busy" }), now, 0);

    assert.deepEqual(verdict, {
      kind: "failed",
      reason: "retries_exhausted",
      error: "The target answered 503: busy",
      result: { statusCode: 503, headers: {}, body: "busy", duration: 12 },
    });
  });

  it("waits longer after each failure, by the task's own backoff", () => {
    const waits = (backoff: Trial["backoff"]) =>
      [0, 1, 2].map((failures) => {
        const verdict = judge({ ...trial, backoff, failures }, response(500), now, 0);
        return verdict.kind === "retry" && verdict.waitMs;
      });
    assert.deepEqual(waits("exponential"), [1000, 2000, 4000]);
    assert.deepEqual(waits("fixed"), [1000, 1000, 1000]);
  });

  it("honours Retry-After on 429 and 503 and on no other answer", () => {
    const asked = { headers: { "retry-after": "77" } };
    for (const status of [301, 400, 404, 413, 429, 500, 502, 503, 504]) {
      const verdict = judge(trial, response(status, asked), now, 0);
      const honoured = status === 429 || status === 503;
      assert.equal(verdict.kind === "retry" && verdict.waitMs, honoured ? 77_000 : 1000, String(status));
    }
  });

  it("uses its own backoff when Retry-After is invalid", () => {
    const verdict = judge(trial, response(429, { headers: { "retry-after": "later" } }), now, 0);

    assert.equal(verdict.kind === "retry" && verdict.waitMs, 1000);
  });

  it("does not allow more attempts because of Retry-After", () => {
    const asked = response(429, { headers: { "retry-after": "1" } });

    assert.equal(judge({ ...trial, failures: 3 }, asked, now, 0).kind, "failed");
  });
});

describe("a result", () => {
  const bodyOf = (body: string, truncated = false) => {
    const verdict = judge(trial, response(200, { body, truncated }), now, 0);
    assert.equal(verdict.kind, "completed");
    return verdict.kind === "completed" ? verdict.result : null;
  };

  it("has status, headers, body and duration, and no truncated when complete", () => {
    const verdict = judge(trial, response(201, { headers: { a: "b" }, body: "done" }), now, 0);

    assert.deepEqual(verdict, {
      kind: "completed",
      result: { statusCode: 201, headers: { a: "b" }, body: "done", duration: 12 },
    });
  });

  it("is truncated when the outbound module has cut it", () => {
    assert.equal(bodyOf("short", true)?.truncated, true);
  });
});

describe("a closed attempt", () => {
  it("is a success on 2xx, with no error", () => {
    assert.deepEqual(closeAttempt(2, now, response(204)), {
      number: 2,
      status: "success",
      responseCode: 204,
      executedAt: now,
      durationMs: 12,
      connectMs: undefined,
      firstByteMs: undefined,
      phase: "responded",
      error: null,
    });
  });

  it("is failed for any other status, which its error names", () => {
    for (const status of [100, 199, 300, 404, 500, 599]) {
      const attempt = closeAttempt(1, now, response(status));
      assert.equal(attempt.status, "failed");
      assert.equal(attempt.responseCode, status);
      assert.equal(attempt.phase, "responded");
      assert.equal(attempt.error, `The target answered ${status}`);
    }
  });

  it("has the status and phase of its failure", () => {
    const statuses: Partial<Record<FailureCode, string>> = {
      timeout: "timeout",
      connect_timeout: "timeout",
      blocked: "blocked",
    };
    for (const code of CODES) {
      for (const phase of ["not_sent", "sent", "responded"] as const) {
        const attempt = closeAttempt(1, now, failure(code, phase));
        assert.equal(attempt.status, statuses[code] ?? "failed", code);
        assert.equal(attempt.phase, phase);
        assert.equal(attempt.responseCode, null);
        assert.equal(attempt.error, `It went wrong: ${code}`);
      }
    }
  });

  it("has the times of its phases where they differ from the total", () => {
    const parts = (connectMs: number, firstByteMs: number) => {
      const attempt = closeAttempt(1, now, { ...response(200), connectMs, firstByteMs, durationMs: 30 });
      return [attempt.durationMs, attempt.connectMs, attempt.firstByteMs];
    };
    assert.deepEqual(parts(12, 25), [30, 12, 25]);
    assert.deepEqual(parts(0, 30), [30, undefined, undefined]);
  });

  it("keeps the status of a response that broke off", () => {
    assert.equal(closeAttempt(1, now, failure("connection_reset", "responded", 200)).responseCode, 200);
  });

  it("is a success exactly when the task completes", () => {
    const outcomes: Outcome[] = [
      ...Array.from({ length: 500 }, (_, index) => response(100 + index)),
      ...CODES.map((code) => failure(code, "responded", 200)),
    ];
    for (const outcome of outcomes) {
      const completed = judge(trial, outcome, now, 0).kind === "completed";
      assert.equal(closeAttempt(1, now, outcome).status === "success", completed);
    }
  });
});
