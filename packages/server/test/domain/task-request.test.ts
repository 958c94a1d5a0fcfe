import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { TaskDraft } from "../../src/domain/task-copies.ts";
import { checkDraft } from "../../src/domain/task-request.ts";

const draft: TaskDraft = {
  shape: "queue",
  queue: "errands",
  call: { method: "POST", url: "https://target.example/", headers: {}, body: "{}" },
  priority: 5,
  delaySeconds: null,
  runAt: null,
  simulate: null,
  maxRetries: null,
  backoff: null,
  retryDelaySeconds: null,
  retryMaxDelaySeconds: null,
  noRetryStatuses: null,
  expiresInSeconds: null,
  timeoutSeconds: null,
  provider: null,
  pollConfig: null,
  waitForCallback: null,
  maxWaitSeconds: 3600,
  onCompleteUrl: null,
  bodyIsJson: false,
  sign: true,
  tags: null,
  metadata: null,
  flow: null,
  onFailureUrl: null,
  dedupe: null,
  idempotencyKey: "once",
};

const NAMES = {
  url: "webhook_url",
  delaySeconds: "delay",
  runAt: "run_at",
  waitForCallback: "wait_for_callback",
  provider: "provider",
  pollConfig: "poll_config",
  onCompleteUrl: "on_complete_url",
  onFailureUrl: "on_failure_url",
  maxWaitSeconds: "max_wait",
  expiresInSeconds: "expires_in",
  idempotencyKey: "idempotency_key",
};

function check(changes: Partial<TaskDraft>, now: string, idempotencyKey?: string) {
  return checkDraft(
    { ...draft, ...changes },
    { names: NAMES, now: new Date(now), refuseUrl: () => null, idempotencyKey },
  );
}

describe("checkDraft", () => {
  it("yields the same request text before and after the requested time", () => {
    const asked = { runAt: "2030-01-01T09:00:00Z" };
    const before = check(asked, "2030-01-01T08:00:00Z");
    const after = check(asked, "2030-01-01T10:00:00Z");

    assert.deepEqual([before.runAt, after.runAt], [new Date(asked.runAt), null]);
    assert.equal(after.requestText, before.requestText);
    assert.notEqual(check({}, "2030-01-01T10:00:00Z").requestText, before.requestText);
  });

  it("yields the same request text for a key in body or header, and none without a key", () => {
    const now = "2030-01-01T08:00:00Z";
    const inBody = check({}, now).requestText;
    assert.notEqual(inBody, "");
    assert.equal(check({ idempotencyKey: null }, now, "once").requestText, inBody);
    assert.equal(check({ idempotencyKey: null }, now).requestText, "");
  });

  it("refuses a simulated body that is too large or cannot be stored", () => {
    const simulate = { outcome: "fail", afterSeconds: 0, responseCode: null, attempts: 1 } as const;
    const ask = (body: string) => () => check({ simulate: { ...simulate, body } }, "2030-01-01T08:00:00Z");
    assert.doesNotThrow(ask("ü".repeat(32_768)));
    assert.throws(ask("ü".repeat(32_769)), { message: 'simulate["body"] must be at most 64 KiB' });
    assert.throws(ask("\0"), /simulate\["body"\] must be/);
  });
});
