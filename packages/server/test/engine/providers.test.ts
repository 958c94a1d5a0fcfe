import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import type { PollConfig } from "../../src/domain/poll/poll-config.ts";
import { PROVIDER_CATALOG } from "../../src/domain/poll/provider-catalog.ts";
import type { TaskRequest } from "../../src/domain/task-copies.ts";
import { openTestServer, type TestServer } from "../test-server.ts";

interface Reply {
  readonly code?: number;
  readonly body: unknown;
}

/** A vendor as it documents itself, and the interval and maxDuration of its catalog entry. */
interface Vendor {
  readonly id: string;
  readonly interval: number;
  readonly maxDuration: number;
  readonly headers: Readonly<Record<string, string>>;
  /** What of them must reach the polls. */
  readonly forwarded: Readonly<Record<string, string>>;
  readonly start: (origin: string) => Reply;
  readonly statusPath: string;
  readonly running: readonly Reply[];
  readonly done: Reply;
  readonly result: (origin: string) => string;
  readonly failures: readonly (readonly [Reply, string])[];
  /** Only where the result is fetched from a place of its own. */
  readonly resultPath?: string;
  readonly resultReply?: Reply;
  /** Only where the vendor documents how a job is cancelled: method and path. */
  readonly cancel?: string;
}

const IMAGES = '{"images":[{"url":"https://v3.fal.media/1.png"}],"seed":16133521434203533000}';
const MISSING = '{"detail":[{"loc":["body","prompt"],"msg":"Field required","type":"missing"}]}';
const VIDEO = "\0\0\0\u0018ftypmp42";

