import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import type { Time } from "../../src/domain/time.ts";
import { systemTime } from "../../src/server/system-time.ts";
import { flowOf } from "../test-flow.ts";
import { openTestServer, QUEUE, type TestNode, type TestServer } from "../test-server.ts";

/** Calls of a flow never exceed its limits, over all queues and nodes. */
describe("flows", () => {
  let server: TestServer;
  afterEach(() => server.close());

  const submitMany = (node: TestNode, count: number, request: Parameters<TestNode["submit"]>[0]) =>
    Promise.all(Array.from({ length: count }, () => node.submit(request)));

  for (const [nodeCount, concurrency] of [
    [1, 1],
    [2, 3],
  ] as const)
    it(`use up a concurrency of ${concurrency} and never exceed it on ${nodeCount} nodes`, async () => {
      server = await openTestServer({ concurrency: 50 });
      const nodes: TestNode[] = [server];
      if (nodeCount === 2) nodes.push(await server.openNode());
      for (const node of nodes) await node.engine.lease.renewOnce();
      server.target.hold();
      const each = 9 / nodeCount;
      for (const node of nodes) await submitMany(node, Math.ceil(each), flowOf("c", { concurrency }));
      const total = Math.ceil(each) * nodeCount;
      for (let ended = 0; ended < total; ended += 1) {
        await server.target.received(Math.min(total, ended + concurrency));
        server.target.release(1);
        await server.settled(ended + 1);
      }
      assert.equal(server.target.mostAtOnce, concurrency);
    });

  it("start a task of a known key without a claim, and the next one when its call has ended", async () => {
    server = await openTestServer({ concurrency: 10 });
    const limited = flowOf("known", { concurrency: 1 });
    await server.submit(limited);
    await server.settled(1);
    await server.quiet();
    const { claim, settle } = server.databases;
    claim.sent.length = 0;
    settle.sent.length = 0;
    server.target.hold();

    await server.submit(limited);
    await server.target.received(2);
    assert.deepEqual(claim.sent, []);

    await server.submit(limited);
    await server.quiet();
    assert.equal(server.engine.attempts.count, 1);
    server.target.release(1);
    await server.target.received(3);
    server.target.release(1);
    await server.settled(3);
    await server.quiet();
    assert.ok(!settle.sent.includes("release_flow_places"), settle.sent.join());
    const holds = await server.database.rows("select 1 from flow_holds");
    assert.equal(holds.length, 0);
  });

  it("let tasks of other flows and of none begin while one flow is full", async () => {
    server = await openTestServer({ concurrency: 10 });
    server.target.hold();
    await submitMany(server, 5, flowOf("full", { concurrency: 1 }));
    await server.target.received(1);

    await server.submit(flowOf("other"));
    await server.submit();

    await server.target.received(3);
    await server.quiet();
    assert.equal(server.engine.attempts.count, 3);
  });

  const setPaused = (key: string, paused: boolean) =>
    server.database.rows(
      `insert into flows (team_id, sandbox, key, paused) values ($1, false, $2, $3)
       on conflict (team_id, sandbox, key) do update set paused = excluded.paused`,
      [server.principal.teamId, key, paused],
    );

  it("start if they are resumed after a claim has found them paused and before its answer arrives", async () => {
    server = await openTestServer();
    const { claim } = server.databases;
    await setPaused("p", true);
    let isResumed = false;
    claim.after = async (name) => {
      if (name !== "claim_flow_tasks" || isResumed) return;
      isResumed = true;
      await setPaused("p", false);
      server.engine.flows.refresh(server.principal.teamId, "p");
    };
    const id = await server.submit(flowOf("p"));
    await server.settled(1);

    assert.equal((await server.task(id)).status, "completed");
  });

  it("use a queue again if another node asked for its share while a claim held the slots", async () => {
    server = await openTestServer();
    await server.queues.create(server.principal, "shared", { concurrency: 10 });
    await server.submit({ queue: "shared" });
    await server.settled(1);
    await setPaused("two", true);
    for (const queue of [QUEUE, "shared"])
      await server.submit({ ...flowOf("two", { concurrency: 1 }), queue });
    await server.quiet();
    const { claim } = server.databases;
    const grants = () => claim.sent.filter((name) => name === "acquire_slots").length;
    let isShared = false;
    let before = 0;
    claim.before = async (name) => {
      if (name !== "claim_flow_tasks" || isShared) return;
      isShared = true;
      const { engine } = await server.openNode();
      await server.database.rows(
        `insert into queue_slots (team_id, queue_id, worker_id, slots)
         select team_id, id, $1, 0 from queues where name = 'shared'`,
        [engine.lease.workerId],
      );
      before = grants();
      server.engine.dispatcher.refresh(server.principal.teamId, "shared");
    };
    await setPaused("two", false);
    server.engine.flows.refresh(server.principal.teamId, "two");

    await server.settled(3);
    // The request waits for the claim: it would not know how many of the slots the claim uses.
    assert.ok(isShared && grants() > before);
  });

  it("retry a task of a flow when its delay is over", async () => {
    server = await openTestServer({ retryDelaySeconds: 60 });
    server.target.answer = (_call, response) => response.writeHead(500).end();
    const id = await server.submit(flowOf("again", { concurrency: 1 }));
    await server.settled(1);
    server.target.answer = (_call, response) => response.end("{}");
    await server.advance(120);
    await server.look();
    await server.settled(2);

    assert.equal((await server.task(id)).status, "completed");
  });
});

