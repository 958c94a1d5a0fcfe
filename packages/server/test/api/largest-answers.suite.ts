import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { MOST_ANSWER_BYTES } from "../../src/domain/answer-room.ts";
import { createTestApi, type TestApi } from "./test-api.ts";

/** The largest body and result of the default limits, in characters that JSON writes in six bytes. */
const MOST_BYTES = 1_048_576;
const CONTROLS = `repeat(chr(1), ${MOST_BYTES})`;
const LONG_URL = "'https://a.example/' || repeat('語', 8170)";

/** The API of the tests checks each answer against the bytes that its route declares: see test-api.ts. */
describe("answers about the largest rows", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  async function sizeOf(
    method: "GET" | "POST" | "PATCH" | "DELETE",
    path: string,
    body?: object,
  ): Promise<number> {
    const { status, text } = await api.call(method, path, body);
    assert.ok(status < 300, `${method} ${path}: ${text.slice(0, 300)}`);
    return Buffer.byteLength(text);
  }

  it("show the whole record of a task, which may be alone on a page", async () => {
    const published = await api.call("POST", "/v2/publish/https://a.example/", "small", {
      "upstash-delay": "1h",
    });
    const { messageId } = published.body;
    await api.server.database.rows(
      `update tasks set status = 'failed', list_key = 'failed', due_at = null, completed_at = now(), body = ${CONTROLS},
              result = jsonb_build_object('statusCode', 500, 'headers', '{}'::jsonb, 'body', ${CONTROLS}, 'duration', 1)
        where team_id = $1 and id = $2`,
      [api.team.id, messageId],
    );
    const [{ dlqId }] = (await api.call("GET", "/v2/dlq")).body.messages;
    for (const path of [`/v1/tasks/${messageId}`, `/v2/messages/${messageId}`, `/v2/dlq/${dlqId}`])
      assert.ok((await sizeOf("GET", path)) > 6 * MOST_BYTES, path);
    for (const path of ["/v2/logs?state=FAILED", "/v2/events?state=FAILED", "/v2/dlq"])
      assert.ok((await sizeOf("GET", path)) > MOST_BYTES, path);
    for (const path of ["/v1/tasks", `/v1/tasks/${messageId}/explain`]) await sizeOf("GET", path);
    assert.ok((await sizeOf("POST", `/v1/tasks/${messageId}/dismiss`)) > 6 * MOST_BYTES);
  });

  it("show the task of a schedule", async () => {
    const headers = { "upstash-cron": "0 3 * * *", "upstash-schedule-id": "large" };
    const made = await api.call("POST", "/v2/schedules/https://a.example/", "small", headers);
    assert.equal(made.status, 200, made.text);
    await api.server.database.rows(
      `update schedules set request = jsonb_set(request::jsonb, '{call,body}', to_jsonb(${CONTROLS}))::text,
              task = jsonb_set(task::jsonb, '{body}', to_jsonb(${CONTROLS}))::text
        where team_id = $1`,
      [api.team.id],
    );
    for (const path of ["/v1/schedules/large", "/v2/schedules/large", "/v2/schedules"])
      assert.ok((await sizeOf("GET", path)) > 6 * MOST_BYTES, path);
    assert.ok((await sizeOf("POST", "/v1/schedules/large/pause")) > 6 * MOST_BYTES);
    await sizeOf("GET", "/v1/schedules");
  });

  it("show a third party the result that it has reported", async () => {
    const { body } = await api.run({ targetUrl: api.server.target.url, waitForCallback: true });
    const result = JSON.stringify('"'.repeat(30_000));
    const url = `/v1/callbacks/${body.callbackId}`;
    const json = { "content-type": "application/json" };
    const { status, text } = await api.send({ method: "POST", url, headers: json, payload: result });
    assert.equal(status, 200, text.slice(0, 300));
    assert.ok(text.length > 2 * result.length);
  });

  it("show every channel of an alert", async () => {
    const [alert] = await api.server.database.rows<{ id: string }>(
      `with a as (
         insert into alerts (team_id, id, name, kind, threshold, for_seconds, enabled)
         values ($1, gen_random_uuid(), 'name', 'oldest_pending', 1, 0, false) returning id)
       insert into alert_channels (team_id, id, alert_id, position, kind, target)
       select $1, gen_random_uuid(), a.id, p, 'url', ${LONG_URL} from a, generate_series(1, 10) p returning alert_id as id`,
      [api.team.id],
    );
    const { body } = await api.call("GET", "/v1/alerts");
    const path = `/v1/alerts/${body.alerts[0].id}`;
    assert.ok(alert !== undefined);
    assert.ok((await sizeOf("GET", path)) > 200_000);
    await sizeOf("PATCH", path, { enabled: true });
    await sizeOf("DELETE", path);
  });

  it("show a URL group, and name the messages to all of its endpoints within 1 MiB", async () => {
    await api.server.database.rows(
      `insert into url_groups (team_id, name, endpoints)
       select $1, 'large', (select jsonb_agg(jsonb_build_object('name', 'e' || e, 'url', ${LONG_URL} || e)) from generate_series(1, 100) e)`,
      [api.team.id],
    );
    for (const path of ["/v1/url-groups/large", "/v2/topics/large", "/v1/url-groups", "/v2/topics"])
      assert.ok((await sizeOf("GET", path)) > 2 * MOST_BYTES, path);
    const endpoints = [{ name: "e1", url: "https://a.example/" }];
    assert.ok((await sizeOf("POST", "/v2/topics/large/endpoints", { endpoints })) > 2 * MOST_BYTES);
    const { status, text, body } = await api.call("POST", "/v2/publish/large", "b", {
      "upstash-delay": "1h",
    });
    assert.equal(status, 200, text.slice(0, 300));
    assert.equal(body.length, 100);
    assert.ok(Buffer.byteLength(text) <= MOST_ANSWER_BYTES);
  });

  it("have statistics of the busiest queues within 1 MiB", async () => {
    await api.server.database.rows(
      `with q as (
         insert into queues (team_id, name, concurrency, max_retries, backoff, retry_delay_seconds, timeout_seconds)
         select $1, 'stats-' || lpad(n::text, 3, '0'), 1, 0, 'fixed', 0, 1 from generate_series(1, 100) n returning id)
       insert into queue_stats (team_id, queue_id, sandbox, seconds, at, node, created, completed, failed, cancelled, retried, waits, durations)
       select $1, q.id, false, 3600, date_trunc('hour', now()) - h * interval '6 hours', 1,
              2000000000, 2000000000, 2000000000, 2000000000, 2000000000, array_fill(0, array[33]) || 1, array_fill(0, array[33]) || 1
         from q, generate_series(0, 118) h`,
      [api.team.id],
    );
    const { status, text, body } = await api.call("GET", "/v1/stats/queues?range=30d");
    assert.equal(status, 200, text.slice(0, 300));
    assert.ok(Buffer.byteLength(text) <= MOST_ANSWER_BYTES, `${Buffer.byteLength(text)} bytes`);
    const { length } = body.stats.queues;
    assert.ok(length > 80 && length < 100, `${length} queues`);
  });
});
