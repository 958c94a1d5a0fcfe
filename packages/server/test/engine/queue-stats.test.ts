import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { BUCKETS, bucketOf, quantile } from "../../src/domain/histogram.ts";
import { QUEUE_COUNTS, type StatsRange } from "../../src/domain/queue-stats.ts";
import { createQueueCounters } from "../../src/engine/queue-counters.ts";
import { rollQueueStats } from "../../src/store/tasks/queue-stats.ts";
import { openTestServer, QUEUE, type TestNode, type TestServer } from "../test-server.ts";
import { createTestTime } from "../test-time.ts";

const HOUR_MS = 3_600_000;

describe("the statistics of queues", () => {
  let server: TestServer;
  before(async () => {
    server = await openTestServer({ concurrency: 5, maxRetries: 1, retryDelaySeconds: 10 });
  });
  after(() => server.close());

  const write = async (node: TestNode = server) =>
    node.engine.actors.all.find(({ name }) => name === "queue-stats")?.once();
  const read = (range: StatsRange = "15m", queue: string | null = QUEUE) =>
    server.services.features.stats.service.queues(server.principal, { range, queue, sandbox: null });
  const sum = (numbers: readonly (number | null)[]) =>
    numbers.reduce<number>((all, one) => all + (one ?? 0), 0);
  const totals = async (range?: StatsRange) => {
    const { total } = await read(range);
    return Object.fromEntries(QUEUE_COUNTS.map((name) => [name, sum(total[name])]));
  };

  it("count the task results of every node once, however often they are written", async () => {
    const other = await server.openNode();
    await server.submit();
    await other.submit();
    await server.dispatchEverywhere();
    server.target.answer = (_call, response) => response.writeHead(500).end();
    const failing = await server.submit();
    await server.dispatchEverywhere();
    await server.advance(60);
    await server.dispatchEverywhere();
    assert.equal((await server.task(failing)).status, "failed");
    await server.tasks.retry(server.principal, failing, { delaySeconds: 3600, priority: null });
    const unwanted = await server.submit({ delaySeconds: 3600 });
    await server.tasks.cancel(server.principal, unwanted);
    for (const node of [server, other, server]) await write(node);

    assert.deepEqual(await totals(), { created: 4, completed: 2, failed: 1, cancelled: 1, retried: 2 });
    const { queues, total } = await read();
    assert.deepEqual(
      queues.map(({ queue }) => queue),
      [QUEUE],
    );
    assert.equal(total.now.pending, 1);
    // It is pending, and not due before an hour has passed.
    assert.equal(total.oldestPendingAt, null);
    // A minute may have begun since the last sample.
    assert.equal(total.pending.filter((count) => count !== null).at(-1), 1);
    const p95 = total.durations.p95.filter((ms) => ms !== null);
    assert.ok(p95.length > 0 && p95.every((ms) => ms > 0 && ms < 10_000), JSON.stringify(p95));
    assert.ok(total.waits.p50.some((ms) => ms !== null));
    await server.tasks.cancel(server.principal, failing);
    server.target.answer = (_call, response) => response.end("{}");
  });

  it("show when the oldest task became due, and null for steps without a sample", async () => {
    await server.queues.setPaused(server.principal, QUEUE, true);
    const id = await server.submit();
    const { total } = await read("1h");
    assert.equal(total.oldestPendingAt?.getTime(), (await server.task(id)).runAt.getTime());
    assert.equal(total.pending[0], null);
    await server.tasks.cancel(server.principal, id);
    await server.queues.setPaused(server.principal, QUEUE, false);
  });

  it("belong to the minute they were counted in, even if the database was away at its end", async () => {
    const time = createTestTime();
    let isAway = false;
    const sql: typeof server.database = {
      ...server.database,
      rows: (query, values) =>
        isAway ? Promise.reject(new Error("away")) : server.database.rows(query, values),
    };
    const counters = createQueueCounters({ sql, node: 99, time });
    const task = { teamId: server.principal.teamId, queueId: 777, id: "any" };
    const count = () => counters.ended(task, "completed", false);
    count();
    assert.equal(await counters.writeOnce(), 10_000);
    time.pass(55_000);
    count();
    isAway = true;
    time.pass(5_000);
    await assert.rejects(counters.writeOnce());
    count();
    isAway = false;
    time.pass(2_000);
    assert.equal(await counters.writeOnce(), 10_000);

    const rows = await server.database.rows<{ at: Date; completed: number }>(
      "select at, completed from queue_stats where node = 99 and queue_id = 777 order by at",
    );
    assert.deepEqual(
      rows.map(({ at, completed }) => [at.toISOString(), completed]),
      [
        ["2030-01-01T00:00:00.000Z", 2],
        ["2030-01-01T00:01:00.000Z", 1],
      ],
    );
    await server.database.rows("delete from queue_stats where at > now() + interval '1 hour'");
  });

  it("are rolled up with age, with the same totals", async () => {
    const before = await totals("7d");
    const { teamId } = server.principal;
    const [{ id = 0 } = {}] = await server.database.rows<{ id: number }>(
      "select id::float8 as id from queues where team_id = $1 and name = $2",
      [teamId, QUEUE],
    );
    const nowMs = Date.now();
    const insert = (agoMs: number, seconds: number, node: number, waits: readonly number[]) =>
      server.database.rows(
        `insert into queue_stats (team_id, queue_id, sandbox, seconds, at, node, completed, waits, pending)
         values ($1, $2, false, $3, $4, $5, 1, $6, 7)`,
        [teamId, id, seconds, new Date(Math.floor((nowMs - agoMs) / 60_000) * 60_000), node, waits],
      );
    for (let minute = 0; minute < 20; minute += 1) {
      await insert(4 * HOUR_MS + minute * 60_000, 60, 1, [1, 2]);
      await insert(4 * HOUR_MS + minute * 60_000, 60, 2, [0, 1, 5]);
      await insert(50 * HOUR_MS + minute * 60_000, 60, 1, [0, 0, 3]);
    }
    await server.database.rows(
      `insert into queue_stats (team_id, queue_id, sandbox, seconds, at, node, completed)
       values ($1, $2, false, 3600, now() - interval '32 days', 0, 1000)`,
      [teamId, id],
    );
    const histogram = async () => {
      const rows = await server.database.rows<{ place: number; n: number }>(
        `select u.place::integer as place, sum(u.n)::integer as n
           from queue_stats cross join unnest(waits) with ordinality u(n, place)
          where team_id = $1 and at < now() - interval '3 hours' group by 1 order by 1`,
        [teamId],
      );
      return rows.map(({ n }) => n);
    };
    assert.deepEqual(await histogram(), [20, 60, 160]);

    let rounds = 0;
    while (await rollQueueStats(server.database)) rounds += 1;

    assert.ok(rounds >= 4, String(rounds));
    const lengths = await server.database.rows<{ seconds: number; rows: number; most: number }>(
      `select seconds, count(*)::integer as rows, max(pending)::integer as most from queue_stats
        where team_id = $1 and at < now() - interval '3 hours' group by seconds order by seconds`,
      [teamId],
    );
    assert.deepEqual(
      lengths.map(({ seconds, most }) => [seconds, most]),
      [
        [300, 7],
        [3600, 7],
      ],
    );
    assert.ok(lengths.every(({ rows }) => rows <= 5));
    assert.deepEqual(await histogram(), [20, 60, 160]);
    assert.deepEqual(await totals("7d"), { ...before, completed: (before.completed ?? 0) + 60 });
  });

  it("estimate quantiles within 25% of the exact value", () => {
    const counts = new Float64Array(BUCKETS);
    for (let ms = 1; ms <= 1000; ms += 1) counts[bucketOf(ms)] = (counts[bucketOf(ms)] ?? 0) + 1;
    for (const [part, exact] of [
      [0.5, 500],
      [0.95, 950],
    ] as const) {
      const estimate = quantile(counts, part) ?? 0;
      assert.ok(Math.abs(estimate - exact) < exact / 4, `${estimate} for ${exact}`);
    }
    assert.equal(quantile([], 0.5), null);
    assert.equal(bucketOf(10 * HOUR_MS), BUCKETS - 1);
    assert.equal(bucketOf(0), 0);
  });
});
