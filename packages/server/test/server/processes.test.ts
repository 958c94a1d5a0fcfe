import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { request } from "undici";
import { freePort } from "../../../../tools/free-port.ts";
import { parseMetrics, type Scrape } from "../metrics/parse-metrics.ts";
import { startTestTarget, type TestTarget } from "../test-target.ts";
import { copyDataDir } from "./data-dir.ts";
import { type Json, launch, type ServerProcess, startServer, until } from "./server-process.ts";

describe("a server of two processes", () => {
  let dataDir: string;
  let target: TestTarget;
  let server: ServerProcess;
  let key: string;

  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "bellhop-processes-"));
    target = await startTestTarget();
    server = await startServer({ BELLHOP_DATA_DIR: dataDir, BELLHOP_PROCESSES: "2", BELLHOP_API_KEY: "" });
    key = /^ {2}export KEY=(bh_live_\w+)$/m.exec(server.stdout)?.[1] ?? "";
  });
  after(async () => {
    server.signal("SIGKILL");
    await server.exited;
    await target.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  /** Each on a connection of its own, so that the processes have them in turn. */
  async function ask(method: "GET" | "POST", path: string, body?: object) {
    const answer = await request(`${server.url}${path}`, {
      method,
      reset: true,
      // undici 7 fails an assertion when a connection ends while its buffer is full (nodejs/undici#5360), and metrics are long.
      highWaterMark: 16 * 1_048_576,
      headers: { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.statusCode, text: await answer.body.text() };
  }

  /** As a client does: on a busy machine a statement may take longer than its deadline. */
  async function submit(): Promise<string> {
    let answer = { status: 503, text: "" };
    await until(async () => {
      answer = await ask("POST", "/v1/tasks", { queue: "errands", webhook_url: target.url });
      return answer.status !== 503;
    });
    assert.equal(answer.status, 201, answer.text);
    return JSON.parse(answer.text).id;
  }

  async function ended(id: string): Promise<Json> {
    let task: Json;
    await until(async () => {
      task = JSON.parse((await ask("GET", `/v1/tasks/${id}?wait=25`)).text);
      return task.completed_at !== undefined;
    });
    return task;
  }

  async function nodes(): Promise<Json[]> {
    return JSON.parse((await ask("GET", "/v1/system")).text).nodes ?? [];
  }

  const pidOf = ({ name }: { name: string }) => Number(name.split(":").at(-1));
  const isAlive = (pid: number) => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  it("prints its banner once, and runs two nodes", async () => {
    // 409: it was stored by a request whose statement took longer than its deadline.
    const create = () => ask("POST", "/v1/queues", { name: "errands", concurrency: 20 });
    await until(async () => [201, 409].includes((await create()).status));
    assert.equal(server.stdout.match(/Bellhop is ready at/g)?.length, 1);
    assert.equal(server.stdout.match(/export KEY=/g)?.length, 1);
    assert.match(server.stdout, /^ {2}processes 2 \(set by BELLHOP_PROCESSES\)$/m);
    assert.equal(
      server.logged("schema.migrated").every((line) => line.process === "parent"),
      true,
    );
    await until(async () => (await nodes()).length === 2);
    const pids = (await nodes()).map(pidOf);
    assert.equal(new Set([...pids, server.child.pid]).size, 3);
    assert.deepEqual(
      (await nodes()).map(({ lease }) => lease),
      ["held", "held"],
    );
    assert.deepEqual(
      server
        .logged("lease.registered")
        .map((line) => line.process)
        .sort(),
      ["1", "2"],
    );
  });

  const sum = (scrape: Scrape, name: string) =>
    scrape.families.get(name)?.samples.reduce((all, { value }) => all + value, 0) ?? 0;

  it("distributes connections, and returns the metrics of both from either process", async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, submit));
    for (const id of ids) assert.equal((await ended(id)).status, "completed");
    for (const _ of ["one", "the other"]) {
      const scrape = parseMetrics((await ask("GET", "/metrics")).text);
      assert.ok(sum(scrape, "bellhop_tasks_created_total") >= ids.length);
      assert.equal(sum(scrape, "bellhop_calls_in_flight_max"), 2000);
      for (const process of ["1", "2"]) {
        assert.ok(scrape.value("bellhop_tasks_created_total", { process, kind: "queue" }) > 0);
        assert.equal(scrape.value("bellhop_process_up", { process }), 1);
      }
      assert.ok(scrape.value("process_resident_memory_bytes", { process: "parent" }) > 0);
      assert.equal(scrape.value("bellhop_queue_tasks", { queue: "errands", state: "pending" }), 0);
    }
  });

  it("replaces a killed process, repeats its calls at once, and keeps serving", async () => {
    target.hold();
    const held = await Promise.all(Array.from({ length: 8 }, submit));
    await until(() => target.held.length >= held.length);
    const scrape = parseMetrics((await ask("GET", "/metrics")).text);
    const busy = scrape.value("bellhop_calls_in_flight", { process: "1" }) > 0 ? "1" : "2";
    const dead: number = server.logged("process.ready").find(({ of }) => of === busy)?.pid;
    process.kill(dead, "SIGKILL");
    await until(() => server.logged("process.ended").length > 0);
    const meanwhile = await submit();
    target.answer = (_call, response) => response.end();
    target.release();
    for (const id of [...held, meanwhile]) assert.equal((await ended(id)).status, "completed");

    const [end] = server.logged("process.ended");
    assert.deepEqual([end.pid, end.signal, end.process], [dead, "SIGKILL", "parent"]);
    await until(() => server.logged("process.ready").length >= 3);
    assert.equal(server.logged("process.ready").at(-1)?.of, end.of);
    assert.equal(server.logged("tasks.reaped").length, 1);
    // What was not waited for.
    assert.deepEqual(server.logged("workers.died"), []);
    await until(async () =>
      (await ask("GET", "/metrics")).text.includes(`bellhop_process_up{process="${end.of}"} 1`),
    );
  });

  it("answers a request that a process was killed before it took", async () => {
    const frozen: number = server.logged("process.ready").at(-1)?.pid;
    process.kill(frozen, "SIGSTOP");
    let answered = 0;
    const asked = Array.from({ length: 4 }, async () => {
      const { status } = await ask("GET", "/livez");
      answered += 1;
      return status;
    });
    await until(() => answered === asked.length - 1);
    process.kill(frozen, "SIGKILL");
    assert.deepEqual(await Promise.all(asked), [200, 200, 200, 200]);
    const ready = server.logged("process.ready").length;
    await until(() => server.logged("process.ready").length > ready);
  });

  it("stops both on SIGTERM, lets their calls finish, and exits 0", async () => {
    target.hold();
    const ids = await Promise.all([submit(), submit()]);
    await until(() => target.held.length >= ids.length);
    const pids = (await nodes()).map(pidOf);
    server.signal("SIGTERM");
    await until(() => server.logged("bellhop.stopping").length === 3);
    target.release();
    assert.equal(await server.exited, 0);
    assert.deepEqual(pids.filter(isAlive), []);
    assert.deepEqual(
      server
        .logged("bellhop.stopped")
        .map((line) => line.process)
        .sort(),
      ["1", "2", "parent"],
    );
    assert.equal(server.logged("attempt.settled").filter(({ task }) => ids.includes(task)).length, 2);
  });

  it("reports a busy port once", async () => {
    const busy = createServer();
    await once(busy.listen(0, "127.0.0.1"), "listening");
    const address = busy.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const failed = launch({ BELLHOP_DATA_DIR: dataDir, BELLHOP_PROCESSES: "2", PORT: String(port) });
    assert.equal(await failed.exited, 1);
    busy.close();
    assert.equal(failed.stderr.match(/ is in use: another program/g)?.length, 1);
  });

  it("leaves no process behind when its parent is killed, and can be started again", async () => {
    server = await startServer({ BELLHOP_DATA_DIR: dataDir, BELLHOP_PROCESSES: "2" });
    await until(async () => (await nodes()).length === 2);
    const pids = (await nodes()).map(pidOf);
    server.signal("SIGKILL");
    await until(() => !pids.some(isAlive));

    server = await startServer({ BELLHOP_DATA_DIR: dataDir });
    await until(async () => (await nodes()).length === 1);
    assert.deepEqual((await nodes()).map(pidOf), [server.child.pid]);
    const { families } = parseMetrics((await ask("GET", "/metrics")).text);
    assert.ok(!families.has("bellhop_process_up"));
    assert.doesNotMatch(server.stderr, /"process":/);
    assert.doesNotMatch(server.stdout, /^ {2}processes/m);
  });
});

