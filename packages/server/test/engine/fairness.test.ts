import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { afterEach, describe, it } from "node:test";
import type { Requester } from "../../src/domain/identity/principal.ts";
import { LIMITS } from "../../src/domain/limits.ts";
import { POLL_DEFAULTS } from "../../src/domain/poll/poll-config.ts";
import { insertMember } from "../../src/store/identity/members.ts";
import { openTestHouse, type TestHouse } from "../test-house.ts";

describe("fairness between teams", () => {
  let house: TestHouse;
  afterEach(() => house.close());

  it("starts a team's task while another team's targets hang on all the slots it can get", async () => {
    house = await openTestHouse({ concurrency: 100 }, { capacity: 12 });
    const guest = await house.openTeam();
    house.target.hold();
    for (let index = 0; index < 20; index += 1) await house.submit();
    await house.look();
    const hanging = house.engine.attempts.count;
    assert.ok(hanging >= 6, `a team alone gets at least half of the node, not ${hanging} of 12`);

    await house.submit({}, guest);
    await house.rest();

    assert.equal(house.engine.attempts.count, hanging + 1);
  });

  it("starts a team's task at once while thousands of another team's are due", async () => {
    house = await openTestHouse({ concurrency: 100 }, { capacity: 12 });
    const guest = await house.openTeam();
    house.target.hold();
    await house.submit();
    await house.look();
    await house.database.rows(
      `insert into tasks
       select (jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(), 'status', 'pending',
                 'due_at', t.run_at, 'list_key', 'pending',
                 'attempt_started_at', null, 'worker_id', null, 'attempt_count', 0, 'started_at', null))).*
         from tasks t, generate_series(1, 3000)`,
    );
    await house.look();
    await house.rest();
    const hanging = house.engine.attempts.count;
    assert.ok(hanging >= 6 && hanging < 12, `a team alone gets half of the node, not ${hanging} of 12`);

    await house.submit({}, guest);
    await house.rest();

    assert.equal(house.engine.attempts.count, hanging + 1);
  });

  it("starts the fourth team's task while three others hang", async () => {
    house = await openTestHouse({ concurrency: 100 }, { capacity: 12 });
    house.target.hold();
    const teams = [
      house.principal,
      await house.openTeam({ concurrency: 100 }),
      await house.openTeam({ concurrency: 100 }),
    ];
    for (const team of teams) {
      for (let index = 0; index < 20; index += 1) await house.submit({}, team);
      await house.look();
    }
    const hanging = house.engine.attempts.count;

    await house.submit({}, await house.openTeam());
    await house.rest();

    assert.equal(house.engine.attempts.count, hanging + 1);
  });

  it("counts the free teams of one person as one, and starts another's task beside them", async () => {
    house = await openTestHouse({ concurrency: 100 }, { capacity: 64 });
    house.target.hold();
    const teams = [];
    for (let index = 0; index < 8; index += 1) teams.push(await house.openTeam({ concurrency: 100 }));
    await makeOwner(teams);
    for (const team of teams) {
      for (let index = 0; index < 10; index += 1) await house.submit({}, team);
      await house.look();
    }
    assert.equal(house.engine.attempts.count, LIMITS.callsInFlight.free);

    await house.submit({}, await house.openTeam());
    await house.rest();

    assert.equal(house.engine.attempts.count, LIMITS.callsInFlight.free + 1);
  });

  it("keeps a reserve for teams that have nothing under way", async () => {
    house = await openTestHouse({ concurrency: 100 }, { capacity: 64 });
    house.target.hold();
    for (let team = 0; team < 7; team += 1) {
      const guest = await house.openTeam({ concurrency: 100 });
      await house.database.rows("update teams set plan = 'pro' where id = $1", [guest.teamId]);
      for (let index = 0; index < 33; index += 1) await house.submit({}, guest);
      await house.look();
    }
    const hanging = house.engine.attempts.count;
    assert.ok(hanging < 64, `${hanging} of 64 are taken`);

    await house.submit();
    await house.rest();

    assert.equal(house.engine.attempts.count, hanging + 1);
  });

  it("follows a change of plan at once", async () => {
    house = await openTestHouse({}, { capacity: 200 });
    const guest = await house.openTeam({ concurrency: 100 });
    house.target.hold();
    for (let index = 0; index < 30; index += 1) await house.submit({}, guest);
    await house.look();
    assert.equal(house.engine.attempts.count, LIMITS.callsInFlight.free);

    await house.database.rows("update teams set plan = 'pro' where id = $1", [guest.teamId]);
    house.engine.hear(`team ${guest.teamId}  0`);
    await house.rest();

    assert.equal(house.engine.attempts.count, 30);
  });

  it("polls for one team while all that another may poll hangs", async () => {
    house = await openTestHouse({ concurrency: 100 });
    const guest = await house.openTeam({ concurrency: 100 });
    const follow = { pollConfig: POLL_CONFIG(house.target.url) };
    for (let index = 0; index < 30; index += 1) await house.submit(follow, guest);
    await house.submit(follow);
    await house.dispatchOnce();
    await house.advance(10);
    house.target.hold();
    const before = house.target.calls.length;

    for (let round = 0; round < 3; round += 1) await house.engine.poller.workOnce();
    await house.target.received(before + LIMITS.callsInFlight.free + 1);
    await house.rest();

    assert.equal(house.target.calls.length, before + LIMITS.callsInFlight.free + 1);
  });

  async function makeOwner(teams: readonly Requester[]): Promise<void> {
    const userId = randomUUID();
    await house.database.rows("insert into users (id, email) values ($1, 'mallory@example.com')", [userId]);
    for (const { teamId } of teams) await insertMember(house.database, teamId, userId, "owner");
  }
});

const POLL_CONFIG = (url: string) => ({
  ...POLL_DEFAULTS,
  urlTemplate: url,
  statusPath: "status",
  doneValues: ["done"],
  failValues: ["failed"],
});
