import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { FastifyInstance } from "fastify";
import { pino } from "pino";
import type { MetricsAccess } from "../../src/api/routes/metrics.ts";
import { POLL_DEFAULTS } from "../../src/domain/poll/poll-config.ts";
import { Problem } from "../../src/domain/problem.ts";
import { publicTaskId } from "../../src/domain/task-id.ts";
import { composeApi } from "../../src/server/compose-api.ts";
import { until } from "../patience.ts";
import { openTestServer, plainRequest, type TestServer } from "../test-server.ts";
import { databaseAway } from "../test-sql.ts";
import { parseMetrics, type Scrape } from "./parse-metrics.ts";

const OPEN: MetricsAccess = { exposed: false, token: null };

function openApi(server: TestServer, metricsAccess?: MetricsAccess): Promise<FastifyInstance> {
  return composeApi(server.services, () => null, {
    log: pino({ level: "silent" }),
    version: "test",
    publicUrl: "https://bellhop.test",
    bodyLimitBytes: 10_000,
    ...(metricsAccess !== undefined && { metricsAccess }),
  });
}

describe("the metrics of a node", () => {
  let server: TestServer;
  let api: FastifyInstance;
  before(async () => {
    server = await openTestServer({ maxRetries: 0, concurrency: 5 });
    api = await openApi(server, OPEN);
  });
  after(async () => {
    await api.close();
    await server.close();
  });

  async function scrape(): Promise<Scrape> {
    const { statusCode, headers, body } = await api.inject("/metrics");
    assert.equal(statusCode, 200);
    assert.equal(headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    assert.equal(headers["cache-control"], "no-store");
    return parseMetrics(body);
  }

  /** What rose, and by how much: counters, and the counts of histograms. */
  async function risen(work: () => Promise<unknown>): Promise<Record<string, number>> {
    const countsOf = (scraped: Scrape) =>
      [...scraped.families.values()].flatMap(({ type, samples }) =>
        samples.flatMap(({ name, labels, value }): [string, number][] =>
          type === "counter" || name.endsWith("_count")
            ? [[[name, ...Object.values(labels).filter((label) => label !== "")].join(" "), value]]
            : [],
        ),
      );
    const earlier = new Map(countsOf(await scrape()));
    await work();
    const rises = countsOf(await scrape()).map(([key, value]): [string, number] => [
      key.replace(/^bellhop_/, ""),
      value - (earlier.get(key) ?? 0),
    ]);
    return Object.fromEntries(rises.filter(([key, rise]) => rise !== 0 && !/^(lease|http)_/.test(key)));
  }

  const answer = (status: number) => {
    server.target.answer = (_call, response) => response.writeHead(status).end("{}");
  };

  it("count a task that completes", async () => {
    answer(200);
    const { "batch_tasks_count claim": claims = 0, ...rises } = await risen(async () => {
      await server.submit();
      await server.dispatchOnce();
    });
    // It may look again when it has taken all there is.
    assert.ok(claims >= 1);
    assert.deepEqual(rises, {
      "tasks_created_total queue": 1,
      "tasks_ended_total completed": 1,
      task_wait_seconds_count: 1,
      "attempts_total success": 1,
      attempt_duration_seconds_count: 1,
      "batch_tasks_count intake": 1,
      "batch_tasks_count settle": 1,
      "batch_duration_seconds_count intake": 1,
      "batch_duration_seconds_count claim": claims,
      "batch_duration_seconds_count settle": 1,
    });
  });

  it("count a task that is started without a claim as a wait of 0", async () => {
    const rises = await risen(async () => {
      await server.submit({ shape: "direct" });
      await server.engine.attempts.finished();
    });
    assert.equal(rises.task_wait_seconds_count, 1);
    assert.equal(rises["tasks_created_total direct"], 1);
    assert.equal(rises["batch_tasks_count claim"], undefined);
  });

  it("measure the wait from the due time of the task", async () => {
    const sum = async () => (await scrape()).value("bellhop_task_wait_seconds_sum");
    const earlier = await sum();
    await server.submit({ delaySeconds: 60 });
    await server.advance(160);
    await server.dispatchOnce();
    const waited = (await sum()) - earlier;
    assert.ok(waited >= 100 && waited < 130, String(waited));
  });

  it("count a failed task with its reason", async () => {
    answer(503);
    const rises = await risen(async () => {
      await server.submit({ maxRetries: 1 });
      await server.dispatchOnce();
      await server.advance(600);
      await server.dispatchOnce();
    });
    assert.equal(rises["attempts_total http_5xx"], 2);
    assert.equal(rises["tasks_ended_total failed retries_exhausted"], 1);
    assert.equal(rises["tasks_ended_total completed"], undefined);
  });

  it("count a call that could not connect", async () => {
    const call = { ...plainRequest("http://127.0.0.1:1/").call };
    const rises = await risen(async () => {
      await server.submit({ call });
      await server.dispatchOnce();
    });
    assert.equal(rises["attempts_total connect_failed"], 1);
  });

  const pollConfig = () => ({
    ...POLL_DEFAULTS,
    urlTemplate: server.target.url,
    statusPath: "status",
    doneValues: ["done"],
    failValues: [],
  });

  it("count polls, and the task that they complete", async () => {
    answer(200);
    const states = ["running", "done"];
    server.target.answer = (call, response) =>
      response.end(JSON.stringify({ status: call.method === "GET" ? states.shift() : "begun" }));
    const rises = await risen(async () => {
      await server.submit({ shape: "direct", pollConfig: pollConfig() });
      await server.dispatchOnce();
      for (let poll = 0; poll < 2; poll += 1) {
        await server.advance(60);
        await server.engine.poller.workOnce();
        await server.engine.poller.finished();
      }
    });
    assert.equal(rises["polls_total again"], 1);
    assert.equal(rises["polls_total completed"], 1);
    assert.equal(rises["batch_tasks_count poll"], 2);
    assert.equal(rises["tasks_ended_total completed"], 1);
  });

  it("count a poll as superseded when its task has changed, and not as an end", async () => {
    let id = "";
    server.target.answer = async (call, response) => {
      if (call.method === "GET")
        await server.database.rows("update tasks set fence = fence + 1 where id = $1", [id]);
      response.end(JSON.stringify({ status: call.method === "GET" ? "done" : "begun" }));
    };
    const rises = await risen(async () => {
      id = await server.submit({ shape: "direct", pollConfig: pollConfig() });
      await server.dispatchOnce();
      await server.advance(60);
      await server.engine.poller.workOnce();
      await server.engine.poller.finished();
    });
    assert.equal(rises["polls_total superseded"], 1);
    assert.equal(rises["tasks_ended_total completed"], undefined);
    await server.tasks.cancel(server.principal, id);
  });

  it("count callbacks, and the task that one completes", async () => {
    answer(200);
    const rises = await risen(async () => {
      const created = await server.tasks.create(server.principal, {
        ...plainRequest(server.target.url),
        waitForCallback: true,
      });
      await server.dispatchOnce();
      await server.callbacks.resolve(created.callback?.id ?? "", "{}");
      await assert.rejects(server.callbacks.resolve("f".repeat(64), "{}"), Problem);
    });
    assert.equal(rises["callbacks_total accepted"], 1);
    assert.equal(rises["callbacks_total unknown"], 1);
    assert.equal(rises["tasks_ended_total completed"], 1);
  });

  it("count a task whose callback did not arrive in time", async () => {
    answer(200);
    const rises = await risen(async () => {
      await server.submit({ waitForCallback: true, maxWaitSeconds: 10 });
      await server.dispatchOnce();
      await server.advance(11);
      await server.engine.deadlines.expireOnce();
    });
    assert.equal(rises["tasks_ended_total failed callback_timeout"], 1);
  });

  it("count notifications by result: delivered, or to be tried again", async () => {
    answer(200);
    const rises = await risen(async () => {
      await server.submit({ onCompleteUrl: `${server.target.url}/done` });
      await server.dispatchOnce();
      answer(500);
      await server.engine.courier.workOnce();
      await server.engine.courier.finished();
      answer(200);
      await server.advance(60);
      await server.engine.courier.workOnce();
      await server.engine.courier.finished();
    });
    assert.equal(rises["notifications_total retry"], 1);
    assert.equal(rises["notifications_total delivered"], 1);
  });

  it("count webhook deliveries by result", async () => {
    const url = `${server.target.url}/told`;
    const terms = { url, events: ["task.completed" as const], queue: null, tag: null, enabled: true };
    await server.services.features.webhooks.service.create(server.principal, terms);
    const { engine, database } = server;
    const fanOut = engine.actors.all.find(({ name }) => name === "webhooks");
    answer(200);
    const rises = await risen(async () => {
      await server.submit();
      await server.dispatchOnce();
      // Events wait for the oldest transaction of the whole server, which may be one of another test.
      const isStored = async () => (await database.rows("select 1 from webhook_deliveries")).length > 0;
      await until(async () => {
        await fanOut?.once();
        return isStored();
      });
      for (const status of [500, 200]) {
        answer(status);
        await engine.webhookCourier.workOnce();
        await engine.webhookCourier.finished();
        await server.advance(600);
      }
    });
    assert.equal(rises["webhook_deliveries_total retry"], 1);
    assert.equal(rises["webhook_deliveries_total delivered"], 1);
  });

  it("show open event streams, and count those that are cut for a slow reader", async () => {
    const sink = { write() {}, waitingBytes: 0, drained: async () => {}, cut() {}, end() {} };
    const filter = { sandbox: false, types: null, queue: null, tag: null };
    const { events } = server.services;
    const rises = await risen(async () => {
      const stream = await events.open(server.principal, filter, null, sink);
      assert.equal((await scrape()).value("bellhop_event_streams"), 1);
      const cut = new Promise<void>((resolve) => {
        sink.cut = resolve;
      });
      sink.waitingBytes = 2_000_000;
      events.notice();
      await cut;
      stream.close();
    });
    assert.equal(rises["event_streams_cut_total slow"], 1);
    assert.equal((await scrape()).value("bellhop_event_streams"), 0);
  });

  it("count a task of a test key as sandbox, and not as its kind", async () => {
    const test = { ...server.principal, environment: "test" as const };
    const rises = await risen(() => server.submit({}, test));
    assert.equal(rises["tasks_created_total sandbox"], 1);
    assert.equal(rises["tasks_created_total queue"], undefined);
  });

  it("count a lease renewal each time the lease is renewed", async () => {
    const { lease } = server.databases;
    const renewals = async () => (await scrape()).value("bellhop_lease_renewals_total");
    // The node renews its lease every four seconds too: then once more.
    await until(async () => {
      await lease.idle();
      const sent = lease.sent.length;
      const before = await renewals();
      await server.engine.lease.renewOnce();
      const after = await renewals();
      if (lease.sent.length > sent + 1) return false;
      assert.equal(after, before + 1);
      return true;
    });
  });

  it("count requests by route pattern, and those without a route together", async () => {
    const before = await scrape();
    for (const url of ["/v1/tasks/task_1", "/v1/tasks/task_2", "/v1/nowhere/1", "/elsewhere"])
      await api.inject(url);
    await api.inject({ method: "OPTIONS", url: "/livez" });
    const now = await scrape();
    const requests = (route: string, method = "GET") =>
      now.value("bellhop_http_requests_total", { method, route, status: "4xx" });

    assert.equal(requests("/v1/tasks/:task_id"), 2);
    assert.equal(requests("none"), 2);
    assert.equal(requests("none", "other"), 1);
    assert.equal(
      now.value("bellhop_http_request_duration_seconds_count", { method: "GET", route: "/metrics" }),
      now.value("bellhop_http_requests_total", { method: "GET", route: "/metrics", status: "2xx" }),
    );
    assert.ok(before.families.size === now.families.size);
  });

  it("show the calls in flight and their maximum", async () => {
    server.target.hold();
    await server.submit();
    await server.look();
    const during = await scrape();
    server.target.release();
    await server.engine.attempts.finished();
    assert.equal(during.value("bellhop_calls_in_flight"), 1);
    assert.equal(during.value("bellhop_calls_in_flight_max"), 1000);
    assert.equal((await scrape()).value("bellhop_calls_in_flight"), 0);
  });

  it("show the running version", async () => {
    const [info] = (await scrape()).families.get("bellhop_build_info")?.samples ?? [];
    const { node, version = "" } = info?.labels ?? {};
    assert.equal(node, process.versions.node);
    assert.match(version, /^\d+\.\d+\.\d+/);
  });

  it("limit the number of queues, and contain no id of a team or task", async () => {
    answer(200);
    const guest = await server.openTeam();
    for (let queue = 0; queue < 150; queue += 1) {
      const created = await server.queues.create(guest, `guests-${queue}`, {});
      assert.ok(created);
    }
    const ids = [
      await server.submit(),
      await server.submit({ shape: "direct" }),
      await server.submit({}, guest),
    ];
    await server.dispatchOnce();
    server.freeze(5);
    const { body } = await api.inject("/metrics");

    const queues = parseMetrics(body).labelValues("queue");
    assert.equal(queues.size, 101);
    assert.ok(queues.has("_rest") && queues.has("errands"));
    const teams = await server.database.rows<{ public_id: string }>("select public_id from teams");
    const names = [
      ...ids,
      ...ids.map((id) => publicTaskId({ id, shape: "queue" })),
      ...teams.map((team) => team.public_id),
    ];
    for (const name of names) assert.ok(!body.includes(name), name);
    assert.doesNotMatch(body, /[0-9a-f]{8}-[0-9a-f]{4}-|(task|team|key|tok)_[0-9a-z]{26}/);
  });
});

describe("the tasks of a dead worker", () => {
  it("count as reaped, their attempts as interrupted, and a late answer as superseded", async () => {
    const server = await openTestServer({ maxRetries: 0 });
    const api = await openApi(server, OPEN);
    const read = async () => parseMetrics((await api.inject("/metrics")).body);
    server.target.hold();
    await server.submit();
    await server.look();
    await server.target.received(1);
    await server.reapEverything();
    server.target.answer = (_call, response) => response.end("{}");
    server.target.release();
    await server.engine.attempts.finished();

    const scraped = await read();
    assert.equal(scraped.value("bellhop_tasks_reaped_total"), 1);
    assert.equal(scraped.value("bellhop_attempts_total", { outcome: "interrupted" }), 1);
    assert.equal(scraped.value("bellhop_attempts_total", { outcome: "superseded" }), 1);
    assert.equal(scraped.value("bellhop_lease_losses_total"), 0);
    await server.engine.lease.renewOnce();
    assert.equal((await read()).value("bellhop_lease_losses_total"), 1);
    await api.close();
    await server.close();
  });
});

describe("access to the metrics", () => {
  let server: TestServer;
  before(async () => {
    server = await openTestServer();
  });
  after(() => server.close());

  /** One server for all who ask: it takes long to build. */
  async function ask(access: MetricsAccess | undefined, authorizations: readonly (string | undefined)[]) {
    const api = await openApi(server, access);
    const answers = [];
    for (const authorization of authorizations) {
      const headers = authorization === undefined ? {} : { authorization };
      const { statusCode, body, headers: answered } = await api.inject({ url: "/metrics", headers });
      answers.push({ authorization, status: statusCode, body, challenge: answered["www-authenticate"] });
    }
    await api.close();
    return answers;
  }

  it("is open on a server that is not exposed", async () => {
    const [answer] = await ask(OPEN, [undefined]);
    assert.equal(answer?.status, 200);
  });

  for (const [name, access] of [
    ["an exposed server without a token", { exposed: true, token: null }],
    ["a server without access settings", undefined],
  ] as const) {
    it(`is refused on ${name}, which says what to set`, async () => {
      const answers = await ask(access, [undefined, "Bearer", "Bearer null", "Bearer "]);
      assert.equal(answers.length, 4);
      for (const { status, body, challenge } of answers) {
        assert.equal(status, 401);
        assert.match(JSON.parse(body).error, /set BELLHOP_METRICS_TOKEN/);
        assert.equal(challenge, "Bearer");
      }
    });
  }

  for (const exposed of [true, false]) {
    it(`requires the token on a server that is ${exposed ? "" : "not "}exposed`, async () => {
      const access = { exposed, token: "s3cret~token" };
      const wrong = [
        undefined,
        "",
        "Bearer s3cret~toke",
        "Bearer s3cret~token2",
        "Basic s3cret~token",
        "s3cret~token",
      ];
      const [right, ...refused] = await ask(access, ["Bearer s3cret~token", ...wrong]);
      assert.equal(right?.status, 200);
      assert.equal(refused.length, wrong.length);
      for (const { authorization, status, body } of refused) {
        assert.equal(status, 401, authorization);
        assert.ok(!body.includes("s3cret"), body);
      }
    });
  }

  it("is not rate limited", async () => {
    const api = await openApi(server, OPEN);
    for (let visits = 0; visits < 620; visits += 1)
      assert.equal((await api.inject({ method: "HEAD", url: "/metrics" })).statusCode, 200);
    await api.close();
  });

  it("works while the database is away, without the queue metrics", async (test) => {
    const api = await openApi(server, OPEN);
    test.mock.method(server.database, "rows", async () => {
      throw databaseAway();
    });
    server.freeze(5);
    const away = parseMetrics((await api.inject("/metrics")).body);
    await api.close();
    assert.equal(away.value("bellhop_database_up"), 0);
    assert.equal(away.labelValues("queue").size, 0);
    assert.ok(away.families.has("bellhop_attempts_total"));
  });
});
