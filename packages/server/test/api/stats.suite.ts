import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { createStatsService } from "../../src/features/stats/service.ts";
import { newUuid } from "../../src/service/new-uuid.ts";
import type { Scan } from "../../src/service/scan-line.ts";
import type { Sql } from "../../src/store/sql.ts";
import { principalOf } from "../test-principal.ts";
import { createTestApi, type TestApi } from "./test-api.ts";

describe("statistics", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
    api.server.target.answer = (call, response) =>
      response.writeHead(call.path === "/refuses" ? 503 : 200).end("{}");
    for (const path of ["", "/refuses", "/refuses", ""])
      await api.run({ webhook_url: `${api.server.target.url.replace(/\/$/, "")}${path}` });
    await api.server.engine.actors.all.find(({ name }) => name === "queue-stats")?.once();
  });

  it("of queues have one number for each step of the range", async () => {
    for (const [range, steps, seconds] of [
      ["15m", 15, 60],
      ["1h", 60, 60],
      ["6h", 72, 300],
      ["24h", 96, 900],
      ["7d", 84, 7200],
      ["30d", 120, 21600],
    ] as const) {
      const { status, body } = await api.call("GET", `/v1/stats/queues?range=${range}`);
      assert.equal(status, 200);
      const { stats } = body;
      assert.deepEqual([stats.range, stats.step_seconds, stats.at.length], [range, seconds, steps]);
      assert.equal(Date.parse(stats.at[1]) - Date.parse(stats.at[0]), seconds * 1000);
      assert.equal(stats.from, stats.at[0]);
      assert.deepEqual(
        stats.queues.map(({ queue }: { queue: string }) => queue),
        ["default", "runs"],
      );
      const runs = stats.queues[1];
      for (const line of [runs, stats.total]) {
        const sum = (numbers: number[]) => numbers.reduce((all, one) => all + one, 0);
        assert.deepEqual([sum(line.created), sum(line.completed), sum(line.failed)], [4, 2, 2]);
        assert.equal(line.pending.length, steps);
        assert.equal(line.wait_ms.p95.length, steps);
        assert.ok(line.duration_ms.p50.some((ms: number | null) => ms !== null));
        assert.deepEqual(line.now, { pending: 0, active: 0, waiting: 0, polling: 0 });
      }
      assert.equal(stats.total.queue, null);
    }
  });

  it("of queues can be limited to a queue or the sandbox, and refuse an unknown range", async () => {
    const one = await api.call("GET", "/v1/stats/queues?range=1h&queue=runs");
    assert.deepEqual([one.body.stats.queues.length, one.body.stats.queues[0].queue], [1, "runs"]);
    const unknown = await api.call("GET", "/v1/stats/queues?range=1h&queue=nobody-has-this");
    assert.equal(unknown.body.code, "queue_not_found");
    for (const query of ["", "?range=2h", "?range=1h&sandbox=yes", "?range=1h&from=1"])
      assert.equal((await api.call("GET", `/v1/stats/queues${query}`)).status, 400, query);

    const test = await api.team.newKey("test");
    const task = { queue: "runs", webhook_url: "http://127.0.0.1:9/" };
    await api.call("POST", "/v1/tasks", task, test);
    await api.server.engine.actors.all.find(({ name }) => name === "queue-stats")?.once();
    const sandbox = await api.call("GET", "/v1/stats/queues?range=15m&sandbox=true");
    const own = await api.call("GET", "/v1/stats/queues?range=15m", undefined, test);
    for (const { body } of [sandbox, own])
      assert.deepEqual(
        [
          body.stats.total.created.reduce((all: number, count: number) => all + count, 0),
          body.stats.total.now.pending,
        ],
        [1, 1],
      );
    assert.equal(
      (await api.call("GET", "/v1/stats/queues?range=15m&sandbox=false", undefined, test)).status,
      400,
    );
  });

  it("of failures are grouped, each group with the filter that finds its tasks", async () => {
    const { status, body } = await api.call("GET", "/v1/stats/failures?range=1h");
    assert.equal(status, 200);
    assert.equal(body.failures.length, 1);
    const [group] = body.failures;
    assert.deepEqual(
      [
        group.queue,
        group.host,
        group.failure_reason,
        group.response_code,
        group.count,
        group.count_is_capped,
      ],
      ["runs", "127.0.0.1", "retries_exhausted", "503", 2, false],
    );
    assert.ok(group.first_seen <= group.last_seen);
    const sample = await api.call("GET", `/v1/tasks/${group.sample_task}`);
    assert.equal(sample.body.task?.status ?? sample.body.status, "failed");

    const bulk = { action: "retry", filter: group.filter, dry_run: true };
    const dry = await api.call("POST", "/v1/tasks/bulk", bulk);
    assert.ok(dry.status < 300, dry.text);
    assert.equal(dry.body.bulk?.matched ?? dry.body.matched, 2);
    const listed = await api.call("GET", `/v1/tasks?${new URLSearchParams(group.filter)}`);
    assert.equal(listed.body.tasks.length, 2);

    const others = await api.openTeam();
    const theirs = await api.call("GET", "/v1/stats/failures?range=1h", undefined, others.headers);
    assert.deepEqual(theirs.body, { failures: [] });
  });

  it("of failures group errors that differ only in ids, and separate other texts", async () => {
    const [declined, limited] = [{ id: 0 }, { id: 0 }];
    const { answer } = api.server.target;
    api.server.target.answer = (call, response) => {
      const of = call.path === "/card" ? declined : limited;
      of.id += 1;
      const said = call.path === "/card" ? `Card declined for cus_${of.id}` : `Limit of ${of.id} exceeded`;
      response.writeHead(402).end(JSON.stringify({ error: { message: said } }));
    };
    const base = api.server.target.url.replace(/\/$/, "");
    for (const path of ["/card", "/limit", "/card"])
      await api.run({ webhook_url: `${base}${path}`, max_retries: 0 });
    // Other suites call the same target.
    api.server.target.answer = answer;
    const { body } = await api.call("GET", "/v1/stats/failures?range=1h");
    const groups = body.failures.filter(
      ({ response_code }: { response_code: string }) => response_code === "402",
    );
    assert.deepEqual(
      groups.map(({ count, error, filter }: { count: number; error: string; filter: { error: string } }) => [
        count,
        error,
        filter.error,
      ]),
      [
        [2, "The target answered 402: Card declined for cus_2", "The target answered *: Card declined for *"],
        [1, "The target answered 402: Limit of 1 exceeded", "The target answered *: Limit of * exceeded"],
      ],
    );
    assert.equal(
      groups[0].course.reduce((sum: number, count: number) => sum + count, 0),
      2,
    );
    const dry = await api.call("POST", "/v1/tasks/bulk", {
      action: "retry",
      filter: groups[0].filter,
      dry_run: true,
    });
    assert.equal(dry.body.bulk?.matched ?? dry.body.matched, 2);
  });

  it("of failures name the most frequent tags and metadata, and leave out dismissed tasks", async () => {
    const { answer } = api.server.target;
    api.server.target.answer = (_call, response) => response.writeHead(409).end();
    for (const [tags, metadata] of [
      [["cus_1", "a"], { plan: "pro" }],
      [["cus_1", "b"], { plan: "pro", note: "x" }],
      [["cus_2", "c"], { plan: "free" }],
    ] as const)
      await api.run({ webhook_url: api.server.target.url, max_retries: 0, tags, metadata });
    api.server.target.answer = answer;
    const read = async () =>
      (await api.call("GET", "/v1/stats/failures?range=1h")).body.failures.find(
        ({ response_code }: { response_code: string }) => response_code === "409",
      );
    const group = await read();
    assert.deepEqual(group.top_tags, [
      { tag: "cus_1", count: 2 },
      { tag: "a", count: 1 },
      { tag: "b", count: 1 },
    ]);
    assert.deepEqual(group.top_metadata, [
      { key: "plan", value: "pro", count: 2 },
      { key: "note", value: "x", count: 1 },
      { key: "plan", value: "free", count: 1 },
    ]);

    await api.call("POST", `/v1/tasks/${group.sample_task}/dismiss`);
    const left = await read();
    assert.deepEqual([left.count, left.top_tags[0]], [2, { tag: "cus_1", count: 2 }]);
    const bulk = { action: "dismiss", filter: left.filter, dry_run: true };
    const dry = await api.call("POST", "/v1/tasks/bulk", bulk);
    assert.equal(dry.body.bulk?.matched ?? dry.body.matched, 2);
    for (const { id } of (await api.call("GET", `/v1/tasks?${new URLSearchParams(left.filter)}`)).body.tasks)
      await api.call("POST", `/v1/tasks/${id}/dismiss`);
    assert.equal(await read(), undefined);
  });

  it("of failures show a refused connection as network", async () => {
    await api.run({ webhook_url: "http://127.0.0.1:1/" });
    const { body } = await api.call("GET", "/v1/stats/failures?range=15m");
    const codes = body.failures.map((group: { response_code: string }) => group.response_code);
    assert.deepEqual(codes.toSorted(), ["402", "402", "503", "network"]);
  });

  it("of failures are read in slices over queues, exactly, and let other scans begin between them", async () => {
    const { database } = api.server;
    const { id: team } = await api.openTeam();
    await database.rows(
      `insert into queues (team_id, name, concurrency, max_retries, backoff, retry_delay_seconds, timeout_seconds)
       select $1, name, 1, 0, 'fixed', 1, 30 from unnest('{q-a,q-b,q-c}'::text[]) name`,
      [team],
    );
    const failed = [900, 1_300, 40];
    for (const [index, count] of failed.entries()) {
      const own = [team, `q-${"abc"[index]}`, count];
      await database.rows(
        `insert into tasks (team_id, id, queue_id, shape, status, list_key, priority, sandbox, method, url, timeout_seconds, max_retries,
                            backoff, retry_delay_seconds, run_at, created_at, completed_at, failure_reason, error, tags, dismissed_at)
         select $1, overlay(gen_random_uuid()::text placing left($4, 13) from 1 for 13)::uuid, q.id, 'queue', 'failed', 'failed', 5, false, 'POST',
                'https://a.example/', 30, 0, 'fixed', 1, now(), now(), now(), 'retries_exhausted', 'Order ' || n || ' failed',
                case when n % 2 = 0 then '{even}'::text[] end, case when n = 1 then now() end
           from queues q, generate_series(1, $3::integer) n where q.team_id = $1 and q.name = $2`,
        [...own, newUuid()],
      );
      await database.rows(
        "insert into queue_tallies (team_id, queue_id, worker_id, statement, failed) select $1, id, 0, 0, $3 from queues where team_id = $1 and name = $2",
        own,
      );
    }
    const slices: number[] = [];
    let turns = 0;
    const sql: Sql = {
      async rows(asked, values) {
        const rows = await database.rows<never>(asked, values);
        if (asked.name === "read_failed_tasks") slices.push(rows.length);
        return rows;
      },
    };
    const scan: Scan = {
      take: async () => {
        turns += 1;
      },
      give: () => {},
      end: () => {},
    };
    const stats = createStatsService({ sql, now: () => new Date() });
    const query = { range: "1h", sandbox: null } as const;
    const { groups } = await stats.failures(principalOf(team), query, scan);
    assert.deepEqual(slices, [900, 1_000, 300, 40]);
    assert.equal(turns, 3);
    assert.deepEqual(
      groups.map(({ queue, count, isCapped, fingerprint, topTags }) => ({
        queue,
        count,
        isCapped,
        fingerprint,
        topTags,
      })),
      [
        ["q-b", 1_299, 650],
        ["q-a", 899, 450],
        ["q-c", 39, 20],
      ].map(([queue, count, even]) => ({
        queue,
        count,
        isCapped: false,
        fingerprint: "Order * failed",
        topTags: [{ tag: "even", count: even }],
      })),
    );
  });
});
