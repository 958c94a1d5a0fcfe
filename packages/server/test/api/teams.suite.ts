import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Problem } from "../../src/domain/problem.ts";
import { formatId } from "../../src/domain/public-id.ts";
import { principalOf } from "../test-principal.ts";
import { OTHER_TEAM_KEY } from "./fake-services.ts";
import { createTestApi, type TestApi } from "./test-api.ts";

const AT = "2026-03-01T09:30:00.123Z";
const WEEK_LATER = "2026-03-08T09:30:00.123Z";
const OTHER = { authorization: `Bearer ${OTHER_TEAM_KEY}` };
const NOBODY = "user_01k9z3mxe5f8hrk3yv5pzq8c2d";

describe("a team and its people", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });
  after(() => api.app.close());

  function signIn(email: string, role: "owner" | "admin" | "member" | "viewer", teamId = 1) {
    const { credential, userId } = api.services.people.signIn(teamId, email, role);
    return { headers: { authorization: `Bearer ${credential}` }, credential, id: formatId("user", userId) };
  }

  describe("teams", () => {
    it("are listed for the person who is signed in, and the current one is marked", async () => {
      const { headers } = signIn("lists@example.com", "viewer");
      const created = await api.call("POST", "/v1/teams", { name: "Second" }, headers);

      const { status, body } = await api.call("GET", "/v1/teams", undefined, headers);

      assert.equal(status, 200);
      assert.deepEqual(Object.keys(body), ["teams"]);
      const [first, second] = body.teams;
      assert.match(first.id, /^team_[0-9a-z]{26}$/);
      assert.deepEqual(first, {
        id: first.id,
        name: "Team 1",
        plan: "free",
        role: "viewer",
        joinedAt: AT,
        current: true,
      });
      assert.deepEqual(second, {
        id: created.body.team.id,
        name: "Second",
        plan: "free",
        role: "owner",
        joinedAt: AT,
        current: false,
      });
    });

    it("are created by anybody who is signed in, who then owns them", async () => {
      const { headers } = signIn("creates@example.com", "viewer");

      const { status, body } = await api.call("POST", "/v1/teams", { name: "Acme" }, headers);

      assert.equal(status, 201);
      assert.deepEqual(body, {
        team: { id: body.team.id, name: "Acme", plan: "free", createdAt: AT, role: "owner" },
      });
    });

    it("have an end to their number", async () => {
      const { headers } = signIn("too-many@example.com", "owner");
      api.services.people.refusal = new Problem("team_limit", { most: "10" });

      const { status, body } = await api.call("POST", "/v1/teams", { name: "One more" }, headers);

      assert.deepEqual(
        [status, body],
        [409, { error: "A person can own at most 10 teams on the free plan" }],
      );
    });

    it("are a matter of people: keys and applications have one", async () => {
      for (const [method, url, body] of [
        ["GET", "/v1/teams", undefined],
        ["POST", "/v1/teams", { name: "Acme" }],
        ["DELETE", "/v1/team/membership", undefined],
      ] as const) {
        const answer = await api.call(method, url, body);
        assert.equal(answer.status, 403, url);
        assert.deepEqual(answer.body, { error: "Session required: sign in by magic link" });
      }
    });

    it("are shown and renamed", async () => {
      const before = (await api.call("GET", "/v1/team", undefined, OTHER)).body.team;
      assert.deepEqual(before, { id: before.id, name: "Team 2", plan: "free", createdAt: AT });

      const { status, body } = await api.call("PATCH", "/v1/team", { name: "Renamed" }, OTHER);

      assert.equal(status, 200);
      assert.deepEqual(body, { team: { ...before, name: "Renamed" } });
      assert.deepEqual((await api.call("GET", "/v1/team", undefined, OTHER)).body, body);
      assert.equal((await api.call("GET", "/v1/team")).body.team.name, "Team 1");
    });

    it("have a name of 1 to 100 characters", async () => {
      const { headers } = signIn("names@example.com", "admin");
      const long = "name must be a string of 1 to 100 characters";
      const cases: [unknown, string][] = [
        [{}, "name is required"],
        [{ name: "" }, "name is required"],
        [{ name: " \t" }, "name is required"],
        [{ name: 7 }, long],
        [{ name: null }, long],
        [{ name: "a".repeat(101) }, long],
        [{ name: "a\nb" }, "name must be text without control characters"],
        [{ name: "a\u0000" }, "name must be text without control characters"],
        [{ name: "a\ud800" }, "name must be text without control characters"],
        [{ nam: "Acme" }, 'Unknown field "nam" (did you mean "name"?)'],
        [[], "Request body must be a JSON object"],
      ];
      for (const [body, error] of cases) {
        for (const [method, url] of [
          ["POST", "/v1/teams"],
          ["PATCH", "/v1/team"],
        ] as const) {
          const answer = await api.call(method, url, body, headers);
          assert.equal(answer.status, 400, `${url} ${JSON.stringify(body)}`);
          assert.equal(answer.body.error, error);
        }
      }
    });
  });

  describe("members", () => {
    it("are listed, changed and removed", async () => {
      const { id } = signIn("member@example.com", "member");

      const { members } = (await api.call("GET", "/v1/team/members")).body;
      const listed = members.find((member: { id: string }) => member.id === id);
      assert.deepEqual(listed, { id, email: "member@example.com", role: "member", joinedAt: AT });

      const changed = await api.call("PATCH", `/v1/team/members/${id}`, { role: "viewer" });
      assert.deepEqual([changed.status, changed.body], [200, { member: { ...listed, role: "viewer" } }]);

      const removed = await api.call("DELETE", `/v1/team/members/${id}`);
      assert.equal(removed.status, 200);
      assert.deepEqual(removed.body, { member: { id, email: "member@example.com", removedAt: AT } });
    });

    it("who are unknown, of another team or cannot be are not found", async () => {
      const { id } = signIn("elsewhere@example.com", "member", 2);
      for (const unknown of [
        id,
        NOBODY,
        NOBODY.replace("user", "key"),
        "user_x",
        "x",
        "%00",
        "a".repeat(2000),
      ]) {
        for (const [method, body] of [
          ["PATCH", { role: "viewer" }],
          ["DELETE", undefined],
        ] as const) {
          const answer = await api.call(method, `/v1/team/members/${unknown}`, body);
          assert.deepEqual([answer.status, answer.body], [404, { error: "Member not found" }], unknown);
        }
      }
      assert.equal((await api.call("GET", "/v1/team/members", undefined, OTHER)).body.members.length, 1);
    });

    it("leave when they like", async () => {
      const { headers, id } = signIn("leaves@example.com", "viewer");

      const { status, body } = await api.call("DELETE", "/v1/team/membership", undefined, headers);

      assert.equal(status, 200);
      assert.deepEqual(body, { member: { id, email: "leaves@example.com", removedAt: AT } });
    });

    it("cannot leave the team without an owner", async () => {
      const { headers, id } = signIn("last@example.com", "owner");
      for (const [method, url, body] of [
        ["PATCH", `/v1/team/members/${id}`, { role: "admin" }],
        ["DELETE", `/v1/team/members/${id}`, undefined],
        ["DELETE", "/v1/team/membership", undefined],
      ] as const) {
        api.services.people.refusal = new Problem("last_owner");
        const answer = await api.call(method, url, body, headers);
        assert.deepEqual(
          [answer.status, answer.body],
          [409, { error: "The last owner cannot leave the team" }],
        );
      }
    });

    it("have one of four roles", async () => {
      const cases: [unknown, string][] = [
        [{}, "role is required"],
        [{ role: "root" }, 'role must be one of "owner", "admin", "member", "viewer"'],
        [{ role: ["owner"] }, 'role must be one of "owner", "admin", "member", "viewer"'],
        [{ role: "admin", email: "x@example.com" }, 'Unknown field "email"'],
      ];
      for (const [body, error] of cases) {
        const answer = await api.call("PATCH", `/v1/team/members/${NOBODY}`, body);
        assert.deepEqual([answer.status, answer.body.error], [400, error]);
      }
    });
  });

  describe("invitations", () => {
    it("are made, listed and revoked; the link is in the mail alone", async () => {
      const made = await api.call("POST", "/v1/team/invitations", {
        email: " Ada@Example.com ",
        role: "viewer",
      });

      assert.equal(made.status, 201);
      const { invitation } = made.body;
      assert.match(invitation.id, /^inv_[0-9a-z]{26}$/);
      assert.deepEqual(made.body, {
        invitation: {
          id: invitation.id,
          email: "ada@example.com",
          role: "viewer",
          invitedBy: "Test key",
          createdAt: AT,
          expiresAt: WEEK_LATER,
        },
      });
      assert.deepEqual((await api.call("GET", "/v1/team/invitations")).body, { invitations: [invitation] });

      const revoked = await api.call("DELETE", `/v1/team/invitations/${invitation.id}`);
      assert.equal(revoked.status, 200);
      assert.deepEqual(revoked.body, {
        invitation: { id: invitation.id, email: "ada@example.com", revokedAt: AT },
      });
      assert.deepEqual((await api.call("GET", "/v1/team/invitations")).body, { invitations: [] });
    });

    it("are for members unless another role is named", async () => {
      const { body } = await api.call("POST", "/v1/team/invitations", { email: "default@example.com" });

      assert.equal(body.invitation.role, "member");
    });

    it("that are unknown, used, of another team or cannot be are not found", async () => {
      const { body } = await api.call("POST", "/v1/team/invitations", { email: "theirs@example.com" }, OTHER);
      const other = "inv_01k9z3mxe5f8hrk3yv5pzq8c2d";
      for (const id of [body.invitation.id, other, NOBODY, "inv_", "%00", "a".repeat(2000)]) {
        const answer = await api.call("DELETE", `/v1/team/invitations/${id}`);
        assert.deepEqual(
          [answer.status, answer.body],
          [404, { error: "Invitation not found or already used" }],
          id,
        );
      }
    });

    it("are refused for a member, and when there are too many", async () => {
      const invite = () => api.call("POST", "/v1/team/invitations", { email: "ada@example.com" });
      api.services.people.refusal = new Problem("member_exists", { email: "ada@example.com" });
      const member = await invite();
      api.services.people.refusal = new Problem("rate_limited", {}, { retryAfterSeconds: 77 });
      const many = await invite();

      assert.deepEqual([member.status, member.body], [409, { error: "ada@example.com is a member already" }]);
      assert.deepEqual([many.status, many.body], [429, { error: "Rate limit exceeded" }]);
      assert.equal(many.headers["retry-after"], "77");
    });

    it("need an address that mail can be sent to", async () => {
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

  describe("who may manage a team", () => {
    const ROUTES = [
      ["GET", "/v1/team", undefined, "viewer", "team:read"],
      ["PATCH", "/v1/team", { name: "Acme" }, "admin", "team:write"],
      ["GET", "/v1/team/members", undefined, "viewer", "team:read"],
      ["PATCH", `/v1/team/members/${NOBODY}`, { role: "viewer" }, "admin", "team:write"],
      ["DELETE", `/v1/team/members/${NOBODY}`, undefined, "admin", "team:write"],
      ["POST", "/v1/team/invitations", { email: "ada@example.com" }, "admin", "team:write"],
      ["GET", "/v1/team/invitations", undefined, "admin", "team:read"],
      ["DELETE", "/v1/team/invitations/inv_x", undefined, "admin", "team:write"],
    ] as const;

    it("goes by role", async () => {
      for (const role of ["owner", "admin", "member", "viewer"] as const) {
        const { headers } = signIn(`${role}@example.com`, role);
        for (const [method, url, body, needed] of ROUTES) {
          const { status, body: answer } = await api.call(method, url, body, headers);
          const may = needed === "viewer" || role === "owner" || role === "admin";
          assert.equal(status === 403, !may, `${role} ${method} ${url}`);
          if (!may) assert.deepEqual(answer, { error: `Insufficient role: ${needed} required` });
        }
      }
    });

    it("goes by scope, for applications", async () => {
      const headers = { authorization: "Bearer x.y.z" };
      for (const [method, url, body, , scope] of ROUTES) {
        const other = scope === "team:read" ? "team:write" : "team:read";
        const principal = principalOf(1, { kind: "application", scopes: new Set([other] as const) });
        api.services.people.signedIn.set("x.y.z", principal);
        const { status, body: answer } = await api.call(method, url, body, headers);
        assert.equal(status, 403, `${method} ${url}`);
        assert.deepEqual(answer, { error: `Insufficient scope: ${scope} required` });
      }
    });
  });
});
