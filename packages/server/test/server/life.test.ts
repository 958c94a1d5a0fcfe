import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { startTestTarget, type TestTarget } from "../test-target.ts";
import { copyDataDir } from "./data-dir.ts";
import { API_KEY, launch, type ServerProcess, startServer, until } from "./server-process.ts";

describe("the built server, on its embedded database", () => {
  let dataDir: string;
  let target: TestTarget;
  let running: ServerProcess | null = null;
  /** The one that runs, or the next: a start takes seconds. */
  const serve = async () => {
    if (running !== null) return running;
    const server = await startServer({ BELLHOP_DATA_DIR: dataDir, BELLHOP_STOP_GRACE: "3600" });
    running = server;
    server.exited.finally(() => {
      running = null;
    });
    return server;
  };

  before(async () => {
    dataDir = await copyDataDir();
  });
  after(async () => {
    running?.signal("SIGKILL");
    await running?.exited;
    await rm(dataDir, { recursive: true, force: true });
  });
  beforeEach(async () => {
    target = await startTestTarget();
  });
  afterEach(() => target.close());

  it("runs a task from creation to completion", async () => {
    const server = await serve();
    await server.api("POST", "/v1/queues", { name: "errands" });
    const created = await server.create({
      queue: "errands",
      webhook_url: `${target.url}/hook`,
      payload: { user: 42 },
    });

    assert.equal(created.status, "pending");
    const task = await server.ended(created.id);
    assert.equal(task.status, "completed");
    assert.deepEqual(task.payload, { user: 42 });
    assert.equal(task.attempts.length, 1);
    const [call] = target.calls;
    assert.equal(call?.path, "/hook");
    assert.equal(call?.headers["bellhop-task-id"], created.id);
    assert.equal(call?.headers["bellhop-queue"], "errands");
    assert.equal(call?.headers["bellhop-attempt"], "1");
    assert.match(call?.headers["user-agent"] ?? "", /^Bellhop\/\d/);
    assert.equal(call?.headers["content-type"], "application/json");
  });

  it("completes a task after a restart whose call was interrupted by kill -9", async () => {
    const first = await serve();
    target.answer = () => {};
    const json = await first.create({ queue: "default", webhook_url: target.url });
    await target.received(1);
    first.signal("SIGKILL");
    await first.exited;
    target.answer = (_call, response) => response.end("done");

    const second = await serve();
    const task = await second.ended(json.id);

    assert.equal(task.status, "completed");
    assert.deepEqual(
      task.attempts.map((attempt: { status: string }) => attempt.status),
      ["interrupted", "success"],
    );
    assert.deepEqual(
      target.calls.map((call) => call.headers["bellhop-attempt"]),
      ["1", "2"],
    );
  });

  it("lets a call finish on SIGTERM, accepts no more requests, and exits 0", async () => {
    const server = await serve();
    let answer = () => {};
    target.answer = (_call, response) => {
      answer = () => response.end("late");
    };
    const json = await server.create({ queue: "default", webhook_url: target.url });
    await target.received(1);
    server.signal("SIGTERM");
    await until(() =>
      server.api("GET", "/livez").then(
        () => false,
        () => true,
      ),
    );
    answer();

    assert.equal(await server.exited, 0);
    const again = await serve();
    const task = await again.ended(json.id);
    assert.equal(task.status, "completed");
    assert.equal(target.calls.length, 1);
  });

  it("stops without waiting for calls on a second signal, and loses no task", async () => {
    const server = await serve();
    target.answer = () => {};
    const json = await server.create({ queue: "default", webhook_url: target.url });
    await target.received(1);
    server.signal("SIGTERM");
    await until(() => server.stderr.includes("bellhop.stopping"));
    // What comes within a second of the first is the same signal.
    const stoppingAt = performance.now();
    await until(() => performance.now() - stoppingAt > 1000);
    server.signal("SIGTERM");
    assert.equal(await server.exited, 0);

    target.answer = (_call, response) => response.end("done");
    const again = await serve();
    assert.equal((await again.ended(json.id)).status, "completed");
  });

  it("treats two signals at once (Ctrl-C through npm) as one: calls still finish", async () => {
    const server = await serve();
    let answer = () => {};
    target.answer = (_call, response) => {
      answer = () => response.end("late");
    };
    const json = await server.create({ queue: "default", webhook_url: target.url });
    await target.received(1);
    server.signal("SIGINT");
    server.signal("SIGTERM");
    await until(() => server.stderr.includes('"calls":1,"graceSeconds":3600,"msg":"bellhop.stopping"'));
    answer();

    assert.equal(await server.exited, 0);
    const again = await serve();
    assert.equal((await again.ended(json.id)).attempts.length, 1);
  });

  it("starts a delayed task within 150 ms of its time, once in ten tries", async () => {
    const server = await serve();
    const lateMs: number[] = [];
    target.answer = (_call, response) => {
      lateMs.push(Date.now() - at.getTime());
      response.end();
    };
    let at = new Date();
    // On a busy machine one may come late that was started in time, but not one after the other.
    for (let tries = 1; tries <= 10 && lateMs.every((late) => late >= 150); tries += 1) {
      at = new Date(Date.now() + 700);
      const run_at = at.toISOString();
      await server.create({ queue: "default", webhook_url: target.url, run_at });
      await target.received(tries);
    }

    assert.ok(Math.min(...lateMs) >= 0, "not before its time");
    assert.ok(Math.min(...lateMs) < 150, `${lateMs} ms late`);
  });

  it("refuses a second server on the same data directory, and names the setting", async () => {
    await serve();
    const second = launch({ BELLHOP_DATA_DIR: dataDir });

    assert.equal(await second.exited, 1);
    assert.match(second.stderr, /BELLHOP_DATA_DIR/);
    assert.ok(second.stderr.includes(dataDir));
  });

  it("exits on SIGTERM although an event stream is open", { timeout: 60_000 }, async () => {
    const server = await serve();
    const headers = { authorization: `Bearer ${API_KEY}` };
    const { body } = await fetch(`${server.url}/v1/events`, { headers });
    await server.create({ queue: "default", webhook_url: target.url });
    let told = "";
    for await (const chunk of body ?? []) {
      told += new TextDecoder().decode(chunk);
      if (told.includes("event: task.completed")) server.signal("SIGTERM");
    }

    assert.equal(await server.exited, 0);
  });

  it("refuses an unknown setting, and suggests a similar one", async () => {
    const server = launch({ BELLHOP_DATA_DIR: dataDir, BELLHOP_RETENTION_DAY: "3" });

    assert.equal(await server.exited, 1);
    assert.match(
      server.stderr,
      /Unknown setting BELLHOP_RETENTION_DAY; did you mean BELLHOP_RETENTION_DAYS\?/,
    );
  });
});
