import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import type { NewTask } from "../../../src/domain/task.ts";
import {
  claimFlowTasks,
  type FlowClaimed,
  type FlowClaimRequest,
} from "../../../src/store/tasks/flow-claims.ts";
import { openFlowLines } from "../../../src/store/tasks/flow-lines.ts";
import { FIRST, NEVER, turnOf } from "../../../src/store/tasks/turns.ts";
import { flowOf } from "../../test-flow.ts";
import type { TextSql } from "../../test-sql.ts";
import { claimRequest, openTestStore, type StoredQueue, type TestStore } from "../../test-store.ts";

type Offer = Partial<FlowClaimRequest["queues"][number]>;

describe("the order in which a claim of flows takes tasks with and without a flow", () => {
  let store: TestStore;
  let workerId: number;
  let queue: StoredQueue;
  let other: StoredQueue;
  let names = new Map<string, string>();
  before(async () => {
    store = await openTestStore();
    workerId = await store.openWorker();
  });
  beforeEach(async () => {
    queue = await store.openQueue();
    other = await store.openQueue();
    names = new Map();
  });
  after(() => store.close());

  /** Each in a statement of its own: they are due one after the other. */
  async function insert(name: string, task: Partial<NewTask>, into = queue): Promise<void> {
    const [id = ""] = await store.insert(into, task);
    names.set(id, name);
  }
  const key = (name: string) => `${name}-${queue.id}`;
  const inFlow = (name: string, limits = {}) => flowOf(key(name), limits);

  async function claim(
    keys: readonly string[],
    offer: Offer = {},
    {
      queues = [queue],
      isOrdered = false,
      sql = store.database,
    }: { queues?: readonly StoredQueue[]; isOrdered?: boolean; sql?: TextSql } = {},
  ): Promise<FlowClaimed & { readonly started: readonly string[] }> {
    const offered = await Promise.all(
      queues.map(async (each) => ({
        ...(await claimRequest(store.database, each, { workerId })),
        free: 1,
        plain: 10,
        ...offer,
      })),
    );
    const lanes = keys.flatMap((name) => queues.map(({ id }) => ({ flow: key(name), queueId: id })));
    const request = { teamId: queue.teamId, workerId, queues: offered, lanes, limit: 200, isOrdered };
    const claimed = await claimFlowTasks(sql, request, 0);
    return { ...claimed, started: claimed.claims.map(({ id }) => names.get(id) ?? id) };
  }

  async function startAll(keys: readonly string[], offer: Offer = {}): Promise<readonly string[]> {
    const started: string[] = [];
    for (let turn = names.size; turn > 0; turn -= 1) started.push(...(await claim(keys, offer)).started);
    return started;
  }

  async function turnOfTask(name: string): Promise<number> {
    const id = [...names].find(([, each]) => each === name)?.[0];
    const [row] = await store.database.rows<{ priority: number; runAt: Date }>(
      `select priority, run_at as "runAt" from tasks where id = $1`,
      [id],
    );
    return row === undefined ? assert.fail(name) : turnOf(row);
  }

  it("is by priority, one slot at a time", async () => {
    await insert("flow 1", { ...inFlow("a"), priority: 1 });
    await insert("plain 5", { priority: 5 });
    await insert("flow 7", { ...inFlow("b"), priority: 7 });
    await insert("plain 10", { priority: 10 });

    assert.deepEqual(await startAll(["a", "b"]), ["plain 10", "flow 7", "plain 5", "flow 1"]);
  });

  it("is by due time among equal priorities", async () => {
    await insert("first", {});
    await insert("second", inFlow("a"));
    await insert("third", inFlow("b"));
    await insert("fourth", {});
    await insert("fifth", inFlow("a"));

    assert.deepEqual(await startAll(["b", "a"]), ["first", "second", "third", "fourth", "fifth"]);
  });

  it("is the same for many slots at once", async () => {
    await insert("plain 2", { priority: 2 });
    await insert("flow 1", { ...inFlow("a"), priority: 1 });
    await insert("plain 3", { priority: 3 });
    await insert("flow 4", { ...inFlow("a"), priority: 4 });

    assert.deepEqual((await claim(["a"], { free: 3 })).started, ["flow 4", "plain 3", "plain 2"]);
  });

  it("passes over flows that are full or paused", async () => {
    await insert("full", { ...inFlow("full", { concurrency: 1 }), priority: 9 });
    assert.deepEqual((await claim(["full"])).started, ["full"]);
    await insert("full 10", { ...inFlow("full"), priority: 10 });
    await insert("paused 10", { ...inFlow("paused", { concurrency: 5 }), priority: 10 });
    await store.database.rows("update flows set paused = true where key = $1", [key("paused")]);
    await insert("plain 1", { priority: 1 });

    assert.deepEqual((await claim(["full", "paused"], { free: 5 })).started, ["plain 1"]);
  });

  it("holds in each of two queues", async () => {
    await insert("one, flow 3", { ...inFlow("a"), priority: 3 });
    await insert("one, plain 4", { priority: 4 });
    await insert("two, flow 8", { ...inFlow("a"), priority: 8 }, other);
    await insert("two, plain 2", { priority: 2 }, other);
    const queues = [queue, other];

    assert.deepEqual((await claim(["a"], {}, { queues })).started, ["two, flow 8", "one, plain 4"]);
    assert.deepEqual((await claim(["a"], {}, { queues })).started, ["one, flow 3", "two, plain 2"]);
  });

  it("leaves out tasks of both kinds whose host a circuit breaker holds back", async () => {
    const call = { method: "POST" as const, url: "http://down.example/", headers: {}, body: "{}" };
    await store.database.rows(
      `insert into breakers (team_id, queue_id, host, phase, failures, opened_at, until, cooldown, allowed)
       values ($1, $2, 'down.example', 'open', 20, now(), now() + interval '1 day', 30, 1)`,
      [queue.teamId, queue.id],
    );
    await insert("held plain", { priority: 10, call });
    await insert("held flow", { ...inFlow("a"), priority: 10, call });
    await insert("flow 2", { ...inFlow("a"), priority: 2 });
    await insert("plain 3", { priority: 3 });

    assert.deepEqual(await startAll(["a"], { holdsHosts: true }), ["plain 3", "flow 2"]);
  });

  it("ends with the last turn that the worker allows", async () => {
    await insert("flow 6", { ...inFlow("a"), priority: 6 });
    await insert("plain 8", { priority: 8 });
    const last = await turnOfTask("plain 8");

    assert.deepEqual((await claim(["a"], { free: 5, last: FIRST })).started, []);
    assert.deepEqual((await claim(["a"], { free: 5, last })).started, ["plain 8"]);
    assert.deepEqual((await claim(["a"], { free: 5, last: last - 1 })).started, []);
    assert.deepEqual((await claim(["a"], { free: 5 })).started, ["flow 6"]);
  });

  it("tells the turns of the tasks that it left", async () => {
    await insert("plain 7", { priority: 7 });
    await insert("plain 6", { priority: 6 });
    await insert("flow 9", { ...inFlow("a"), priority: 9 });
    await insert("flow 2", { ...inFlow("a"), priority: 2 });
    await insert("flow 4", { ...inFlow("b"), priority: 4 });

    const { started, lanes, plain } = await claim(["a", "b"], { free: 2 });

    assert.deepEqual(started, ["flow 9", "plain 7"]);
    const next = new Map(lanes.map((lane) => [lane.flow, lane.next]));
    assert.equal(next.get(key("a")), await turnOfTask("flow 2"));
    assert.equal(next.get(key("b")), await turnOfTask("flow 4"));
    const next6 = await turnOfTask("plain 6");
    assert.deepEqual(plain, [{ queueId: queue.id, next: next6, taken: 1, left: 1, isShort: false }]);
    const rest = await claim(["a", "b"], { free: 10 });
    assert.deepEqual(rest.started, ["plain 6", "flow 4", "flow 2"]);
    assert.deepEqual(rest.plain, [{ queueId: queue.id, next: NEVER, taken: 1, left: 0, isShort: true }]);
    assert.deepEqual(
      rest.lanes.map((lane) => lane.next),
      [NEVER, NEVER],
    );
  });

  it("knows no end of a lane of which it took all that it looked at", async () => {
    await insert("flow 5", inFlow("a"));
    const turn = await turnOfTask("flow 5");
    const { lanes } = await claim(["a"]);
    assert.deepEqual(
      lanes.map(({ next }) => next),
      [turn],
    );
  });

  it("looks for no task without a flow where the worker wants none", async () => {
    await insert("plain 10", { priority: 10 });
    await insert("flow 1", { ...inFlow("a"), priority: 1 });
    const { started, plain } = await claim(["a"], { free: 2, plain: 0 });
    assert.deepEqual(started, ["flow 1"]);
    assert.deepEqual(plain, []);
  });

  it("takes tasks without a flow where no flow is asked for", async () => {
    await insert("plain 5", {});
    assert.deepEqual((await claim([])).started, ["plain 5"]);
  });

  it("passes over a task without a flow that another transaction has locked, and tells that one is missing", async () => {
    await insert("plain 9", { priority: 9 });
    await insert("plain 3", { priority: 3 });
    await insert("flow 2", { ...inFlow("a"), priority: 2 });
    const [locked] = names.keys();
    const claimed = await store.database.transaction(async (sql) => {
      await sql.rows("select 1 from tasks where id = $1 for update", [locked]);
      return claim(["a"], { free: 2, plain: 2 }, { sql: store.open(1) });
    });
    assert.deepEqual(claimed.started, ["plain 3", "flow 2"]);
    assert.deepEqual(
      claimed.plain.map(({ isShort }) => isShort),
      [true],
    );
  });

  it("is that of the first tasks of ordered flows, by their own priorities", async () => {
    const line = (name: string, priority: number) => ({ ...inFlow(name, { ordered: true }), priority });
    await insert("a 2", line("a", 2));
    await insert("a 10", line("a", 10));
    await insert("b 6", line("b", 6));
    await openFlowLines(store.database, queue.teamId, [key("a"), key("b")]);
    const lines = (offer: Offer = {}) => claim(["a", "b"], { plain: 0, ...offer }, { isOrdered: true });

    const early = await lines({ last: (await turnOfTask("b 6")) - 1 });
    assert.deepEqual(early.started, []);
    assert.deepEqual(
      early.flows.map(({ kind, headQueue, headTurn }) => ({ kind, headQueue, headTurn })),
      [
        { kind: "held", headQueue: queue.name, headTurn: await turnOfTask("a 2") },
        { kind: "held", headQueue: queue.name, headTurn: await turnOfTask("b 6") },
      ],
    );
    assert.deepEqual((await lines()).started, ["b 6"]);
    assert.deepEqual((await lines()).started, ["a 2"]);
  });
});
