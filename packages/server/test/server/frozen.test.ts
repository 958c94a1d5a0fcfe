import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/postgres/embedded.ts";
import { startTestTarget, type TestTarget } from "../test-target.ts";
import { copyDataDir } from "./data-dir.ts";
import { type ServerProcess, startServer, until } from "./server-process.ts";

/** Two seconds are promised for an answer, five more for recovery and stop. Without limits each would take as long as the freeze. */
const BUSY_MS = 8_000;
const ANSWER_MS = 2_000 + BUSY_MS;
const FROZEN_MS = 8_000;

describe("a node whose PostgreSQL is frozen", () => {
  let dataDir: string;
  let postgres: EmbeddedPostgres;
  let target: TestTarget;
  let node: ServerProcess;

  before(async () => {
    dataDir = await copyDataDir();
    postgres = await startEmbeddedPostgres({ dataDir, log: () => {} });
    target = await startTestTarget();
    const { host, port, user, password, database } = postgres.connection;
    node = await startServer({
      DATABASE_URL: `postgres://${user}:${password}@/${database}?host=${encodeURIComponent(host)}&port=${port}`,
      BELLHOP_STOP_GRACE: "1",
    });
  });
  after(async () => {
    await signalPostgres("SIGCONT");
    node.signal("SIGKILL");
    await node.exited;
    await target.close();
    await postgres.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  async function signalPostgres(signal: NodeJS.Signals): Promise<void> {
    const pidFile = await readFile(join(postgres.dataDir, "pgdata", "postmaster.pid"), "utf8");
    const postmaster = Number(pidFile.split("\n")[0]);
    process.kill(postmaster, signal);
    const children = execFileSync("ps", ["-o", "pid=", "--ppid", String(postmaster)], { encoding: "utf8" });
    for (const pid of children.trim().split(/\s+/)) {
      try {
        process.kill(Number(pid), signal);
      } catch {
        // Set free, a backend whose client has left ends by itself.
      }
    }
  }

  const create = () => node.api("POST", "/v1/tasks", { queue: "default", webhook_url: target.url });

  it("answers 503 in time, loses no task and recovers within 5 s after it resumes", async () => {
    target.hold();
    const { json: before } = await create();
    await target.received(1);
    await signalPostgres("SIGSTOP");
    // Its answer waits until it can be settled.
    target.release();
    for (const beganMs = performance.now(); performance.now() - beganMs < FROZEN_MS; ) {
      const askedMs = performance.now();
      const { status, retryAfter } = await create();
      assert.deepEqual([status, retryAfter], [503, "1"]);
      assert.ok(performance.now() - askedMs < ANSWER_MS, `${Math.round(performance.now() - askedMs)} ms`);
    }
    target.answer = (_call, response) => response.end();
    await signalPostgres("SIGCONT");
    const backMs = performance.now();
    let created = await create();
    await until(async () => {
      if (created.status !== 201) created = await create();
      return created.status === 201 && (await node.api("GET", "/readyz")).status === 200;
    });
    assert.ok(performance.now() - backMs < 5_000 + BUSY_MS, `${Math.round(performance.now() - backMs)} ms`);

    const task = await node.ended(before.id);
    assert.deepEqual([task.status, task.attempts.length], ["completed", 1]);
    assert.equal((await node.ended(created.json.id)).status, "completed");
  });

  it("exits within its grace period plus 5 s when it is stopped", async () => {
    target.answer = () => {};
    await create();
    await signalPostgres("SIGSTOP");
    const beganMs = performance.now();
    node.signal("SIGTERM");
    await node.exited;
    const tookMs = performance.now() - beganMs;
    await signalPostgres("SIGCONT");

    assert.ok(tookMs < 6_000 + BUSY_MS, `${Math.round(tookMs)} ms`);
  });
});
