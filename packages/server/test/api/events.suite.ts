import assert from "node:assert/strict";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { createEventLog, type EventLog } from "../event-log.ts";
import { until } from "../patience.ts";
import { createTestApi, type TestApi } from "./test-api.ts";

describe("GET /v1/events", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi({ heartbeatMs: 40 });
    await api.app.listen({ host: "127.0.0.1", port: 0 });
  });
  after(() => api.close());

  interface Following {
    readonly log: EventLog;
    readonly answer: IncomingMessage;
    readonly asked: ClientRequest;
    /** Ended by the server, in good order. */
    ended(): Promise<boolean>;
  }

  function follow(query = "", headers: Record<string, string> = { ...api.team.headers }): Promise<Following> {
    const { port } = api.app.server.address() as AddressInfo;
    const log = createEventLog();
    return new Promise((resolve, reject) => {
      const asked = request({ port, path: `/v1/events${query}`, headers }, (answer) => {
        const ended = new Promise<boolean>((over) => answer.once("close", () => over(answer.complete)));
        answer
          .setEncoding("utf8")
          .on("data", log.read)
          .on("error", () => {});
        resolve({ log, answer, asked, ended: () => ended });
      });
      asked.on("error", reject).end();
    });
  }

  const create = (fields: object, headers?: Record<string, string>) =>
    api.call(
      "POST",
      "/v1/tasks",
      { queue: "default", webhook_url: api.server.target.url, ...fields },
      headers,
    );

  it("streams server-sent events, each with its task in the task's own shape", async () => {
    const { log, answer, asked } = await follow("?types=task.created,queue.resumed");
    assert.equal(answer.statusCode, 200);
    assert.equal(answer.headers["content-type"], "text/event-stream; charset=utf-8");
    const { body } = await create({ tags: ["a"], metadata: { order: "1" } });
    const direct = await api.call("POST", "/v1/tasks", { targetUrl: api.server.target.url });
    await log.reaches(2);

    const [queueTask, directTask] = log.events;
    assert.equal(queueTask?.event, "task.created");
    const listed = await api.call("GET", "/v1/tasks?limit=2");
    const [{ attemptCount: _now, ...first }, { attempt_count: _too, ...second }] = listed.body.tasks;
    assert.deepEqual(queueTask?.data, { task: second });
    assert.deepEqual(directTask?.data, { task: first });
    assert.deepEqual([body.id, direct.body.task.id], [queueTask?.data.task.id, directTask?.data.task.id]);
    asked.destroy();
    await until(() => api.services.events.count === 0);
  });

  it("starts with a ready id, and resumes after that id or sends reset for an unknown one", async () => {
    const { log, asked } = await follow();
    await until(() => log.readyIds.length > 0);
    assert.deepEqual([log.comments, log.events.length, log.readyIds], [0, 0, [log.lastId]]);
    asked.destroy();
    const { body } = await create({});
    const again = await follow("", { ...api.team.headers, "last-event-id": log.lastId });
    await again.log.reaches(1);
    assert.deepEqual([again.log.names(), again.log.events[0]?.data.task.id], [["task.created"], body.id]);
    again.asked.destroy();
    const lost = await follow("", { ...api.team.headers, "last-event-id": "x".repeat(5000) });
    await lost.log.reaches(1);
    assert.deepEqual([lost.log.names(), lost.log.events[0]?.data], [["reset"], {}]);
    lost.asked.destroy();
    // The reader that was cut between ready and reset.
    const returned = await follow("", { ...api.team.headers, "last-event-id": lost.log.readyIds[0] ?? "" });
    await returned.log.reaches(1);
    assert.deepEqual(returned.log.names(), ["reset"]);
    returned.asked.destroy();
  });

  it("delivers each event once to a reader that reconnects right after each ready", async () => {
    const told: string[] = [];
    const created: string[] = [];
    let lastId: string | null = null;
    const readOnce = async (isEnough: (log: EventLog) => boolean) => {
      const after: Record<string, string> = lastId === null ? {} : { "last-event-id": lastId };
      const { log, asked } = await follow("?types=task.created", { ...api.team.headers, ...after });
      await until(() => log.readyIds.length > 0 && isEnough(log));
      asked.destroy();
      told.push(...log.events.map(({ event, data }) => data.task?.id ?? event));
      lastId = log.events.at(-1)?.id ?? log.readyIds[0] ?? null;
    };
    for (let round = 0; round < 15; round += 1) {
      await readOnce(() => true);
      created.push((await create({})).body.id);
    }
    await readOnce((log) => log.events.at(-1)?.data.task.id === created.at(-1));
    assert.deepEqual(told, created);
  });

  it("sends periodic comments with an id, after which a reader can resume", async () => {
    const { log, asked } = await follow("?tag=none");
    await until(() => log.comments > 1);
    const before = log.lastId;
    await create({});
    await until(() => log.lastId !== before);
    assert.deepEqual(log.events, []);
    asked.destroy();
  });

  it("sends a test key only sandbox events, and ends when the key is revoked", async () => {
    const test = await api.team.newKey("test");
    const { log, ended } = await follow("", { ...test });
    await create({});
    await create({}, test);
    await log.reaches(1);
    assert.deepEqual([log.names(), log.events[0]?.data.task.sandbox], [["task.created"], true]);
    const keys = await api.call("GET", "/v1/apikeys");
    const key = keys.body.apiKeys.find((each: { environment: string }) => each.environment === "test");
    await api.call("DELETE", `/v1/apikeys/${key.id}`);
    assert.equal(await ended(), true);
  });

  it("hides queue events from an application without the scope to read queues", async () => {
    const { headers } = await api.team.application("tasks:read");
    const { log, asked } = await follow("", { ...headers });
    const allowed = await follow("?types=queue.created");
    await api.call("POST", "/v1/queues", { name: "hidden" });
    await create({});
    await Promise.all([log.reaches(1), allowed.log.reaches(1)]);
    assert.deepEqual([log.names(), allowed.log.names()], [["task.created"], ["queue.created"]]);
    asked.destroy();
    allowed.asked.destroy();
  });

  it("disconnects a reader that does not read, and no other", async () => {
    const slow = await follow();
    slow.answer.pause();
    const quick = await follow();
    // Far more than the buffers of two sockets hold.
    await api.server.database.rows(
      `insert into events (team_id, sandbox, queue, entries)
       select $1, false, 'q', json_build_array(json_build_array('queue.changed', json_build_object(
                'name', repeat('x', 500000), 'noRetryStatuses', '[]'::json, 'createdAt', now(), 'updatedAt', now())))
         from generate_series(1, 60)`,
      [api.team.id],
    );
    await Promise.all([quick.log.reaches(60), until(() => api.services.events.count === 1)]);
    assert.equal(quick.log.events.length, 60);
    quick.asked.destroy();
    slow.asked.on("error", () => {}).destroy();
  });

  it("refuses unknown event types and parameters, and HEAD", async () => {
    const { status, body } = await api.call("GET", "/v1/events?types=task.created,task.born");
    assert.equal(status, 400);
    assert.match(body.error, /^types must be of these: task\.created, /);
    assert.equal((await api.call("GET", "/v1/events?since=1")).status, 400);
    assert.equal((await api.call("HEAD", "/v1/events")).status, 405);
  });

  it("ends when the server stops", async () => {
    const { ended } = await follow();
    await api.app.close();
    assert.equal(await ended(), true);
    assert.equal(api.services.events.count, 0);
  });
});
