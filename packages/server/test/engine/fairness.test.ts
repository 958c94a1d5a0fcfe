import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
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
});
