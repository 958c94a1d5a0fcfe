import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createBudget } from "../../src/engine/budget.ts";
import { createDispatcher } from "../../src/engine/dispatcher.ts";
import type { Lease } from "../../src/engine/lease.ts";
import { createLocalFlow } from "../../src/engine/local-flow.ts";
import { createLocalQueues } from "../../src/engine/local-queues.ts";
import { createSlotKeeper } from "../../src/engine/slot-keeper.ts";
import { createUnanswered } from "../../src/engine/unanswered.ts";
import type { Hint } from "../../src/store/tasks/hints.ts";
import type { SlotGrant } from "../../src/store/tasks/queue-slots.ts";
import { claimFromQueues } from "../../src/store/tasks/task-claims.ts";
import { databaseAway, type TextDatabase, type TextSql } from "../test-sql.ts";
import { createTestTime } from "../test-time.ts";

const TEAM = 1;
const turn = () => new Promise(setImmediate);

/** A dispatcher whose database answers when the test says so: claims find nothing, slots are granted as asked for. */
function createScene() {
  const claims: { queueIds: readonly number[]; answer: () => void }[] = [];
  const acquired: string[] = [];
  const requests: (readonly string[])[] = [];
  const hints: Hint[] = [];
  const time = createTestTime();
  const onGranted: () => void | Promise<void> = () => {};
  const scene = { peers: 0, held: true, claims, acquired, requests, hints, onGranted };
  const grant: SlotGrant = {
    queueId: 0,
    epoch: 1,
    concurrency: 4,
    paused: false,
    ordered: false,
    rate: null,
    breaker: null,
    holdsHosts: false,
    slots: 4,
    version: "1",
    starved: false,
    overdrawn: false,
  };
  const grants = new Map<string, Partial<SlotGrant>>();
  const ids = new Map<string, number>();
  const idOf = (queue: string) => {
    if (!ids.has(queue)) ids.set(queue, ids.size + 1);
    return ids.get(queue) ?? 0;
  };
  const database: TextDatabase = {
    rows<Row extends object>(_query: unknown, values: readonly unknown[] = []) {
      return new Promise<Row[]>((resolve) => {
        const queueIds = values[1] as readonly number[];
        const answer = () =>
          resolve(queueIds.map((queueId) => ({ queueId, isCurrent: true, id: null })) as never);
        claims.push({ queueIds, answer });
      });
    },
    async transaction<T>(work: (sql: TextSql) => Promise<T>) {
      let queues: readonly string[] = [];
      const grantOf = (queue: string, index: number) => {
        return { ...grant, ...grants.get(queue), queueId: idOf(queue), teamId: TEAM, place: index + 1 };
      };
      const sql: TextSql = {
        async rows<Row extends object>(_text: unknown, values: readonly unknown[] = []): Promise<Row[]> {
          if (queues.length === 0) queues = values[1] as readonly string[];
          return queues.map(grantOf) as never;
        },
      };
      const result = await work(sql);
      requests.push(queues);
      acquired.push(...queues);
      await scene.onGranted();
      return result;
    },
  };
  const lease = {
    workerId: 7,
    get peers() {
      return scene.peers;
    },
    isHeld: () => scene.held,
  } as Lease;
  const budget = createBudget({ find: async () => [], nodes: () => 1 });
  const localQueues = createLocalQueues(budget.openPool(100, () => {}));
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const dispatcher = createDispatcher({
    database,
    learn: () => null,
    localQueues,
    lease,
    log,
    time,
    hint: (hint) => hints.push(hint),
    start: () => {},
    release: async () => {},
    onShort: () => {},
    claim: (asked, memory) =>
      claimFromQueues(
        database,
        asked.map(({ request }) => request),
        memory,
      ),
    unanswered: createUnanswered(time),
  });
  /** The queue's slots are granted, and the node knows that nothing is due there. */
  async function warmUp(...queues: readonly string[]): Promise<void> {
    for (const queue of queues) dispatcher.notice(TEAM, queue);
    for (let asked = 0; asked < 10; asked += 1) {
      await turn();
      for (const claim of claims.splice(0)) claim.answer();
    }
    acquired.length = 0;
    requests.length = 0;
    hints.length = 0;
  }
  return { ...scene, scene, dispatcher, localQueues, lease, grants, warmUp, idOf, time };
}