describe("a start of two processes of which one is delayed", { skip: process.platform !== "linux" }, () => {
  let dataDir: string;
  before(async () => {
    dataDir = await copyDataDir();
  });
  after(() => rm(dataDir, { recursive: true, force: true }));

  /**
   * The server's own processes, in the order in which they were started; PostgreSQL is a child of the parent too. Only those that run
   * their program: the parent waits for a new one to get there, and would wait for ever for one that was stopped before.
   */
  function membersOf(pid: number): number[] {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    return children.map(Number).filter((child) => {
      try {
        return readFileSync(`/proc/${child}/environ`, "utf8").includes("NODE_UNIQUE_ID=");
      } catch {
        return false;
      }
    });
  }

  it("is ready once both are, and replaces one that is killed before it was ready", async (test) => {
    const port = await freePort();
    const server = launch({ BELLHOP_DATA_DIR: dataDir, BELLHOP_PROCESSES: "2", PORT: String(port) });
    test.after(async () => {
      server.signal("SIGKILL");
      await server.exited;
    });
    const parent = server.child.pid ?? 0;
    let held: number | undefined;
    await until(() => {
      held = membersOf(parent)[1];
      return held !== undefined || server.child.exitCode !== null;
    });
    assert.ok(held !== undefined, server.stderr);
    process.kill(held, "SIGSTOP");
    await until(() => server.stderr.includes("process.ready"));

    const early = await request(`http://127.0.0.1:${port}/readyz`, { reset: true });
    assert.equal(early.statusCode, 503);
    assert.equal(((await early.body.json()) as Json).checks.processes, "not all have started");
    assert.equal(server.url, "");

    process.kill(held, "SIGKILL");
    await until(() => server.url !== "" || server.child.exitCode !== null);
    assert.equal(server.child.exitCode, null, server.stderr);
    assert.match(server.stderr, new RegExp(`"pid":${held},.*"msg":"process.ended"`));
    // Each process is told by its own channel, and connections go to them in turn.
    for (const _ of ["one", "the other"])
      await until(
        async () => (await request(`http://127.0.0.1:${port}/readyz`, { reset: true })).statusCode === 200,
      );
    server.signal("SIGTERM");
    assert.equal(await server.exited, 0);
  });
});
