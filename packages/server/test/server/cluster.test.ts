import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../test-database.ts";
import { startTestTarget, type TestTarget } from "../test-target.ts";
import { launch, ready, type ServerProcess, until } from "./server-process.ts";

describe("two nodes on one database", () => {
  let test: TestDatabase;
  let target: TestTarget;
  let nodes: [ServerProcess, ServerProcess];

  before(async () => {
    test = await createTestDatabase();
    target = await startTestTarget();
    const { host, port, user, database } = test.connection;
    const DATABASE_URL = `postgres://${user}@/${database}?host=${encodeURIComponent(host)}&port=${port}`;
    // Both at once, on an empty database: the migrations take turns.
    nodes = [launch({ DATABASE_URL }), launch({ DATABASE_URL })];
    await Promise.all(nodes.map(ready));
  });
  after(async () => {
    for (const node of nodes) {
      node.signal("SIGKILL");
      await node.exited;
    }
    await target.close();
    await test.drop();
  });

  it("use the queue's whole concurrency together, and never exceed it", async () => {
    const [a, b] = nodes;
    await a.api("POST", "/v1/queues", { name: "shared", concurrency: 4 });
    const held: (() => void)[] = [];
    target.answer = (_call, response) => {
      held.push(() => response.end());
      if (held.length >= 4) for (const answer of held.splice(0)) answer();
    };
    const created = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const node = index % 2 === 0 ? a : b;
        return String((await node.create({ queue: "shared", webhook_url: target.url })).id);
      }),
    );
    for (const id of created) assert.equal((await a.ended(id)).status, "completed");

    assert.equal(target.calls.length, 40);
    assert.equal(target.mostAtOnce, 4);
  });

  it("complete a task whose node was killed during the call", async () => {
    const [a, b] = nodes;
    const arrived = target.calls.length;
    target.answer = () => {};
    const { id } = await a.create({ queue: "default", webhook_url: target.url });
    await target.received(arrived + 1);
    const [holder] = await test.database.rows<{ name: string }>(
      "select w.name from tasks t join workers w on w.id = t.worker_id where t.status = 'active'",
    );
    const dead = holder?.name.endsWith(`:${a.child.pid}`) ? a : b;
    const alive = dead === a ? b : a;
    dead.signal("SIGKILL");
    await dead.exited;
    target.answer = (_call, response) => response.end("done");
    // The lease runs out now instead of in 15 s.
    await test.database.rows("update workers set expires_at = now() - interval '1 s' where name like $1", [
      `%:${dead.child.pid}`,
    ]);

    const task = await alive.ended(id);
    assert.equal(task.status, "completed");
    assert.equal(task.attempts[0].status, "interrupted");
    await until(async () => (await alive.api("GET", "/readyz")).status === 200);
  });
});