describe("the dispatcher", () => {
  it("claims for a notice that arrives just before or after its claimers stop", async () => {
    for (let microtasks = 0; microtasks < 25; microtasks += 1) {
      const { dispatcher, claims, warmUp, idOf } = createScene();
      await warmUp("a", "b", "c");
      dispatcher.notice(TEAM, "a");
      await turn();
      dispatcher.notice(TEAM, "b");
      await turn();
      assert.equal(claims.length, 2);

      for (const claim of claims.splice(0)) claim.answer();
      for (let passed = 0; passed < microtasks; passed += 1) await Promise.resolve();
      dispatcher.notice(TEAM, "c");
      await turn();
      await turn();

      assert.deepEqual(
        claims.map(({ queueIds }) => queueIds),
        [[idOf("c")]],
        `after ${microtasks} microtasks`,
      );
    }
  });

  it("claims again when a task became due during a claim", async () => {
    const { dispatcher, claims, warmUp } = createScene();
    await warmUp("a");
    dispatcher.notice(TEAM, "a");
    await turn();
    dispatcher.notice(TEAM, "a");
    claims.shift()?.answer();
    await turn();
    await turn();
    assert.equal(claims.length, 1);

    claims.shift()?.answer();
    await turn();
    await turn();
    assert.equal(claims.length, 0, "and rests when nothing came");
  });

  it("claims again for due tasks beyond its free slots", async () => {
    const { dispatcher, claims, warmUp } = createScene();
    await warmUp("a");
    dispatcher.notice(TEAM, "a", 5);
    await turn();
    assert.equal(claims.length, 1, "four of five, as there are four slots");
    claims.shift()?.answer();
    await turn();
    await turn();
    assert.equal(claims.length, 1, "the fifth");
    claims.shift()?.answer();
    await turn();
    await turn();
    assert.equal(claims.length, 0, "none is left");
  });

  it("requests slots again when a change was announced during a request", async () => {
    const { dispatcher, acquired, claims, warmUp } = createScene();
    await warmUp("a");
    dispatcher.refresh(TEAM, "a");
    await turn();
    dispatcher.refresh(TEAM, "a");
    for (let round = 0; round < 5; round += 1) {
      await turn();
      for (const claim of claims.splice(0)) claim.answer();
    }

    assert.ok(acquired.length >= 2, `${acquired.length}`);
  });

  it("asks again for slots when the calls that overdraw them ended while it asked", async () => {
    const { scene, dispatcher, acquired, claims, grants, warmUp } = createScene();
    await warmUp("a");
    const calls = Array.from({ length: 4 }, () => dispatcher.reserve(TEAM, "a"));
    // Another worker wants its share: the four calls under way are two more than are due to this one.
    grants.set("a", { slots: 4, overdrawn: true });
    scene.onGranted = () => {
      for (const call of calls.splice(0)) if (call !== null) dispatcher.finish(call.local);
      grants.set("a", { slots: 2 });
    };

    dispatcher.refresh(TEAM, "a");
    for (let round = 0; round < 5; round += 1) await turn();

    assert.deepEqual(acquired, ["a", "a"]);
    assert.equal(claims.length, 1);
  });

  it("requests the slots of all queues in line together, at most 50 at a time", async () => {
    const { dispatcher, requests } = createScene();
    const names = Array.from({ length: 120 }, (_, index) => `queue-${index}`);
    for (const queue of names) dispatcher.notice(TEAM, queue);
    for (let round = 0; round < 5; round += 1) await turn();

    assert.deepEqual(
      requests.map(({ length }) => length),
      [50, 50, 20],
    );
    assert.deepEqual(requests.flat(), names);
  });

  it("requests the slots of each queue alone after a request for several failed", async () => {
    const { scene, dispatcher, requests, claims, time, idOf } = createScene();
    scene.onGranted = () => {
      const isLocked = requests.at(-1)?.includes("locked");
      if (isLocked) throw databaseAway();
    };
    for (const queue of ["a", "locked", "b"]) dispatcher.notice(TEAM, queue);
    for (let round = 0; round < 5; round += 1) await turn();
    assert.deepEqual(requests, [["a", "locked", "b"]]);
    assert.equal(dispatcher.reserve(TEAM, "a"), null, "no slot was granted");

    time.pass(250);
    const claimed: number[] = [];
    for (let round = 0; round < 10; round += 1) {
      await turn();
      for (const { queueIds, answer } of claims.splice(0)) {
        claimed.push(...queueIds);
        answer();
      }
    }
    assert.deepEqual(requests.slice(1), [["a"], ["locked"], ["b"]]);
    assert.deepEqual(claimed, [idOf("a"), idOf("b")]);
  });

  it("serves queues in turn: the least recently served first", async () => {
    const { dispatcher, claims, warmUp, idOf, grants } = createScene();
    // Each has a rate, so that each is claimed from by itself.
    for (const queue of ["a", "b", "c", "d"]) grants.set(queue, { rate: 1 });
    await warmUp("a", "b", "c", "d");
    for (const queue of ["a", "b", "c", "d"]) dispatcher.notice(TEAM, queue);
    await turn();
    const served: number[] = [];
    while (claims.length > 0) {
      const claim = claims.shift();
      served.push(...(claim?.queueIds ?? []));
      // More of the first queue is always due.
      if (served.length < 4) dispatcher.notice(TEAM, "a");
      claim?.answer();
      await turn();
    }

    assert.deepEqual(served.slice(0, 4), ["a", "b", "c", "d"].map(idOf));
  });

  it("claims from all queues in line together, but for those that take a claim of their own", async () => {
    const { dispatcher, claims, warmUp, idOf, grants } = createScene();
    grants.set("ordered", { ordered: true });
    grants.set("rated", { rate: 10 });
    grants.set("holding", { holdsHosts: true });
    const names = ["a", "ordered", "b", "rated", "c", "holding"];
    await warmUp(...names);

    for (const queue of names) dispatcher.notice(TEAM, queue, 3);
    for (let round = 0; round < 4; round += 1) {
      await turn();
      claims[round]?.answer();
    }

    assert.deepEqual(
      claims.map(({ queueIds }) => queueIds),
      [["a", "b", "c"], ["ordered"], ["rated"], ["holding"]].map((queues) => queues.map(idOf)),
    );
  });

  it("claims no more from several queues than their team has capacity for", async () => {
    const { dispatcher, claims, grants, warmUp, localQueues, idOf } = createScene();
    const names = ["a", "b", "c"];
    for (const queue of names) grants.set(queue, { slots: 1_000, concurrency: 1_000 });
    await warmUp(...names);
    const inFlight = () => names.map((queue) => localQueues.find(TEAM, queue)?.inFlight);
    const capacity = localQueues.free(localQueues.open(TEAM, "a"));
    assert.ok(capacity > 10 && capacity < 1_000, `${capacity}`);

    dispatcher.notice(TEAM, "a", capacity - 3);
    dispatcher.notice(TEAM, "b", 10);
    dispatcher.notice(TEAM, "c", 10);
    await turn();
    assert.deepEqual(claims[0]?.queueIds, ["a", "b"].map(idOf));
    assert.deepEqual(inFlight(), [capacity - 3, 3, 0]);

    claims.shift()?.answer();
    await turn();
    await turn();
    assert.deepEqual(inFlight(), [0, 7, 10], "the others follow when capacity is free");
  });

  it("claims nothing without a lease, and resumes when the lease is held again", async () => {
    const { scene, dispatcher, claims, warmUp } = createScene();
    await warmUp("a");
    scene.held = false;
    dispatcher.notice(TEAM, "a");
    await turn();
    assert.equal(claims.length, 0);
    assert.equal(dispatcher.reserve(TEAM, "a"), null);

    scene.held = true;
    dispatcher.forget();
    for (let round = 0; round < 3; round += 1) await turn();
    assert.equal(claims.length, 1);
  });

  it("reserves no slot while a flow waits for one", async () => {
    const { dispatcher, localQueues, warmUp } = createScene();
    await warmUp("a");
    const { flows } = localQueues.open(TEAM, "a");
    flows.add(createLocalFlow(TEAM, "key"));
    assert.equal(dispatcher.reserve(TEAM, "a"), null);
    flows.clear();
    assert.notEqual(dispatcher.reserve(TEAM, "a"), null);
  });

  it("reserves no slot while a due task waits, and never more than it holds", async () => {
    const { dispatcher, claims, warmUp } = createScene();
    assert.equal(dispatcher.reserve(TEAM, "a"), null, "nothing is known of the queue yet");
    await warmUp("a");

    const reservations = Array.from({ length: 5 }, () => dispatcher.reserve(TEAM, "a"));
    assert.deepEqual(
      reservations.map((reservation) => reservation !== null),
      [true, true, true, true, false],
    );
    for (const reservation of reservations.slice(0, 4))
      if (reservation !== null) dispatcher.finish(reservation.local);

    dispatcher.notice(TEAM, "a");
    assert.equal(dispatcher.reserve(TEAM, "a"), null, "a due task goes first");
    await turn();
    assert.equal(dispatcher.reserve(TEAM, "a"), null, "the claim is under way");
    for (const claim of claims.splice(0)) claim.answer();
    await turn();
    assert.notEqual(dispatcher.reserve(TEAM, "a"), null);
  });

  it("sends one hint when it is starved, and one each time it gives up slots", async () => {
    const { dispatcher, grants, hints, claims, warmUp } = createScene();
    await warmUp("a");
    const refresh = async (grant: Partial<SlotGrant>) => {
      grants.set("a", grant);
      dispatcher.refresh(TEAM, "a");
      for (let round = 0; round < 4; round += 1) {
        await turn();
        for (const claim of claims.splice(0)) claim.answer();
      }
      return hints.splice(0).length;
    };

    assert.equal(await refresh({ slots: 0, starved: true }), 1);
    assert.equal(await refresh({ slots: 0, starved: true }), 0);
    assert.equal(await refresh({ slots: 3, starved: false }), 0);
    assert.equal(await refresh({ slots: 2, starved: false }), 1);
  });
});

