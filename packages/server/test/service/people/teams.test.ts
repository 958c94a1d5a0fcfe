import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { formatId } from "../../../src/domain/public-id.ts";
import { newUuid } from "../../../src/service/new-uuid.ts";
import { createTeamService, type TeamService } from "../../../src/service/people/team-service.ts";
import { listQueues } from "../../../src/store/tasks/queues.ts";
import { principalOf } from "../../test-principal.ts";
import { openTeamScene, type TeamScene } from "./team-scene.ts";

describe("teams", () => {
  let scene: TeamScene;
  let teams: TeamService;
  before(async () => {
    scene = await openTeamScene();
    teams = createTeamService({ database: scene.database });
  });
  after(() => scene.drop());

  it("are shown to a credential, and to a person with their user", async () => {
    const teamId = await scene.newTeam("Who");
    const ada = await scene.join(teamId, "who@example.com", "viewer");

    const key = await teams.whoAmI(principalOf(teamId));
    const person = await teams.whoAmI(ada);

    assert.deepEqual([key.team.name, key.team.plan, key.user], ["Who", "free", null]);
    assert.deepEqual(person, { team: key.team, user: { id: ada.userId, email: "who@example.com" } });
  });

  it("belong to the person who creates them, on the free plan, with the queue default", async () => {
    const first = await scene.newTeam("First");
    const ada = await scene.join(first, "creates@example.com", "viewer");

    const team = await teams.create(ada, "Second");

    assert.deepEqual([team.name, team.plan], ["Second", "free"]);
    const { items: list } = await teams.list(ada);
    assert.deepEqual(
      list.map(({ team, role }) => [team.name, role]),
      [
        ["First", "viewer"],
        ["Second", "owner"],
      ],
    );
    assert.deepEqual(list[1]?.team, team);
    const teamId = list[1]?.teamId ?? 0;
    assert.deepEqual(
      (await listQueues(scene.database, { teamId, environment: "live" })).map(({ name }) => name),
      ["default"],
    );
    const target = formatId("team", team.id);
    assert.deepEqual(await scene.log(teamId), [
      { action: "team.created", requester: ada.name, target, detail: { name: "Second" } },
    ]);
    assert.deepEqual(await scene.log(first), []);
  });

  it("are listed to their own members only", async () => {
    const teamId = await scene.newTeam();
    const ada = await scene.join(teamId, "lists@example.com", "owner");
    const eve = await scene.join(await scene.newTeam("Hers"), "eve@example.com", "owner");

    assert.deepEqual(
      (await teams.list(ada)).items.map((membership) => membership.teamId),
      [teamId],
    );
    assert.deepEqual(
      (await teams.list(eve)).items.map(({ team }) => team.name),
      ["Hers"],
    );
  });

  it("cannot be listed or created by an API key", async () => {
    const key = principalOf(await scene.newTeam());

    await assert.rejects(teams.list(key), { code: "session_required" });
    await assert.rejects(teams.create(key, "Mine"), { code: "session_required" });
  });

  it("on the free plan are limited to ten per person, even with concurrent requests", async () => {
    const ada = await scene.join(await scene.newTeam(), "ten@example.com", "member");
    const busy = createTeamService({ database: scene.open(8) });

    const made = await Promise.allSettled(Array.from({ length: 12 }, () => busy.create(ada, "More")));

    assert.equal(made.filter(({ status }) => status === "fulfilled").length, 10);
    assert.equal((await teams.list(ada)).items.length, 11);
    await assert.rejects(teams.create(ada, "More"), {
      status: 409,
      message: "A person can own at most 10 teams on the free plan",
    });
  });

  it("on another plan do not count towards the limit", async () => {
    const ada = await scene.join(await scene.newTeam(), "pays@example.com", "owner");
    for (let made = 0; made < 9; made += 1) await teams.create(ada, "More");
    await scene.database.rows("update teams set plan = 'pro' where id = $1", [ada.teamId]);

    await teams.create(ada, "Tenth");

    await assert.rejects(teams.create(ada, "Eleventh"), { code: "team_limit" });
  });

  it("are renamed, which is recorded once", async () => {
    const teamId = await scene.newTeam("Old");
    const other = await scene.newTeam("Old");
    const requester = principalOf(teamId);

    const renamed = await teams.rename(requester, "New");
    await teams.rename(requester, "New");

    assert.equal(renamed.name, "New");
    assert.deepEqual(await teams.get(requester), renamed);
    assert.equal((await teams.get(principalOf(other))).name, "Old");
    const target = formatId("team", renamed.id);
    assert.deepEqual(await scene.log(teamId), [
      { action: "team.renamed", requester: "Test key", target, detail: { from: "Old", to: "New" } },
    ]);
  });

  it("are neither created nor renamed when the change cannot be recorded", async () => {
    const ada = await scene.join(await scene.newTeam(), "half@example.com", "owner");
    const unwritable = { ...ada, name: "\u0000" };

    await assert.rejects(teams.create(unwritable, "Half"));
    await assert.rejects(teams.rename(unwritable, "Half"));

    assert.deepEqual(
      (await teams.list(ada)).items.map(({ team }) => team.name),
      ["Acme"],
    );
  });

  it("are none for an unknown person", async () => {
    const stranger = principalOf(await scene.newTeam(), { kind: "session", userId: newUuid() });

    assert.deepEqual((await teams.list(stranger)).items, []);
    assert.equal((await teams.whoAmI(stranger)).user, null);
  });
});