const VENDORS: readonly Vendor[] = [
  {
    id: "fal",
    interval: 3,
    maxDuration: 600,
    headers: { Authorization: "Key fal-secret" },
    forwarded: { authorization: "Key fal-secret" },
    start: (origin) => ({
      body: {
        request_id: "80e7",
        status_url: `${origin}/fal-ai/flux/requests/80e7/status`,
        response_url: `${origin}/fal-ai/flux/requests/80e7`,
        cancel_url: `${origin}/fal-ai/flux/requests/80e7/cancel`,
      },
    }),
    statusPath: "/fal-ai/flux/requests/80e7/status",
    cancel: "PUT /fal-ai/flux/requests/80e7/cancel",
    running: [
      { code: 202, body: { status: "IN_QUEUE", queue_position: 3 } },
      { code: 202, body: { status: "IN_PROGRESS", logs: [] } },
    ],
    done: { body: { status: "COMPLETED", metrics: { inference_time: 3.7 } } },
    resultPath: "/fal-ai/flux/requests/80e7",
    resultReply: { body: IMAGES },
    result: () => IMAGES,
    // It has no failed status: the result tells.
    failures: [],
  },
  {
    id: "replicate",
    interval: 5,
    maxDuration: 600,
    headers: { Authorization: "Bearer r8_secret", Prefer: "respond-async" },
    forwarded: { authorization: "Bearer r8_secret" },
    start: () => ({ code: 201, body: { id: "gm3q", status: "starting", output: null, error: null } }),
    statusPath: "/v1/predictions/gm3q",
    cancel: "POST /v1/predictions/gm3q/cancel",
    running: [
      { body: { id: "gm3q", status: "starting", output: null, error: null } },
      { body: { id: "gm3q", status: "processing", output: ["part"] } },
    ],
    done: { body: { id: "gm3q", status: "succeeded", output: ["https://replicate.delivery/1"] } },
    result: () => '["https://replicate.delivery/1"]',
    failures: [
      [
        { body: { status: "failed", output: null, error: "CUDA out of memory" } },
        'The provider reported the status "failed"',
      ],
      [{ body: { status: "canceled", error: null } }, 'The provider reported the status "canceled"'],
    ],
  },
  {
    id: "runwayml",
    interval: 5,
    maxDuration: 600,
    headers: {
      Authorization: "Bearer key_w",
      "X-Runway-Version": "2024-11-06",
      "Content-Type": "application/json",
    },
    forwarded: { authorization: "Bearer key_w", "x-runway-version": "2024-11-06" },
    start: () => ({ body: { id: "17f2-4b" } }),
    statusPath: "/v1/tasks/17f2-4b",
    cancel: "DELETE /v1/tasks/17f2-4b",
    running: [
      { body: { id: "17f2-4b", status: "PENDING" } },
      { body: { id: "17f2-4b", status: "THROTTLED" } },
      { body: { id: "17f2-4b", status: "RUNNING", progress: 0.4 } },
    ],
    done: { body: { status: "SUCCEEDED", output: ["https://dnznrvs05pmza.cloudfront.net/1.mp4"] } },
    result: () => '["https://dnznrvs05pmza.cloudfront.net/1.mp4"]',
    failures: [
      [
        { body: { status: "FAILED", failure: "An unexpected error", failureCode: "INTERNAL" } },
        "An unexpected error",
      ],
      [{ body: { status: "CANCELLED" } }, 'The provider reported the status "CANCELLED"'],
    ],
  },
  {
    id: "luma",
    interval: 5,
    maxDuration: 600,
    headers: { authorization: "Bearer luma-secret" },
    forwarded: { authorization: "Bearer luma-secret" },
    start: () => ({ code: 201, body: { id: "d1968551", state: "queued", assets: null } }),
    statusPath: "/dream-machine/v1/generations/d1968551",
    running: [
      { body: { state: "queued", assets: null, failure_reason: null } },
      { body: { state: "dreaming", assets: null } },
    ],
    done: { body: { state: "completed", assets: { video: "https://storage.cdn-luma.com/v.mp4" } } },
    result: () => "https://storage.cdn-luma.com/v.mp4",
    failures: [[{ body: { state: "failed", failure_reason: "Moderated" } }, "Moderated"]],
  },
  {
    id: "elevenlabs-dubbing",
    interval: 10,
    maxDuration: 1800,
    headers: { "xi-api-key": "xi-secret" },
    forwarded: { "xi-api-key": "xi-secret" },
    start: () => ({ body: { dubbing_id: "21m00", expected_duration_sec: 127.5 } }),
    statusPath: "/v1/dubbing/21m00",
    running: [{ body: { dubbing_id: "21m00", status: "dubbing", error: null } }],
    done: { body: { dubbing_id: "21m00", status: "dubbed" } },
    result: () => "21m00",
    failures: [
      [{ body: { dubbing_id: "21m00", status: "failed", error: "No speech found" } }, "No speech found"],
    ],
  },
  {
    id: "stability-video",
    interval: 10,
    maxDuration: 600,
    headers: { Authorization: "Bearer sk-s", Accept: "video/*" },
    forwarded: { authorization: "Bearer sk-s" },
    start: () => ({ body: { id: "a6dc6c6e" } }),
    statusPath: "/v2beta/image-to-video/result/a6dc6c6e",
    running: [
      { code: 202, body: { id: "a6dc6c6e", status: "in-progress" } },
      { code: 429, body: { name: "rate_limit_exceeded" } },
    ],
    done: { body: VIDEO },
    result: (origin) => JSON.stringify({ url: `${origin}/v2beta/image-to-video/result/a6dc6c6e` }),
    failures: [
      [
        { code: 400, body: { name: "bad_request", errors: ["field: is required"] } },
        '["field: is required"]',
      ],
      [{ code: 404, body: { name: "not_found", errors: ["No generation"] } }, '["No generation"]'],
      [{ code: 500, body: { name: "internal_error", errors: ["Unexpected"] } }, '["Unexpected"]'],
    ],
  },
];

