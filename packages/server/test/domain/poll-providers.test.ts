import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { lookUp } from "../../src/domain/json/look-up.ts";
import type { CallResponse } from "../../src/domain/outcome.ts";
import type { Provider } from "../../src/domain/poll/poll-config.ts";
import { planPolling } from "../../src/domain/poll/poll-plan.ts";
import { pollConfigComplaints } from "../../src/domain/poll/poll-rules.ts";
import { catalogOrigins, pollTarget } from "../../src/domain/poll/poll-target.ts";
import { templatePaths } from "../../src/domain/poll/poll-template.ts";
import { FRESH_POLL, judgePoll, judgeResultFetch } from "../../src/domain/poll/poll-verdict.ts";
import { PROVIDER_CATALOG } from "../../src/domain/poll/provider-catalog.ts";
import { answer } from "./poll-scene.ts";

function provider(id: string): Provider {
  const found = PROVIDER_CATALOG.find((entry) => entry.id === id);
  assert.ok(found, id);
  return found;
}

/** A first call as the vendor documents it, what it answers, and where that leads. */
const FIRST_CALLS = [
  {
    id: "fal",
    url: "https://queue.fal.run/fal-ai/flux/dev",
    headers: { Authorization: "tok_fal" },
    body: {
      request_id: "80e7",
      status_url: "https://queue.fal.run/fal-ai/flux/requests/80e7/status",
      response_url: "https://queue.fal.run/fal-ai/flux/requests/80e7",
      cancel_url: "https://queue.fal.run/fal-ai/flux/requests/80e7/cancel",
    },
    pollUrl: "https://queue.fal.run/fal-ai/flux/requests/80e7/status",
    cancel: "PUT https://queue.fal.run/fal-ai/flux/requests/80e7/cancel",
    forwarded: { Authorization: "tok_fal" },
  },
  {
    id: "replicate",
    url: "https://api.replicate.com/v1/models/o/m/predictions",
    headers: { Authorization: "tok_r", Prefer: "respond-async" },
    body: { id: "gm3q", status: "starting", output: null, error: null },
    pollUrl: "https://api.replicate.com/v1/predictions/gm3q",
    cancel: "POST https://api.replicate.com/v1/predictions/gm3q/cancel",
    forwarded: { Authorization: "tok_r" },
  },
  {
    id: "runwayml",
    url: "https://api.dev.runwayml.com/v1/image_to_video",
    headers: { Authorization: "tok_w", "x-runway-version": "2024-11-06", "Content-Type": "application/json" },
    body: { id: "17f2-4b" },
    pollUrl: "https://api.dev.runwayml.com/v1/tasks/17f2-4b",
    cancel: "DELETE https://api.dev.runwayml.com/v1/tasks/17f2-4b",
    forwarded: { Authorization: "tok_w", "x-runway-version": "2024-11-06" },
  },
  {
    id: "luma",
    url: "https://api.lumalabs.ai/dream-machine/v1/generations",
    headers: { authorization: "tok_l" },
    body: { id: "d1968551", state: "queued", assets: null },
    pollUrl: "https://api.lumalabs.ai/dream-machine/v1/generations/d1968551",
    cancel: null,
    forwarded: { authorization: "tok_l" },
  },
  {
    id: "elevenlabs-dubbing",
    url: "https://api.elevenlabs.io/v1/dubbing",
    headers: { "xi-api-key": "tok_e" },
    body: { dubbing_id: "21m00", expected_duration_sec: 127.5 },
    pollUrl: "https://api.elevenlabs.io/v1/dubbing/21m00",
    cancel: null,
    forwarded: { "xi-api-key": "tok_e" },
  },
  {
    id: "stability-video",
    url: "https://api.stability.ai/v2beta/image-to-video",
    headers: { Authorization: "tok_s" },
    body: { id: "a6dc6c6e" },
    pollUrl: "https://api.stability.ai/v2beta/image-to-video/result/a6dc6c6e",
    cancel: null,
    forwarded: { Authorization: "tok_s" },
  },
] as const;

