import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { createBellhop } from "../src/client.ts";
import type { ClientOptions } from "../src/client-options.ts";
import { BellhopError } from "../src/errors.ts";

const VARIABLES = ["BELLHOP_URL", "BELLHOP_API_KEY"] as const;
const KEY = "bh_live_secret";
const JOB = { queue: "default", webhookUrl: "https://target.example/" };
const CREATED = { id: "task_1", queue: "default", status: "pending", created_at: "now" };

interface Sent {
  readonly url: string;
  readonly headers: Headers;
  readonly body: unknown;
}

/** Options whose requests are recorded, and all answered with a task. */
function recorded(): { readonly sent: Sent[]; readonly fetch: typeof fetch } {
  const sent: Sent[] = [];
  const record: typeof fetch = async (input, init = {}) => {
    sent.push({
      url: String(input),
      headers: new Headers(init.headers),
      body: JSON.parse(String(init.body ?? null)),
    });
    return new Response(JSON.stringify(CREATED), { status: 201 });
  };
  return { sent, fetch: record };
}

/** What JavaScript callers can give, whatever the types say. */
function untyped(options: object): ClientOptions {
  return options;
}

describe("createBellhop", () => {
  const before = Object.fromEntries(VARIABLES.map((name) => [name, process.env[name]]));
  beforeEach(() => {
    for (const name of VARIABLES) delete process.env[name];
  });
  afterEach(() => {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  it("reads URL and key from the environment when they are not given", async () => {
    Object.assign(process.env, {
      BELLHOP_URL: "https://bellhop.example/base/",
      BELLHOP_API_KEY: ` ${KEY}\n`,
    });
    const { sent, fetch } = recorded();
    await createBellhop({ fetch }).me();
    await createBellhop({ fetch, url: undefined, apiKey: undefined }).me();
    await createBellhop({ fetch, url: "http://other.example", apiKey: "bh_live_other" }).me();
    assert.deepEqual(
      sent.map(({ url, headers }) => [url, headers.get("authorization")]),
      [
        ["https://bellhop.example/base/v1/me", `Bearer ${KEY}`],
        ["https://bellhop.example/base/v1/me", `Bearer ${KEY}`],
        ["http://other.example/v1/me", "Bearer bh_live_other"],
      ],
    );
  });

  it("defaults to the local server, and throws without a key", async () => {
    assert.throws(() => createBellhop(), {
      name: "BellhopError",
      message: /BELLHOP_API_KEY, or give apiKey/,
    });
    process.env.BELLHOP_API_KEY = "";
    assert.throws(() => createBellhop(), /API key is missing/);
    process.env.BELLHOP_API_KEY = KEY;
    const { sent, fetch } = recorded();
    await createBellhop({ fetch }).me();
    assert.equal(sent[0]?.url, "http://127.0.0.1:8787/v1/me");
    assert.doesNotThrow(() => createBellhop());
  });

  it("throws for an invalid URL, and says what to write", () => {
    const refused = (url: unknown) => () => createBellhop(untyped({ url, apiKey: KEY }));
    assert.throws(refused("bellhop.example:8787"), {
      message: "url has no scheme: write https:// before its host",
    });
    assert.throws(refused("bellhop.example/base"), /https:\/\/ before/);
    for (const url of ["localhost:8787", "127.0.0.1:8787", "[::1]:8787"]) {
      assert.throws(refused(url), /has no scheme: write http:\/\/ before/, url);
    }
    for (const url of ["", " ", "ftp://a.example", "http://", "https://a.example?b", 7, null]) {
      assert.throws(
        refused(url),
        { name: "BellhopError", message: /url must be the address of/ },
        String(url),
      );
    }
    assert.throws(
      refused("https://user:pass-word@a.example"),
      (error: Error) => /user name and password/.test(error.message) && !error.message.includes("pass-word"),
    );
    process.env.BELLHOP_URL = "localhost:8787";
    assert.throws(refused(undefined), /^BellhopError: BELLHOP_URL has no scheme/);
  });

  it("throws for an invalid key without showing it", () => {
    for (const apiKey of ["", "  ", "bh_live_se\ncret", "bh_live_sécret", 7]) {
      assert.throws(
        () => createBellhop(untyped({ apiKey })),
        (error: Error) =>
          error instanceof BellhopError && /^apiKey/.test(error.message) && !/live_s/.test(error.message),
      );
    }
    process.env.BELLHOP_API_KEY = "bh_live_se cret";
    assert.throws(() => createBellhop(), { message: "BELLHOP_API_KEY has characters that no API key has" });
  });

  it("throws for unknown options and invalid values", () => {
    const refused = (options: object) => () => createBellhop(untyped({ apiKey: KEY, ...options }));
    assert.throws(refused({ apikey: KEY }), { message: 'Unknown option "apikey": did you mean "apiKey"?' });
    assert.throws(refused({ baseUrl: "http://a.example" }), /did you mean "url"/);
    assert.throws(refused({ retries: 1 }), /did you mean "maxRetries"/);
    assert.throws(refused({ verbose: true }), /known are url, apiKey, timeoutMs/);
    assert.throws(refused({ timeoutMs: "30" }), /timeoutMs must be a number/);
    assert.throws(refused({ maxRetries: -1 }), /maxRetries must be a number/);
    // @ts-expect-error The types refuse it too.
    assert.throws(() => createBellhop({ apiKey: KEY, timeout: 5 }), /did you mean "timeoutMs"/);
    // @ts-expect-error A key alone is no options.
    assert.throws(() => createBellhop(KEY), /Options must be an object/);
  });
});

describe("request options", () => {
  const clientOf = () => {
    const { sent, fetch } = recorded();
    return {
      sent,
      bellhop: createBellhop({ url: "https://bellhop.example", apiKey: KEY, fetch, maxRetries: 0 }),
    };
  };

  it("set the idempotency key of a creation", async () => {
    const { sent, bellhop } = clientOf();
    await bellhop.tasks.create(JOB, { idempotencyKey: "order 42" });
    await bellhop.tasks.call({ targetUrl: "https://target.example/" }, { idempotencyKey: "order 42" });
    await bellhop.tasks.create({ ...JOB, idempotencyKey: "order 42" }, { idempotencyKey: "order 42" });
    await bellhop.tasks.create({ ...JOB, idempotencyKey: undefined }, { idempotencyKey: undefined });
    const keys = sent.map(({ headers }) => headers.get("idempotency-key"));
    assert.deepEqual(keys.slice(0, 3), ["order 42", "order 42", "order 42"]);
    assert.match(keys[3] ?? "", /^[0-9a-f]{32}$/);
  });

  it("refuse a key that differs from the task's, or that is no valid header", async () => {
    const { sent, bellhop } = clientOf();
    const task = { ...JOB, idempotencyKey: "one" };
    await assert.rejects(bellhop.tasks.create(task, { idempotencyKey: "other" }), /another idempotencyKey/);
    for (const idempotencyKey of ["", "schlüssel", "x".repeat(256)]) {
      await assert.rejects(bellhop.tasks.create(JOB, { idempotencyKey }), /printable ASCII/);
    }
    assert.equal(sent.length, 0);
  });

  it("create a key for each task of a batch, even if a task has it as undefined", async () => {
    const { sent, bellhop } = clientOf();
    await bellhop.tasks.createMany([{ ...JOB, idempotencyKey: undefined }], { atomic: undefined });
    assert.match(JSON.stringify(sent[0]?.body), /"idempotency_key":"[0-9a-f]{32}"/);
  });

  it("are refused by every method when one is unknown, before a request is sent", async () => {
    const { sent, bellhop } = clientOf();
    const unknown = { timeout: 5 } as { timeoutMs?: number };
    const drain = async (items: AsyncIterable<unknown>) => {
      for await (const _ of items);
    };
    const calls: Record<string, () => Promise<unknown>> = {
      create: () => bellhop.tasks.create(JOB, unknown),
      createMany: () => bellhop.tasks.createMany([JOB], unknown),
      get: () => bellhop.tasks.get("task_1", unknown),
      wait: () => bellhop.tasks.wait("task_1", unknown),
      retry: () => bellhop.tasks.retry("task_1", {}, unknown),
      bulk: () => bellhop.tasks.bulk.get("bulk_1", unknown),
      tasks: () => drain(bellhop.tasks.list({}, unknown)),
      audit: () => drain(bellhop.audit.list({}, unknown)),
      queues: () => bellhop.queues.list({}, unknown),
      ensure: () => bellhop.queues.ensure({ name: "q" }, unknown),
      update: () => bellhop.queues.update("q", {}, unknown),
      tokens: () => bellhop.tokens.list(unknown),
      me: () => bellhop.me(unknown),
      health: () => bellhop.health.live(unknown),
    };
    for (const [name, call] of Object.entries(calls)) {
      await assert.rejects(call(), { message: 'Unknown option "timeout": did you mean "timeoutMs"?' }, name);
    }
    await assert.rejects(drain(bellhop.events({}, unknown as object)), /Unknown option "timeout"/);
    assert.equal(sent.length, 0);
  });

  it("are checked by the types too", async () => {
    const { sent, bellhop } = clientOf();
    // @ts-expect-error Only a creation has an idempotency key.
    const reading = bellhop.tasks.get("task_1", { idempotencyKey: "x" });
    await assert.rejects(reading, /Unknown option "idempotencyKey"/);
    // @ts-expect-error A list without a filter takes options alone.
    await assert.rejects(bellhop.tokens.list({ limit: 5 }), /Unknown option "limit"/);
    // @ts-expect-error Milliseconds are a number.
    await assert.rejects(bellhop.me({ timeoutMs: "5" }), /timeoutMs must be a number/);
    // @ts-expect-error A controller is not its signal.
    await assert.rejects(bellhop.me({ signal: new AbortController() }), /signal must be an AbortSignal/);
    // @ts-expect-error As `ids.map(bellhop.tasks.get)` would.
    await assert.rejects(bellhop.tasks.get("task_1", 0), /Options must be an object, not 0/);
    assert.equal(sent.length, 0);
  });

  it("limit a timeout to the maximum of a timer", async (test) => {
    const timers = test.mock.method(globalThis, "setTimeout");
    await clientOf().bellhop.me({ timeoutMs: Number.POSITIVE_INFINITY });
    // A longer one goes off at once.
    assert.deepEqual(timers.mock.calls[0]?.arguments[1], 2 ** 31 - 1);
  });
});