describe("the providers of the catalog", () => {
  let server: TestServer;
  before(async () => {
    server = await openTestServer({ maxRetries: 0, concurrency: 1 });
  });
  after(() => server.close());
  beforeEach(() => {
    server.target.calls.length = 0;
  });

  it("are all covered by these tests", () => {
    assert.deepEqual(
      VENDORS.map(({ id }) => id),
      PROVIDER_CATALOG.map(({ id }) => id),
    );
  });

  /** The entry as it is; only a host of the vendor's becomes the local one. */
  const follow = (id: string): Partial<TaskRequest> => {
    const pollConfig = PROVIDER_CATALOG.find((entry) => entry.id === id)?.pollConfig as PollConfig;
    if (!pollConfig.urlTemplate.startsWith("https://")) return { provider: id };
    const local = (template: string) => template.replace(/^https:\/\/[^/]+/, server.target.url);
    const { urlTemplate, cancelUrlTemplate } = pollConfig;
    const cancel = cancelUrlTemplate && { cancelUrlTemplate: local(cancelUrlTemplate) };
    return { pollConfig: { ...pollConfig, urlTemplate: local(urlTemplate), ...cancel } };
  };
  /** The first call is made, and the vendor goes on with these answers to the questions for its status. */
  const begin = async (vendor: Vendor, status: (poll: number) => Reply, result = vendor.resultReply) => {
    let polls = 0;
    server.target.answer = (call, response) => {
      const send = ({ code = 200, body }: Reply) =>
        response.writeHead(code).end(typeof body === "string" ? body : JSON.stringify(body));
      if (call.method === "POST") return send(vendor.start(server.target.url));
      if (call.path === vendor.statusPath) {
        polls += 1;
        return send(status(polls));
      }
      return send(call.path === vendor.resultPath && result !== undefined ? result : { code: 418, body: "" });
    };
    const call = {
      method: "POST",
      url: `${server.target.url}/start`,
      headers: vendor.headers,
      body: "{}",
    } as const;
    const from = await databaseNow();
    const id = await server.submit({ shape: "direct", call, ...follow(vendor.id) });
    await server.dispatchOnce();
    step = { from, to: await databaseNow() };
    assert.equal((await server.task(id)).status, "polling");
    return { id, polls: () => polls };
  };
  /** By the database's clock, in seconds: the last step was planned not before and not after these. */
  let step = { from: 0, to: 0 };
  const databaseNow = async () => {
    const [row] = await server.database.rows<{ now: number }>(
      "select extract(epoch from clock_timestamp())::float8 as now",
    );
    return row?.now ?? 0;
  };
  const timed = async (work: () => Promise<void>) => {
    const from = await databaseNow();
    await work();
    step = { from, to: await databaseNow() };
  };
  const look = () =>
    timed(async () => {
      await server.engine.poller.workOnce();
      await server.engine.poller.finished();
    });
  const planned = async (id: string) => {
    const [row] = await server.database.rows<{ next: number; left: number }>(
      `select extract(epoch from run_at)::float8 as next,
              extract(epoch from deadline_at - run_at)::float8 as left from tasks where id = $1`,
      [id],
    );
    return row ?? { next: 0, left: 0 };
  };
  /** Lets time pass until so many seconds before the next poll or the end of polling, however long the test has taken. */
  const passUntil = async (id: string, what: "run_at" | "deadline_at", seconds: number) => {
    const [row] = await server.database.rows<{ left: number }>(
      `select extract(epoch from ${what} - clock_timestamp())::float8 as left from tasks where id = $1`,
      [id],
    );
    await server.advance((row?.left ?? 0) - seconds);
  };
  /** Exactly so long after the step before it. */
  const assertNextIn = async (id: string, seconds: number) => {
    const plannedAt = (await planned(id)).next - seconds;
    const { from, to } = step;
    assert.ok(plannedAt >= from - 0.001 && plannedAt <= to + 0.001, `${plannedAt - from} s off`);
  };
  const forwardedOf = (vendor: Vendor, headers: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(
      Object.keys({ ...vendor.forwarded, authorization: "", "x-api-key": "", "xi-api-key": "", prefer: "" })
        .filter((name) => headers[name] !== undefined)
        .map((name) => [name, headers[name]]),
    );

  for (const vendor of VENDORS) {
    it(`${vendor.id}: is polled every ${vendor.interval} s through all states to the result`, async () => {
      const { running, interval, maxDuration } = vendor;
      const { id, polls } = await begin(vendor, (poll) => running[poll - 1] ?? vendor.done);
      assert.ok(Math.abs((await planned(id)).left - (maxDuration - interval)) < 0.001);
      for (let made = 0; made < running.length; made += 1) {
        await assertNextIn(id, interval);
        await passUntil(id, "run_at", 1);
        await look();
        assert.equal(polls(), made, "not before the interval has passed");
        await server.advance(1);
        await look();
        assert.equal(polls(), made + 1);
        assert.equal((await server.task(id)).status, "polling");
      }
      await assertNextIn(id, interval);
      await server.advance(interval);
      await look();

      const task = await server.task(id);
      assert.equal(task.status, "completed");
      assert.equal(task.result?.statusCode, 200);
      assert.equal(task.result?.body, vendor.result(server.target.url));
      assert.equal(task.error, null);
      const [, ...asked] = server.target.calls;
      const paths = Array.from({ length: running.length + 1 }, () => vendor.statusPath);
      assert.deepEqual(
        asked.map(({ method, path }) => `${method} ${path}`),
        [...paths, ...(vendor.resultPath === undefined ? [] : [vendor.resultPath])].map(
          (path) => `GET ${path}`,
        ),
      );
      for (const { headers, body } of asked) {
        assert.deepEqual(forwardedOf(vendor, headers), vendor.forwarded);
        assert.equal(body, "");
      }
      await server.advance(maxDuration);
      await look();
      await server.engine.deadlines.expireOnce();
      assert.equal(polls(), running.length + 1, "it is over");
      assert.equal((await server.task(id)).status, "completed");
    });

    const told = vendor.cancel ?? "nothing, as it documents no way to cancel";
    it(`${vendor.id}: a cancel of a polling task sends the vendor ${told}`, async () => {
      const { id } = await begin(vendor, () => vendor.running[0] as Reply);
      await server.tasks.cancel(server.principal, id);
      await server.engine.cancellations.finished();

      const [, ...asked] = server.target.calls;
      assert.deepEqual(
        asked.map(({ method, path }) => `${method} ${path}`),
        vendor.cancel === undefined ? [] : [vendor.cancel],
      );
      for (const { headers, body } of asked) {
        assert.deepEqual(forwardedOf(vendor, headers), vendor.forwarded);
        assert.equal(body, "");
      }
    });

    for (const [reply, error] of vendor.failures) {
      it(`${vendor.id}: fails the task without a retry: ${error}`, async () => {
        const { id, polls } = await begin(vendor, (poll) =>
          poll === 1 ? (vendor.running[0] as Reply) : reply,
        );
        for (let round = 0; round < 2; round += 1) {
          await server.advance(vendor.interval);
          await look();
        }
        await server.advance(1000);
        await server.dispatchOnce();
        await look();

        const task = await server.task(id);
        assert.equal(task.status, "failed");
        assert.equal(task.failureReason, "poll_failed");
        assert.equal(task.error, error);
        assert.equal(polls(), 2);
        assert.equal(task.attempts.length, 1);
        assert.equal(server.target.calls.length, 3);
      });
    }

    it(`${vendor.id}: fails the task after ${vendor.maxDuration} s of polling, not before`, async () => {
      const { id, polls } = await begin(vendor, () => vendor.running.at(-1) as Reply);
      const rounds = Math.floor(vendor.maxDuration / vendor.interval) - 1;
      // All but the last few rounds at once: a poll that is late is made once.
      await server.advance(vendor.interval * (rounds - 2));
      await look();
      for (let round = 0; round < 2; round += 1) {
        await server.advance(vendor.interval);
        await look();
        await server.engine.deadlines.expireOnce();
      }
      assert.equal(polls(), 3);
      await passUntil(id, "deadline_at", 1.5);
      await server.engine.deadlines.expireOnce();
      assert.equal((await server.task(id)).status, "polling");
      await server.advance(1.5);
      await server.engine.deadlines.expireOnce();

      const task = await server.task(id);
      assert.equal(task.status, "failed");
      assert.equal(task.failureReason, "poll_timeout");
      const [text, lastPoll = ""] = (task.error ?? "").split(": last poll failed: ");
      assert.equal(text, `Polling timed out after ${vendor.maxDuration} s`);
      // One vendor answers 429 while a job goes on.
      assert.equal(lastPoll, vendor.id === "stability-video" ? "The provider answered 429" : "");
      await server.advance(1000);
      await look();
      assert.equal(polls(), 3);
    });
  }

  it("fal: fails the task when the result after COMPLETED answers 422", async () => {
    const [fal] = VENDORS as [Vendor];
    const { id } = await begin(fal, () => fal.done, { code: 422, body: MISSING });
    await server.advance(fal.interval);
    await look();
    const task = await server.task(id);
    assert.equal(task.status, "failed");
    assert.equal(task.failureReason, "poll_failed");
    assert.equal(task.error, MISSING);
    assert.equal(server.target.calls.length, 3);
  });

  it("stability-video: stores no bytes of a binary result", async () => {
    const vendor = VENDORS.at(-1) as Vendor;
    const { id } = await begin(vendor, () => ({ body: "secret-bytes".repeat(100_000) }));
    await server.advance(vendor.interval);
    await look();
    assert.equal((await server.task(id)).status, "completed");
    const [row] = await server.database.rows<{ text: string }>(
      "select row_to_json(t)::text as text from tasks t where id = $1",
      [id],
    );
    assert.ok(!row?.text.includes("secret-bytes"));
  });
});
