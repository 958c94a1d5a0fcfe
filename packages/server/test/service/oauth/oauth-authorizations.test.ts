import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { hashSecret } from "../../../src/service/access/secret-hash.ts";
import { newUuid } from "../../../src/service/new-uuid.ts";
import type { AuthorizationService } from "../../../src/service/oauth/authorization-service.ts";
import { removeExpiredCredentials } from "../../../src/store/identity/expired-credentials.ts";
import { principalOf } from "../../test-principal.ts";
import { type AuthorizationScene, openAuthorizationScene } from "./authorization-scene.ts";
import { codeForm, type OAuthScene, REPORTS } from "./oauth-scene.ts";

describe("the list of authorizations", () => {
  let scene: OAuthScene;
  let access: AuthorizationService;
  let idsSeenBy: AuthorizationScene["idsSeenBy"];
  let newest: AuthorizationScene["newest"];
  let newPerson: AuthorizationScene["newPerson"];
  before(async () => {
    ({ scene, access, idsSeenBy, newest, newPerson } = await openAuthorizationScene());
  });
  after(() => scene.drop());

  it("shows the person, the application with its owner, the scopes, the start and the expiry", async () => {
    const person = await newPerson();
    const application = await scene.register();
    const { refresh_token: token } = await scene.tokensFor(application, { scope: "tasks:read" }, person);
    const [row] = await scene.database.rows<{ at: Date; until: Date }>(
      `select c.created_at as at, t.refresh_expires_at as until
         from oauth_tokens t join oauth_codes c on c.hash = t.code_hash where t.refresh_hash = $1`,
      [hashSecret(token)],
    );

    const { id, ...listed } = await newest(person);

    assert.match(id, /^auth_[0-9a-z]{26}$/);
    assert.deepEqual(listed, {
      application: { clientId: application.clientId, name: "Reports", team: "Difference Ltd" },
      user: { id: person.id, email: person.name },
      scopes: ["tasks:read"],
      createdAt: row?.at,
      expiresAt: row?.until,
    });
  });

  it("has one entry per consent, newest first; a refresh only extends its expiry", async () => {
    const person = await newPerson();
    const application = await scene.register();
    const first = await scene.tokensFor(application, {}, person);
    const before = await newest(person);
    await scene.tokensFor(application, {}, person);
    const { refresh_token: token = "" } = await scene.refresh(application, first.refresh_token);
    await scene.refresh(application, token);

    const [second, after, ...more] = (await access.list(person)).items;

    assert.deepEqual(more, []);
    assert.notEqual(second?.id, before.id);
    assert.deepEqual({ ...after, expiresAt: null }, { ...before, expiresAt: null });
    assert.ok(Number(after?.expiresAt) > Number(before.expiresAt), "its end did not move");
  });

  it("keeps id and date when the code and the first tokens were removed", async () => {
    const person = await newPerson();
    const application = await scene.register();
    const first = await scene.tokensFor(application, {}, person);
    const before = await newest(person);
    const second = await scene.refresh(application, first.refresh_token);
    await scene.database.rows(
      `update oauth_codes set expires_at = now() - interval '40 days' where team_id = $1`,
      [person.teamId],
    );
    await scene.database.rows(
      `update oauth_tokens set access_expires_at = now() - interval '10 days', refresh_expires_at = now() - interval '9 days'
        where team_id = $1 and refreshed_at is not null`,
      [person.teamId],
    );
    assert.equal(await removeExpiredCredentials(scene.database, 100), 2);
    await scene.refresh(application, second.refresh_token ?? "");

    const { id, createdAt } = await newest(person);

    assert.deepEqual({ id, createdAt }, { id: before.id, createdAt: before.createdAt });
  });

  it("shows the granted scopes, even after a refresh with fewer scopes", async () => {
    const person = await newPerson();
    const application = await scene.register();
    const first = await scene.tokensFor(application, { scope: "tasks:read tokens:use" }, person);
    await scene.refresh(application, first.refresh_token, "tasks:read");
    assert.deepEqual((await newest(person)).scopes, ["tasks:read", "tokens:use"]);

    await scene.database.rows(
      "update oauth_tokens set access_expires_at = now() where team_id = $1 and refreshed_at is not null",
      [person.teamId],
    );
    assert.deepEqual((await newest(person)).scopes, ["tasks:read", "tokens:use"]);
  });

  it("omits authorizations that are revoked, replayed, expired or never used", async () => {
    const person = await newPerson();
    const application = await scene.register();
    const revoked = await scene.tokensFor(application, {}, person);
    await scene.revoke(application, revoked.access_token);
    const replayed = await scene.codeFor(application, {}, { person });
    await scene.exchange(application, codeForm(replayed.code, replayed.verifier));
    await assert.rejects(scene.exchange(application, codeForm(replayed.code, replayed.verifier)));
    await scene.codeFor(application, {}, { person });
    assert.deepEqual((await access.list(person)).items, []);

    const { refresh_token: token } = await scene.tokensFor(application, {}, person);
    const expire = (column: string) =>
      scene.database.rows(`update oauth_tokens set ${column} = now() where refresh_hash = $1`, [
        hashSecret(token),
      ]);
    await expire("access_expires_at");
    assert.deepEqual((await newest(person)).scopes, REPORTS.scopes);
    await expire("refresh_expires_at");
    assert.deepEqual((await access.list(person)).items, []);
  });

  it("shows access without a refresh token for an hour, and no client credentials", async () => {
    const person = await newPerson("admin");
    const brief = await scene.register({ grantTypes: ["authorization_code"] });
    const { code, verifier } = await scene.codeFor(brief, {}, { person });
    await scene.exchange(brief, codeForm(code, verifier));
    const robot = await scene.applications.create(person, {
      name: "Robot",
      redirectUris: [],
      scopes: ["tasks:read"],
      grantTypes: ["client_credentials"],
    });
    await scene.exchange(robot, { grant_type: "client_credentials" });

    const [only, ...more] = (await access.list(person)).items;

    assert.deepEqual([only?.application.clientId, more], [brief.clientId, []]);
    const seconds = (Number(only?.expiresAt) - Number(only?.createdAt)) / 1000;
    assert.ok(Math.abs(seconds - 3600) < 60, String(seconds));
  });

  it("shows the whole team's to admins, keys and applications, and others their own", async () => {
    const owner = await newPerson("owner");
    const { teamId } = owner;
    const application = await scene.register();
    const byRole = new Map<string, string>();
    for (const role of ["viewer", "member", "admin"] as const) {
      const person = await scene.join(teamId, `${role}-${newUuid()}@example.test`, role);
      await scene.tokensFor(application, {}, person);
      byRole.set(role, (await newest(person)).id);
      if (role !== "admin") assert.deepEqual(await idsSeenBy(person), [byRole.get(role)], role);
    }
    const all = [...byRole.values()].reverse();

    assert.deepEqual(await idsSeenBy(owner), all);
    assert.deepEqual(await idsSeenBy(principalOf(teamId)), all);
    assert.deepEqual(await idsSeenBy(principalOf(teamId, { kind: "application" })), all);
    assert.deepEqual(await idsSeenBy(principalOf(teamId, { environment: "test", role: "member" })), []);
    assert.deepEqual(await idsSeenBy(principalOf(scene.owner)), [], "the application's team");
  });

  it("belongs to one team: grants in another team are not listed", async () => {
    const here = await newPerson();
    const there = await scene.join(await scene.newTeam(), here.name, "member");
    await scene.tokensFor(await scene.register(), {}, there);

    assert.equal(there.userId, here.userId);
    assert.deepEqual(
      [(await access.list(here)).items.length, (await access.list(there)).items.length],
      [0, 1],
    );
  });
});
