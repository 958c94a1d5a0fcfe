import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type Link, type SilentProxy, startSilentProxy, type Way } from "../silent-proxy.ts";
import { createTestDatabase, type TestDatabase } from "../test-database.ts";
import { startTestTarget, type TestTarget } from "../test-target.ts";
import { type Json, type ServerProcess, startServer, until } from "./server-process.ts";

/** What a busy machine may add. Without limits answers, recovery and stop would take as long as the silence. */
const BUSY_MS = 8_000;
const ANSWER_MS = 2_000 + BUSY_MS;

describe("a node whose database connections stop answering", () => {
  let test: TestDatabase;
  let proxy: SilentProxy;
  let target: TestTarget;
  let node: ServerProcess;
  let stalledAtStart: Promise<Link>;

  before(async () => {
    test = await createTestDatabase();
    proxy = await startSilentProxy(test.connection);
    target = await startTestTarget();
    const { user, database } = test.connection;
    stalledAtStart = proxy.stallNext("insert into workers", "answer");
    node = await startServer({
      DATABASE_URL: `postgres://${user}@127.0.0.1:${proxy.port}/${database}`,
      BELLHOP_STOP_GRACE: "1",
    });
    await node.api("POST", "/v1/queues", { name: "errands", concurrency: 5 });
  });
  after(async () => {
    // First what there is also where the start has failed: left open, it would keep this process alive.
    await target.close();
    await proxy.close();
    node.signal("SIGKILL");
    await node.exited;
    await test.drop();
  });

  async function ask(method: string, path: string, body?: object): Promise<{ status: number; json: Json }> {
    const beganMs = performance.now();
    const answer = await node.api(method, path, body);
    const tookMs = performance.now() - beganMs;
    assert.ok(tookMs < ANSWER_MS, `${method} ${path} was answered after ${Math.round(tookMs)} ms`);
    if (answer.status === 503 && path === "/v1/tasks") assert.equal(answer.retryAfter, "1");
    return answer;
  }

  const create = (fields: object = {}) =>
    ask("POST", "/v1/tasks", { queue: "errands", webhook_url: target.url, ...fields });

  /** Asks as a good client does: again, as often as it is told to. */
  async function created(fields: object = {}): Promise<string> {
    let answer = await create(fields);
    await until(async () => {
      if (answer.status !== 201) answer = await create(fields);
      assert.ok([201, 503].includes(answer.status), String(answer.status));
      return answer.status === 201;
    });
    return answer.json.id;
  }

  async function ended(id: string): Promise<Json> {
    let task: Json;
    await until(async () => {
      const { status, json } = await ask("GET", `/v1/tasks/${id}`);
      task = json;
      return status === 200 && json.completed_at !== undefined;
    });
    return task;
  }

  const callsFor = (id: string) =>
    target.calls.filter(({ headers }) => headers["bellhop-task-id"] === id).length;

  const expiry = async () => {
    const [row] = await test.database.rows<{ at: Date }>("select max(expires_at) as at from workers");
    return row?.at.getTime() ?? 0;
  };

  it("starts although one of its first statements was not answered", async () => {
    assert.equal((await stalledAtStart).use, "bellhop-lease");
    proxy.release();
    await until(async () => (await ask("GET", "/readyz")).status === 200);
  });

  for (const use of ["api", "intake", "settle", "claim", "chores", "polls", "lease", "listen"])
    it(`keeps completing tasks when those for "${use}" stop`, async () => {
      const leased = await expiry();
      const silent = proxy.links.filter((link) => link.use === `bellhop-${use}`);
      proxy.silenceUse(`bellhop-${use}`);
      const [now, later] = await Promise.all([created(), created({ delay: 1 })]);
      for (const id of [now, later]) {
        const task = await ended(id);
        assert.equal(task.status, "completed");
        assert.equal(callsFor(id), 1);
      }
      if (use === "lease") await until(async () => (await expiry()) > leased);
      if (use === "listen")
        await until(() =>
          proxy.links.some((link) => link.use === "bellhop-listen" && !silent.includes(link)),
        );
      proxy.release();
    });

  it("answers 503 in time and is not ready when all stop, and recovers within 5 s", async () => {
    proxy.silence();
    for (let asked = 0; asked < 2; asked += 1) {
      const answers = await Promise.all([
        create(),
        create(),
        ask("GET", "/v1/queues"),
        ask("GET", "/readyz"),
      ]);
      assert.deepEqual(
        answers.map(({ status }) => status),
        [503, 503, 503, 503],
      );
    }
    proxy.release();
    const beganMs = performance.now();
    await ended(await created());
    await until(async () => (await ask("GET", "/readyz")).status === 200);
    assert.ok(performance.now() - beganMs < 5_000 + BUSY_MS, `${performance.now() - beganMs} ms`);
  });

  for (const way of ["answer", "request"] as const)
    it(`calls each task once although the ${way} of one statement of each kind is late`, async () => {
      await ended(await created());
      const tasks = target.calls.length;
      const stall = (text: string, direction: Way = way) => proxy.stallNext(text, direction);
      const stalled = [stall("insert_tasks"), stall("update workers set expires_at")];
      const first = await create();
      const claimed = stall("claim_due_tasks");
      const delayed = await created({ delay: 1 });
      await claimed;
      const settled = stall("settle_attempts");
      const third = await created();
      await Promise.all([...stalled, settled]);

      const known = [delayed, third, ...(first.status === 201 ? [first.json.id] : [])];
      for (const id of known) assert.equal((await ended(id)).status, "completed");
      // What is late arrives now, when everything has long been done over again.
      proxy.release();
      await until(async () => {
        const [row] = await test.database.rows<{ all: number; open: number }>(
          `select count(*)::integer as all, count(*) filter (where completed_at is null)::integer as open from tasks`,
        );
        assert.ok(target.calls.length <= (row?.all ?? 0), "no call but one for each task there is");
        // The first is among them, whatever its caller was told.
        return row?.open === 0 && row.all === target.calls.length && row.all >= tasks + 3;
      });
      for (const id of known) assert.equal(callsFor(id), 1, id);
      assert.equal((await ask("GET", "/readyz")).status, 200);
    });

  it("exits within its grace period plus 5 s when all have stopped", async () => {
    target.answer = () => {};
    await created();
    proxy.silence();
    const beganMs = performance.now();
    node.signal("SIGTERM");
    await node.exited;

    assert.ok(performance.now() - beganMs < 6_000 + BUSY_MS, `${performance.now() - beganMs} ms`);
  });
});