/** Each vendor's documented answers, and what they mean: "again", the result's body, or the error. */
const ANSWERS: readonly (readonly [string, string, CallResponse, readonly [string, string | null]])[] = [
  ["fal", "in the queue", answer(202, { status: "IN_QUEUE", queue_position: 3 }), ["again", null]],
  ["fal", "in progress", answer(202, { status: "IN_PROGRESS", logs: [] }), ["again", null]],
  [
    "fal",
    "completed",
    answer(200, { status: "COMPLETED", metrics: { inference_time: 3.7 } }),
    ["fetchResult", null],
  ],
  [
    "fal",
    "completed badly",
    answer(200, { status: "COMPLETED", error: "x", error_type: "y" }),
    ["fetchResult", null],
  ],

  ["replicate", "starting", answer(200, { status: "starting", output: null, error: null }), ["again", null]],
  ["replicate", "processing", answer(200, { status: "processing", output: ["part"] }), ["again", null]],
  [
    "replicate",
    "succeeded",
    answer(200, { status: "succeeded", output: ["https://r/1"] }),
    ["done", '["https://r/1"]'],
  ],
  [
    "replicate",
    "succeeded with text",
    answer(200, { status: "succeeded", output: "hello" }),
    ["done", "hello"],
  ],
  [
    "replicate",
    "failed",
    answer(200, { status: "failed", output: null, error: "CUDA out of memory" }),
    ["failed", 'The provider reported the status "failed"'],
  ],
  [
    "replicate",
    "canceled",
    answer(200, { status: "canceled", error: null }),
    ["failed", 'The provider reported the status "canceled"'],
  ],

  ["runwayml", "pending", answer(200, { id: "1", status: "PENDING" }), ["again", null]],
  ["runwayml", "throttled", answer(200, { id: "1", status: "THROTTLED" }), ["again", null]],
  ["runwayml", "running", answer(200, { id: "1", status: "RUNNING", progress: 0.4 }), ["again", null]],
  [
    "runwayml",
    "succeeded",
    answer(200, { status: "SUCCEEDED", output: ["https://w/1"] }),
    ["done", '["https://w/1"]'],
  ],
  [
    "runwayml",
    "failed",
    answer(200, { status: "FAILED", failure: "An unexpected error", failureCode: "INTERNAL" }),
    ["failed", "An unexpected error"],
  ],
  [
    "runwayml",
    "cancelled",
    answer(200, { status: "CANCELLED" }),
    ["failed", 'The provider reported the status "CANCELLED"'],
  ],

  ["luma", "queued", answer(200, { state: "queued", assets: null, failure_reason: null }), ["again", null]],
  ["luma", "dreaming", answer(200, { state: "dreaming", assets: null }), ["again", null]],
  [
    "luma",
    "completed",
    answer(200, { state: "completed", assets: { video: "https://l/v.mp4" } }),
    ["done", "https://l/v.mp4"],
  ],
  [
    "luma",
    "completed image",
    answer(200, { state: "completed", assets: { video: null, image: "https://l/i.jpg" } }),
    ["done", '{"state":"completed","assets":{"video":null,"image":"https://l/i.jpg"}}'],
  ],
  ["luma", "failed", answer(200, { state: "failed", failure_reason: "Moderated" }), ["failed", "Moderated"]],

  [
    "elevenlabs-dubbing",
    "dubbing",
    answer(200, { dubbing_id: "21m00", status: "dubbing", error: null }),
    ["again", null],
  ],
  ["elevenlabs-dubbing", "dubbed", answer(200, { dubbing_id: "21m00", status: "dubbed" }), ["done", "21m00"]],
  [
    "elevenlabs-dubbing",
    "failed",
    answer(200, { dubbing_id: "21m00", status: "failed", error: "No speech found" }),
    ["failed", "No speech found"],
  ],

  ["stability-video", "in progress", answer(202, { id: "a6dc", status: "in-progress" }), ["again", null]],
  [
    "stability-video",
    "finished",
    answer(200, "\uFFFDftypmp42", { truncated: true }),
    ["done", '{"url":"https://poll.example/"}'],
  ],
  [
    "stability-video",
    "invalid",
    answer(400, { id: "1", name: "bad_request", errors: ["some-field: is required"] }),
    ["failed", '["some-field: is required"]'],
  ],
  [
    "stability-video",
    "unknown",
    answer(404, { id: "1", name: "not_found", errors: ["No generation found"] }),
    ["failed", '["No generation found"]'],
  ],
  [
    "stability-video",
    "broken",
    answer(500, { id: "1", name: "internal_error", errors: ["An unexpected error"] }),
    ["failed", '["An unexpected error"]'],
  ],
  [
    "stability-video",
    "rate limited",
    answer(429, { name: "rate_limit_exceeded" }),
    ["again", "The provider answered 429"],
  ],
];

