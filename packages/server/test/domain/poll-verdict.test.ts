import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Outcome } from "../../src/domain/outcome.ts";
import type { PollConfig } from "../../src/domain/poll/poll-config.ts";
import {
  FRESH_POLL,
  judgePoll,
  judgeResultFetch,
  type PollState,
  type PollVerdict,
} from "../../src/domain/poll/poll-verdict.ts";
import { answer, failure, ownConfig } from "./poll-scene.ts";

const POLL = { url: "https://api.example.com/jobs/j1", durationMs: 4321, keepBytes: 1000 };
const HEADERS = { "content-type": "application/json" };

const judged = (outcome: Outcome, changes: Partial<PollConfig> = {}, state: PollState = FRESH_POLL) =>
  judgePoll(ownConfig(changes), outcome, state, POLL);

function doneBody(verdict: PollVerdict): string {
  assert.equal(verdict.kind, "done", JSON.stringify(verdict));
  return verdict.kind === "done" ? verdict.result.body : "";
}

function errorOf(verdict: PollVerdict): string {
  assert.ok(verdict.kind === "failed", JSON.stringify(verdict));
  assert.equal(verdict.reason, "poll_failed");
  return verdict.error;
}

function troubleOf(verdict: PollVerdict): string | null {
  assert.ok(verdict.kind === "again", JSON.stringify(verdict));
  return verdict.error;
}

describe("a poll whose status is in neither list", () => {
  it("is polled again, without an error", () => {
    for (const status of ["starting", "DONE", "Failed", "", "don", 7, true]) {
      assert.deepEqual(judged(answer(200, { status })), { kind: "again", state: FRESH_POLL, error: null });
    }
  });

  it("reports an answer without a status", () => {
    for (const body of [
      {},
      [],
      "null",
      '"done"',
      { status: null },
      { status: { done: "done" } },
      { status: ["done"] },
    ]) {
      assert.equal(troubleOf(judged(answer(200, body))), 'The provider\'s answer has no "status"');
    }
  });
});

describe("a done value", () => {
  it("completes with status and headers of the last poll and the duration since the first call", () => {
    assert.deepEqual(judged(answer(200, { status: "done", output: ["u"] })), {
      kind: "done",
      result: { statusCode: 200, headers: HEADERS, body: '["u"]', duration: 4321 },
    });
  });

  it("stores the value at resultPath as text, a string without quotes", () => {
    const body = (text: string, resultPath: string) => doneBody(judged(answer(200, text), { resultPath }));

    assert.equal(body('{"status":"done","output":"https://cdn/x.mp4"}', "output"), "https://cdn/x.mp4");
    assert.equal(body('{"status":"done","output":{"a": 1.0}}', "output"), '{"a": 1.0}');
    assert.equal(body('{"status":"done","output":12345678901234567890}', "output"), "12345678901234567890");
    assert.equal(body('{"status":"done","data":{"urls":["a","b"]}}', "data.urls.1"), "b");
    assert.equal(body('{"status":"done","output":""}', "output"), "");
    assert.equal(body('{"status":"done","output":false}', "output"), "false");
  });

  it("stores the whole response when resultPath is empty or finds nothing", () => {
    const text = '{ "status": "done", "n": 12345678901234567890, "output": null }\n';

    for (const resultPath of ["", "nothing", "output", "output.url", "constructor"]) {
      assert.equal(doneBody(judged(answer(200, text), { resultPath })), text);
    }
  });

  it("stores the poll URL instead of the bytes for _binaryUrl", () => {
    const verdict = judged(answer(200, "\u0000\uFFFDmp4", { truncated: true }), {
      statusPath: "_httpStatus",
      doneValues: ["200"],
      failValues: ["404"],
      resultPath: "_binaryUrl",
    });

    assert.deepEqual(verdict, {
      kind: "done",
      result: {
        statusCode: 200,
        headers: HEADERS,
        body: '{"url":"https://api.example.com/jobs/j1"}',
        duration: 4321,
      },
    });
  });

  it("is compared as text with numbers and booleans of the answer", () => {
    assert.equal(doneBody(judged(answer(200, { status: 1, output: "x" }), { doneValues: ["1"] })), "x");
    assert.equal(doneBody(judged(answer(200, { status: true, output: "x" }), { doneValues: ["true"] })), "x");
    const large = '{"status":12345678901234567890,"output":"x"}';
    assert.equal(doneBody(judged(answer(200, large), { doneValues: ["12345678901234567890"] })), "x");
  });

  it("cuts result.body to the maximum size, with truncated: true", () => {
    const text = "é".repeat(1000);
    const verdict = judged(answer(200, { status: "done", output: text }));

    assert.ok(verdict.kind === "done");
    assert.equal(Buffer.byteLength(verdict.result.body), 1000);
    assert.equal(verdict.result.truncated, true);
  });

  it("is ignored in a response with an error status", () => {
    for (const status of [302, 404, 409]) {
      assert.equal(troubleOf(judged(answer(status, { status: "done" }))), `The provider answered ${status}`);
    }
  });

  it("fetches the result when there is a resultUrlTemplate", () => {
    const changes = { resultUrlTemplate: "{startResult.body.response_url}" };
    const state = { authFailures: 2, resultFailures: 1 };

    assert.deepEqual(judged(answer(200, { status: "done" }), changes, state), {
      kind: "fetchResult",
      state: { authFailures: 0, resultFailures: 1 },
    });
  });
});

