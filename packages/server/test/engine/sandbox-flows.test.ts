import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import type { TaskFlow } from "../../src/domain/flow.ts";
import type { Requester } from "../../src/domain/identity/principal.ts";
import type { Simulation } from "../../src/domain/task.ts";
import type { TaskRequest } from "../../src/domain/task-copies.ts";
import { NOTHING_STORED } from "../../src/features/flow-control/index.ts";
import { MOST_OF_FLOW } from "../../src/features/sandbox/service-flows.ts";
import { FLOWS_TOGETHER } from "../../src/features/sandbox/service-walk.ts";
import { cancelTask } from "../../src/store/tasks/task-cancellations.ts";
import { until } from "../patience.ts";
import { flowOf } from "../test-flow.ts";
import { openTestServer, type TestNode, type TestServer } from "../test-server.ts";

const SLOW: Simulation = {
  outcome: "complete",
  afterSeconds: 100,
  responseCode: null,
  body: "{}",
  attempts: 1,
};

/** Sandbox tasks obey the flows of their environment, by the clock of the sandbox. */
describe("a flow of the sandbox", () => {
  let server: TestServer;
  let other: TestNode;
  let sandbox: Requester;
  let key = "";
  let keys = 0;
  before(async () => {
    server = await openTestServer({ maxRetries: 3, retryDelaySeconds: 60, backoff: "fixed" });
    other = await server.openNode();
    sandbox = { ...server.principal, environment: "test" };
  });
  beforeEach(() => {
    keys += 1;
    key = `key-${keys}`;
  });
  after(() => server.close());

  const walk = async () => {
    await server.services.features.sandbox.walk.walkOnce();
    await other.services.features.sandbox.walk.walkOnce();
  };
  const advance = (seconds: number) => server.services.features.sandbox.service.advance(sandbox, seconds);
  const flows = () => server.services.features.flows.service;
  const submit = (limits: Partial<TaskFlow> = {}, request: Partial<TaskRequest> = {}) =>
    server.submit(
      {
        simulate: SLOW,
        ...flowOf(key, limits),
        ...request,
      },
      sandbox,
    );
  const states = async (ids: readonly string[]) => {
    const tasks = await Promise.all(ids.map((id) => server.task(id)));
    return tasks.map(({ status }) => status);
  };
  /** A node wakes a flow after it has answered the request that ended a task. */
  const walkUntil = (id: string, status: string) =>
    until(async () => {
      await walk();
      return (await server.task(id)).status === status;
    });
  const codes = async (id: string) =>
    (await server.services.explanations.explain(sandbox, id)).reasons.map(({ code }) => code);

  it("has no more calls under way than its concurrency, and goes on when one ends", async () => {
    const ids = [await submit({ concurrency: 2 }), await submit(), await submit()];
    await walk();
    assert.deepEqual(await states(ids), ["active", "active", "pending"]);
    assert.deepEqual(await codes(ids[2] ?? ""), ["flow_full"]);
    const shown = await flows().get(sandbox, key);
    assert.deepEqual([shown.active, shown.waiting], [2, 1]);

    await advance(100);
    assert.deepEqual(await states(ids), ["completed", "completed", "active"]);
    await advance(100);
    assert.deepEqual(await states(ids), ["completed", "completed", "completed"]);
  });

  it("lets no more calls begin in a period than its rate, by the clock of the sandbox", async () => {
    const ids = [
      await submit({ rate: 2, period: 600 }),
      await submit(),
      await submit(),
      await submit(),
      await submit(),
    ];
    await walk();
    assert.deepEqual(await states(ids), ["active", "active", "pending", "pending", "pending"]);
    assert.deepEqual(await codes(ids[2] ?? ""), ["flow_rate"]);

    await advance(590);
    assert.equal((await flows().get(sandbox, key)).begunInPeriod, 2);
    assert.equal((await states(ids)).filter((state) => state === "pending").length, 3);
    await advance(20);
    assert.deepEqual(await states(ids), ["completed", "completed", "active", "active", "pending"]);
    await advance(3_600);
    assert.deepEqual(new Set(await states(ids)), new Set(["completed"]));
  });

  it("takes the highest priority first, and is apart from the live flow of the same key", async () => {
    await flows().put(server.principal, key, { ...NOTHING_STORED, concurrency: 9 });
    await flows().setPaused(server.principal, key, true);
    const first = await submit({ concurrency: 1 });
    await walk();
    const [low, high] = [await submit({}, { priority: 1 }), await submit({}, { priority: 9 })];
    await walk();
    await advance(100);

    assert.deepEqual(await states([first, low, high]), ["completed", "pending", "active"]);
    const [live, test] = [await flows().get(server.principal, key), await flows().get(sandbox, key)];
    assert.deepEqual([live.concurrency, live.active, live.paused], [9, 0, true]);
    assert.deepEqual([test.concurrency, test.active, test.paused], [1, 1, false]);
  });

  it("begins nothing while it is paused, and at once when it is resumed or its limits change", async () => {
    await flows().setPaused(sandbox, key, true);
    const ids = [await submit({ concurrency: 1 }), await submit()];
    await walk();
    assert.deepEqual(await states(ids), ["pending", "pending"]);
    assert.deepEqual(await codes(ids[0] ?? ""), ["flow_paused"]);

    await flows().setPaused(sandbox, key, false);
    await walk();
    assert.deepEqual(await states(ids), ["active", "pending"]);
    await flows().put(sandbox, key, { ...NOTHING_STORED, concurrency: 2 });
    await walk();
    assert.deepEqual(await states(ids), ["active", "active"]);
  });

  it("begins all tasks that its limits let begin, also when there are more than one transaction reads", async () => {
    const ids = await Promise.all(Array.from({ length: MOST_OF_FLOW + 5 }, () => submit()));
    await flows().setPaused(sandbox, key, true);
    await walk();
    assert.deepEqual(new Set(await states(ids)), new Set(["pending"]));

    await flows().setPaused(sandbox, key, false);
    await walk();
    assert.deepEqual(new Set(await states(ids)), new Set(["active"]));
  });

  it("begins in the same transaction as few others", async () => {
    const team: Requester = { ...(await server.openTeam()), environment: "test" };
    const requests = Array.from({ length: 3 * FLOWS_TOGETHER }, (_, index) => ({
      simulate: SLOW,
      delaySeconds: 60,
      ...flowOf(`${key}-${index}`),
    }));
    const ids = await Promise.all(requests.map((request) => server.submit(request, team)));
    const active = async () => {
      const tasks = await Promise.all(ids.map((id) => server.tasks.get(team, id)));
      return tasks.filter(({ status }) => status === "active").length;
    };
    const time = { teamId: team.teamId, aheadMs: 61_000 };
    const { step } = server.services.features.sandbox.walk;

    await step(time);
    assert.equal(await active(), FLOWS_TOGETHER);
    while ((await step(time)) > 0);
    assert.equal(await active(), ids.length);
  });

  it("gives the place of a cancelled task to the next", async () => {
    const ids = [await submit({ concurrency: 1 }), await submit()];
    await walk();
    await other.tasks.cancel(sandbox, ids[0] ?? "");

    await walkUntil(ids[1] ?? "", "active");
    assert.deepEqual(await states(ids), ["cancelled", "active"]);
  });

  it("starts its tasks in the order of creation if it is ordered, retries first, and blocks after a failure", async () => {
    await flows().put(sandbox, key, { ...NOTHING_STORED, ordered: true, onFailure: "block" });
    const failing = { ...SLOW, afterSeconds: 1, outcome: "fail" } as const;
    const first = await submit({}, { priority: 1, simulate: { ...SLOW, afterSeconds: 1, attempts: 2 } });
    const second = await submit({}, { priority: 9, simulate: failing, maxRetries: 0 });
    const third = await submit({}, { priority: 5 });
    await walk();
    await advance(30);
    assert.deepEqual(
      await states([first, second, third]),
      ["pending", "pending", "pending"],
      "its retry holds the line",
    );
    assert.deepEqual(await codes(second), ["blocked_by"]);
    await advance(60);
    assert.deepEqual(await states([first, second, third]), ["completed", "failed", "pending"]);
    assert.deepEqual(await codes(third), ["blocked_by"]);

    await server.tasks.dismiss(sandbox, second);
    await walkUntil(third, "active");
  });

  it("waits for no task that another transaction has locked, and starts no later one instead if it is ordered", async () => {
    const ids = [await submit({ ordered: true }), await submit(), await submit()];
    await walk();
    await server.database.transaction(async (sql) => {
      await sql.rows("select 1 from tasks where id = $1 for update", [ids[1]]);
      await advance(100);
      assert.deepEqual(await states(ids), ["completed", "pending", "pending"]);
    });

    await flows().put(sandbox, key, { ...NOTHING_STORED, ordered: true });
    await walk();
    assert.deepEqual(await states(ids), ["completed", "active", "pending"]);
  });

  it("goes on when a node starts, if another ended between the end of a task and waking the next", async () => {
    const ids = [await submit({ concurrency: 1 }), await submit()];
    await walk();
    await cancelTask(server.database, sandbox, ids[0] ?? "");
    await walk();
    assert.deepEqual(await states(ids), ["cancelled", "pending"]);

    const next = await server.openNode();
    await next.services.features.sandbox.walk.walkOnce();
    assert.deepEqual(await states(ids), ["cancelled", "active"]);
  });
});
