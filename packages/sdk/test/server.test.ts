import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, realpath, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import createClient from "openapi-fetch";
import { freePort } from "../../../tools/free-port.ts";
import { startEcho } from "../../server/src/cli/echo.ts";
import { ROOT } from "../../server/test/places.ts";
import { copyDataDir } from "../../server/test/server/data-dir.ts";
import { API_KEY, type ServerProcess, startServer, until } from "../../server/test/server/server-process.ts";
import { type Bellhop, createBellhop } from "../src/client.ts";
import { ApiError, TimeoutError } from "../src/errors.ts";
import { handler } from "../src/handler.ts";
import type { paths } from "../src/openapi.ts";
import { NoRetry, type ReceivedCall } from "../src/receiver.ts";
import { compile, examplesOf, install, pack, runExample } from "./packed.ts";

describe("the SDK, against a real server", () => {
  let dataDir: string;
  let server: ServerProcess;
  let bellhop: Bellhop;
  /** An endpoint that receives by `handler`, as a user would write it. */
  const receiver = createServer();
  const received: ReceivedCall[] = [];
  let target: string;

  before(async () => {
    dataDir = await copyDataDir();
    server = await startServer({ BELLHOP_DATA_DIR: dataDir });
    bellhop = createBellhop({ url: server.url, apiKey: API_KEY });
    const { secret } = await bellhop.signingSecret.get();
    receiver.on(
      "request",
      handler<{ fail?: boolean }>({ secret }, (call) => {
        received.push(call);
        if (call.payload?.fail) throw new NoRetry("nothing to be done");
        return { done_by: "handler" };
      }),
    );
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    target = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    await bellhop.queues.create({ name: "still" });
    await bellhop.queues.pause("still");
  });
  after(async () => {
    server.signal("SIGTERM");
    await server.exited;
    receiver.closeAllConnections();
    receiver.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  it("runs a queue task, and does not rename keys in payload, headers and metadata", async () => {
    const payload = { user_id: 1, deepName: { max_retries: [{ a_b: 2 }] } };
    const created = await bellhop.tasks.create({
      queue: "default",
      webhookUrl: target,
      payload,
      maxRetries: 2,
      retryBackoff: "fixed",
      headers: { "x-own_name": "1" },
      metadata: { some_name: "x" },
    });
    const task = await bellhop.tasks.wait(created.id);

    assert.equal(task.status, "completed");
    assert.ok("webhookUrl" in task);
    assert.deepEqual(task.payload, payload);
    assert.deepEqual(task.headers, { "x-own_name": "1" });
    assert.deepEqual(task.metadata, { some_name: "x" });
    assert.deepEqual([task.maxRetries, task.attempts[0]?.responseCode], [2, 200]);
    assert.equal(task.result?.body, '{"done_by":"handler"}');
    const call = received.find(({ taskId }) => taskId === created.id);
    assert.deepEqual([call?.payload, call?.attempt, call?.queue], [payload, 1, "default"]);
  });

  it("runs a direct task to its end, with the body as given", async () => {
    const created = await bellhop.tasks.call({ targetUrl: target, body: { snake_name: 1 }, sign: true });
    assert.match(created.callbackUrl ?? "", /\/v1\/callbacks\//);
    const task = await bellhop.tasks.wait(created.id);

    assert.ok("targetUrl" in task);
    assert.deepEqual([task.status, task.body], ["completed", { snake_name: 1 }]);
    assert.deepEqual(received.find(({ taskId }) => taskId === created.id)?.payload, { snake_name: 1 });
  });

  it("fails a task without retry for NoRetry, and notifies its onCompleteUrl", async () => {
    const { id } = await bellhop.tasks.create({
      queue: "default",
      webhookUrl: target,
      payload: { fail: true },
      onCompleteUrl: target,
    });
    const task = await bellhop.tasks.wait(id);
    assert.deepEqual([task.status, task.failureReason, task.attempts.length], ["failed", "not_retryable", 1]);
    await until(() => received.some(({ taskId, notification }) => taskId === id && notification !== null));
    const told = received.find(({ taskId, notification }) => taskId === id && notification !== null);
    assert.equal(told?.notification?.data.task.status, "failed");

    // The receiver has answered; that the server knows it is a moment later.
    await until(async () => (await bellhop.tasks.get(id)).notifications?.[0]?.status === "delivered");
    const [resent] = (await bellhop.tasks.resendNotification(id)).notifications ?? [];
    assert.deepEqual([resent?.url, resent?.lastError], [target, null]);
    const times = () =>
      received.filter(({ taskId, notification }) => taskId === id && notification !== null).length;
    await until(() => times() >= 2);
  });

  it("creates a batch of tasks, lists them in pages, and acts on each", async () => {
    const job = { queue: "still", webhookUrl: target };
    // @ts-expect-error A task needs an address: the types of the items are those of a single creation.
    assert.equal((await bellhop.tasks.createMany([{ queue: "still" }])).results[0]?.code, "invalid");
    const { created, refused, results } = await bellhop.tasks.createMany([
      job,
      { ...job, maxRetries: 0 },
      { targetUrl: target, queue: "still", maxRetries: 1 },
      { ...job, queue: "nowhere" },
    ]);
    assert.deepEqual([created, refused, results[3]?.code], [3, 1, "queue_not_found"]);
    const listed = new Map<string, number>();
    for await (const { id, maxRetries } of bellhop.tasks.list({ queue: "still", limit: 1 })) {
      listed.set(id, maxRetries);
    }
    assert.equal(listed.size, 3);
    assert.deepEqual(
      results.slice(0, 3).map(({ task }) => listed.get(task?.id ?? "")),
      [3, 0, 1],
    );

    const [first, second] = [results[0]?.task?.id ?? "", results[1]?.task?.id ?? ""];
    assert.equal((await bellhop.tasks.explain(first)).reasons[0]?.code, "queue_paused");
    assert.equal((await bellhop.tasks.cancel(first)).status, "cancelled");
    assert.equal((await bellhop.tasks.retry(first)).status, "pending");
    assert.deepEqual(await bellhop.tasks.delete(second), { id: second, deleted: true });
    await assert.rejects(bellhop.tasks.wait(first, { timeoutMs: 0 }), TimeoutError);
  });

  it("runs a bulk action on all matching tasks", async () => {
    const { id } = await bellhop.tasks.create({ queue: "still", webhookUrl: target, tags: ["bulk"] });
    const filter = { tag: "bulk", createdAfter: "2020-01-01T00:00:00Z" };
    assert.equal(await bellhop.tasks.bulk.count({ action: "cancel", filter }), 1);
    assert.equal((await bellhop.tasks.get(id)).status, "pending");
    const bulk = await bellhop.tasks.bulk.start({ action: "cancel", filter });
    assert.equal((await bellhop.tasks.wait(id)).status, "cancelled");
    const { action, matched } = await bellhop.tasks.bulk.get(bulk.id);
    assert.deepEqual([action, matched], ["cancel", 1]);
  });

  it("creates one task for two requests with the same idempotency key", async () => {
    const job = { queue: "still", webhookUrl: target, idempotencyKey: "once" };
    const [one, other] = [await bellhop.tasks.create(job), await bellhop.tasks.create(job)];
    assert.deepEqual([one.id, one.replayed, other.replayed], [other.id, false, true]);
  });

  it("creates a queue with ensure, and changes only what differs", async () => {
    const made = await bellhop.queues.ensure({ name: "mail", maxRetries: 7 });
    assert.deepEqual(await bellhop.queues.ensure({ name: "mail", maxRetries: 7 }), made);
    const changed = await bellhop.queues.ensure({ name: "mail", concurrency: 2 });
    assert.deepEqual([changed.maxRetries, changed.concurrency], [7, 2]);
    const both = ["at-once", "at-once"].map((name) => bellhop.queues.ensure({ name, timeout: 9 }));
    assert.deepEqual(
      (await Promise.all(both)).map(({ timeout }) => timeout),
      [9, 9],
    );
  });

  it("throws an ApiError with status, code and request id", async () => {
    await assert.rejects(bellhop.tasks.get("task_none"), (error) => {
      assert.ok(error instanceof ApiError);
      assert.deepEqual([error.status, error.code, error.message], [404, "task_not_found", "Task not found"]);
      return error.requestId !== null;
    });
  });

  it("manages vault tokens, API keys, the team and its applications", async () => {
    const token = await bellhop.tokens.create({
      name: "vendor",
      value: "Bearer x",
      allowedHosts: ["a.example"],
    });
    assert.deepEqual(
      (await bellhop.tokens.list()).map(({ id }) => id),
      [token.id],
    );
    assert.equal((await bellhop.tokens.revoke(token.id)).id, token.id);

    const key = await bellhop.apiKeys.create({ name: "tests", environment: "test" });
    const tester = createBellhop({ url: server.url, apiKey: key.key });
    assert.equal((await tester.me()).environment, "test");

    assert.equal((await bellhop.team.get()).name, "Operator");
    assert.ok((await bellhop.providers.list()).length > 0);
    assert.equal((await bellhop.system()).database.embedded, true);
    assert.equal((await bellhop.health.live()).status, "ok");

    const application = await bellhop.applications.create({
      name: "reports",
      scopes: ["tasks:read"],
      grantTypes: ["client_credentials"],
    });
    const { clientId, clientSecret } = application;
    const granted = await bellhop.oauth.issueToken({
      grantType: "client_credentials",
      clientId,
      clientSecret,
    });
    const reader = createBellhop({ url: server.url, apiKey: granted.accessToken });
    assert.equal((await reader.me()).kind, "application");
    await assert.rejects(reader.queues.list(), { code: "scope_missing" });
    await assert.rejects(
      bellhop.oauth.issueToken({ grantType: "client_credentials", clientId, clientSecret: "no" }),
      {
        code: "invalid_client",
      },
    );

    const actions = [];
    for await (const { action } of bellhop.audit.list({ limit: 2 })) actions.push(action);
    assert.ok(actions.includes("api_key.created") && actions.length > 2, actions.join());
  });

  it("streams events, and manages a webhook that receives them", async () => {
    const webhook = await bellhop.webhooks.create({ url: target, events: ["task.created"], queue: "still" });
    const seen: string[] = [];
    const following = (async () => {
      for await (const event of bellhop.events({ queue: "still", types: ["task.created"] })) {
        if ("task" in event) seen.push(event.task.id);
        if (seen.length === 2) return;
      }
    })();
    const made: string[] = [];
    // Until the stream is open nothing is told: a task from before is not in it.
    await until(async () => {
      made.push((await bellhop.tasks.create({ queue: "still", webhookUrl: target, tags: ["seen"] })).id);
      return seen.length >= 2;
    });
    await following;
    const first = made.indexOf(seen[0] ?? "");
    assert.deepEqual(seen, made.slice(first, first + 2));

    const delivery = await untilDelivered(webhook.id);
    assert.deepEqual([delivery?.event, delivery?.responseCode], ["task.created", 200]);
    assert.ok(received.some(({ notification }) => String(notification?.type) === "task.created"));
    assert.deepEqual((await bellhop.webhooks.list()).length, 1);
    assert.equal((await bellhop.webhooks.update(webhook.id, { enabled: false })).enabled, false);
    assert.equal((await bellhop.webhooks.delete(webhook.id)).deleted, true);
  });

  async function untilDelivered(id: string) {
    const delivered = async () => {
      for await (const delivery of bellhop.webhooks.deliveries(id))
        if (delivery.status === "delivered") return delivery;
      return undefined;
    };
    await until(async () => (await delivered()) !== undefined);
    return delivered();
  }

  it("completes a waiting task by its callback", async () => {
    const { id, callbackId } = await bellhop.tasks.call({
      targetUrl: target,
      sign: true,
      waitForCallback: true,
    });
    const resolved = await bellhop.callbacks.resolve(callbackId ?? "", { kept_name: 1 });
    assert.deepEqual([resolved.id, resolved.result?.body], [id, '{"kept_name":1}']);
  });

  describe("packed and installed", () => {
    let home: string;
    let project: string;
    let installed: string;
    before(async () => {
      home = await realpath(await mkdtemp(join(tmpdir(), "bellhop-sdk-package-")));
      project = join(home, "project");
      installed = await install(await pack(), project);
    });
    after(() => rm(home, { recursive: true, force: true }));

    it("contains README, licence, code and types, and has no dependencies", async () => {
      assert.deepEqual((await readdir(installed)).sort(), ["LICENSE", "README.md", "dist", "package.json"]);
      const names = await readdir(join(installed, "dist"), { recursive: true });
      const others = names.filter((name) => !/\.(js|d\.ts)$/.test(name));
      assert.deepEqual(others.sort(), ["cjs", "cjs/package.json"]);
      const manifest = JSON.parse(await readFile(join(installed, "package.json"), "utf8"));
      assert.equal(manifest.dependencies, undefined);
    });

    it("compiles and runs the examples of the documentation with the results they state", async () => {
      const { secret } = await bellhop.signingSecret.get();
      const env = { BELLHOP_URL: server.url, BELLHOP_API_KEY: API_KEY, BELLHOP_SIGNING_SECRET: secret };
      // The echo is the target of the quickstart and the readme; the other pages start their own.
      const target = await startEcho({ host: "127.0.0.1", port: 0, print: () => {} });
      const examples = [
        ...(await examplesOf("docs/sdk.md", String(await freePort()))),
        ...(await examplesOf("docs/from-bullmq.md", String(await freePort()))),
        ...(await examplesOf("docs/quickstart.md", new URL(target.url).port)),
        ...(await examplesOf("README.md", new URL(target.url).port)),
      ];
      try {
        const sources = examples.map(({ source }, index) => [`example${index}`, source]);
        await compile(project, { type: "module", packages: ["zod"] }, Object.fromEntries(sources));
        for (const [index, { promise, source }] of examples.entries()) {
          const printed = await runExample(join(project, `out/example${index}.js`), env);
          assert.ok(printed.includes(promise), `${source}\nprinted ${printed}, not ${promise}`);
        }
      } finally {
        await target.stop();
      }
    });
  });

  it("runs the example picture-shop, which prints each expected line", async () => {
    const file = join(ROOT, ".build/examples/picture-shop/shop.js");
    const printed = await runExample(file, { BELLHOP_API_KEY: API_KEY, BELLHOP_URL: server.url });
    for (const line of [
      "3 mails will go out in a second",
      'completed: {"picture":"called-back.png"}',
      "3 mails are out, 3 notices have come",
      "20 mails failed in the outage 23 mails are out after all were retried",
      "report completed",
      'because: Queue "mails" is paused then completed',
    ])
      assert.ok(printed.includes(line), `${line} is missing: ${printed}`);
    assert.match(printed, /picture completed: [0-9a-f-]{36}\.png/);
  });

  it("runs the examples nightly-report and image-job", async () => {
    const vendor = await startEcho({ host: "127.0.0.1", port: 0, print: () => {} });
    const settings = { BELLHOP_URL: server.url, BELLHOP_API_KEY: API_KEY, VENDOR: vendor.url };
    const run = (name: string) => runExample(join(ROOT, `.build/examples/${name}.js`), settings);
    try {
      const [report, picture] = await Promise.all([
        run("nightly-report/schedule"),
        run("image-job/image-job"),
      ]);
      assert.match(report, /the report is made at \d{4}-\d\d-\d\dT/);
      assert.match(picture, /^polled: completed \{"video":.* called back: completed \{"answer":42/);
    } finally {
      await vendor.stop();
    }
  });

  /** What openapi-typescript makes of openapi.json, without a cast: that this file compiles is half of the test. */
  it("is not needed: a client generated from openapi.json works too", async () => {
    const client = createClient<paths>({
      baseUrl: server.url,
      headers: { authorization: `Bearer ${API_KEY}` },
    });
    const created = await client.POST("/v1/tasks", {
      body: { queue: "still", webhook_url: target, payload: { a: 1 } },
    });
    assert.ok(created.data && "id" in created.data);
    const task = await client.GET("/v1/tasks/{task_id}", { params: { path: { task_id: created.data.id } } });
    assert.ok(task.data && "webhook_url" in task.data);
    assert.equal(task.data.webhook_url, target);
    const list = await client.GET("/v1/tasks", { params: { query: { queue: "still", limit: 1 } } });
    assert.equal(list.data?.tasks[0]?.id, created.data.id);
    const missing = await client.GET("/v1/queues/{queue_name}", { params: { path: { queue_name: "none" } } });
    assert.equal(missing.error?.code, "queue_not_found");
  });
});