describe("a fail value", () => {
  it("fails the task with the error at errorPath, and keeps the response", () => {
    assert.deepEqual(
      judged(answer(200, { status: "gone", error: { message: "NSFW" } }), { errorPath: "error.message" }),
      {
        kind: "failed",
        reason: "poll_failed",
        error: "NSFW",
        result: {
          statusCode: 200,
          headers: HEADERS,
          body: '{"status":"gone","error":{"message":"NSFW"}}',
          duration: 4321,
        },
      },
    );
    const listed = judged(answer(200, { status: "failed", errors: ["a", "b"] }), { errorPath: "errors" });
    assert.equal(errorOf(listed), '["a","b"]');
  });

  it("names the status when there is no error", () => {
    const sentence = 'The provider reported the status "failed"';

    assert.equal(errorOf(judged(answer(200, { status: "failed", error: "x" }))), sentence);
    for (const error of [undefined, null, ""]) {
      assert.equal(
        errorOf(judged(answer(200, { status: "failed", error }), { errorPath: "error" })),
        sentence,
      );
    }
  });

  it("fails the task in a 4xx response too", () => {
    assert.equal(
      errorOf(judged(answer(410, { status: "failed", error: "expired" }), { errorPath: "error" })),
      "expired",
    );
  });

  it("shortens the error: the whole response is in the result", () => {
    const error = errorOf(
      judged(answer(200, { status: "failed", error: "é".repeat(10_000) }), { errorPath: "error" }),
    );

    assert.equal(error, `${"é".repeat(2048)}…`);
  });
});

