import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import type { Mail } from "../../../src/domain/identity/mail.ts";
import { isAtLeast, ROLES } from "../../../src/domain/identity/role.ts";
import { formatId } from "../../../src/domain/public-id.ts";
import { hashSecret } from "../../../src/service/access/secret-hash.ts";
import { newUuid } from "../../../src/service/new-uuid.ts";
import {
  createInvitationService,
  type InvitationService,
} from "../../../src/service/people/invitation-service.ts";
import { createMemberService } from "../../../src/service/people/member-service.ts";
import { principalOf } from "../../test-principal.ts";
import { openTeamScene, type TeamScene } from "./team-scene.ts";

const LINK = /https:\/\/bellhop\.example\/sign-in\/link\?token=([0-9a-f]{64})(?![0-9a-f])/g;

describe("invitations", () => {
  let scene: TeamScene;
  let invitations: InvitationService;
  const mails: Mail[] = [];
  before(async () => {
    scene = await openTeamScene();
    invitations = newService();
  });
  beforeEach(() => {
    mails.length = 0;
  });
  after(() => scene.drop());

  function newService(database = scene.database): InvitationService {
    const sendMail = (mail: Mail) => void mails.push(mail);
    return createInvitationService({ database, sendMail, publicUrl: () => "https://bellhop.example" });
  }

  /** An address that no other test has used: the limit per address is over all teams. */
  let people = 0;
  const newAddress = () => `person-${++people}@example.com`;

  /** The secret of the link in the last mail: the same in both forms of it, and nowhere else. */
  function lastSecret(): string {
    const { text = "", html = "" } = mails.at(-1) ?? {};
    const secrets = [text, html].map((form) => [...form.matchAll(LINK)].map(([, secret]) => secret ?? ""));
    assert.deepEqual(secrets[0], secrets[1]);
    assert.equal(secrets[0]?.length, 1);
    return secrets[0]?.[0] ?? "";
  }

  async function isOpen(secret: string): Promise<boolean> {
    const rows = await scene.database.rows(
      "select 1 from invitations where hash = $1 and expires_at > now()",
      [hashSecret(secret)],
    );
    return rows.length === 1;
  }

  it("are mailed with a link, which is stored as a hash and not returned", async () => {
    const teamId = await scene.newTeam("Acme");
    const ada = await scene.join(teamId, "ada@example.com", "admin");
    const email = newAddress();

    const invitation = await invitations.create(ada, email, "viewer");

    const { id, createdAt, expiresAt } = invitation;
    assert.deepEqual(invitation, {
      id,
      email,
      role: "viewer",
      invitedBy: "ada@example.com",
      createdAt,
      expiresAt,
    });
    assert.equal(expiresAt.getTime() - createdAt.getTime(), 7 * 24 * 3_600_000);
    assert.equal(mails.length, 1);
    const [mail] = mails;
    assert.deepEqual([mail?.to, mail?.subject], [email, "Join “Acme” on Bellhop"]);
    for (const form of [mail?.text, mail?.html]) {
      assert.match(
        form ?? "",
        /ada@example\.com invites you to join the team “Acme” on Bellhop, with the role viewer\./,
      );
      assert.ok(form?.includes(expiresAt.toUTCString()));
    }
    const secret = lastSecret();
    assert.ok(await isOpen(secret));
    assert.ok(!JSON.stringify([invitation, await scene.log(teamId)]).includes(secret));
    assert.deepEqual(await scene.log(teamId), [
      {
        action: "member.invited",
        requester: "ada@example.com",
        target: formatId("inv", id),
        detail: { email, role: "viewer" },
      },
    ]);
  });

  it("escape markup in the names of team and sender", async () => {
    const teamId = await scene.newTeam(`<img src=x onerror="a">&'`);
    const requester = principalOf(teamId, { name: "<script>" });

    await invitations.create(requester, newAddress(), "member");

    const [mail] = mails;
    assert.doesNotMatch(mail?.html ?? "", /<img|<script|onerror="/);
    assert.match(mail?.html ?? "", /The API key “&lt;script&gt;” invites you/);
    assert.match(mail?.text ?? "", /the team “<img src=x onerror="a">&'”/);
  });

  it("neutralize quotes, line breaks and direction marks in names", async () => {
    const teamId = await scene.newTeam("A” is locked.\u2028\u202eSee evil.example “");
    const requester = principalOf(teamId, { name: "B” says \u2066hello" });

    await invitations.create(requester, newAddress(), "member");

    const { text = "", html = "", subject = "" } = mails[0] ?? {};
    assert.equal(subject, "Join “A' is locked. See evil.example '” on Bellhop");
    for (const part of [text, html])
      assert.match(
        part,
        /The API key “B(?:'|&#39;) says hello” invites you to join the team “A(?:'|&#39;) is locked\. See evil\.example (?:'|&#39;)” on Bellhop/,
      );
  });

  it("name the application that invited", async () => {
    const teamId = await scene.newTeam();
    const application = principalOf(teamId, { kind: "application", name: "Robot" });

    const { invitedBy } = await invitations.create(application, newAddress(), "member");

    assert.equal(invitedBy, "Robot");
    assert.match(mails[0]?.text ?? "", /^The application “Robot” invites you/m);
  });

  it("to the same address replace earlier ones: only the last link works", async () => {
    const teamId = await scene.newTeam();
    const other = await scene.newTeam();
    const email = newAddress();
    await invitations.create(principalOf(other), email, "viewer");
    const elsewhere = lastSecret();
    const first = await invitations.create(principalOf(teamId), email, "viewer");
    const firstSecret = lastSecret();

    const second = await invitations.create(principalOf(teamId, { name: "Other key" }), email, "admin");

    assert.deepEqual([await isOpen(firstSecret), await isOpen(lastSecret())], [false, true]);
    assert.deepEqual((await invitations.list(principalOf(teamId))).items, [second]);
    assert.deepEqual([second.role, second.invitedBy], ["admin", "Other key"]);
    await assert.rejects(invitations.revoke(principalOf(teamId), first.id), { code: "invitation_not_found" });
    assert.ok(await isOpen(elsewhere));
  });

  it("sent to one address concurrently leave one valid link", async () => {
    const teamId = await scene.newTeam();
    const email = newAddress();
    const busy = newService(scene.open(4));

    await Promise.all([1, 2, 3, 4].map(() => busy.create(principalOf(teamId), email, "member")));

    assert.equal((await invitations.list(principalOf(teamId))).items.length, 1);
    const secrets = mails.map(({ text }) => [...text.matchAll(LINK)][0]?.[1] ?? "");
    const open = await Promise.all(secrets.map(isOpen));
    assert.equal(open.filter(Boolean).length, 1);
  });

  it("are refused for members of the team, and allowed for members of other teams", async () => {
    const teamId = await scene.newTeam();
    const email = newAddress();
    await scene.join(teamId, email, "viewer");

    await assert.rejects(invitations.create(principalOf(teamId), email, "member"), {
      status: 409,
      message: `${email} is a member already`,
    });
    assert.equal(mails.length, 0);
    assert.deepEqual((await invitations.list(principalOf(teamId))).items, []);

    await invitations.create(principalOf(await scene.newTeam()), email, "member");
    assert.equal(mails.length, 1);
  });

  for (const role of ROLES) {
    it(`by role ${role} are allowed up to its own rights, for every invited role`, async () => {
      const requester = await scene.join(await scene.newTeam(), newAddress(), role);
      for (const invited of ROLES) {
        const needed = invited === "owner" ? "owner" : "admin";
        const made = invitations.create(requester, newAddress(), invited);
        if (isAtLeast(role, needed)) assert.equal((await made).role, invited);
        else await assert.rejects(made, { status: 403, message: `Insufficient role: ${needed} required` });
      }
    });
  }

  it("by an API key cannot give the role owner", async () => {
    const key = principalOf(await scene.newTeam());

    await assert.rejects(invitations.create(key, newAddress(), "owner"), { code: "role_missing" });
  });

  it("cannot be created by a person who was just removed", async () => {
    const teamId = await scene.newTeam();
    const ada = await scene.join(teamId, newAddress(), "owner");
    const bob = await scene.join(teamId, newAddress(), "admin");
    await createMemberService({ database: scene.database }).remove(ada, bob.userId);

    await assert.rejects(invitations.create(bob, bob.name, "admin"), { code: "token_invalid" });

    assert.equal(mails.length, 0);
  });

  it("are listed to their team while valid, newest first", async () => {
    const teamId = await scene.newTeam();
    const key = principalOf(teamId);
    const first = await invitations.create(key, newAddress(), "member");
    const expired = await invitations.create(key, newAddress(), "member");
    const last = await invitations.create(key, newAddress(), "member");
    await invitations.create(principalOf(await scene.newTeam()), newAddress(), "member");
    await expire(expired.id);

    assert.deepEqual((await invitations.list(key)).items, [last, first]);
  });

  it("are revoked once, and the link stops working", async () => {
    const teamId = await scene.newTeam();
    const key = principalOf(teamId);
    const { id, email } = await invitations.create(key, newAddress(), "member");
    const secret = lastSecret();

    const { revokedAt, ...revoked } = await invitations.revoke(key, id);

    assert.deepEqual(revoked, { id, email, role: "member" });
    assert.ok(revokedAt instanceof Date);
    assert.equal(await isOpen(secret), false);
    await assert.rejects(invitations.revoke(key, id), {
      status: 404,
      message: "Invitation not found or already used",
    });
    assert.deepEqual((await scene.log(teamId)).at(-1), {
      action: "invitation.revoked",
      requester: "Test key",
      target: formatId("inv", id),
      detail: { email, role: "member" },
    });
  });

  it("that are unknown, expired or another team's cannot be revoked", async () => {
    const teamId = await scene.newTeam();
    const other = await invitations.create(principalOf(await scene.newTeam()), newAddress(), "member");
    const theirs = lastSecret();
    const expired = await invitations.create(principalOf(teamId), newAddress(), "member");
    await expire(expired.id);

    for (const id of [other.id, expired.id, newUuid()]) {
      await assert.rejects(invitations.revoke(principalOf(teamId), id), {
        status: 404,
        message: "Invitation not found or already used",
      });
    }
    assert.ok(await isOpen(theirs));
  });

  it("of a team are limited to 20 an hour, without the refused ones", async () => {
    const teamId = await scene.newTeam();
    const key = principalOf(teamId);
    const member = newAddress();
    await scene.join(teamId, member, "viewer");
    for (let sent = 0; sent < 20; sent += 1) {
      await invitations.create(key, newAddress(), "member");
      await assert.rejects(invitations.create(key, member, "member"), { code: "member_exists" });
    }

    const refused = await refusalOf(invitations.create(key, newAddress(), "member"));

    assert.deepEqual([refused.status, refused.message], [429, "Rate limit exceeded"]);
    assert.ok(refused.retryAfterSeconds > 3500 && refused.retryAfterSeconds <= 3600);
    assert.equal(mails.length, 20);
    assert.equal((await invitations.list(key)).items.length, 20);
    await invitations.create(principalOf(await scene.newTeam()), newAddress(), "member");
  });

  it("to an address are limited to 5 in 15 minutes, over all teams", async () => {
    const email = newAddress();
    for (let sent = 0; sent < 5; sent += 1)
      await invitations.create(principalOf(await scene.newTeam()), email, "member");
    const teamId = await scene.newTeam();

    const refused = await refusalOf(invitations.create(principalOf(teamId), email, "member"));

    assert.deepEqual([refused.status, refused.message], [429, "Rate limit exceeded"]);
    assert.ok(refused.retryAfterSeconds > 800 && refused.retryAfterSeconds <= 900);
    assert.equal(mails.length, 5);
    assert.deepEqual((await invitations.list(principalOf(teamId))).items, []);
    const sources = await scene.database.rows<{ source: string }>("select source from source_hits");
    assert.ok(sources.every(({ source }) => !source.includes("@")));
  });

  it("are not mailed when they cannot be stored", async () => {
    const teamId = await scene.newTeam();

    await assert.rejects(invitations.create(principalOf(teamId, { name: "\u0000" }), newAddress(), "member"));

    assert.equal(mails.length, 0);
    assert.deepEqual((await invitations.list(principalOf(teamId))).items, []);
  });

  async function expire(id: string): Promise<void> {
    await scene.database.rows("update invitations set expires_at = now() where id = $1", [id]);
  }
});

async function refusalOf(
  made: Promise<unknown>,
): Promise<{ status: unknown; message: string; retryAfterSeconds: number }> {
  try {
    await made;
  } catch (error) {
    assert.ok(error instanceof Error && "status" in error && "retryAfterSeconds" in error);
    const { status, message, retryAfterSeconds } = error;
    return { status, message, retryAfterSeconds: Number(retryAfterSeconds) };
  }
  throw new Error("It was not refused");
}
