import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createBellhop } from "../src/client.ts";
import type { ClientOptions } from "../src/client-options.ts";
import { ApiError, BellhopError, ConnectionError, TimeoutError } from "../src/errors.ts";

interface Sent {
  readonly url: string;
  readonly init: RequestInit;
  readonly headers: Headers;
}
type Reply = (sent: Sent) => Response | Promise<Response>;

const JOB = { queue: "default", webhookUrl: "https://target.example/" };
const CREATED = {
  id: "task_1",
  queue: "default",
  status: "pending",
  priority: 5,
  delay: 0,
  created_at: "now",
};
const LOST: Reply = () => Promise.reject(new TypeError("fetch failed"));

function reply(status: number, body: unknown, headers: Record<string, string> = {}): Reply {
  return () => new Response(JSON.stringify(body), { status, headers });
}

function refusal(status: number, code: string, retryAfter: string | null = "0"): Reply {
  return reply(status, { error: code, code }, retryAfter === null ? {} : { "retry-after": retryAfter });
}

/** A client whose requests get these replies, one after the other. */
function clientOf(replies: readonly Reply[], options: ClientOptions = {}) {
  const sent: Sent[] = [];
  const bellhop = createBellhop({
    url: "https://bellhop.example/",
    apiKey: "bh_live_x",
    retryDelayMs: 0,
    ...options,
    fetch: async (input, init = {}) => {
      const one = { url: String(input), init, headers: new Headers(init.headers) };
      sent.push(one);
      const answer = replies[sent.length - 1];
      assert.ok(answer, `request ${sent.length} was not expected`);
      return answer(one);
    },
  });
  return { bellhop, sent };
}

