import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { openTraceExporter } from "../../src/outbound/trace-exporter.ts";
import { createTestDatabase, type TestDatabase } from "../test-database.ts";
import { startTestTarget, type TestTarget } from "../test-target.ts";
import { type Json, type ServerProcess, startServer, until } from "./server-process.ts";

describe("a server with a trace collector", () => {
  let test: TestDatabase;
  let target: TestTarget;
  let collector: TestTarget;
  let server: ServerProcess;

  before(async () => {
    test = await createTestDatabase();
    target = await startTestTarget();
    collector = await startTestTarget();
    const { host, port, user, database } = test.connection;
    server = await startServer({
      DATABASE_URL: `postgres://${user}@/${database}?host=${encodeURIComponent(host)}&port=${port}`,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: "50",
    });
  });
  after(async () => {
    // It may not have started, and the rest must be closed all the same.
    server?.signal("SIGTERM");
    await server?.exited;
    await target.close();
    await collector.close();
    await test.drop();
  });

  const resources = (): Json[] => collector.calls.flatMap(({ body }) => JSON.parse(body).resourceSpans);
  const spans = (name: string): Json[] =>
    resources().flatMap(({ scopeSpans }) =>
      scopeSpans.flatMap((scope: Json) => scope.spans.filter((span: Json) => span.name === name)),
    );
  const attribute = ({ attributes }: Json, key: string) =>
    Object.values(attributes.find((each: Json) => each.key === key)?.value ?? {})[0];
  const linked = ({ links = [] }: Json) => links.map(({ traceId, spanId }: Json) => `${traceId} ${spanId}`);
  const name = ({ traceId, spanId }: Json) => `${traceId} ${spanId}`;
  const isOf = (id: string) => (span: Json) => attribute(span, "bellhop.task.id") === id;

  it("sends spans for creation, attempt and notification, linked to the caller's trace", async () => {
    const caller = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" };
    await server.create(
      {
        targetUrl: `${target.url}/secret-path?k=s3cret`,
        onCompleteUrl: `${target.url}/told`,
      },
      { traceparent: `00-${caller.traceId}-${caller.spanId}-01` },
    );
    // They end in any order: the creation's ends with the answer to it.
    await until(() => ["create task", "attempt", "notification"].every((each) => spans(each).length > 0));
    const [created] = spans("create task");
    const [attempt] = spans("attempt");
    const [notification] = spans("notification");
    assert.deepEqual([created.traceId, created.parentSpanId], [caller.traceId, caller.spanId]);
    assert.deepEqual(linked(attempt), [name(created)]);
    assert.notEqual(attempt.traceId, created.traceId);
    assert.equal(attribute(attempt, "bellhop.task.id"), attribute(created, "bellhop.task.id"));
    assert.equal(attribute(notification, "bellhop.task.id"), attribute(created, "bellhop.task.id"));
    assert.equal(Number(attribute(attempt, "http.response.status_code")), 200);

    const called = target.calls.map(({ path, headers }) => [path, headers.traceparent]);
    assert.deepEqual(called, [
      ["/secret-path?k=s3cret", `00-${attempt.traceId}-${attempt.spanId}-01`],
      ["/told", `00-${notification.traceId}-${notification.spanId}-01`],
    ]);
    const all = collector.calls.map(({ body }) => body).join();
    assert.doesNotMatch(all, /s3cret|secret-path|bh_live_/);
    const [{ resource }] = resources();
    assert.equal(attribute(resource, "service.name"), "bellhop");
  });

  it("links every attempt and poll to the creation, and marks failed ones", async () => {
    let calls = 0;
    target.answer = (call, response) => {
      calls += 1;
      if (calls === 1) response.statusCode = 500;
      response.end(
        JSON.stringify({ id: "job-1", status: call.path.startsWith("/jobs") ? "done" : "running" }),
      );
    };
    const { task } = await server.create({
      targetUrl: target.url,
      retryDelay: 0,
      pollConfig: {
        urlTemplate: `${target.url}/jobs/{startResult.body.id}`,
        interval: 1,
        statusPath: "status",
        doneValues: ["done"],
        failValues: ["failed"],
      },
    });
    // Its end must not become known to the webhook of the next test.
    await server.ended(task.id);
    const attemptsOf = () => spans("attempt").filter(isOf(task.id));
    await until(
      () =>
        attemptsOf().length >= 2 && ["create task", "poll"].every((each) => spans(each).some(isOf(task.id))),
    );
    const created = spans("create task").find(isOf(task.id));
    const attempts = attemptsOf();
    assert.deepEqual(
      attempts.map((each) => attribute(each, "bellhop.attempt")),
      ["1", "2"],
    );
    for (const each of [...attempts, ...spans("poll").filter(isOf(task.id))])
      assert.deepEqual(linked(each), [name(created)]);
    assert.deepEqual(
      attempts.map(({ status }) => status.code),
      [2, 0],
    );
  });

  it("sends a span for each firing of a schedule and each webhook delivery", async () => {
    const hook = { url: `${target.url}/hook-s3cret`, events: ["task.completed"] };
    assert.equal((await server.api("POST", "/v1/webhooks", hook)).status, 201);
    const terms = { cron: "0 0 1 1 *", task: { targetUrl: target.url } };
    const { schedule } = (await server.api("PUT", "/v1/schedules/traced", terms)).json;
    const byHand = await server.api("POST", "/v1/schedules/traced/run");
    assert.equal(byHand.status, 201);
    // While its task runs, a schedule that skips overlaps does not fire.
    await server.ended(byHand.json.task.id);
    await test.database.rows("update schedules set next_run_at = now() where name = $1", ["traced"]);
    // Any change has the scheduler look, and this one leaves the time as it is.
    assert.equal((await server.api("PATCH", "/v1/schedules/traced", { overlap: "skip" })).status, 200);

    const attemptOf = (firing: Json) =>
      spans("attempt").find(isOf(String(attribute(firing, "bellhop.task.id"))));
    await until(() => spans("fire schedule").filter(attemptOf).length >= 2 && spans("delivery").length >= 2);
    const firings = spans("fire schedule");
    assert.equal(firings.length, 2);
    assert.equal(firings.filter(isOf(byHand.json.task.id)).length, 1);
    for (const firing of firings) {
      assert.equal(attribute(firing, "bellhop.schedule.id"), schedule.id);
      assert.deepEqual(linked(attemptOf(firing)), [name(firing)]);
    }
    const hooked = target.calls.filter(({ path }) => path === "/hook-s3cret");
    assert.deepEqual(
      hooked.map(({ headers }) => [headers["webhook-id"], headers.traceparent]).sort(),
      spans("delivery")
        .map((each) => [attribute(each, "bellhop.delivery.id"), `00-${each.traceId}-${each.spanId}-01`])
        .sort(),
    );
    assert.doesNotMatch(collector.calls.map(({ body }) => body).join(), /s3cret/);
  });

  it("stops although the collector hangs", async () => {
    const exports = collector.calls.length;
    collector.hold();
    await server.create({ targetUrl: target.url });
    await collector.received(exports + 1);
    server.signal("SIGTERM");
    assert.equal(await server.exited, 0);
  });
});

describe("a server with a trace collector, but without the packages for it", () => {
  it("does not start, and names the packages", async () => {
    const missing = async () => {
      throw Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
    };
    await assert.rejects(openTraceExporter({}, missing), {
      name: "TracePackagesMissing",
      message: /npm install @opentelemetry\/sdk-trace-node @opentelemetry\/exporter-trace-otlp-http/,
    });
  });
});
