import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Problem } from "../../../src/domain/problem.ts";
import { formatId } from "../../../src/domain/public-id.ts";
import { newUuid } from "../../../src/service/new-uuid.ts";
import type { AuthorizationService } from "../../../src/service/oauth/authorization-service.ts";
import { createMemberService } from "../../../src/service/people/member-service.ts";
import { principalOf } from "../../test-principal.ts";
import { createGate } from "../../test-sql.ts";
import { type AuthorizationScene, openAuthorizationScene } from "./authorization-scene.ts";
import { type OAuthScene, refusedAs } from "./oauth-scene.ts";

const GONE = { code: "authorization_not_found", status: 404 };

describe("revoking an application's authorization", () => {
  let scene: OAuthScene;
  let access: AuthorizationService;
  let idsSeenBy: AuthorizationScene["idsSeenBy"];
  let newest: AuthorizationScene["newest"];
  let newPerson: AuthorizationScene["newPerson"];
  before(async () => {
    ({ scene, access, idsSeenBy, newest, newPerson } = await openAuthorizationScene());
  });
  after(() => scene.drop());

  it("ends every token of the consent at once, and none of another", async () => {
    const person = await newPerson("viewer");
    const application = await scene.register();
    const kept = await scene.tokensFor(application, {}, person);
    const first = await scene.tokensFor(application, {}, person);
    const second = await scene.refresh(application, first.refresh_token);
    const { id } = await newest(person);

    const ended = await access.end(person, id);

    assert.equal(ended.id, id);
    assert.ok(Math.abs(Date.now() - Number(ended.endedAt)) < 60_000, String(ended.endedAt));
    assert.equal(await scene.whoIs(first.access_token), null);
    assert.equal(await scene.whoIs(second.access_token), null);
    await assert.rejects(scene.refresh(application, second.refresh_token ?? ""), refusedAs("invalid_grant"));
    assert.ok(await scene.whoIs(kept.access_token), "the other consent ended too");
    assert.ok(!(await idsSeenBy(person)).includes(id), "still listed");
  });

  it("is recorded once, with the person and the reason", async () => {
    const person = await newPerson();
    const admin = await scene.join(person.teamId, `admin-${newUuid()}@example.test`, "admin");
    const application = await scene.register();
    await scene.tokensFor(application, {}, person);
    const { id } = await newest(person);
    await access.end(admin, id);
    await assert.rejects(access.end(admin, id), GONE);

    const log = (await scene.log(person.teamId)).filter(({ action }) => action.endsWith("access_ended"));

    const detail = { name: "Reports", email: person.name, reason: "withdrawn" };
    const target = application.clientId;
    assert.deepEqual(log, [{ action: "application.access_ended", requester: admin.name, target, detail }]);
  });

  it("requires an admin for another member's authorization", async () => {
    const person = await newPerson("owner");
    const { teamId } = person;
    const { access_token: token } = await scene.tokensFor(await scene.register(), {}, person);
    const { id } = await newest(person);
    const refused = { code: "role_missing", message: "Insufficient role: admin required" };

    for (const role of ["viewer", "member"] as const) {
      const other = await scene.join(teamId, `${role}-${newUuid()}@example.test`, role);
      await assert.rejects(access.end(other, id), refused, role);
    }
    await assert.rejects(access.end(principalOf(teamId, { role: "member" }), id), refused);
    assert.ok(await scene.whoIs(token), "it has ended");
    await access.end(principalOf(teamId), id);
    assert.equal(await scene.whoIs(token), null);
  });

  it("is refused for a person who was just demoted or removed", async () => {
    const owner = await newPerson("owner");
    const { teamId } = owner;
    const demoted = await scene.join(teamId, `demoted-${newUuid()}@example.test`, "admin");
    const removed = await scene.join(teamId, `removed-${newUuid()}@example.test`, "admin");
    await scene.tokensFor(await scene.register(), {}, owner);
    const { id } = await newest(owner);
    const members = createMemberService({ database: scene.database });
    await members.changeRole(owner, demoted.userId, "member");
    await members.remove(owner, removed.userId);

    await assert.rejects(access.end(demoted, id), { code: "role_missing" });
    await assert.rejects(access.end(removed, id), { code: "token_invalid" });
    assert.deepEqual(await idsSeenBy(owner), [id]);
  });

  it("answers 404 for one that is foreign, unknown, revoked or malformed", async () => {
    const person = await newPerson("owner");
    const application = await scene.register();
    const { access_token: token } = await scene.tokensFor(application, {}, person);
    const { id } = await newest(person);

    await assert.rejects(access.end(principalOf(scene.owner), id), GONE);
    for (const unknown of [formatId("auth", newUuid()), id.replace("auth_", "app_"), "auth_x", "", "\0"])
      await assert.rejects(access.end(person, unknown), GONE, unknown);
    await scene.revoke(application, token);
    await assert.rejects(access.end(person, id), GONE);
  });

  /** Holds one statement up until the test lets it go on. */
  function holdUp(held: string) {
    const gate = createGate();
    scene.watched.before = async (statement) => {
      if (statement !== held) return;
      scene.watched.before = () => {};
      await gate.wait();
    };
    return gate;
  }

  it("answers 404 when the application revokes its token just before", async () => {
    const person = await newPerson();
    const application = await scene.register();
    const { access_token: token } = await scene.tokensFor(application, {}, person);
    const { id } = await newest(person);
    const gate = holdUp("lock_authorization");
    const late = access.end(person, id).catch((error: unknown) => error);
    await gate.reached;
    await scene.revoke(application, token);
    gate.open();

    assert.deepEqual(await late, new Problem("authorization_not_found"));
    const log = await scene.log(person.teamId);
    assert.equal(log.filter(({ action }) => action === "application.access_ended").length, 1);
  });

  it("waits for a running refresh, and revokes its tokens", async () => {
    const person = await newPerson();
    const application = await scene.register();
    const first = await scene.tokensFor(application, {}, person);
    const { id } = await newest(person);
    const gate = holdUp("insert_access_token");
    const refreshed = scene.refresh(application, first.refresh_token);
    await gate.reached;
    const ended = access.end(person, id);
    await scene.blocked();
    gate.open();

    const { access_token: token, refresh_token: next = "" } = await refreshed;
    assert.equal((await ended).id, id);
    assert.equal(await scene.whoIs(token), null);
    await assert.rejects(scene.refresh(application, next), refusedAs("invalid_grant"));
    assert.deepEqual((await access.list(person)).items, []);
  });

  it("happens once when several requests race, including the application's own", async () => {
    const person = await newPerson("admin");
    const application = await scene.register();
    for (let round = 0; round < 5; round += 1) {
      const { access_token: token } = await scene.tokensFor(application, {}, person);
      const { id } = await newest(person);
      const results = await Promise.allSettled([
        access.end(person, id),
        scene.revoke(application, token),
        access.end(principalOf(person.teamId), id),
      ]);
      for (const result of results)
        if (result.status === "rejected") assert.equal(result.reason.code, GONE.code);
      assert.equal(await scene.whoIs(token), null);
    }
    const log = await scene.log(person.teamId);
    assert.equal(log.filter(({ action }) => action === "application.access_ended").length, 5);
  });
});
