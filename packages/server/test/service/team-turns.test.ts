import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import type { Requester } from "../../src/domain/identity/principal.ts";
import { createBreakerService } from "../../src/features/breakers/service.ts";
import { createSandboxService } from "../../src/features/sandbox/service.ts";
import { createQueueService } from "../../src/service/tasks/queue-service.ts";
import { createTeamTurns, type InTeamTurn } from "../../src/service/team-turns.ts";
import { principalOf } from "../test-principal.ts";
import { createGate, type WatchedDatabase, watchDatabase } from "../test-sql.ts";
import { openTestStore, type TestStore } from "../test-store.ts";

describe("the turns of teams", () => {
  it("has one portion per team and two per node, with teams in turn", async () => {
    const inTeamTurn = createTeamTurns();
    const begun: string[] = [];
    const gates = new Map<string, ReturnType<typeof createGate>>();
    const begin = (teamId: number, name: string) => {
      const gate = createGate();
      gates.set(name, gate);
      return inTeamTurn(teamId, async () => {
        begun.push(name);
        await gate.wait();
        if (name === "a2") throw new Error("refused");
        return name;
      });
    };
    const open = async (name: string) => {
      gates.get(name)?.open();
      await new Promise(setImmediate);
      return begun.splice(0);
    };
    const all = Promise.allSettled([
      begin(1, "a1"),
      begin(1, "a2"),
      begin(1, "a3"),
      begin(2, "b1"),
      begin(3, "c1"),
    ]);

    assert.deepEqual(await open(""), ["a1", "b1"]);
    assert.deepEqual(await open("a1"), ["a2"]);
    assert.deepEqual(await open("b1"), ["c1"]);
    assert.deepEqual(await open("a2"), ["a3"], "a portion that failed has kept its place");
    await open("c1");
    await open("a3");
    assert.deepEqual(
      (await all).map((each) => (each.status === "fulfilled" ? each.value : "failed")),
      ["a1", "failed", "a3", "b1", "c1"],
    );
  });

  it("refuses no portion, however many of a team wait", async () => {
    const inTeamTurn = createTeamTurns();
    const portions = Array.from({ length: 1_000 }, (_, at) => inTeamTurn(1, async () => at));
    assert.equal((await Promise.all(portions)).length, 1_000);
  });
});

describe("a request that changes many rows", () => {
  let store: TestStore;
  let database: WatchedDatabase;
  let inTeamTurn: InTeamTurn;
  let [ours, theirs] = [principalOf(0), principalOf(0)];
  before(async () => {
    store = await openTestStore();
  });
  after(() => store.close());
  beforeEach(async () => {
    database = watchDatabase(store.database);
    inTeamTurn = createTeamTurns();
    [ours, theirs] = [principalOf(await store.openTeam()), principalOf(await store.openTeam())];
  });

  /** The first portions of one team's requests are held up; another team's request is answered meanwhile. */
  async function serveBeside(
    statement: string,
    loud: () => readonly Promise<unknown>[],
    quiet: () => Promise<unknown>,
  ) {
    const gate = createGate();
    let isQuiet = false;
    let held = 0;
    database.before = (name) => {
      if (name !== statement || isQuiet) return;
      held += 1;
      return gate.wait();
    };
    const working = Promise.all(loud());
    await gate.reached;
    await database.idle();
    assert.equal(held, 1, "portions of one team run at once");
    isQuiet = true;
    await quiet();
    gate.open();
    await working;
  }

  it("deletes the tasks of a queue in turn with other teams, when it deletes a queue", async () => {
    const queues = createQueueService({ database, inTeamTurn });
    const fill = async ({ teamId }: Requester, tasks: number) => {
      const queue = await store.openQueue({}, teamId);
      for (let made = 0; made < tasks; made += 200)
        await store.insert(
          queue,
          ...Array.from({ length: Math.min(200, tasks - made) }, () => ({ delaySeconds: 60 })),
        );
      return queue.name;
    };
    const names = [await fill(ours, 1_200), await fill(ours, 10), await fill(ours, 10)];
    const other = await fill(theirs, 10);

    await serveBeside(
      "remove_pending_of_deleted_queues",
      () => names.map((name) => queues.remove(ours, name)),
      async () => assert.equal(await queues.remove(theirs, other), 10),
    );

    const portions = database.sent.filter((name) => name === "remove_pending_of_deleted_queues").length;
    assert.equal(portions, 4 + 2 + 2 + 2, "each has 500 tasks at most, and the last none");
  });

  it("closes one breaker after the other, in turn with other teams", async () => {
    const breakers = createBreakerService({ database, onChanged: () => {}, inTeamTurn });
    for (const { teamId } of [ours, theirs])
      for (const host of ["one.test", "two.test"]) {
        const { id } = await store.openQueue({}, teamId);
        await store.database.rows(
          `insert into breakers (team_id, queue_id, host, phase, failures, opened_at, until, cooldown, allowed)
           values ($1, $2, $3, 'open', 3, now(), now() + interval '1 hour', 60, 0)`,
          [teamId, id, host],
        );
      }
    await serveBeside(
      "breakers_to_close",
      () => [breakers.close(ours, "one.test", null), breakers.close(ours, "two.test", null)],
      async () => assert.equal((await breakers.close(theirs, "one.test", null)).length, 1),
    );
  });

  it("takes the steps of its sandbox in turn with other teams", async () => {
    const gate = createGate();
    let underWay = 0;
    const step = async ({ teamId }: { readonly teamId: number | null }) => {
      if (teamId !== ours.teamId) return 0;
      underWay += 1;
      assert.equal(underWay, 1, "steps of one team run at once");
      await gate.wait();
      underWay -= 1;
      return 0;
    };
    const sandbox = createSandboxService({
      database,
      walk: { step },
      schedules: { fireAhead: async () => 0 },
      inTeamTurn,
    });
    const advance = (requester: Requester) => sandbox.advance({ ...requester, environment: "test" }, 60);

    const working = Promise.all([advance(ours), advance(ours)]);
    await gate.reached;
    assert.equal((await advance(theirs)).seconds, 60);
    gate.open();
    assert.deepEqual(
      (await working).map(({ seconds }) => seconds),
      [60, 60],
    );
  });
});
