import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { assertNow, createTestApi, type TestApi } from "./test-api.ts";
import type { TestTeam } from "./test-team.ts";

const NOBODY = "user_01k9z3mxe5f8hrk3yv5pzq8c2d";

describe("teams and members", () => {
  let api: TestApi;
  let others: TestTeam;
  before(async () => {
    api = await createTestApi();
    others = await api.openTeam("Others");
  });

  const signIn: TestTeam["signIn"] = (name, role) => api.team.signIn(name, role);

  describe("teams", () => {
    it("are listed for the signed-in user, with the current one marked", async () => {
      const { headers } = await signIn("lists", "viewer");
      const created = await api.call("POST", "/v1/teams", { name: "Second" }, headers);

      const { status, body } = await api.call("GET", "/v1/teams", undefined, headers);

      assert.equal(status, 200);
      assert.deepEqual(Object.keys(body), ["teams"]);
      const [first, second] = body.teams;
      assert.match(first.id, /^team_[0-9a-z]{26}$/);
      assert.deepEqual(first, {
        id: first.id,
        name: "Analytical Engines",
        plan: "enterprise",
        role: "viewer",
        joinedAt: first.joinedAt,
        current: true,
      });
      assert.deepEqual(second, {
        id: created.body.team.id,
        name: "Second",
        plan: "free",
        role: "owner",
        joinedAt: second.joinedAt,
        current: false,
      });
      for (const { joinedAt } of body.teams) assertNow(joinedAt);
    });

    it("are created by any signed-in user, who then owns them", async () => {
      const { headers } = await signIn("creates", "viewer");

      const { status, body } = await api.call("POST", "/v1/teams", { name: "Acme" }, headers);

      assert.equal(status, 201);
      assert.deepEqual(body, {
        team: { id: body.team.id, name: "Acme", plan: "free", createdAt: body.team.createdAt, role: "owner" },
      });
      assertNow(body.team.createdAt);
    });

    it("are limited to 10 per user on the free plan", async () => {
      const { headers } = await signIn("too-many", "owner");
      for (let count = 0; count < 10; count += 1)
        assert.equal((await api.call("POST", "/v1/teams", { name: "Acme" }, headers)).status, 201);

      const { status, body } = await api.call("POST", "/v1/teams", { name: "One more" }, headers);

      assert.deepEqual(
        [status, body],
        [409, { error: "A person can own at most 10 teams on the free plan", code: "team_limit" }],
      );
    });

    it("cannot be listed, created or left by an API key", async () => {
      for (const [method, url, body] of [
        ["GET", "/v1/teams", undefined],
        ["POST", "/v1/teams", { name: "Acme" }],
        ["DELETE", "/v1/team/membership", undefined],
      ] as const) {
        const answer = await api.call(method, url, body);
        assert.equal(answer.status, 403, url);
        assert.deepEqual(answer.body, {
          error: "Session required: sign in by magic link",
          code: "session_required",
        });
      }
    });

    it("are shown to their members and renamed by PATCH", async () => {
      const { headers } = await api.openTeam("Second");
      const before = (await api.call("GET", "/v1/team", undefined, headers)).body.team;
      const { id, createdAt } = before;
      assert.deepEqual(before, { id, name: "Second", plan: "enterprise", createdAt });
      assertNow(createdAt);

      const { status, body } = await api.call("PATCH", "/v1/team", { name: "Renamed" }, headers);

      assert.equal(status, 200);
      assert.deepEqual(body, { team: { ...before, name: "Renamed" } });
      assert.deepEqual((await api.call("GET", "/v1/team", undefined, headers)).body, body);
      assert.equal((await api.call("GET", "/v1/team")).body.team.name, "Analytical Engines");
    });

    it("require a name of 1 to 100 characters without control characters", async () => {
      const { headers } = await signIn("names", "admin");
      const long = "name must be a string of 1 to 100 characters";
      const cases: [unknown, string][] = [
        [{}, "name is required"],
        [{ name: "" }, "name is required"],
        [{ name: " \t" }, "name is required"],
        [{ name: 7 }, long],
        [{ name: null }, "name is required"],
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
      const { id, email } = await signIn("member", "member");

      const { members } = (await api.call("GET", "/v1/team/members")).body;
      const listed = members.find((member: { id: string }) => member.id === id);
      assert.deepEqual(listed, { id, email, role: "member", joinedAt: listed.joinedAt });
      assertNow(listed.joinedAt);

      const changed = await api.call("PATCH", `/v1/team/members/${id}`, { role: "viewer" });
      assert.deepEqual([changed.status, changed.body], [200, { member: { ...listed, role: "viewer" } }]);

      const removed = await api.call("DELETE", `/v1/team/members/${id}`);
      assert.equal(removed.status, 200);
      const { removedAt } = removed.body.member;
      assert.deepEqual(removed.body, { member: { id, email, removedAt } });
      assertNow(removedAt);
      assert.ok(!(await api.call("GET", "/v1/team/members")).text.includes(id));
    });

    it("are answered 404 when unknown, malformed or of another team", async () => {
      const { id } = await others.signIn("elsewhere", "member");
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
          assert.deepEqual(
            [answer.status, answer.body],
            [404, { error: "Member not found", code: "member_not_found" }],
            unknown,
          );
        }
      }
      const { members } = (await api.call("GET", "/v1/team/members", undefined, others.headers)).body;
      assert.deepEqual(
        members.map((member: { id: string; role: string }) => [member.id, member.role]),
        [[id, "member"]],
      );
    });

    it("can leave, which ends their session", async () => {
      const { headers, id, email } = await signIn("leaves", "viewer");

      const { status, body } = await api.call("DELETE", "/v1/team/membership", undefined, headers);

      assert.equal(status, 200);
      assert.deepEqual(body, { member: { id, email, removedAt: body.member.removedAt } });
      assertNow(body.member.removedAt);
      assert.equal((await api.call("GET", "/v1/me", undefined, headers)).status, 401);
    });

    it("cannot leave, be removed or change role as the last owner", async () => {
      const { signIn: signInAlone } = await api.openTeam();
      const { headers, id } = await signInAlone("last", "owner");
      for (const [method, url, body] of [
        ["PATCH", `/v1/team/members/${id}`, { role: "admin" }],
        ["DELETE", `/v1/team/members/${id}`, undefined],
        ["DELETE", "/v1/team/membership", undefined],
      ] as const) {
        const answer = await api.call(method, url, body, headers);
        assert.deepEqual(
          [answer.status, answer.body],
          [409, { error: "The last owner cannot leave the team", code: "last_owner" }],
        );
      }
    });

    it("require one of the four roles", async () => {
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

  describe("permission to manage a team", () => {
    const ROUTES = [
      ["GET", "/v1/team", undefined, "viewer", "team:read"],
      ["PATCH", "/v1/team", { name: "Acme" }, "admin", "team:write"],
      ["GET", "/v1/team/members", undefined, "viewer", "team:read"],
      ["PATCH", `/v1/team/members/${NOBODY}`, { role: "viewer" }, "admin", "team:write"],
      ["DELETE", `/v1/team/members/${NOBODY}`, undefined, "admin", "team:write"],
      ["POST", "/v1/team/invitations", { email: "invited@teams.example" }, "admin", "team:write"],
      ["GET", "/v1/team/invitations", undefined, "admin", "team:read"],
      ["DELETE", "/v1/team/invitations/inv_x", undefined, "admin", "team:write"],
    ] as const;

    it("depends on the role of a user", async () => {
      for (const role of ["owner", "admin", "member", "viewer"] as const) {
        const { headers } = await signIn(role, role);
        for (const [method, url, body, needed] of ROUTES) {
          const { status, body: answer } = await api.call(method, url, body, headers);
          const may = needed === "viewer" || role === "owner" || role === "admin";
          assert.equal(status === 403, !may, `${role} ${method} ${url}`);
          if (!may)
            assert.deepEqual(answer, {
              error: `Insufficient role: ${needed} required`,
              code: "role_missing",
            });
        }
      }
    });

    it("depends on the scope of an application", async () => {
      const granted = {
        "team:read": (await api.team.application("team:read")).headers,
        "team:write": (await api.team.application("team:write")).headers,
      };
      for (const [method, url, body, , scope] of ROUTES) {
        const other = scope === "team:read" ? "team:write" : "team:read";
        const { status, body: answer } = await api.call(method, url, body, granted[other]);
        assert.equal(status, 403, `${method} ${url}`);
        assert.deepEqual(answer, { error: `Insufficient scope: ${scope} required`, code: "scope_missing" });
      }
    });
  });
});
