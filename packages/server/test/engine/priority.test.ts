import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { BREAKER_DEFAULTS } from "../../src/domain/breaker.ts";
import type { QueueSettings } from "../../src/domain/queue.ts";
import type { TaskRequest } from "../../src/domain/task-copies.ts";
import type { Time } from "../../src/domain/time.ts";
import { systemTime } from "../../src/server/system-time.ts";
import { flowOf } from "../test-flow.ts";
import { openTestServer, QUEUE, type TestServer } from "../test-server.ts";

type Wanted = readonly [name: string, priority: number, request?: Partial<TaskRequest>];

/** A permit is void after 100 ms: a busy machine must not make it so. */
const SLOW: Time = { ...systemTime, monotonicMs: () => systemTime.monotonicMs() / 1_000 };

/** Of the tasks of a queue that may start, the one with the highest priority starts first, with or without a flow. */
describe("priority in a queue", () => {
  let server: TestServer;
  afterEach(() => server.close());

  const open = async (settings: Partial<QueueSettings> = {}, time: Time = systemTime) => {
    server = await openTestServer({ concurrency: 1, ...settings }, { time });
    server.target.hold();
  };
  const submit = ([name, priority, request = {}]: Wanted) =>
    server.submit({
      priority,
      call: { method: "POST", url: `${server.target.url}/${name}`, headers: {}, body: "{}" },
      ...request,
    });
  /** Takes the one slot of the queue, submits the tasks while they cannot start, and returns the order in which they start. */
  async function orderOf(
    tasks: readonly Wanted[],
    whileHeld: () => Promise<void> = async () => {},
    count = tasks.length,
  ): Promise<string[]> {
    await submit(["blocker", 10]);
    await server.target.received(1);
    for (const task of tasks) await submit(task);
    await server.quiet();
    await whileHeld();
    return endEach(count);
  }
  async function endEach(count: number): Promise<string[]> {
    const before = server.target.calls.length;
    for (let ended = 0; ended < count; ended += 1) {
      server.target.release(1);
      await server.target.received(before + ended + 1);
    }
    server.target.release();
    await server.settled(before + count);
    return server.target.calls.slice(before).map(({ path }) => path.slice(1));
  }

  it("starts the highest priority first, whether tasks have flows or not", async () => {
    await open();
    const order = await orderOf([
      ["plain-5", 5],
      ["flow-1", 1, flowOf("a")],
      ["flow-7", 7, flowOf("b")],
      ["plain-2", 2],
      ["flow-4", 4, flowOf("a")],
      ["plain-10", 10],
    ]);
    assert.deepEqual(order, ["plain-10", "flow-7", "plain-5", "flow-4", "plain-2", "flow-1"]);
  });

  it("starts tasks of one priority by due time, whether tasks have flows or not", async () => {
    await open();
    const names = Array.from({ length: 8 }, (_, index) => `task-${index}`);
    const order = await orderOf(
      names.map((name, index) => [name, 5, index % 2 === 0 ? flowOf(`key-${index % 3}`) : {}]),
    );
    assert.deepEqual(order, names);
  });

  it("passes over a flow that is full or paused, and comes back to it", async () => {
    await open();
    await server.queues.create(server.principal, "elsewhere", { concurrency: 1 });
    await submit(["holds the place", 5, { ...flowOf("full", { concurrency: 1 }), queue: "elsewhere" }]);
    await server.target.received(1);
    await submit(["blocker", 10]);
    await server.target.received(2);
    await server.services.features.flows.service.setPaused(server.principal, "paused", true);
    for (const task of [
      ["full-10", 10, flowOf("full", { concurrency: 1 })],
      ["paused-9", 9, flowOf("paused")],
      ["plain-1", 1],
      ["flow-2", 2, flowOf("free")],
    ] as const satisfies readonly Wanted[])
      await submit(task);
    await server.quiet();
    const [place, blocker] = server.target.held.splice(0);
    blocker?.response.end("{}");
    await server.target.received(3);
    place?.response.end("{}");
    await server.settled(2);
    await server.quiet();
    const order = await endEach(2);
    assert.deepEqual([server.target.calls[2]?.path, ...order], ["/flow-2", "full-10", "plain-1"]);
  });

  it("holds for a flow that was the last of 150 to get a task", async () => {
    await open();
    const others = Array.from(
      { length: 149 },
      (_, index): Wanted => [`low-${index}`, 1, flowOf(`f-${index}`)],
    );
    await submit(["blocker", 10]);
    await server.target.received(1);
    for (const task of others) await submit(task);
    await submit(["plain-9", 9]);
    await submit(["urgent", 10, flowOf("last")]);
    await server.quiet();
    const order = await endEach(5);
    assert.deepEqual(order, ["urgent", "plain-9", "low-0", "low-1", "low-2"]);
  });

  it("holds for 150 flows that a new node finds in a paused queue", async () => {
    await open();
    await server.queues.setPaused(server.principal, QUEUE, true);
    for (let index = 0; index < 150; index += 1)
      await submit([`low-${index}`, 1 + (index % 3), flowOf(`f-${index}`)]);
    await submit(["urgent", 10, flowOf("last")]);
    await submit(["plain-9", 9]);
    await server.stop();
    const next = await server.openNode();
    await next.look();
    await server.queues.setPaused(server.principal, QUEUE, false);
    await server.target.received(1);
    const order = await endEach(4);
    assert.deepEqual(
      [server.target.calls[0]?.path, ...order],
      ["/urgent", "plain-9", "low-2", "low-5", "low-8"],
    );
  });

  it("holds for 150 flows of which a node knows only that they have tasks", async () => {
    await open();
    const { teamId } = server.principal;
    const order = await orderOf(
      [
        ...Array.from({ length: 150 }, (_, index): Wanted => [`low-${index}`, 1, flowOf(`f-${index}`)]),
        ["urgent", 10, flowOf("last")],
        ["plain-9", 9],
        ["flow-8", 8, flowOf("f-140")],
      ],
      async () => {
        // As by hints of other nodes.
        for (let index = 0; index < 150; index += 1) server.engine.flows.refresh(teamId, `f-${index}`, QUEUE);
        server.engine.flows.refresh(teamId, "last", QUEUE);
      },
      5,
    );
    assert.deepEqual(order, ["urgent", "plain-9", "flow-8", "low-0", "low-1"]);
  });

  it("starts tasks of 150 flows, however often other nodes tell of them", async () => {
    await open();
    const { teamId } = server.principal;
    const keys = Array.from({ length: 150 }, (_, index) => `f-${index}`);
    server.databases.claim.before = async (name) => {
      if (!name.startsWith("claim_flow_tasks")) return;
      for (const key of keys) server.engine.flows.refresh(teamId, key, QUEUE);
    };
    const order = await orderOf(
      keys.map((key, index) => [`task-${index}`, 5, flowOf(key)]),
      async () => {},
      10,
    );
    assert.equal(order.length, 10);
  });

  it("lets no new task pass one that waits for a slot", async () => {
    await open();
    let isLate = false;
    server.databases.claim.before = async (name) => {
      // The slot is free, and the claim that takes the waiting task is about to begin.
      if (isLate || !name.startsWith("claim_flow_tasks")) return;
      isLate = true;
      await submit(["late-1", 1]);
    };
    const order = await orderOf([["flow-9", 9, flowOf("a")]]);
    server.target.release();
    assert.deepEqual(order, ["flow-9"]);
    await server.target.received(3);
    assert.equal(server.target.calls[2]?.path, "/late-1");
  });

  it("holds in a queue with a rate", async () => {
    await open({ concurrency: 20, rate: 2, ratePeriod: 60 }, SLOW);
    for (const task of [
      ["first", 10],
      ["second", 10],
      ["plain-3", 3],
      ["flow-2", 2, flowOf("a")],
      ["flow-8", 8, flowOf("b")],
      ["plain-6", 6],
    ] as const satisfies readonly Wanted[])
      await submit(task);
    const started: string[][] = [];
    for (const count of [2, 4, 6]) {
      await server.target.received(count);
      await server.quiet();
      started.push(
        server.target.calls
          .slice(count - 2)
          .map(({ path }) => path.slice(1))
          .sort(),
      );
      await server.advance(61);
      server.engine.dispatcher.lookAgain(server.principal.teamId, QUEUE);
    }
    assert.deepEqual(started, [
      ["first", "second"],
      ["flow-8", "plain-6"],
      ["flow-2", "plain-3"],
    ]);
    server.target.release();
  });

  it("holds in a queue whose circuit breaker holds another host back", async () => {
    await open({ breaker: BREAKER_DEFAULTS });
    await server.database.rows(
      `with held as (
         insert into breakers (team_id, queue_id, host, phase, failures, opened_at, until, cooldown, allowed)
         select team_id, id, 'down.example', 'open', 20, now(), now() + interval '1 day', 30, 1 from queues where name = $1)
       update queues set holds_hosts = true, epoch = epoch + 1 where name = $1`,
      [QUEUE],
    );
    server.engine.dispatcher.lookAgain(server.principal.teamId, QUEUE);
    const down = { call: { method: "POST" as const, url: "http://down.example/", headers: {}, body: "{}" } };
    await submit(["blocker", 10]);
    await server.target.received(1);
    for (const task of [
      ["plain-5", 5],
      ["down", 10, down],
      ["down", 10, { ...down, ...flowOf("a") }],
      ["flow-1", 1, flowOf("a")],
      ["flow-7", 7, flowOf("b")],
      ["plain-9", 9],
    ] as const satisfies readonly Wanted[])
      await submit(task);
    await server.quiet();
    assert.deepEqual(await endEach(4), ["plain-9", "flow-7", "plain-5", "flow-1"]);
  });

  it("holds in each of the queues of one flow", async () => {
    await open();
    await server.queues.create(server.principal, "second", { concurrency: 1 });
    const inSecond = { queue: "second" };
    await submit(["blocker", 10]);
    await submit(["blocker", 10, inSecond]);
    await server.target.received(2);
    for (const task of [
      ["one-flow-6", 6, flowOf("a")],
      ["two-flow-1", 1, { ...flowOf("a"), ...inSecond }],
      ["two-plain-9", 9, inSecond],
      ["one-plain-5", 5],
    ] as const satisfies readonly Wanted[])
      await submit(task);
    await server.quiet();
    server.target.release(2);
    await server.target.received(4);
    await server.quiet();
    const first = server.target.calls
      .slice(2)
      .map(({ path }) => path)
      .sort();
    assert.deepEqual(first, ["/one-flow-6", "/two-plain-9"]);
    server.target.release();
    await server.target.received(6);
    server.target.release();
  });

  for (const [second, expected] of [
    [4, ["plain-5", "flow-4", "line-3", "line-10", "plain-1"]],
    [2, ["plain-5", "line-3", "line-10", "flow-2", "plain-1"]],
  ] as const)
    it(`counts for the first task of an ordered flow, beside a flow of priority ${second}`, async () => {
      await open();
      const line = flowOf("line", { ordered: true });
      // The slot is taken by the line itself: the node knows that the flow is ordered, and not which task is its next.
      await submit(["line-0", 5, line]);
      await server.target.received(1);
      for (const task of [
        ["line-3", 3, line],
        ["plain-5", 5],
        ["line-10", 10, line],
        [`flow-${second}`, second, flowOf("a")],
        ["plain-1", 1],
      ] as const satisfies readonly Wanted[])
        await submit(task);
      await server.quiet();
      const order = await endEach(5);
      assert.deepEqual(order, expected);
    });
});
