import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { assertNow, createTestApi, type TestApi } from "./test-api.ts";
import { linkTokenIn, type TestTeam } from "./test-team.ts";

const WEEK_SECONDS = 7 * 24 * 3600;
const NOBODY = "user_01k9z3mxe5f8hrk3yv5pzq8c2d";

describe("invitations", () => {
  let api: TestApi;
  let others: TestTeam;
  before(async () => {
    api = await createTestApi();
    others = await api.openTeam("Others");
  });

  it("are created, listed and revoked, with the link only in the mail", async () => {
    const made = await api.call("POST", "/v1/team/invitations", {
      email: " Ada@Teams.example ",
      role: "viewer",
    });

    assert.equal(made.status, 201);
    const mail = api.mails.at(-1);
    assert.equal(mail?.to, "ada@teams.example");
    assert.match(linkTokenIn(mail), /^[0-9a-f]{64}$/);
    assert.ok(!made.text.includes(linkTokenIn(mail)));
    const { invitation } = made.body;
    assert.match(invitation.id, /^inv_[0-9a-z]{26}$/);
    assert.deepEqual(made.body, {
      invitation: {
        id: invitation.id,
        email: "ada@teams.example",
        role: "viewer",
        invitedBy: "Test key",
        createdAt: invitation.createdAt,
        expiresAt: invitation.expiresAt,
      },
    });
    assertNow(invitation.createdAt);
    assertNow(invitation.expiresAt, WEEK_SECONDS);
    assert.deepEqual((await api.call("GET", "/v1/team/invitations")).body, { invitations: [invitation] });

    const revoked = await api.call("DELETE", `/v1/team/invitations/${invitation.id}`);
    assert.equal(revoked.status, 200);
    const { revokedAt } = revoked.body.invitation;
    assert.deepEqual(revoked.body, {
      invitation: { id: invitation.id, email: "ada@teams.example", revokedAt },
    });
    assertNow(revokedAt);
    assert.deepEqual((await api.call("GET", "/v1/team/invitations")).body, { invitations: [] });
  });

  it("give the role member by default", async () => {
    const { body } = await api.call("POST", "/v1/team/invitations", { email: "default@teams.example" });

    assert.equal(body.invitation.role, "member");
  });

  it("are answered 404 on revocation when unknown, malformed or of another team", async () => {
    const invite = { email: "theirs@teams.example" };
    const { body } = await api.call("POST", "/v1/team/invitations", invite, others.headers);
    const other = "inv_01k9z3mxe5f8hrk3yv5pzq8c2d";
    for (const id of [body.invitation.id, other, NOBODY, "inv_", "%00", "a".repeat(2000)]) {
      const answer = await api.call("DELETE", `/v1/team/invitations/${id}`);
      assert.deepEqual(
        [answer.status, answer.body],
        [404, { error: "Invitation not found or already used", code: "invitation_not_found" }],
        id,
      );
    }
  });

  it("are refused with 409 for a member, and with 429 above 20 an hour", async () => {
    const team = await api.openTeam();
    const invite = (email: string) => api.call("POST", "/v1/team/invitations", { email }, team.headers);
    const { email } = await team.signIn("member", "member");
    const member = await invite(email);
    assert.deepEqual(
      [member.status, member.body],
      [409, { error: `${email} is a member already`, code: "member_exists" }],
    );

    for (let count = 0; count < 20; count += 1)
      assert.equal((await invite(`many-${count}@teams.example`)).status, 201);
    const many = await invite("one-more@teams.example");
    assert.deepEqual([many.status, many.body], [429, { error: "Rate limit exceeded", code: "rate_limited" }]);
    const retryAfter = Number(many.headers["retry-after"]);
    assert.ok(retryAfter > 3500 && retryAfter <= 3600, String(retryAfter));
  });

  it("require a valid mail address and role", async () => {
    const address = "email must be a valid mail address";
    const cases: [unknown, string][] = [
      [{}, "email is required"],
      [{ email: " " }, "email is required"],
      [{ email: 7 }, "email must be a string"],
      [{ email: "ada" }, address],
      [{ email: "ada@" }, address],
      [{ email: "a@b@c" }, address],
      [{ email: "ada@example.com\r\nBcc: all@example.com" }, address],
      [{ email: "ada@example.com,bob@example.com" }, address],
      [{ email: "\ud800@example.com" }, address],
      [{ email: `${"a".repeat(60)}@${"b".repeat(200)}` }, address],
      [
        { email: "ada@example.com", role: "guest" },
        'role must be one of "owner", "admin", "member", "viewer"',
      ],
      [{ mail: "ada@example.com" }, 'Unknown field "mail" (did you mean "email"?)'],
    ];
    for (const [body, error] of cases) {
      const answer = await api.call("POST", "/v1/team/invitations", body);
      assert.deepEqual([answer.status, answer.body.error], [400, error], JSON.stringify(body));
    }
  });
});