describe("a request", () => {
  it("to create a task is repeated with the same key and body until it is answered", async () => {
    const { bellhop, sent } = clientOf([LOST, refusal(503, "database_away"), reply(201, CREATED)]);

    const task = await bellhop.tasks.create(JOB);

    assert.deepEqual([task.id, task.createdAt, task.replayed], ["task_1", "now", false]);
    const keys = new Set(sent.map(({ headers }) => headers.get("idempotency-key")));
    assert.equal(keys.size, 1);
    assert.match([...keys][0] ?? "", /^[0-9a-f]{32}$/);
    assert.equal(new Set(sent.map(({ init }) => init.body)).size, 1);
    assert.equal(sent[0]?.init.body, '{"queue":"default","webhook_url":"https://target.example/"}');
  });

  it("keeps the caller's idempotency key, and reports a replay", async () => {
    const { bellhop, sent } = clientOf([reply(200, CREATED, { "idempotent-replayed": "true" })]);
    assert.equal((await bellhop.tasks.create({ ...JOB, idempotencyKey: "mine" })).replayed, true);
    assert.equal(sent[0]?.headers.get("idempotency-key"), "mine");
  });

  it("to wait for a task is held by the server, and repeated without wait when refused", async () => {
    const ended = { ...CREATED, status: "completed", completed_at: "now" };
    const { bellhop, sent } = clientOf([reply(200, CREATED), reply(200, ended)]);
    assert.equal((await bellhop.tasks.wait("task_1")).status, "completed");
    assert.deepEqual(new Set(sent.map(({ url }) => url.split("?")[1])), new Set(["wait=25"]));

    const crowded = clientOf([refusal(429, "too_many_waiting"), reply(200, ended)], { maxRetries: 0 });
    assert.equal((await crowded.bellhop.tasks.wait("task_1")).status, "completed");
    assert.equal(crowded.sent[1]?.url, "https://bellhop.example/v1/tasks/task_1");
  });

  it("has no credential when apiKey is null", async () => {
    const { bellhop, sent } = clientOf([reply(200, { queues: [] })], { apiKey: null });
    await bellhop.queues.list();
    assert.equal(sent[0]?.headers.get("authorization"), null);
  });

  it("is not sent when the apiKey function returns no key or an invalid one", async () => {
    for (const key of ["", "bh_live_se\ncret"]) {
      const { bellhop } = clientOf([], { apiKey: () => key });
      await assert.rejects(bellhop.me(), (error: Error) => {
        return (
          error instanceof BellhopError &&
          /apiKey\(\)/.test(error.message) &&
          !error.message.includes("bh_live")
        );
      });
    }
  });

  it("to read is repeated after a lost connection or a 502 of a proxy", async () => {
    const { bellhop } = clientOf([LOST, refusal(502, "?", null), reply(200, { queues: [] })]);
    assert.deepEqual(await bellhop.queues.list(), []);
  });

  it("to write is not repeated when it may have been processed", async () => {
    const lost = clientOf([LOST]);
    await assert.rejects(lost.bellhop.queues.create({ name: "q" }), ConnectionError);
    const away = clientOf([refusal(503, "database_away")]);
    await assert.rejects(away.bellhop.queues.create({ name: "q" }), { code: "database_away" });
  });

  it("of any kind is repeated when the server refused it unprocessed", async () => {
    const { bellhop, sent } = clientOf([
      refusal(429, "rate_limited"),
      refusal(503, "overloaded"),
      refusal(503, "stopping"),
      reply(200, { name: "q", deleted: true, tasks_deleted: 2 }),
    ]);
    assert.equal((await bellhop.queues.delete("q")).tasksDeleted, 2);
    assert.equal(sent.length, 4);
  });

  it("is given up after maxRetries, a permanent refusal, or a long Retry-After", async () => {
    const many = clientOf([LOST, LOST], { maxRetries: 1 });
    await assert.rejects(many.bellhop.me(), ConnectionError);
    const off = clientOf([refusal(503, "vault_off", null)]);
    await assert.rejects(off.bellhop.tokens.list(), { code: "vault_off" });
    const bug = clientOf([refusal(500, "internal", null)]);
    await assert.rejects(bug.bellhop.me(), { status: 500 });
    const long = clientOf([refusal(429, "rate_limited", "61")]);
    await assert.rejects(long.bellhop.me(), { retryAfterMs: 61_000 });
  });

  it("has the credential only for routes that need one", async () => {
    const { bellhop, sent } = clientOf([reply(200, { providers: [] }), reply(200, { tokens: [] })], {
      apiKey: async () => "bh_live_fresh\n",
    });
    await bellhop.providers.list();
    await bellhop.tokens.list();
    assert.deepEqual(
      sent.map(({ headers }) => headers.get("authorization")),
      [null, "Bearer bh_live_fresh"],
    );
  });

  it("does not follow a redirect", async () => {
    const { bellhop, sent } = clientOf([reply(302, {}, { location: "https://other.example/" })]);
    await assert.rejects(bellhop.me(), { status: 302 });
    assert.equal(sent[0]?.init.redirect, "manual");
  });

  it("is refused when its id is empty or ..", async () => {
    const { bellhop } = clientOf([]);
    for (const id of ["", "..", JSON.parse("{}").id]) {
      await assert.rejects(bellhop.queues.delete(id), BellhopError);
    }
  });

  it("ends with the signal's reason, even while it waits to be repeated", async () => {
    const reason = new Error("enough");
    const control = new AbortController();
    const { bellhop } = clientOf([
      () => {
        setImmediate(() => control.abort(reason));
        return new Response("{}", { status: 429, headers: { "retry-after": "30" } });
      },
    ]);
    await assert.rejects(bellhop.me({ signal: control.signal }), reason);
  });

  it("waits for Retry-After in seconds or as a date, and gives up when that is long", async () => {
    for (const soon of ["0", "Thu, 01 Jan 1970 00:00:00 GMT"]) {
      // A pause of its own would last an hour.
      const { bellhop, sent } = clientOf([refusal(503, "busy", soon), reply(200, { tasks: [] })], {
        retryDelayMs: 3_600_000,
      });
      await bellhop.tasks.page();
      assert.equal(sent.length, 2);
    }
    for (const late of ["3600", new Date(Date.now() + 3_600_000).toUTCString()]) {
      const { bellhop, sent } = clientOf([refusal(503, "busy", late)]);
      await assert.rejects(bellhop.tasks.page(), (error) => {
        assert.ok(error instanceof ApiError && error.retryAfterMs !== null);
        return error.retryAfterMs > 3_000_000 && error.retryAfterMs <= 3_600_000;
      });
      assert.equal(sent.length, 1);
    }
  });

  it("for a list returns all items as an array, or the first ones without further pages", async () => {
    const page = (ids: number[], nextCursor: string | null) =>
      reply(200, { tasks: ids.map((id) => ({ id })), pagination: { nextCursor } });
    const all = clientOf([page([1, 2], "a"), page([3], null)]);
    assert.deepEqual(await all.bellhop.tasks.list().toArray(), [{ id: 1 }, { id: 2 }, { id: 3 }]);
    const some = clientOf([page([1, 2], "a")]);
    assert.deepEqual(await some.bellhop.tasks.list().toArray(2), [{ id: 1 }, { id: 2 }]);
    assert.deepEqual(await clientOf([]).bellhop.tasks.list().toArray(0), []);
  });

  it("rejects with TimeoutError if no answer comes in time", async () => {
    const hang: Reply = ({ init }) =>
      new Promise((_, reject) => init.signal?.addEventListener("abort", () => reject(init.signal?.reason)));
    const { bellhop } = clientOf([hang], { maxRetries: 0 });
    await assert.rejects(bellhop.me({ timeoutMs: 1 }), TimeoutError);
  });
});