/** No window of the length of the period has more begun calls than the rate. */
describe("flows with a rate", () => {
  let server: TestServer;
  afterEach(() => server.close());

  /** A permit is void after 100 ms: a busy machine must not make it so. */
  const SLOW: Time = { ...systemTime, monotonicMs: () => systemTime.monotonicMs() / 1_000 };
  const rated = flowOf("r", { rate: 2, period: 60 });

  it("begin as many calls in a period as they may, and the next when a call has left the window", async () => {
    server = await openTestServer({ concurrency: 50 }, { time: SLOW });
    for (let count = 0; count < 5; count += 1) await server.submit(rated);
    await server.settled(2);
    await server.quiet();
    assert.equal(server.target.calls.length, 2);

    await server.advance(61);
    await server.look();

    await server.settled(4);
    await server.quiet();
    assert.equal(server.target.calls.length, 4);
  });

  it("void the permits of a process that was frozen after its claim, and keep counting them", async () => {
    server = await openTestServer({ concurrency: 50 }, { time: SLOW });
    const { claim } = server.databases;
    let isFrozen = false;
    claim.after = (name) => {
      if (name !== "claim_flow_tasks" || isFrozen) return;
      isFrozen = true;
      server.freeze(0.2);
    };
    const id = await server.submit(flowOf("f", { rate: 1, period: 60 }));
    await server.quiet();
    await server.rest();

    assert.equal(server.target.calls.length, 0);
    assert.equal((await server.task(id)).status, "pending");
    await server.advance(61);
    await server.look();
    await server.settled(1);
    assert.equal((await server.task(id)).status, "completed");
  });

  it("are paused as a whole if the host that their key names asks to wait", async () => {
    server = await openTestServer({ concurrency: 1 });
    server.target.answer = (_call, response) => response.writeHead(429, { "retry-after": "120" }).end();
    await server.submit(flowOf("host:127.0.0.1"));
    await server.settled(1);
    server.target.answer = (_call, response) => response.end("{}");
    await server.engine.flows.drained();
    await server.rest();
    await server.submit(flowOf("host:127.0.0.1"));
    await server.submit(flowOf("another"));
    await server.settled(2);
    await server.quiet();
    assert.equal(server.target.calls.length, 2);

    await server.advance(121);
    await server.look();
    await server.settled(4);
  });
});
