import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { afterEach, describe, it } from "node:test";
import type { Requester } from "../../src/domain/identity/principal.ts";
import { LIMITS, UNBOUNDED } from "../../src/domain/limits.ts";
import { POLL_DEFAULTS } from "../../src/domain/poll/poll-config.ts";
import { createBudget } from "../../src/engine/budget.ts";
import { insertMember } from "../../src/store/identity/members.ts";
import { openTestServer, type TestServer } from "../test-server.ts";

describe("fairness between teams", () => {
  let server: TestServer;
  afterEach(() => server.close());

  it("starts a team's task while another team's hanging calls take its whole share", async () => {
    server = await openTestServer({ concurrency: 100 }, { capacity: 12 });
    const guest = await server.openTeam();
    server.target.hold();
    for (let index = 0; index < 20; index += 1) await server.submit();
    await server.look();
    const hanging = server.engine.attempts.count;
    assert.ok(hanging >= 6, `a team alone gets at least half of the node, not ${hanging} of 12`);

    await server.submit({}, guest);
    await server.rest();

    assert.equal(server.engine.attempts.count, hanging + 1);
  });

  it("starts a team's task at once while thousands of another team's are due", async () => {
    server = await openTestServer({ concurrency: 100 }, { capacity: 12 });
    const guest = await server.openTeam();
    server.target.hold();
    await server.submit();
    await server.look();
    await server.database.rows(
      `insert into tasks
       select made.* from tasks t cross join generate_series(1, 3000) n
         cross join lateral jsonb_populate_record(t, jsonb_build_object('id', md5(n::text)::uuid, 'status', 'pending',
                      'due_at', t.run_at, 'list_key', 'pending',
                      'attempt_started_at', null, 'worker_id', null, 'attempt_count', 0, 'started_at', null)) made`,
    );
    await server.look();
    await server.rest();
    const hanging = server.engine.attempts.count;
    assert.ok(hanging >= 6 && hanging < 12, `a team alone gets half of the node, not ${hanging} of 12`);

    await server.submit({}, guest);
    await server.rest();

    assert.equal(server.engine.attempts.count, hanging + 1);
  });

  it("starts a fourth team's task while the calls of three teams hang", async () => {
    server = await openTestServer({ concurrency: 100 }, { capacity: 12 });
    server.target.hold();
    const teams = [
      server.principal,
      await server.openTeam({ concurrency: 100 }),
      await server.openTeam({ concurrency: 100 }),
    ];
    for (const team of teams) {
      for (let index = 0; index < 20; index += 1) await server.submit({}, team);
      await server.look();
    }
    const hanging = server.engine.attempts.count;

    await server.submit({}, await server.openTeam());
    await server.rest();

    assert.equal(server.engine.attempts.count, hanging + 1);
  });

  it("counts one person's free teams as one account, and starts another team's task", async () => {
    server = await openTestServer({ concurrency: 100 }, { capacity: 64 });
    server.target.hold();
    const teams = [];
    for (let index = 0; index < 8; index += 1) teams.push(await server.openTeam({ concurrency: 100 }));
    await makeOwner(teams);
    for (const team of teams) {
      for (let index = 0; index < 10; index += 1) await server.submit({}, team);
      await server.look();
    }
    assert.equal(server.engine.attempts.count, LIMITS.callsInFlight.free);

    await server.submit({}, await server.openTeam());
    await server.rest();

    assert.equal(server.engine.attempts.count, LIMITS.callsInFlight.free + 1);
  });

  it("keeps a reserve for teams without calls in flight", async () => {
    server = await openTestServer({ concurrency: 100 }, { capacity: 64 });
    server.target.hold();
    for (let team = 0; team < 7; team += 1) {
      const guest = await server.openTeam({ concurrency: 100 });
      await server.database.rows("update teams set plan = 'pro' where id = $1", [guest.teamId]);
      for (let index = 0; index < 33; index += 1) await server.submit({}, guest);
      await server.look();
    }
    const hanging = server.engine.attempts.count;
    assert.ok(hanging < 64, `${hanging} of 64 are taken`);

    await server.submit();
    await server.rest();

    assert.equal(server.engine.attempts.count, hanging + 1);
  });

  it("applies a change of plan at once", async () => {
    server = await openTestServer({}, { capacity: 200 });
    const guest = await server.openTeam({ concurrency: 100 });
    server.target.hold();
    for (let index = 0; index < 30; index += 1) await server.submit({}, guest);
    await server.look();
    assert.equal(server.engine.attempts.count, LIMITS.callsInFlight.free);

    await server.database.rows("update teams set plan = 'pro' where id = $1", [guest.teamId]);
    server.engine.hear(`team ${guest.teamId}  0`);
    await server.rest();

    assert.equal(server.engine.attempts.count, 30);
  });

  it("polls for one team while another team's polls hang at their limit", async () => {
    server = await openTestServer({ concurrency: 100 });
    const guest = await server.openTeam({ concurrency: 100 });
    const follow = { pollConfig: POLL_CONFIG(server.target.url) };
    for (let index = 0; index < 30; index += 1) await server.submit(follow, guest);
    await server.submit(follow);
    await server.dispatchOnce();
    await server.advance(10);
    server.target.hold();
    const before = server.target.calls.length;

    for (let round = 0; round < 3; round += 1) await server.engine.poller.workOnce();
    await server.target.received(before + LIMITS.callsInFlight.free + 1);
    await server.rest();

    assert.equal(server.target.calls.length, before + LIMITS.callsInFlight.free + 1);
  });

  async function makeOwner(teams: readonly Requester[]): Promise<void> {
    const userId = randomUUID();
    await server.database.rows("insert into users (id, email) values ($1, 'mallory@example.com')", [userId]);
    for (const { teamId } of teams) await insertMember(server.database, teamId, userId, "owner");
  }
});

const POLL_CONFIG = (url: string) => ({
  ...POLL_DEFAULTS,
  urlTemplate: url,
  statusPath: "status",
  doneValues: ["done"],
  failValues: ["failed"],
});

describe("a plan's limit of calls in flight", () => {
  it("applies to all nodes together: each node allows its share", async () => {
    const limits = { ...UNBOUNDED, callsInFlight: 10 };
    const budget = createBudget({
      find: async () => [{ teamId: 1, account: "one", limits }],
      nodes: () => 3,
    });
    const pool = budget.openPool(1_000, () => {});
    await budget.learn([1]);
    assert.equal(pool.room(1), 4);
    pool.take(1, 4);
    assert.equal(pool.room(1), 0);
  });
});
