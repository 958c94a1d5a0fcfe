import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { Client, QstashError } from "@upstash/qstash";
import { verifySignatureAppRouter } from "@upstash/qstash/nextjs";
import { BODY_LIMIT } from "../../api/test-api.ts";
import { until } from "../../patience.ts";
import { openScene, type Scene } from "./scene.ts";

/** Every method of the official client that publish.test.ts leaves out, against a real server on a real socket. */
describe("the official client", () => {
  let scene: Scene;
  let client: Client;
  let url: string;
  before(async () => {
    scene = await openScene();
    ({ client } = scene);
    ({ url } = scene.target);
  });
  beforeEach(() => {
    scene.target.answer = (_call, response) => response.end("ok");
  });
  after(() => scene.close());

  const unknown = (work: Promise<unknown>, status = 404) =>
    assert.rejects(work, (error) => error instanceof QstashError && error.status === status);
  const fail = (status = 500) => {
    scene.target.answer = (_call, response) => response.writeHead(status, { "X-Answer": "no" }).end("broken");
  };
  const idOf = (published: unknown) => {
    assert.ok(typeof published === "object" && published !== null && "messageId" in published);
    return String(published.messageId);
  };
  const later = (path: string, more = {}) =>
    client.publish({ url: `${url}${path}`, delay: 3600, ...more }).then(idOf);

  it("publishes a batch: messages, a URL group and a bad item, each in its place", async () => {
    await client.urlGroups.addEndpoints({
      name: "batched",
      endpoints: [{ url: `${url}/b1` }, { url: `${url}/b2` }],
    });
    const sent: unknown[] = await client.batchJSON([
      { url: `${url}/b0`, body: { a: 1 }, queueName: "batch.queue" },
      { urlGroup: "batched", body: { a: 2 } },
      { url: "not-there", body: {} },
      { url: `${url}/b3`, body: { a: 4 }, delay: 3600 },
    ]);
    await scene.settle();

    assert.equal(sent.length, 4);
    assert.ok(Array.isArray(sent[1]) && sent[1].length === 2);
    assert.ok(typeof sent[2] === "object" && sent[2] !== null && "error" in sent[2]);
    assert.deepEqual(
      ["/b0", "/b1", "/b2", "/b3"].map((path) => scene.callsTo(path).length),
      [1, 1, 1, 0],
    );
    assert.equal(scene.callsTo("/b0")[0]?.bytes.toString(), '{"a":1}');
    assert.equal(scene.callsTo("/b1")[0]?.headers["upstash-topic-name"], "batched");
    assert.equal((await client.messages.get(idOf(sent[0]))).queueName, "batch.queue");
    const [large]: unknown[] = await client.batch([{ url: `${url}/b5`, body: "x".repeat(BODY_LIMIT + 1) }]);
    assert.deepEqual(large, { error: "Request body too large" });
    const single = await client.batch([{ url: `${url}/b4`, body: "text" }]);
    assert.equal(single.length, 1);
    await unknown(client.http.request({ method: "POST", path: ["v2", "batch"], body: "{}" }), 400);
  });

  it("creates a missing queue once for a batch of 500 messages", async () => {
    const { key } = await scene.api.openTeam();
    const other = new Client({ baseUrl: scene.baseUrl, token: key, retry: false });
    const sent: unknown[] = await other.batch(
      Array.from({ length: 500 }, () => ({ url: `${url}/many`, body: "x", delay: 3600 })),
    );
    assert.equal(new Set(sent.map(idOf)).size, 500);
  });

  it("creates, changes, pauses and deletes queues, and enqueues", async () => {
    const queue = client.queue({ queueName: "orders_1.eu" });
    await queue.upsert({ parallelism: 3 });
    assert.equal((await queue.get()).parallelism, 3);
    await queue.pause();
    assert.equal((await queue.get()).paused, true);
    const id = idOf(await queue.enqueueJSON({ url: `${url}/queued`, body: { a: 1 } }));
    await queue.enqueue({ url: `${url}/queued`, body: "text" });
    await scene.settle();
    assert.equal(scene.callsTo("/queued").length, 0);
    assert.equal((await queue.get()).lag, 2);
    assert.equal((await scene.api.call("GET", "/v1/queues/orders_1.eu")).body.name, "orders_1.eu");
    await queue.resume();
    await scene.settle();
    assert.equal(scene.callsTo("/queued").length, 2);
    assert.equal((await client.messages.get(id)).queueName, "orders_1.eu");
    await queue.upsert({ parallelism: 1 });
    assert.deepEqual([(await queue.get()).parallelism, (await queue.get()).paused], [1, false]);
    assert.ok((await queue.list()).some(({ name }) => name === "orders_1.eu"));
    assert.ok((await queue.list()).every(({ name }) => name !== "qstash"));
    await queue.delete();
    await unknown(queue.get());
    const made = client.queue({ queueName: "made-by-enqueue" });
    await made.enqueue({ url: `${url}/queued`, body: "x", delay: 3600 });
    assert.equal((await made.get()).parallelism, 1);
  });

  it("keeps the order of a queue with parallelism 1 through a retry, and while a flow control key holds its first message", async () => {
    // The end of a message and the claim of the next are apart.
    const settleUntil = (holds: () => boolean) =>
      until(async () => {
        await scene.settle();
        return holds();
      });
    const queue = client.queue({ queueName: "in-order" });
    await queue.upsert({ parallelism: 1 });
    fail();
    await queue.enqueue({ url: `${url}/o1`, retries: 1, retryDelay: "60000" });
    await queue.enqueue({ url: `${url}/o2` });
    await scene.settle();
    assert.deepEqual([scene.callsTo("/o1").length, scene.callsTo("/o2").length], [1, 0]);
    scene.target.answer = (_call, response) => response.end("ok");
    await scene.api.server.advance(61);
    await scene.settle();
    await settleUntil(() => scene.callsTo("/o2").length > 0);
    assert.deepEqual([scene.callsTo("/o1").length, scene.callsTo("/o2").length], [2, 1]);

    const flowControl = { key: "line", parallelism: 2 };
    await client.flowControl.pause("line");
    await queue.enqueue({ url: `${url}/o3`, flowControl });
    await client.batch([
      { url: `${url}/o4`, queueName: "in-order" },
      { url: `${url}/o5`, queueName: "in-order", flowControl },
    ]);
    const last = () => scene.target.calls.map(({ path }) => path).filter((path) => /^\/o[3-5]$/.test(path));
    await scene.settle();
    assert.deepEqual(last(), []);
    await client.flowControl.resume("line");
    await settleUntil(() => last().length === 3);
    assert.deepEqual(last(), ["/o3", "/o4", "/o5"]);

    const made = client.queue({ queueName: "made-with-flow" });
    await made.enqueue({ url: `${url}/o6`, flowControl, delay: 3600 });
    assert.equal((await made.get()).parallelism, 1);
    const timed = { destination: url, cron: "0 3 * * *", queueName: "in-order", flowControl };
    const { scheduleId } = await client.schedules.create(timed);
    await client.schedules.delete(scheduleId);
    await queue.upsert({ parallelism: 2 });
    assert.equal((await scene.api.call("GET", "/v1/queues/in-order")).body.ordered, false);
  });

  it("publishes to every endpoint of a URL group, and deduplicates by endpoint", async () => {
    const name = "notify.all";
    await client.urlGroups.addEndpoints({
      name,
      endpoints: [{ name: "one", url: `${url}/g1` }, { url: `${url}/g2` }],
    });
    await client.urlGroups.addEndpoints({ name, endpoints: [{ name: "one", url: `${url}/g3` }] });
    const send = () => client.publish({ urlGroup: name, body: "x", deduplicationId: "group-1" });
    const sent: unknown = await send();
    assert.ok(Array.isArray(sent) && sent.length === 2);
    const again: unknown = await send();
    assert.ok(Array.isArray(again) && again.every(({ deduplicated }) => deduplicated === true));
    await scene.settle();

    assert.deepEqual(
      ["/g1", "/g2", "/g3"].map((path) => scene.callsTo(path).length),
      [0, 1, 1],
    );
    const message = await client.messages.get(sent.find((each) => each.url === `${url}/g3`).messageId);
    assert.deepEqual([message.topicName, message.urlGroup, message.endpointName], [name, name, "one"]);
    assert.deepEqual((await client.urlGroups.get(name)).endpoints.length, 2);
    assert.ok((await client.urlGroups.list()).some((group) => group.name === name));
    await client.urlGroups.removeEndpoints({ name, endpoints: [{ name: "one" }, { url: `${url}/g2` }] });
    await unknown(client.urlGroups.get(name));
    await client.urlGroups.addEndpoints({ name, endpoints: [{ url: `${url}/g1` }] });
    const stored = { endpoints: [{ name: "one", url: `${url}/g4` }, { url: `${url}/g5` }] };
    const native = `/v1/url-groups/${name}`;
    assert.equal((await scene.api.call("PUT", native, stored)).status, 200);
    assert.deepEqual((await client.urlGroups.get(name)).endpoints, stored.endpoints);
    const { body: answer } = await scene.api.call("GET", "/v1/url-groups?limit=1");
    assert.equal(answer.url_groups.length, 1);
    const twice = { endpoints: [{ url: `${url}/g4` }, { url: `${url}/g4` }] };
    assert.equal((await scene.api.call("PUT", native, twice)).status, 400);
    assert.equal((await scene.api.call("DELETE", native)).status, 200);
    await unknown(client.publish({ urlGroup: name, body: "x" }), 400);
  });

  it("shows and cancels messages: one, several, by filter, and all of /v2", async () => {
    const native = await scene.api.call("POST", "/v1/tasks", {
      targetUrl: `${url}/native`,
      delay: 3600,
      queue: "default",
    });
    const [one, two, three, four] = [
      await later("/c1"),
      await later("/c2"),
      await later("/c3", { label: "third" }),
      await later("/c4", { label: "fourth", retries: 7, timeout: 30, retryDelay: "1000 * (1 + retried)" }),
    ];
    const message = await client.messages.get(four);
    assert.equal(message.url, `${url}/c4`);
    assert.deepEqual(
      [message.maxRetries, message.label, message.retryDelayExpression],
      [7, "fourth", "1000 * (1 + retried)"],
    );
    assert.ok((message.notBefore ?? 0) > Date.now() + 3_500_000);
    assert.deepEqual(await client.messages.cancel(one), { cancelled: 1 });
    await unknown(client.messages.cancel(one));
    await client.messages.delete(two);
    assert.equal((await client.messages.cancel({ filter: { label: "third" } })).cancelled, 1);
    assert.equal(await client.messages.deleteMany([three, four]), 1);
    await later("/c5");
    await later("/c6");
    await unknown(
      client.http.request({ method: "DELETE", path: ["v2", "messages"], query: { labels: "x" } }),
      400,
    );
    const body = JSON.stringify({ messageIds: ["0190a0a0-0000-7000-8000-000000000000"] });
    const none = await client.http.request({ method: "DELETE", path: ["v2", "messages"], body });
    assert.deepEqual(none, { cancelled: 0 });
    assert.ok((await client.messages.deleteAll()) >= 2);
    assert.equal(
      (await scene.api.call("GET", `/v1/tasks/${native.body.task.id}`)).body.task.status,
      "pending",
    );
    await unknown(client.messages.get(native.body.task.id));
  });

  it("refuses a search over all messages while many of the team wait", async () => {
    const { api } = scene;
    const scans = Array.from({ length: 20 }, () => api.server.services.scans.admit(api.team.id));
    await unknown(client.messages.cancel({ filter: { label: "none" } }), 429);
    for (const scan of scans) scan.end();
    assert.equal((await client.messages.cancel({ filter: { label: "none" } })).cancelled, 0);
  });

  it("lists, retries and deletes failed messages under an id of their failure", async () => {
    fail(418);
    const first = idOf(await client.publish({ url: `${url}/d1`, retries: 0, label: "dlq", body: "sent" }));
    const second = idOf(await client.publish({ url: `${url}/d2`, retries: 0, label: "dlq" }));
    await scene.settle();

    const { messages, cursor } = await client.dlq.listMessages({ filter: { label: "dlq" } });
    assert.equal(cursor, undefined);
    assert.deepEqual(
      messages.map(({ messageId }) => messageId),
      [second, first],
    );
    const [, failed] = messages;
    assert.ok(failed !== undefined);
    assert.deepEqual([failed.responseStatus, failed.responseBody, failed.body], [418, "broken", "sent"]);
    assert.deepEqual(failed.responseHeader?.["X-Answer"], ["no"]);
    const page = await client.dlq.listMessages({ filter: { label: "dlq" }, count: 1 });
    assert.equal(page.messages.length, 1);
    const next = await client.dlq.listMessages({
      filter: { label: "dlq" },
      count: 1,
      ...(page.cursor !== undefined && { cursor: page.cursor }),
    });
    assert.equal(next.messages[0]?.messageId, first);

    const retried = await client.dlq.retry(failed.dlqId);
    assert.deepEqual(
      retried.responses.map(({ messageId }) => messageId),
      [first],
    );
    await scene.settle();
    const again = await client.dlq.listMessages({ filter: { label: "dlq", messageId: first } });
    assert.notEqual(again.messages[0]?.dlqId, failed.dlqId);
    assert.equal(scene.callsTo("/d1").at(-1)?.headers["upstash-retried"], "0");
    await unknown(client.dlq.delete(failed.dlqId));
    await client.dlq.delete(again.messages[0]?.dlqId ?? "");
    assert.equal((await client.dlq.delete({ filter: { label: "dlq" } })).deleted, 1);
    assert.deepEqual((await client.dlq.listMessages({ filter: { label: "dlq" } })).messages, []);
    await retryWithOptions();
    const third = idOf(await client.publish({ url: `${url}/d3`, retries: 0, label: "dlq" }));
    await scene.settle();
    const all = await client.dlq.retry({ all: true });
    assert.ok(all.responses.some(({ messageId }) => messageId === third));
    assert.equal((await client.dlq.deleteMany({ dlqIds: [failed.dlqId] })).deleted, 0);
  });

  /** The client has no method for it: the options of a retry are headers. */
  async function retryWithOptions(): Promise<void> {
    const id = idOf(
      await client.publish({ url: `${url}/d4`, retries: 0, body: "b", headers: { "X-A": "1" } }),
    );
    await scene.settle();
    const { messages } = await client.dlq.listMessages({ filter: { messageId: id } });
    const retry = (headers: Record<string, string>) =>
      client.http.request({
        method: "POST",
        path: ["v2", "dlq", "retry", messages[0]?.dlqId ?? ""],
        headers: new Headers(headers),
      });
    await unknown(retry({ "Upstash-Label": "x" }), 400);
    await unknown(retry({ "Upstash-Callback": "http://private.example/x" }), 400);
    await retry({ "Upstash-Method": "PUT", "Upstash-Forward-X-B": "2", "Upstash-Retries": "5" });
    await scene.settle();
    const call = scene.callsTo("/d4").at(-1);
    assert.deepEqual(
      [call?.method, call?.headers["x-a"], call?.headers["x-b"], call?.bytes.toString()],
      ["PUT", "1", "2", "b"],
    );
    assert.equal((await client.messages.get(id)).maxRetries, 5);
    await client.messages.cancel(id);
  }

  it("tells what happened to a message, the newest first", async () => {
    fail();
    const id = idOf(await client.publish({ url: `${url}/l1`, retries: 1, retryDelay: "0", label: "logged" }));
    await scene.settle();
    await scene.api.server.advance(2);
    await scene.settle();

    const { logs, events } = await client.logs({ messageIds: [id] });
    assert.deepEqual(logs.map(({ state }) => state).sort(), [
      "ACTIVE",
      "ACTIVE",
      "CREATED",
      "ERROR",
      "ERROR",
      "FAILED",
      "RETRY",
    ]);
    assert.equal(events, logs);
    assert.ok(logs.every(({ time }, index) => time <= (logs[index - 1]?.time ?? Number.POSITIVE_INFINITY)));
    assert.equal(logs.at(-1)?.state, "CREATED");
    assert.equal((await client.events({ filter: { label: "logged", state: "FAILED" } })).events.length, 1);
    assert.equal((await scene.api.call("GET", `/v2/logs?messageIds=${id}`)).body.logs.length, 7);
  });

  it("tells callbacks of every attempt, and the failure callback once, signed and as tasks of their own", async () => {
    scene.target.answer = (call, response) =>
      response.writeHead(call.path === "/k1" ? 500 : 200, { "X-Answer": "k" }).end("said");
    const id = idOf(
      await client.publish({
        url: `${url}/k1`,
        body: "source",
        retries: 1,
        retryDelay: "0",
        callback: `${url}/callback`,
        failureCallback: `${url}/failure`,
        headers: { "Upstash-Callback-Forward-X-Own": "own" },
      }),
    );
    await scene.settle();
    await scene.api.server.advance(2);
    // The callbacks of the second attempt exist once it is settled, which may be after a busy machine's first look.
    await until(async () => {
      await scene.settle();
      return scene.callsTo("/failure").length > 0 && scene.callsTo("/callback").length > 1;
    });

    // Both may be called at the same time.
    const told = scene
      .callsTo("/callback")
      .map(({ bytes }) => JSON.parse(bytes.toString()))
      .sort((one, other) => one.retried - other.retried);
    assert.deepEqual(
      told.map(({ status, retried }) => [status, retried]),
      [
        [500, 0],
        [500, 1],
      ],
    );
    const [first] = told;
    assert.equal(Buffer.from(first.body, "base64").toString(), "said");
    assert.equal(Buffer.from(first.sourceBody, "base64").toString(), "source");
    assert.deepEqual(
      [first.sourceMessageId, first.url, first.method, first.maxRetries],
      [id, `${url}/k1`, "POST", 1],
    );
    assert.deepEqual(first.header["X-Answer"], ["k"]);
    const [failure, ...others] = scene.callsTo("/failure");
    assert.equal(others.length, 0);
    const { dlqId } = JSON.parse(failure?.bytes.toString() ?? "{}");
    assert.equal((await client.dlq.listMessages({ dlqIds: [dlqId] })).messages[0]?.messageId, id);
    const [call] = scene.callsTo("/callback");
    assert.equal(call?.headers["x-own"], "own");
    const signature = String(call?.headers["upstash-signature"]);
    assert.ok(
      await scene.receiver.verify({ signature, body: call?.bytes.toString() ?? "", url: `${url}/callback` }),
    );
  });

  it("creates, fires, pauses and deletes schedules, of URLs and of URL groups", async () => {
    const { scheduleId } = await client.schedules.create({
      destination: `${url}/s1`,
      cron: "CRON_TZ=Europe/Berlin 0 3 * * *",
      scheduleId: "nightly.report",
      body: "night",
      retries: 2,
      label: "nightly",
    });
    assert.equal(scheduleId, "nightly.report");
    const schedule = await client.schedules.get(scheduleId);
    assert.deepEqual(
      [schedule.cron, schedule.destination, schedule.retries, schedule.isPaused, schedule.body],
      ["CRON_TZ=Europe/Berlin 0 3 * * *", `${url}/s1`, 2, false, "night"],
    );
    assert.ok((schedule.nextScheduleTime ?? 0) > Date.now());
    // Not within this test, except where it advances the clock.
    const cron = `${(new Date().getUTCMinutes() + 30) % 60} * * * *`;
    await client.schedules.pause({ schedule: scheduleId });
    await client.schedules.create({
      destination: `${url}/s1`,
      cron,
      scheduleId,
      body: "minute",
    });
    assert.equal((await client.schedules.get(scheduleId)).isPaused, true);
    await client.schedules.resume({ schedule: scheduleId });
    await client.urlGroups.addEndpoints({
      name: "timed",
      endpoints: [{ url: `${url}/s2` }, { url: `${url}/s3` }],
    });
    const grouped = await client.schedules.create({ destination: "timed", cron });
    await unknown(client.urlGroups.delete("timed"), 412);
    await scene.api.server.advance(3_600);
    await until(async () => (await scene.api.services.features.schedules.runner.fireOnce()) > 0);
    await scene.settle();

    assert.deepEqual(
      ["/s1", "/s2", "/s3"].map((path) => scene.callsTo(path).length),
      [1, 1, 1],
    );
    const [fired] = scene.callsTo("/s1");
    assert.equal(fired?.headers["upstash-schedule-id"], scheduleId);
    assert.equal(fired?.bytes.toString(), "minute");
    assert.deepEqual(Object.values((await client.schedules.get(scheduleId)).lastScheduleStates ?? {}), [
      "SUCCESS",
    ]);
    assert.deepEqual(
      (await client.schedules.list()).map((each) => each.scheduleId).sort(),
      [grouped.scheduleId, scheduleId].sort(),
    );
    await client.schedules.delete(scheduleId);
    await client.schedules.delete(grouped.scheduleId);
    await unknown(client.schedules.get(scheduleId));
    await unknown(client.schedules.create({ destination: `${url}/s1`, cron: "never" }), 400);
  });

  it("is verified by the helper for Next.js", async () => {
    const { body: keys } = await scene.api.call("GET", "/v2/keys");
    const POST = verifySignatureAppRouter(async (request: Request) => new Response(await request.text()), {
      currentSigningKey: keys.current,
      nextSigningKey: keys.next,
    });
    await client.publish({ url: `${url}/next`, body: "hello" });
    await scene.settle();
    const [call] = scene.callsTo("/next");
    const signature = String(call?.headers["upstash-signature"]);
    const ask = (body: string) =>
      POST(new Request(`${url}/next`, { method: "POST", body, headers: { "Upstash-Signature": signature } }));
    assert.equal(await (await ask("hello")).text(), "hello");
    await assert.rejects(ask("forged"), /body hash does not match/);
  });

  it("limits calls by a flow control key, which can be paused, pinned and reset", async () => {
    const flow = (path: string) =>
      client.publish({
        url: `${url}${path}`,
        flowControl: { key: "customer:1", parallelism: 2, rate: 10, period: "1m" },
      });
    await client.flowControl.pause("customer:1");
    const id = idOf(await flow("/f1"));
    await scene.settle();
    assert.equal(scene.callsTo("/f1").length, 0);
    const message = await client.messages.get(id);
    assert.deepEqual(
      [message.flowControlKey, message.parallelism, message.rate, message.period],
      ["customer:1", 2, 10, 60],
    );
    const paused = await client.flowControl.get("customer:1");
    assert.deepEqual(
      [paused.isPaused, paused.parallelismMax, paused.rateMax, paused.ratePeriod, paused.isPinnedRate],
      [true, 2, 10, 60, false],
    );
    await client.flowControl.pin("customer:1", { parallelism: 5 });
    await client.flowControl.pin("customer:1", { rate: 3, period: 30 });
    const pinned = await client.flowControl.get("customer:1");
    assert.deepEqual(
      [
        pinned.parallelismMax,
        pinned.rateMax,
        pinned.ratePeriod,
        pinned.isPinnedParallelism,
        pinned.isPinnedRate,
      ],
      [5, 3, 30, true, true],
    );
    await client.flowControl.unpin("customer:1", { parallelism: true });
    await client.flowControl.unpin("customer:1", { rate: true });
    assert.equal((await client.flowControl.get("customer:1")).parallelismMax, 2);
    await client.flowControl.resume("customer:1");
    await scene.settle();
    await client.flowControl.resetRate("customer:1");
    assert.equal(scene.callsTo("/f1").length, 1);
    await unknown(client.flowControl.get("never-seen"));
    await unknown(
      client.publish({
        url,
        headers: { "Upstash-Flow-Control-Key": "k", "Upstash-Flow-Control-Value": "speed=1" },
      }),
      400,
    );
    const list = await scene.api.call("GET", "/v2/flowControl?search=customer");
    assert.deepEqual(
      list.body.map((each: { flowControlKey: string }) => each.flowControlKey),
      ["customer:1"],
    );
    assert.deepEqual(await client.flowControl.getGlobalParallelism(), {
      parallelismMax: 0,
      parallelismCount: 0,
    });
  });

  it("reaches nothing of another team", async () => {
    const id = await later("/mine", { label: "private" });
    const other = new Client({
      baseUrl: scene.baseUrl,
      token: (await scene.api.openTeam()).key,
      retry: false,
    });
    await unknown(other.messages.get(id));
    await unknown(other.messages.cancel(id));
    assert.deepEqual(await other.messages.cancel({ all: true }), { cancelled: 0 });
    assert.deepEqual(await other.urlGroups.list(), []);
    assert.deepEqual((await other.logs({ filter: { label: "private" } })).logs, []);
    await unknown(new Client({ baseUrl: scene.baseUrl, token: "wrong", retry: false }).messages.get(id), 401);
  });
});
