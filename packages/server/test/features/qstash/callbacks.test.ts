import assert from "node:assert/strict";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { after, before, beforeEach, describe, it } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { Client } from "@upstash/qstash";
import type { Claim } from "../../../src/domain/claim.ts";
import type { Outcome } from "../../../src/domain/outcome.ts";
import { createMessageCalls } from "../../../src/features/qstash/worker.ts";
import { until } from "../../patience.ts";
import { createGate } from "../../test-sql.ts";
import { RETRY } from "../../test-store.ts";
import { openScene, type Scene } from "./scene.ts";

describe("callbacks of messages", () => {
  let scene: Scene;
  let url: string;
  before(async () => {
    scene = await openScene();
    ({ url } = scene.target);
  });
  beforeEach(() => {
    scene.target.answer = (_call, response) => response.end("ok");
  });
  after(() => scene.close());

  /** Publishes a message into a queue of its own, and resolves when its call is under way. */
  async function callHeld(name: string): Promise<ServerResponse> {
    let held: ServerResponse | null = null;
    scene.target.answer = (call, response) => {
      if (call.path === `/${name}`) held = response;
      else response.end("ok");
    };
    await scene.client
      .queue({ queueName: name })
      .enqueue({ url: `${url}/${name}`, failureCallback: `${url}/${name}-failed`, retries: 3 });
    const { engine } = scene.api.server;
    engine.alarm.lookEverywhere();
    await engine.alarm.ringOnce();
    await engine.dispatcher.dispatchOnce();
    await until(() => held !== null);
    assert.ok(held !== null);
    return held;
  }
  const failureOf = (name: string) =>
    scene.callsTo(`/${name}-failed`).map(({ bytes }) => JSON.parse(bytes.toString()));

  it("are created when their team has the most open tasks, and count among them", async () => {
    const { id, key, headers } = await scene.api.openTeam();
    const { database } = scene.api.server;
    await database.rows("update teams set limits = $2::jsonb where id = $1", [id, '{"tasksOpen":1}']);
    const client = new Client({ baseUrl: scene.baseUrl, token: key, retry: false });
    const delayed = { "Upstash-Callback-Delay": "1h", "Upstash-Failure-Callback-Delay": "1h" };
    scene.target.answer = (_call, response) => response.writeHead(500).end();
    const told = { callback: `${url}/told`, failureCallback: `${url}/told`, headers: delayed };
    await client.publish({ url: `${url}/full`, retries: 0, ...told });
    await scene.settle();

    await until(async () => {
      const { body } = await scene.api.call("GET", "/v1/me", undefined, headers);
      return isDeepStrictEqual(body.limits.tasksOpen, { max: 1, used: 2 });
    });
    const { status, body } = await scene.api.call("POST", `/v2/publish/${url}`, "text", headers);
    assert.deepEqual([status, body.code], [429, "tasks_full"]);
  });

  it("hold the next message of a queue with parallelism 1 until they have ended", async () => {
    const queue = scene.client.queue({ queueName: "line" });
    let isDown = true;
    scene.target.answer = (call, response) =>
      response.writeHead(call.path === "/line-called" && isDown ? 500 : 200).end();
    await queue.enqueue({ url: `${url}/line-1`, callback: `${url}/line-called` });
    await queue.enqueue({ url: `${url}/line-2` });
    await scene.settle();
    await scene.settle();
    assert.deepEqual([scene.callsTo("/line-called").length, scene.callsTo("/line-2").length], [1, 0]);

    isDown = false;
    await scene.api.server.advance(60);
    // The line goes on when the callback's end is settled.
    for (let looks = 0; looks < 50 && scene.callsTo("/line-2").length === 0; looks += 1) await scene.settle();
    assert.deepEqual([scene.callsTo("/line-called").length, scene.callsTo("/line-2").length], [2, 1]);
  });

  it("delay no other settlement of their queue while they are stored", async () => {
    const { engine, database, databases } = scene.api.server;
    const queue = scene.client.queue({ queueName: "mixed" });
    await queue.upsert({ parallelism: 5 });
    const held = new Map<string, ServerResponse>();
    scene.target.answer = (call, response) => void held.set(call.path, response);
    await queue.enqueue({ url: `${url}/mixed-1`, callback: `${url}/mixed-called` });
    await queue.enqueue({ url: `${url}/mixed-2` });
    engine.alarm.lookEverywhere();
    await engine.alarm.ringOnce();
    await engine.dispatcher.dispatchOnce();
    await until(() => held.has("/mixed-1") && held.has("/mixed-2"));
    const storing = createGate();
    databases.settle.before = (statement) => (statement.startsWith("insert_") ? storing.wait() : undefined);
    const statuses = () => database.rows("select status from tasks where url like '%/mixed-_' order by url");
    try {
      held.get("/mixed-1")?.end("ok");
      await storing.reached;
      held.get("/mixed-2")?.end("ok");
      await until(async () =>
        isDeepStrictEqual(await statuses(), [{ status: "active" }, { status: "completed" }]),
      );
    } finally {
      storing.open();
      scene.target.answer = (_call, response) => response.end("ok");
    }
    await scene.settle();
    assert.deepEqual(await statuses(), [{ status: "completed" }, { status: "completed" }]);
  });

  it("tell of a message whose workers were lost too often", async () => {
    const held = await callHeld("lost");
    const { server } = scene.api;
    await server.database.rows("update tasks set interruptions = 2 where url like '%/lost'");
    await server.reapEverything();
    held.end("too late");
    await server.engine.attempts.finished();
    await server.engine.lease.renewOnce();
    await scene.settle();

    const [failure, ...others] = failureOf("lost");
    assert.equal(others.length, 0);
    assert.equal(failure.status, 0);
    assert.match(Buffer.from(failure.body, "base64").toString(), /worker was lost/);
    const { messages } = await scene.client.dlq.listMessages({ dlqIds: [failure.dlqId] });
    assert.equal(messages[0]?.messageId, failure.sourceMessageId);
  });

  it("tell of a message whose queue was deleted before its retry", async () => {
    const held = await callHeld("deleted");
    await scene.client.queue({ queueName: "deleted" }).delete();
    held.writeHead(503).end("down");
    await once(held, "close");
    await scene.api.server.engine.attempts.finished();
    await scene.settle();

    assert.deepEqual(
      failureOf("deleted").map(({ status }) => status),
      [503],
    );
  });

  it("obey the plan when the message is published", async () => {
    const team = await scene.api.openTeam();
    await scene.api.server.database.rows("update teams set plan = 'free' where id = $1", [team.id]);
    const client = new Client({ baseUrl: scene.baseUrl, token: team.key, retry: false });
    const publish = (retries: string) =>
      client.publish({
        url: `${url}/planned`,
        delay: 3600,
        callback: `${url}/called`,
        headers: { "Upstash-Callback-Retries": retries },
      });

    await assert.rejects(publish("90"), /at most 10/);
    await publish("10");
  });

  it("have the beginning of the texts if the team's storage is full", () => {
    const calls = createMessageCalls({
      keys: { keysFor: () => assert.fail() },
      log: { debug() {}, info() {}, warn() {}, error() {} },
      nowMs: () => 0,
    });
    const message = { callback: { url, method: "POST", headers: {} } } as const;
    const claim = {
      teamId: 1,
      id: "0190a0a0-0000-7000-8000-000000000000",
      queue: "line",
      queueId: 7,
      call: { method: "POST", url, headers: {}, body: "s".repeat(5_000) },
      failures: 0,
      maxRetries: 3,
    } as unknown as Claim;
    const outcome = {
      kind: "response",
      statusCode: 200,
      headers: {},
      body: "a".repeat(5_000),
    } as unknown as Outcome;
    const report = (isFull: boolean) => {
      const [task] = calls.followersOf(claim, message, outcome, RETRY, () => !isFull)?.(false) ?? [];
      assert.equal(task?.message?.lineOf, 7);
      const { body, sourceBody, truncated } = JSON.parse(task?.call.body ?? "");
      return [Buffer.from(body, "base64").length, Buffer.from(sourceBody, "base64").length, truncated];
    };

    assert.deepEqual(report(false), [5_000, 5_000, undefined]);
    assert.deepEqual(report(true), [1_024, 1_024, true]);
  });
});