describe("a failed poll", () => {
  it("polls again after a network failure, an error status or a body that is not JSON", () => {
    const state = { authFailures: 2, resultFailures: 1 };
    const expected = { authFailures: 0, resultFailures: 1 };
    for (const [outcome, error] of [
      [failure("timeout"), "It was timeout"],
      [failure("dns_failed"), "It was dns_failed"],
      [failure("connection_reset"), "It was connection_reset"],
      [failure("aborted"), "It was aborted"],
      [answer(500, { status: "failed" }), "The provider answered 500"],
      [answer(503, { status: "done" }), "The provider answered 503"],
      [answer(429, { status: "failed" }), "The provider answered 429"],
      [answer(404, { detail: "not yet" }), "The provider answered 404"],
      [answer(302, ""), "The provider answered 302"],
      [answer(200, "<html>"), "The provider's answer is not JSON"],
      [answer(200, ""), "The provider's answer is not JSON"],
    ] as const) {
      assert.deepEqual(judged(outcome, {}, state), { kind: "again", state: expected, error });
    }
  });

  it("fails after three responses of 401 or 403 in a row", () => {
    let state = FRESH_POLL;
    for (const status of [401, 403]) {
      const verdict = judged(answer(status, { status: "failed" }), {}, state);
      assert.ok(verdict.kind === "again");
      state = verdict.state;
    }
    assert.equal(state.authFailures, 2);
    const third = judged(answer(401, "no"), {}, state);
    assert.equal(errorOf(third), "The provider answered 401 3 times in a row");

    const between = judged(answer(200, { status: "running" }), {}, state);
    assert.deepEqual(between, { kind: "again", state: FRESH_POLL, error: null });
  });

  it("names the withheld headers when it fails for 401 or 403", () => {
    const poll = { ...POLL, withheld: ["Authorization", "X-API-Key"] };
    const verdict = judgePoll(ownConfig(), answer(401, ""), { authFailures: 2, resultFailures: 0 }, poll);

    assert.equal(
      errorOf(verdict),
      "The provider answered 401 3 times in a row; Authorization, X-API-Key did not go along, because the poll goes " +
        "to another origin than the first call",
    );
  });

  it("fails immediately for a blocked address or a call that cannot be made", () => {
    const blocked = { kind: "failed", reason: "blocked", error: "It was blocked", result: null };

    assert.deepEqual(judged(failure("blocked")), blocked);
    assert.deepEqual(judged(failure("invalid_request")), {
      ...blocked,
      reason: "poll_failed",
      error: "It was invalid_request",
    });
  });

  it("fails when the response is too large to read its status", () => {
    const cut = judged(answer(200, '{"status":"done","output":"', { truncated: true }));

    assert.equal(errorOf(cut), "The provider's answer is too large for its status to be read");
    assert.equal(troubleOf(judged(answer(502, "<html", { truncated: true }))), "The provider answered 502");
  });
});

describe("statusPath _httpStatus", () => {
  const byStatus = {
    statusPath: "_httpStatus",
    doneValues: ["200"],
    failValues: ["404", "500"],
    resultPath: "",
  };

  it("compares the HTTP status as text, and polls again for one in neither list", () => {
    assert.equal(doneBody(judged(answer(200, "not json"), byStatus)), "not json");
    assert.equal(troubleOf(judged(answer(202, ""), byStatus)), null);
    for (const status of [301, 409, 429, 502]) {
      assert.equal(troubleOf(judged(answer(status, ""), byStatus)), `The provider answered ${status}`);
    }
  });

  it("fails for an error status that is a fail value", () => {
    assert.equal(errorOf(judged(answer(500, "oops"), byStatus)), "The provider answered 500");
    const told = judged(answer(404, { errors: ["no such id"] }), { ...byStatus, errorPath: "errors" });
    assert.equal(errorOf(told), '["no such id"]');
  });

  it("counts 401 and 403 as refusals unless they are in a list", () => {
    const tired = { authFailures: 2, resultFailures: 0 };

    assert.equal(
      errorOf(judged(answer(403, ""), byStatus, tired)),
      "The provider answered 403 3 times in a row",
    );
    assert.equal(
      errorOf(judged(answer(403, ""), { ...byStatus, failValues: ["403"] })),
      "The provider answered 403",
    );
  });

  it("is done on a truncated response, and says that it is truncated", () => {
    const verdict = judged(answer(200, "bytes", { truncated: true }), byStatus);

    assert.ok(verdict.kind === "done");
    assert.equal(verdict.result.truncated, true);
  });
});

