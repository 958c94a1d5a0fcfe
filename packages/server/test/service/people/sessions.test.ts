import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { Requester } from "../../../src/domain/identity/principal.ts";
import { formatId } from "../../../src/domain/public-id.ts";
import { createAuthService } from "../../../src/service/access/auth-service.ts";
import { createFailureLimit } from "../../../src/service/access/failure-limit.ts";
import { createKeyLookup } from "../../../src/service/access/principals.ts";
import { rotateSessionKey } from "../../../src/service/access/session-keys.ts";
import { newUuid } from "../../../src/service/new-uuid.ts";
import type { SignedIn } from "../../../src/service/people/session-service.ts";
import { createTeam } from "../../../src/service/people/team-service.ts";
import { ensureMember } from "../../../src/store/identity/members.ts";
import { endSessionsOfMember } from "../../../src/store/identity/sessions.ts";
import { findTeam } from "../../../src/store/identity/teams.ts";
import { audit, openSignInScene, type SignInScene, VISITOR } from "./sign-in-scene.ts";

const INVALID = { code: "token_invalid" };
const ADA = "ada@example.com";

describe("a session", () => {
  let scene: SignInScene;
  let ada: SignedIn;
  beforeEach(async () => {
    scene = await openSignInScene();
    ada = await signIn(ADA);
  });
  afterEach(() => scene.close());

  const signIn = async (email: string) => scene.signIn.exchange(await scene.linkFor(email), VISITOR);
  const requesterOf = async ({ session }: SignedIn): Promise<Requester> => {
    const principal = await scene.lookUp(session.token);
    assert.ok(principal);
    return { ...principal, ...VISITOR };
  };
  const publicId = async (teamId: number) =>
    formatId("team", (await findTeam(scene.database, teamId))?.id ?? "");
  const actions = async () => (await audit(scene.database)).map(({ action }) => action);

  it("is refused once it was ended, although its token is still valid", async () => {
    const requester = await requesterOf(ada);
    const endedAt = await scene.sessions.end(requester, ada.session.token);

    assert.ok(Math.abs(endedAt.getTime() - Date.now()) < 60_000);
    assert.notEqual(await scene.signer.verify(ada.session.token), null);
    assert.equal(await scene.lookUp(ada.session.token), null);
    await assert.rejects(scene.sessions.end(requester, ada.session.token), INVALID);
    assert.deepEqual((await actions()).at(-1), "session.ended");
  });

  it("ends alone: another session of the same person stays valid", async () => {
    const other = await signIn(ADA);
    await scene.sessions.end(await requesterOf(ada), ada.session.token);
    assert.notEqual(await scene.lookUp(other.session.token), null);
  });

  it("ends on every node within a second, and at once where it was ended", async () => {
    let clockMs = 0;
    const newNode = () =>
      createAuthService({
        findKey: createKeyLookup(scene.database),
        findToken: scene.lookUp,
        failures: createFailureLimit({ monotonicMs: () => clockMs }),
        monotonicMs: () => clockMs,
      });
    const [here, there] = [newNode(), newNode()];
    for (const node of [here, there]) await node.authenticate(ada.session.token, "192.0.2.1");

    await scene.sessions.end(await requesterOf(ada), ada.session.token);
    here.recheck();

    await assert.rejects(here.authenticate(ada.session.token, "192.0.2.1"), INVALID);
    clockMs += 1000;
    assert.equal(there.recall(ada.session.token), null);
    await assert.rejects(there.authenticate(ada.session.token, "192.0.2.1"), INVALID);
  });

  it("expires with its row, by the database's clock", async () => {
    await scene.database.rows("update sessions set expires_at = now() - interval '1 second'");
    assert.equal(await scene.lookUp(ada.session.token), null);
  });

  it("is valid only while the person is a member, with the current role and plan", async () => {
    const { teamId, userId } = await requesterOf(ada);
    await scene.database.rows("update team_members set role = 'viewer' where user_id = $1", [userId]);
    assert.equal((await scene.lookUp(ada.session.token))?.role, "viewer");
    await scene.database.rows("update teams set plan = 'pro' where id = $1", [teamId]);
    assert.equal((await scene.lookUp(ada.session.token))?.requestsPerMinute, 600);
    await scene.database.rows("delete from team_members where user_id = $1", [userId]);
    assert.equal(await scene.lookUp(ada.session.token), null);
  });

  it("ends with all sessions of a member in a team, and with no other member's", async () => {
    const { teamId, userId } = await requesterOf(ada);
    const bob = await signIn("bob@example.com");
    await endSessionsOfMember(scene.database, teamId, userId ?? "");
    assert.equal(await scene.lookUp(ada.session.token), null);
    assert.notEqual(await scene.lookUp(bob.session.token), null);
  });

  it("outlives a rotation of the signing key", async () => {
    await rotateSessionKey(scene.database);
    const newer = await signIn("bob@example.com");
    for (const { session } of [ada, newer]) assert.notEqual(await scene.lookUp(session.token), null);
  });

  it("cannot be forged with the stored hash and the signing key", async () => {
    const [row] = await scene.database.rows<{ hash: Buffer }>("select hash from sessions");
    const forged = await scene.signer.sign({
      use: "session",
      id: row?.hash.toString("hex") ?? "",
      subject: formatId("user", ada.user.id),
      expiresAt: ada.session.expiresAt,
    });
    assert.equal(await scene.lookUp(forged), null);
  });

  it("is refused with an access token of the same id", async () => {
    const id = (await scene.signer.verify(ada.session.token))?.id ?? "";
    const { expiresAt } = ada.session;
    const access = await scene.signer.sign({ use: "access", id, subject: "app_1", expiresAt });
    assert.equal(await scene.lookUp(access), null);
    await assert.rejects(scene.sessions.end(await requesterOf(ada), access), INVALID);
  });

  describe("that switches to another team", () => {
    let other: number;
    beforeEach(async () => {
      other = await createTeam(scene.database, "Acme", "pro");
      await ensureMember(scene.database, other, newUuid(), ADA, "member");
    });

    it("is replaced by a new one with the same expiry", async () => {
      const requester = await requesterOf(ada);
      const { session, user, team } = await scene.sessions.switchTeam(
        requester,
        ada.session.token,
        await publicId(other),
      );

      assert.deepEqual([user.id, team.name, team.plan], [ada.user.id, "Acme", "pro"]);
      assert.deepEqual(session.expiresAt, ada.session.expiresAt);
      assert.equal(await scene.lookUp(ada.session.token), null);
      const principal = await scene.lookUp(session.token);
      assert.deepEqual([principal?.teamId, principal?.role], [other, "member"]);
      const events = (await audit(scene.database)).slice(-2);
      assert.deepEqual(events.map(({ action, team_id }) => [action, team_id]).sort(), [
        ["session.ended", requester.teamId],
        ["session.opened", other],
      ]);
    });

    it("stays in its team if the person is not a member of the other", async () => {
      const foreign = await createTeam(scene.database, "Foreign", "free");
      const requester = await requesterOf(ada);
      const before = await actions();
      for (const id of [await publicId(foreign), formatId("team", newUuid()), "team_x", "", ada.user.id])
        await assert.rejects(scene.sessions.switchTeam(requester, ada.session.token, id), {
          code: "team_not_found",
          message: "Team not found",
          status: 404,
        });
      assert.notEqual(await scene.lookUp(ada.session.token), null);
      assert.deepEqual(await actions(), before);
    });

    it("switches once when several requests race", async () => {
      const requester = await requesterOf(ada);
      const id = await publicId(other);
      const results = await Promise.allSettled(
        Array.from({ length: 4 }, () => scene.sessions.switchTeam(requester, ada.session.token, id)),
      );
      assert.equal(results.filter(({ status }) => status === "fulfilled").length, 1);
      assert.equal((await scene.database.rows("select 1 from sessions")).length, 1);
    });
  });
});