describe("the provider catalog", () => {
  it("has six entries in this order, without unset keys", () => {
    const rows = PROVIDER_CATALOG.map(({ id, name, pollConfig: c }) => [
      id,
      name,
      c.urlTemplate,
      c.interval,
      c.statusPath,
      c.doneValues.join(),
      c.failValues.join(),
      c.resultPath,
      c.maxDuration,
      c.forwardAuth,
      Object.keys(c)
        .filter((key) => ["errorPath", "resultUrlTemplate", "forwardHeaders"].includes(key))
        .map((key) => `${key}=${c[key as keyof typeof c]}`)
        .join(" "),
    ]);

    const api = "/{startResult.body.id}";
    assert.deepEqual(rows, [
      [
        "fal",
        "fal.ai",
        "{startResult.body.status_url}",
        3,
        "status",
        "COMPLETED",
        "FAILED",
        "",
        600,
        true,
        "resultUrlTemplate={startResult.body.response_url}",
      ],
      [
        "replicate",
        "Replicate",
        `https://api.replicate.com/v1/predictions${api}`,
        5,
        "status",
        "succeeded",
        "failed,canceled",
        "output",
        600,
        true,
        "",
      ],
      [
        "runwayml",
        "RunwayML",
        `https://api.dev.runwayml.com/v1/tasks${api}`,
        5,
        "status",
        "SUCCEEDED",
        "FAILED,CANCELLED",
        "output",
        600,
        true,
        "errorPath=failure forwardHeaders=X-Runway-Version",
      ],
      [
        "luma",
        "Luma AI",
        `https://api.lumalabs.ai/dream-machine/v1/generations${api}`,
        5,
        "state",
        "completed",
        "failed",
        "assets.video",
        600,
        true,
        "errorPath=failure_reason",
      ],
      [
        "elevenlabs-dubbing",
        "ElevenLabs Dubbing",
        "https://api.elevenlabs.io/v1/dubbing/{startResult.body.dubbing_id}",
        10,
        "status",
        "dubbed",
        "failed",
        "dubbing_id",
        1800,
        true,
        "errorPath=error forwardHeaders=xi-api-key",
      ],
      [
        "stability-video",
        "Stability AI",
        `https://api.stability.ai/v2beta/image-to-video/result${api}`,
        10,
        "_httpStatus",
        "200",
        "400,404,500",
        "_binaryUrl",
        600,
        true,
        "errorPath=errors",
      ],
    ]);
  });

  it("obeys the rules for custom poll configurations", () => {
    for (const { id, description, pollConfig } of PROVIDER_CATALOG) {
      assert.deepEqual(pollConfigComplaints(pollConfig, "https://somewhere.example/"), [], id);
      assert.match(description, /^[A-Z].*\.$/);
    }
  });

  for (const { id, url, headers, body, pollUrl, forwarded } of FIRST_CALLS) {
    it(`${id}: polls the documented status URL with the vendor's credential`, () => {
      const { pollConfig } = provider(id);
      const target = pollTarget({
        template: pollConfig.urlTemplate,
        config: pollConfig,
        start: lookUp(JSON.stringify(body), templatePaths(pollConfig.urlTemplate)),
        firstCall: { url, headers },
        catalogOrigins: catalogOrigins(id, pollConfig),
      });

      assert.deepEqual(target, { ok: true, url: pollUrl, headers: forwarded, withheld: [] });
    });
  }

  for (const { id, url, headers, body, cancel, forwarded } of FIRST_CALLS) {
    it(`${id}: ${cancel === null ? "has no cancel URL" : "cancels at the documented URL with the credential"}`, () => {
      const { pollConfig } = provider(id);
      const planned = planPolling(id, pollConfig, { body: JSON.stringify(body) }, { url, headers });
      assert.ok(planned.ok);
      const target = planned.plan.cancel;

      if (cancel === null) {
        assert.equal(target, undefined);
        assert.equal("cancelUrlTemplate" in pollConfig || "cancelMethod" in pollConfig, false);
      } else {
        assert.equal(`${pollConfig.cancelMethod} ${target?.url}`, cancel);
        assert.deepEqual(target?.headers, forwarded);
      }
    });
  }

  it("fal: cancels without the credential on another origin", () => {
    const { pollConfig } = provider("fal");
    const body = { ...FIRST_CALLS[0].body, cancel_url: "https://attacker.example/cancel" };
    const planned = planPolling("fal", pollConfig, { body: JSON.stringify(body) }, FIRST_CALLS[0]);

    assert.ok(planned.ok);
    assert.deepEqual(planned.plan.cancel?.headers, {});
    assert.deepEqual(planned.plan.cancel?.withheld, ["Authorization"]);
  });

  for (const [id, name, outcome, [kind, text]] of ANSWERS) {
    it(`${id}: ${name} means ${kind}`, () => {
      const poll = { url: "https://poll.example/", durationMs: 1, keepBytes: 1_048_576 };
      const verdict = judgePoll(provider(id).pollConfig, outcome, FRESH_POLL, poll);

      assert.equal(verdict.kind, kind);
      if (verdict.kind === "done") assert.equal(verdict.result.body, text);
      if (verdict.kind === "failed" || verdict.kind === "again") assert.equal(verdict.error, text);
    });
  }

  it("fal: uses the whole body as the result, and a failed fetch as a failed job", () => {
    const { pollConfig } = provider("fal");
    const poll = { url: "https://poll.example/", durationMs: 1, keepBytes: 1_048_576 };
    const images = '{"images":[{"url":"https://v3.fal.media/1.png"}],"seed":16133521434203533000}';
    const invalid = '{"detail":[{"loc":["body","prompt"],"msg":"Field required","type":"missing"}]}';

    const done = judgeResultFetch(pollConfig, answer(200, images), FRESH_POLL, poll);
    const failed = judgeResultFetch(pollConfig, answer(422, invalid), FRESH_POLL, poll);

    assert.ok(done.kind === "done" && done.result.body === images);
    assert.ok(failed.kind === "failed" && failed.error === invalid);
  });
});
