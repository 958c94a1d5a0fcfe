import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { isAtLeast, ROLES, type Role } from "../../../src/domain/identity/role.ts";
import { formatId } from "../../../src/domain/public-id.ts";
import { hashSecret } from "../../../src/service/access/secret-hash.ts";
import { newUuid } from "../../../src/service/new-uuid.ts";
import { createMemberService, type MemberService } from "../../../src/service/people/member-service.ts";
import { findSession, insertSession } from "../../../src/store/identity/sessions.ts";
import { until } from "../../patience.ts";
import { principalOf } from "../../test-principal.ts";
import { createGate, watchDatabase } from "../../test-sql.ts";
import { openTeamScene, type Person, type TeamScene } from "./team-scene.ts";

describe("members", () => {
  let scene: TeamScene;
  let members: MemberService;
  before(async () => {
    scene = await openTeamScene();
    members = createMemberService({ database: scene.database });
  });
  after(() => scene.drop());

  /** A team with two owners, so that the last one is in nobody's way. */
  async function newTeam(): Promise<{ teamId: number; ada: Person; bob: Person }> {
    const teamId = await scene.newTeam();
    const ada = await scene.join(teamId, "ada@example.com", "owner");
    const bob = await scene.join(teamId, "bob@example.com", "owner");
    return { teamId, ada, bob };
  }

  it("are listed to their team in order of joining", async () => {
    const { teamId, ada, bob } = await newTeam();
    await scene.join(await scene.newTeam(), "elsewhere@example.com", "owner");

    const { items: list } = await members.list(principalOf(teamId));

    assert.deepEqual(
      list.map(({ userId, email, role }) => [userId, email, role]),
      [
        [ada.userId, "ada@example.com", "owner"],
        [bob.userId, "bob@example.com", "owner"],
      ],
    );
  });

  describe("permissions to change members", () => {
    /** The rule, said in another way than the code says it. */
    function expected(requester: Role, from: Role, to: Role | null): "done" | "admin" | "owner" {
      const concernsOwner = from === "owner" || to === "owner";
      if (concernsOwner) return requester === "owner" ? "done" : "owner";
      return isAtLeast(requester, "admin") ? "done" : "admin";
    }

    for (const requester of ROLES) {
      it(`of role ${requester} for every change of role`, async () => {
        const { teamId } = await newTeam();
        const person = await scene.join(teamId, "requester@example.com", requester);
        const target = await scene.join(teamId, "target@example.com", "viewer");
        for (const from of ROLES) {
          for (const to of ROLES) {
            await setRole(target, from);
            const done = await outcomeOf(members.changeRole(person, target.userId, to));
            const wanted = expected(requester, from, to);
            assert.equal(done, wanted, `${from} → ${to}`);
            const { [target.name]: role } = await scene.roles(teamId);
            assert.equal(role, wanted === "done" ? to : from, `${from} → ${to}`);
          }
        }
      });

      it(`of role ${requester} for the removal of every role`, async () => {
        const { teamId } = await newTeam();
        const person = await scene.join(teamId, "requester@example.com", requester);
        for (const from of ROLES) {
          const target = await scene.join(teamId, `${from}@example.com`, from);
          const done = await outcomeOf(members.remove(person, target.userId));
          const wanted = expected(requester, from, null);
          assert.equal(done, wanted, from);
          assert.equal(target.name in (await scene.roles(teamId)), wanted !== "done", from);
        }
      });

      it(`of role ${requester} include leaving`, async () => {
        const { teamId } = await newTeam();
        const person = await scene.join(teamId, "requester@example.com", requester);

        assert.equal(await outcomeOf(members.leave(person)), "done");
        assert.deepEqual(Object.keys(await scene.roles(teamId)), ["ada@example.com", "bob@example.com"]);
      });
    }

    async function setRole({ teamId, userId }: Person, role: Role): Promise<void> {
      await scene.database.rows("update team_members set role = $3 where team_id = $1 and user_id = $2", [
        teamId,
        userId,
        role,
      ]);
    }

    it("of a live key are those of an admin: it cannot add or change an owner", async () => {
      const { teamId, ada } = await newTeam();
      const eve = await scene.join(teamId, "eve@example.com", "viewer");
      const key = principalOf(teamId);

      assert.equal(await outcomeOf(members.changeRole(key, eve.userId, "owner")), "owner");
      assert.equal(await outcomeOf(members.changeRole(key, ada.userId, "viewer")), "owner");
      assert.equal(await outcomeOf(members.remove(key, ada.userId)), "owner");
      assert.equal(await outcomeOf(members.changeRole(key, eve.userId, "admin")), "done");
    });

    it("follow the caller's current role, not the role at authentication", async () => {
      const { teamId, ada, bob } = await newTeam();
      const eve = await scene.join(teamId, "eve@example.com", "viewer");

      await members.changeRole(ada, bob.userId, "viewer");
      assert.equal(await outcomeOf(members.changeRole(bob, eve.userId, "owner")), "owner");
      assert.equal(await outcomeOf(members.remove(bob, eve.userId)), "admin");
      await members.remove(ada, bob.userId);
      await assert.rejects(members.changeRole(bob, eve.userId, "owner"), { code: "token_invalid" });
      await assert.rejects(members.leave(bob), { code: "token_invalid" });
    });
  });

  it("that are unknown or in another team are not found", async () => {
    const { teamId, ada } = await newTeam();
    const stranger = await scene.join(await scene.newTeam(), "stranger@example.com", "owner");

    for (const userId of [stranger.userId, newUuid()]) {
      for (const requester of [ada, principalOf(teamId)]) {
        const refusal = { status: 404, message: "Member not found" };
        await assert.rejects(members.changeRole(requester, userId, "viewer"), refusal);
        await assert.rejects(members.remove(requester, userId), refusal);
      }
    }
    assert.deepEqual(await scene.roles(stranger.teamId), { "stranger@example.com": "owner" });
  });

  it("of two teams stay in the other when they are removed from one", async () => {
    const { ada, bob } = await newTeam();
    const other = await scene.join(await scene.newTeam(), "bob@example.com", "viewer");

    await members.remove(ada, bob.userId);

    assert.equal(other.userId, bob.userId);
    assert.deepEqual(await scene.roles(other.teamId), { "bob@example.com": "viewer" });
  });

  it("that are removed lose sessions, application tokens and invitations of that team only", async () => {
    const { teamId, ada, bob } = await newTeam();
    const other = await scene.join(await scene.newTeam(), "bob@example.com", "viewer");
    const traces = [await leaveTraces(bob), await leaveTraces(other), await leaveTraces(ada)];

    const { removedAt, ...removed } = await members.remove(ada, bob.userId);

    assert.deepEqual(removed, { userId: bob.userId, email: "bob@example.com" });
    assert.ok(removedAt instanceof Date);
    assert.deepEqual(await Promise.all(traces.map((look) => look())), [
      { session: false, token: false, invitation: false },
      { session: true, token: true, invitation: true },
      { session: true, token: true, invitation: true },
    ]);
    // Also if they join again.
    await scene.join(teamId, "bob@example.com", "viewer");
    assert.deepEqual(await traces[0]?.(), { session: false, token: false, invitation: false });
  });

  it("have their changes, previous roles and departures in the audit log", async () => {
    const { teamId, ada, bob } = await newTeam();
    const eve = await scene.join(teamId, "eve@example.com", "member");

    await members.changeRole(ada, eve.userId, "admin");
    await members.changeRole(ada, eve.userId, "admin");
    await members.remove(bob, eve.userId);
    await members.leave(bob);

    const id = ({ userId }: Person) => formatId("user", userId);
    assert.deepEqual(await scene.log(teamId), [
      {
        action: "member.role_changed",
        requester: "ada@example.com",
        target: id(eve),
        detail: { email: "eve@example.com", from: "member", to: "admin" },
      },
      {
        action: "member.removed",
        requester: "bob@example.com",
        target: id(eve),
        detail: { email: "eve@example.com", role: "admin" },
      },
      {
        action: "member.left",
        requester: "bob@example.com",
        target: id(bob),
        detail: { email: "bob@example.com", role: "owner" },
      },
    ]);
  });

  it("are unchanged when the change cannot be recorded", async () => {
    const { teamId, ada, bob } = await newTeam();
    const unwritable = { ...ada, name: "\u0000" };

    await assert.rejects(members.changeRole(unwritable, bob.userId, "viewer"));
    await assert.rejects(members.remove(unwritable, bob.userId));

    assert.deepEqual(await scene.roles(teamId), { "ada@example.com": "owner", "bob@example.com": "owner" });
  });

  describe("the last owner", () => {
    const refusal = { status: 409, message: "The last owner cannot leave the team" };

    it("cannot be demoted or removed, nor leave", async () => {
      const { teamId, ada, bob } = await newTeam();
      await scene.join(teamId, "eve@example.com", "admin");
      await members.changeRole(bob, bob.userId, "admin");

      await assert.rejects(members.changeRole(ada, ada.userId, "admin"), refusal);
      await assert.rejects(members.remove(ada, ada.userId), refusal);
      await assert.rejects(members.leave(ada), refusal);
      assert.equal((await members.changeRole(ada, ada.userId, "owner")).role, "owner");
    });

    it("cannot leave even if another team has an owner", async () => {
      const { ada, bob } = await newTeam();
      await scene.join(await scene.newTeam(), "bob@example.com", "owner");
      await members.leave(bob);

      await assert.rejects(members.leave(ada), refusal);
    });

    type Act = (service: MemberService, self: Person, other: Person) => Promise<unknown>;
    const ACTS: Record<string, Act> = {
      "is demoted by the other": (service, self, other) => service.changeRole(other, self.userId, "admin"),
      "demotes itself": (service, self) => service.changeRole(self, self.userId, "viewer"),
      "removes itself": (service, self) => service.remove(self, self.userId),
      leaves: (service, self) => service.leave(self),
    };
    for (const [first, firstAct] of Object.entries(ACTS)) {
      for (const [second, secondAct] of Object.entries(ACTS)) {
        it(`stays when one ${first} while the other ${second}`, async () => {
          const { teamId, ada, bob } = await newTeam();
          // The first has done its work and not committed yet when the second comes.
          const held = watchDatabase(scene.open(1));
          const gate = createGate();
          held.after = (statement) => (statement === "insert_audit_event" ? gate.wait() : undefined);
          const slow = createMemberService({ database: held });

          const one = outcomeOf(firstAct(slow, ada, bob));
          await gate.reached;
          let arrived = false;
          const two = outcomeOf(secondAct(members, bob, ada)).finally(() => {
            arrived = true;
          });
          await until(async () => arrived || (await isSomebodyWaiting()));
          gate.open();

          assert.equal(await one, "done");
          assert.notEqual(await two, "done");
          const roles = Object.values(await scene.roles(teamId));
          assert.equal(roles.filter((role) => role === "owner").length, 1);
        });
      }
    }

    it("stays when all owners leave at once", async () => {
      const teamId = await scene.newTeam();
      const owners: Person[] = [];
      for (let made = 0; made < 8; made += 1)
        owners.push(await scene.join(teamId, `owner-${made}@example.com`, "owner"));
      const busy = createMemberService({ database: scene.open(8) });

      const outcomes = await Promise.all(owners.map((owner) => outcomeOf(busy.leave(owner))));

      assert.deepEqual(outcomes.sort(), [...Array<string>(7).fill("done"), "last_owner"]);
      assert.deepEqual(Object.values(await scene.roles(teamId)), ["owner"]);
    });
  });

  /** Whether some connection to this database waits for another's lock. */
  async function isSomebodyWaiting(): Promise<boolean> {
    const rows = await scene.database.rows(
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return rows.length > 0;
  }

  /** Gives the person a session, a token of an application and an invitation in its team. Returns what is left of them. */
  async function leaveTraces({ teamId, userId, name: email }: Person) {
    const { database } = scene;
    const [applicationId, tokenId, invitationId] = [newUuid(), newUuid(), newUuid()];
    const hash = hashSecret(tokenId);
    const expiresAt = new Date(Date.now() + 60_000);
    await insertSession(database, { hash, userId, teamId, expiresAt, isBound: false });
    await database.rows(
      `insert into oauth_applications (id, team_id, name, secret_hash, redirect_uris, scopes, grant_types)
       values ($1, $2, 'App', $3, '{}', '{}', '{}')`,
      [applicationId, teamId, hash],
    );
    await database.rows(
      `insert into oauth_tokens (id, access_hash, application_id, team_id, user_id, scopes, access_expires_at)
       values ($1, $2, $3, $4, $5, '{}', now() + interval '1 hour')`,
      [tokenId, hash, applicationId, teamId, userId],
    );
    await database.rows(
      `insert into invitations (id, team_id, email, role, hash, invited_by, expires_at)
       values ($1, $2, $3, 'owner', $4, 'somebody', now() + interval '1 hour')`,
      [invitationId, teamId, email, hash],
    );
    return async () => ({
      session: (await findSession(database, hash)) !== null,
      token: await exists("oauth_tokens where revoked_at is null and id = $1", tokenId),
      invitation: await exists("invitations where id = $1", invitationId),
    });
  }

  async function exists(what: string, id: string): Promise<boolean> {
    return (await scene.database.rows(`select 1 from ${what}`, [id])).length === 1;
  }
});

/** `done`, or the role that was missing, or the code of the refusal. */
async function outcomeOf(change: Promise<unknown>): Promise<string> {
  try {
    await change;
    return "done";
  } catch (error) {
    assert.ok(error instanceof Error && "code" in error);
    const role = /^Insufficient role: (\w+) required$/.exec(error.message);
    return role?.[1] ?? String(error.code);
  }
}