describe("an answer", () => {
  it("with an error status throws status, code, request id, details and rate limit", async () => {
    const details = [{ field: "priority", error: "priority must be an integer between 1 and 10" }];
    const { bellhop } = clientOf([
      reply(
        400,
        { error: "priority must be …", code: "invalid", details },
        {
          "x-request-id": "req_1",
          "x-ratelimit-limit": "60",
          "x-ratelimit-remaining": "3",
          "x-ratelimit-reset": "1767225600",
        },
      ),
    ]);
    const limit = { limit: 60, remaining: 3, resetAt: new Date("2026-01-01T00:00:00Z") };
    await assert.rejects(bellhop.tasks.create(JOB), (error) => {
      assert.ok(error instanceof ApiError);
      const { status, code, requestId, rateLimit, message } = error;
      assert.deepEqual(
        { status, code, requestId, rateLimit, message, details: error.details },
        {
          status: 400,
          code: "invalid",
          requestId: "req_1",
          rateLimit: limit,
          message: "priority must be …",
          details,
        },
      );
      return true;
    });
    assert.deepEqual(bellhop.rateLimit, limit);
  });

  it("of a newer server keeps unknown fields", async () => {
    const { bellhop } = clientOf([
      reply(200, {
        ...CREATED,
        status: "dreaming",
        payload: { a_b: 1 },
        attempts: [],
        brand_new: { x_y: 1 },
      }),
    ]);
    assert.deepEqual(Object.entries(await bellhop.tasks.get("task_1")).slice(-4), [
      ["createdAt", "now"],
      ["payload", { a_b: 1 }],
      ["attempts", []],
      ["brandNew", { xY: 1 }],
    ]);
  });

  it("with a page of a list is followed by requests for the other pages", async () => {
    const page = (name: string, nextCursor: string | null) =>
      reply(200, { queues: [{ name }], pagination: { limit: 1, hasMore: nextCursor !== null, nextCursor } });
    const { bellhop, sent } = clientOf([page("a", "next one"), page("b", null)]);
    assert.deepEqual(
      (await bellhop.queues.list()).map(({ name }) => name),
      ["a", "b"],
    );
    assert.equal(sent[1]?.url, "https://bellhop.example/v1/queues?cursor=next+one");
  });

  it("that is not from Bellhop throws, whatever its status", async () => {
    const page = (status: number) => () => new Response("<html>", { status });
    const { bellhop } = clientOf([page(200), page(403)]);
    await assert.rejects(bellhop.me(), BellhopError);
    await assert.rejects(bellhop.me(), { status: 403, code: "unknown" });
  });
});

describe("events", () => {
  const stream =
    (...blocks: string[]): Reply =>
    () =>
      new Response(blocks.join(""), { status: 200 });
  const ready = (id: string) => `id: ${id}\nevent: ready\ndata: {}\n\n`;
  const told = (id: string) =>
    `id: ${id}\nevent: task.created\ndata: {"task":{"id":"${id}","created_at":"now"}}\n\n`;

  it("resume after the last id when the connection breaks, and end at a permanent refusal", async () => {
    const { bellhop, sent } = clientOf([
      stream(ready("0")),
      stream(ready("0"), ": still here\nid: 0\n\n", told("1"), "id: 2\nevent: task.cre"),
      LOST,
      refusal(503, "database_away"),
      stream(ready("1"), "id: 1\nevent: reset\ndata: {}\n\n", told("3")),
      refusal(401, "api_key_invalid"),
    ]);
    const events: unknown[] = [];
    const readyIds: string[] = [];
    const query = { queue: "default", types: ["task.created"] };
    const reading = async () => {
      for await (const event of bellhop.events(query, { onReady: (id) => readyIds.push(id) }))
        events.push(event);
    };

    await assert.rejects(reading(), { code: "api_key_invalid" });
    assert.deepEqual(events, [
      { id: "1", type: "task.created", task: { id: "1", createdAt: "now" } },
      { id: "1", type: "reset" },
      { id: "3", type: "task.created", task: { id: "3", createdAt: "now" } },
    ]);
    assert.deepEqual(
      sent.map(({ headers }) => headers.get("last-event-id")),
      [null, "0", "1", "1", "1", "3"],
    );
    assert.deepEqual(readyIds, ["0", "0", "1"]);
    assert.equal(sent[0]?.url, "https://bellhop.example/v1/events?queue=default&types=task.created");
  });

  it("end when the reader stops or the signal is aborted", async () => {
    const leaving = clientOf([stream(told("1"), told("2"))]);
    for await (const { id } of leaving.bellhop.events()) {
      assert.equal(id, "1");
      break;
    }
    const { bellhop } = clientOf([stream(told("1"))]);
    const over = new AbortController();
    const reading = async () => {
      for await (const _ of bellhop.events({}, { signal: over.signal })) over.abort(new Error("enough"));
    };
    await assert.rejects(reading(), { message: "enough" });
  });
});