describe("fetching the result", () => {
  const config = ownConfig({ resultPath: "", resultUrlTemplate: "{startResult.body.response_url}" });
  const fetched = (outcome: Outcome, state = FRESH_POLL, changes: Partial<PollConfig> = {}) =>
    judgeResultFetch({ ...config, ...changes }, outcome, state, POLL);

  it("completes with status, headers and body of the fetch", () => {
    const text = '{"images": [{"url": "https://x"}], "seed": 12345678901234567890}';

    assert.deepEqual(fetched(answer(201, text)), {
      kind: "done",
      result: { statusCode: 201, headers: HEADERS, body: text, duration: 4321 },
    });
    assert.equal(
      doneBody(fetched(answer(200, text), FRESH_POLL, { resultPath: "images.0.url" })),
      "https://x",
    );
    assert.equal(doneBody(fetched(answer(200, "not json"), FRESH_POLL, { resultPath: "a" })), "not json");
    assert.equal(
      doneBody(fetched(answer(200, ""), FRESH_POLL, { resultPath: "_binaryUrl" })),
      `{"url":"${POLL.url}"}`,
    );
  });

  it("fails with the body as the error for other statuses than 2xx", () => {
    const detail = '{"detail":[{"msg":"field required"}]}';

    for (const status of [302, 400, 401, 403, 404, 422]) {
      const verdict = fetched(answer(status, detail));
      assert.equal(errorOf(verdict), detail);
      assert.ok(verdict.kind === "failed");
      assert.equal(verdict.result?.statusCode, status);
    }
    assert.equal(errorOf(fetched(answer(422, " \n"))), "The provider answered 422 instead of the result");
  });

  it("retries after a network failure or 429, and fails for a blocked address", () => {
    assert.deepEqual(fetched(failure("timeout")), {
      kind: "again",
      state: FRESH_POLL,
      error: "It was timeout",
    });
    assert.equal(troubleOf(fetched(answer(429, "slow down"))), "The provider answered 429");
    assert.equal(fetched(failure("blocked")).kind, "failed");
  });

  it("retries twice after a 5xx, then fails the job", () => {
    const body = '{"detail":"Request timed out","error_type":"request_timeout"}';
    let state = FRESH_POLL;
    for (const _ of [1, 2]) {
      const verdict = fetched(answer(504, body), state);
      assert.ok(verdict.kind === "again");
      const next = judgePoll(config, answer(200, { status: "done" }), verdict.state, POLL);
      assert.ok(next.kind === "fetchResult");
      state = next.state;
    }
    assert.equal(errorOf(fetched(answer(504, body), state)), body);
  });
});

describe("judgePoll and judgeResultFetch with arbitrary responses", () => {
  const path = fc.constantFrom(
    "",
    "status",
    "a.b",
    "__proto__",
    "constructor.name",
    "_httpStatus",
    "_binaryUrl",
    "a.0",
    "..",
  );
  const config = fc
    .record({ statusPath: path, resultPath: path, errorPath: path })
    .map((changes) =>
      ownConfig({ ...changes, doneValues: ["done", "200"], failValues: ["failed", "500", "{}"] }),
    );
  const body = fc.oneof(
    fc.json(),
    fc.string(),
    fc
      .record({ status: fc.constantFrom("done", "failed", "x"), a: fc.jsonValue() })
      .map((value) => JSON.stringify(value)),
  );

  it("return a result body or an error text", () => {
    fc.assert(
      fc.property(
        config,
        fc.constantFrom(200, 202, 301, 401, 404, 429, 500),
        body,
        fc.boolean(),
        (own, status, text, cut) => {
          const outcome = answer(status, text, { truncated: cut });
          for (const judge of [judgePoll, judgeResultFetch]) {
            const verdict = judge(own, outcome, FRESH_POLL, POLL);
            if (verdict.kind === "done") assert.equal(typeof verdict.result.body, "string");
            if (verdict.kind === "failed") assert.ok(verdict.error.length > 0);
          }
        },
      ),
      { numRuns: 400 },
    );
  });
});