describe("the slot keeper", () => {
  function createKeeper() {
    const all = createScene();
    const released: number[] = [];
    const keeper = { during: async () => {} };
    const slotKeeper = createSlotKeeper({
      ...all,
      hint: () => {},
      sql: {
        async rows(_query, values = []) {
          await keeper.during();
          for (const { queue_id } of JSON.parse(String(values[1]))) released.push(queue_id);
          return [];
        },
      },
    });
    return { ...all, slotKeeper, released, keeper };
  }

  it("returns an idle queue's slots after ten seconds if there are other workers", async () => {
    const { scene, time, slotKeeper, released, localQueues, warmUp, idOf } = createKeeper();
    await warmUp("a", "b");
    time.pass(10_001);
    await slotKeeper.tidyOnce();
    assert.deepEqual(released, []);

    scene.peers = 1;
    await slotKeeper.tidyOnce();
    assert.deepEqual(released.sort(), [idOf("a"), idOf("b")]);
    assert.deepEqual([...localQueues.all], []);
  });

  it("repeats the return when its answer was lost, and uses no slot meanwhile", async () => {
    const { scene, time, slotKeeper, dispatcher, released, warmUp, keeper, idOf } = createKeeper();
    await warmUp("a");
    scene.peers = 1;
    time.pass(10_001);
    keeper.during = async () => {
      throw databaseAway();
    };
    await assert.rejects(slotKeeper.tidyOnce());
    assert.equal(dispatcher.reserve(TEAM, "a"), null);

    keeper.during = async () => {};
    await slotKeeper.tidyOnce();
    assert.deepEqual(released, [idOf("a")]);
  });

  it("keeps the slots of a queue with calls in flight or due tasks", async () => {
    const { scene, time, slotKeeper, dispatcher, released, warmUp } = createKeeper();
    await warmUp("calling", "claiming");
    dispatcher.reserve(TEAM, "calling");
    dispatcher.notice(TEAM, "claiming");
    scene.peers = 1;
    time.pass(700_000);
    await slotKeeper.tidyOnce();

    assert.deepEqual(released, []);
  });

  it("requests slots again for a task that arrives during the return", async () => {
    const { scene, time, slotKeeper, dispatcher, acquired, claims, warmUp, keeper } = createKeeper();
    await warmUp("a");
    scene.peers = 1;
    time.pass(700_000);
    keeper.during = async () => {
      assert.equal(dispatcher.reserve(TEAM, "a"), null, "no slot is used that is being given away");
      dispatcher.notice(TEAM, "a");
      await turn();
    };
    await slotKeeper.tidyOnce();
    for (let round = 0; round < 4; round += 1) await turn();

    assert.deepEqual(acquired, ["a"], "slots are requested again");
    assert.equal(claims.length, 1);
  });

  it("requests slots again for a starved queue with due tasks", async () => {
    const { slotKeeper, dispatcher, acquired, grants, claims, warmUp } = createKeeper();
    grants.set("a", { slots: 0, starved: true });
    await warmUp("a");
    dispatcher.notice(TEAM, "a");
    await turn();
    assert.deepEqual(acquired, []);

    grants.set("a", { slots: 2 });
    await slotKeeper.tidyOnce();
    for (let round = 0; round < 4; round += 1) await turn();
    assert.deepEqual(acquired, ["a"]);
    assert.equal(claims.length, 1);
  });
});
