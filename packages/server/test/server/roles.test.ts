import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createBellhop } from "@bellhop/sdk";
import { examine, type Finding } from "../../src/cli/user/doctor-checks.ts";
import { readConfig } from "../../src/config.ts";
import { parseId } from "../../src/domain/public-id.ts";
import { VERSION } from "../../src/version.ts";
import { createTestDatabase, type TestDatabase } from "../test-database.ts";
import { startTestTarget, type TestTarget } from "../test-target.ts";
import { API_KEY, type Json, launch, ready, type ServerProcess, until } from "./server-process.ts";

describe("one API node and two workers", () => {
  let test: TestDatabase;
  let target: TestTarget;
  let api: ServerProcess;
  let workers: ServerProcess[];

  before(async () => {
    test = await createTestDatabase();
    target = await startTestTarget();
    const { host, port, user, database } = test.connection;
    const settings = {
      DATABASE_URL: `postgres://${user}@/${database}?host=${encodeURIComponent(host)}&port=${port}`,
      BELLHOP_VAULT_KEYS: `test:${Buffer.alloc(32, 7).toString("base64")}`,
    };
    api = launch({ ...settings, BELLHOP_ROLE: "api" });
    workers = ["worker", "worker"].map((role) => launch({ ...settings, BELLHOP_ROLE: role }));
    await Promise.all([api, ...workers].map(ready));
  });
  after(async () => {
    for (const node of [api, ...workers]) {
      node.signal("SIGKILL");
      await node.exited;
    }
    await target.close();
    await test.drop();
  });

  async function lateMs(id: string, due: "created_at" | "run_at"): Promise<number> {
    const [row] = await test.database.rows<{ ms: number }>(
      `select (extract(epoch from started_at - ${due}) * 1000)::float8 as ms from tasks where id = $1`,
      [parseId("task", id)],
    );
    return row?.ms ?? Number.POSITIVE_INFINITY;
  }

  const submit = (task: object = {}): Promise<Json> =>
    api.create({ queue: "default", webhook_url: target.url, ...task });

  /**
   * A busy machine may make any of them late, but not one after the other. Unheard, each after the first would wait for the next
   * look, 5 s after the one before.
   */
  async function isSoon(limitMs: number, act: () => Promise<number>): Promise<void> {
    await act();
    const late: number[] = [];
    while (late.length < 5 && !late.some((ms) => ms < limitMs)) late.push(await act());
    assert.ok(Math.min(...late) < limitMs, `${late.map(Math.round)} ms`);
  }

  it("have leases for the workers only, and the API node is ready without one", async () => {
    const rows = await test.database.rows<{ name: string }>("select name from workers");
    assert.deepEqual(
      rows.map(({ name }) => Number(name.split(":")[1])).sort(),
      workers.map(({ child }) => child.pid).sort(),
    );
    const { status, json } = await api.api("GET", "/readyz");
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(json.checks), ["database", "migrations"]);
    assert.match(api.stdout, /role {6}api: serves requests/);
  });

  it("are listed to the operator, each with its role and lease", async () => {
    let json: Json;
    await until(async () => {
      ({ json } = await api.api("GET", "/v1/system"));
      return json.nodes?.length >= 3;
    });
    assert.deepEqual(json.nodes.map(({ role, lease }: Json) => `${role} ${lease}`).sort(), [
      "api none",
      "worker held",
      "worker held",
    ]);
  });

  async function examined(): Promise<Record<string, Pick<Finding, "state" | "found">>> {
    const server = { url: api.url, apiKey: API_KEY, from: "a test" };
    const { url, apiKey } = server;
    const findings = await examine(server, createBellhop({ url, apiKey, maxRetries: 0 }), {
      version: VERSION,
      now: Date.now,
    });
    return Object.fromEntries(findings.map(({ check, state, found }) => [check, { state, found }]));
  }

  it("are reported as healthy by the doctor, with two nodes that make calls", async () => {
    const { ready, nodes, ...others } = await examined();
    assert.deepEqual(ready, {
      state: "ok",
      found: "every check of the node passes; it makes no calls itself",
    });
    assert.deepEqual(nodes, { state: "ok", found: "3, all healthy; 2 make calls" });
    for (const [check, { state, found }] of Object.entries(others))
      assert.equal(state, "ok", `${check}: ${found}`);
  });

  it("cause a warning of the doctor when an API node is dead", async () => {
    await test.database.rows(
      `insert into nodes (name, role, version, started_at, seen_at, calls_in_flight, max_in_flight, clock_offset_ms, loop_lag_ms)
       select 'dead:1', role, version, started_at, seen_at - interval '1 minute', 0, 0, 0, 0 from nodes where role = 'api'`,
    );
    const { nodes } = await examined();
    await test.database.rows("delete from nodes where name = 'dead:1'");
    assert.deepEqual(nodes, { state: "warning", found: "no heartbeat for 30 s: dead:1" });
  });

  it("serve only health and metrics on the workers", async () => {
    const [worker] = workers;
    const status = async (path: string) => (await fetch(`${worker?.url}${path}`)).status;
    for (const path of ["/livez", "/readyz", "/healthz", "/metrics"]) assert.equal(await status(path), 200);
    for (const path of ["/", "/docs/", "/openapi.json", "/v1/me", "/v1/tasks", "/sign-in"])
      assert.equal(await status(path), 404, path);
    assert.match(worker?.stdout ?? "", /role {6}worker: makes calls/);
  });

  it("start a submitted task at once, even in a queue that no worker knows yet", async () => {
    const runsIn = async (queue: string) => {
      const { id } = await submit({ queue });
      assert.equal((await api.ended(id)).status, "completed");
      return lateMs(id, "created_at");
    };
    await isSoon(1_000, () => runsIn("default"));
    let queues = 0;
    await isSoon(1_000, async () => {
      queues += 1;
      const name = `fresh-${queues}`;
      await api.api("POST", "/v1/queues", { name });
      return runsIn(name);
    });
  });

  it("start a delayed task within a second of its due time", async () => {
    await isSoon(1_000, async () => {
      const { id } = await submit({ delay: 1 });
      await api.ended(id);
      return lateMs(id, "run_at");
    });
  });

  it("send a notification at once after a callback", async () => {
    await isSoon(2_000, async () => {
      const told = `/told-${target.calls.length}`;
      const task = await submit({
        wait_for_callback: true,
        on_complete_url: new URL(told, target.url).href,
      });
      await until(async () => (await api.api("GET", `/v1/tasks/${task.id}`)).json.status === "waiting");
      const beganMs = performance.now();
      assert.equal((await api.api("POST", new URL(task.callback_url).pathname, { done: true })).status, 200);
      await until(() => target.calls.some(({ path }) => path === told));
      return performance.now() - beganMs;
    });
  });

  it("answer a cancel as soon as the worker has dropped the call", async () => {
    target.answer = () => {};
    let cancelled = 0;
    // Unheard, each would have waited for a second.
    await isSoon(900, async () => {
      const { id } = await submit();
      await until(() => target.calls.some(({ headers }) => headers["bellhop-task-id"] === id));
      const beganMs = performance.now();
      assert.equal((await api.api("POST", `/v1/tasks/${id}/cancel`)).json.status, "cancelled");
      const tookMs = performance.now() - beganMs;
      cancelled += 1;
      await target.broken(cancelled);
      return tookMs;
    });
  });

  it("send one cancel request to the provider of a cancelled job", async () => {
    const told: string[] = [];
    target.answer = (call, response) => {
      if (call.path.endsWith("/cancel")) told.push(call.path);
      response.end(JSON.stringify({ id: "job-1", status: "running" }));
    };
    const job = `${target.url}/jobs/{startResult.body.id}`;
    const { task } = await api.create({
      targetUrl: target.url,
      pollConfig: {
        urlTemplate: job,
        cancelUrlTemplate: `${job}/cancel`,
        statusPath: "status",
        doneValues: ["done"],
        failValues: ["failed"],
      },
    });
    const { id } = task;
    await until(async () => (await api.api("GET", `/v1/tasks/${id}`)).json.task.status === "polling");
    assert.equal((await api.api("POST", `/v1/tasks/${id}/cancel`)).status, 200);
    const left = "select 1 from tasks where status = 'cancelled' and poll is not null";
    await until(async () => told.length > 0 && (await test.database.rows(left)).length === 0);
    assert.deepEqual(told, ["/jobs/job-1/cancel"]);
  });

  it("let a stopping worker finish its call while the other takes new tasks", async () => {
    const arrived = target.calls.length;
    const held: (() => void)[] = [];
    target.answer = (_call, response) => {
      if (held.length > 0) response.end();
      else held.push(() => response.end());
    };
    const slow = await submit();
    await target.received(arrived + 1);
    const [holder] = await test.database.rows<{ name: string }>(
      "select w.name from tasks t join workers w on w.id = t.worker_id where t.status = 'active'",
    );
    const leaving = workers.find(({ child }) => holder?.name.endsWith(`:${child.pid}`));
    leaving?.signal("SIGTERM");

    for (let index = 0; index < 5; index += 1) {
      const { id } = await submit();
      assert.equal((await api.ended(id)).attempts.length, 1);
    }
    held[0]?.();
    assert.equal(await leaving?.exited, 0);

    const { nodes } = (await api.api("GET", "/v1/system")).json;
    assert.equal(nodes.length, 2);
    const { status, attempts } = (await api.api("GET", `/v1/tasks/${slow.id}`)).json;
    assert.equal(status, "completed");
    assert.equal(attempts.length, 1);
  });

  it("cause a failure of the doctor when no worker runs", async () => {
    for (const worker of workers) {
      worker.signal("SIGTERM");
      await worker.exited;
    }
    const { nodes } = await examined();
    assert.deepEqual(nodes, { state: "failed", found: "1, but none makes calls: tasks wait" });
  });
});

describe("a role", () => {
  it("other than all requires DATABASE_URL", () => {
    for (const role of ["api", "worker"])
      assert.throws(
        () => readConfig({ BELLHOP_ROLE: role }),
        new RegExp(`BELLHOP_ROLE=${role} needs DATABASE_URL`),
      );
    assert.throws(() => readConfig({ BELLHOP_ROLE: "boss" }), /must be one of all, api, worker/);
  });
});
