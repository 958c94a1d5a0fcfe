import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { Problem } from "../../src/domain/problem.ts";
import { newSecret } from "../../src/service/access/secret-hash.ts";
import { NOW } from "./fake-services.ts";
import { createTestApi, type TestApi, toAnswer } from "./test-api.ts";

describe("signing in by API", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });
  after(() => api.app.close());
  beforeEach(() => {
    api.services.links.asked.length = 0;
    api.services.links.ended.length = 0;
  });

  /** Without a credential. */
  const post = async (url: string, payload: object | string, headers: Record<string, string> = {}) =>
    toAnswer(
      await api.app.inject({
        method: "POST",
        url,
        payload,
        headers: { "content-type": "application/json", ...headers },
      }),
    );
  const link = (email: string) => {
    const token = newSecret();
    api.services.links.links.set(token, { email, nextPath: null });
    return token;
  };
  const signIn = (role: "owner" | "viewer" = "viewer") =>
    `Bearer ${api.services.people.signIn(7, "ada@example.com", role).credential}`;

  it("asking for a link is answered 202 { sent: true }, without a credential", async () => {
    const { status, body } = await post("/v1/auth/magic-link", { email: "ada@example.com" });
    assert.equal(status, 202);
    assert.deepEqual(body, { sent: true });
    assert.deepEqual(api.services.links.asked, [
      { email: "ada@example.com", address: "127.0.0.1", nextPath: null },
    ]);
  });

  it("names the rule that an address breaks", async () => {
    for (const [sent, error] of [
      [{ email: "nonsense" }, "email must be a valid mail address"],
      [{ email: "" }, "email must be a valid mail address"],
      [{ email: 5 }, "email must be a string"],
      [{}, "email is required"],
      [{ mail: "ada@example.com" }, 'Unknown field "mail" (did you mean "email"?)'],
      [{ email: "ada@example.com", next: "/" }, 'Unknown field "next"'],
      ["[]", "Request body must be a JSON object"],
    ] as const) {
      const { status, body } = await post("/v1/auth/magic-link", sent);
      assert.equal(status, 400, error);
      assert.equal(body.error, error);
    }
    assert.equal(api.services.links.asked.length, 0);
  });

  it("tells a source that asks too often when to come back", async () => {
    for (const [url, body] of [
      ["/v1/auth/magic-link", { email: "ada@example.com" }],
      ["/v1/auth/session", { token: newSecret() }],
    ] as const) {
      api.services.links.refusal = new Problem("rate_limited", {}, { retryAfterSeconds: 321 });
      const answer = await post(url, body);
      assert.equal(answer.status, 429);
      assert.deepEqual(answer.body, { error: "Rate limit exceeded" });
      assert.equal(answer.headers["retry-after"], "321");
    }
  });

  it("a link's token is taken for a session, once", async () => {
    const token = link("ada@example.com");
    const { status, body, headers } = await post("/v1/auth/session", { token });

    assert.equal(status, 200);
    assert.equal(headers["cache-control"], "no-store");
    assert.deepEqual(Object.keys(body), ["session", "user", "team"]);
    assert.deepEqual(body.session, {
      token: "head.session.signature",
      expiresAt: "2026-03-02T09:30:00.123Z",
    });
    assert.deepEqual(Object.keys(body.user), ["id", "email"]);
    assert.match(body.user.id, /^user_[0-9a-z]{26}$/);
    assert.match(body.team.id, /^team_[0-9a-z]{26}$/);
    assert.deepEqual({ ...body.team, id: "" }, { id: "", name: "Acme", plan: "free" });

    const again = await post("/v1/auth/session", { token });
    assert.equal(again.status, 401);
    assert.deepEqual(again.body, { error: "Invalid or expired token" });
    assert.equal(again.headers["www-authenticate"], "Bearer");
    assert.equal((await post("/v1/auth/session", {})).body.error, "token is required");
  });

  it("looks at no credential where none is needed", async () => {
    const { status } = await post(
      "/v1/auth/session",
      { token: link("ada@example.com") },
      { authorization: "Bearer nonsense" },
    );
    assert.equal(status, 200);
  });

  it("keeps tokens and addresses out of the log", async () => {
    const token = link("canary@example.com");
    await post("/v1/auth/magic-link", { email: "canary@example.com" });
    await post("/v1/auth/session", { token });
    const lines = JSON.stringify(api.lines);
    for (const secret of [token, "canary@example.com", "head.session.signature"])
      assert.ok(!lines.includes(secret), secret);
  });

  it("signing out ends the session, whatever the role", async () => {
    const authorization = signIn();
    const signOut = () => api.call("DELETE", "/v1/auth/session", undefined, { authorization });
    const { status, body } = await signOut();

    assert.equal(status, 200);
    assert.deepEqual(body, { session: { endedAt: NOW.toISOString() } });
    assert.deepEqual(api.services.links.ended, [authorization.slice("Bearer ".length)]);
    assert.equal((await signOut()).status, 401);
  });

  it("lets only people out and over: a key has no session", async () => {
    for (const [method, url, sent] of [
      ["DELETE", "/v1/auth/session", undefined],
      ["POST", "/v1/auth/session/team", { teamId: "team_1" }],
    ] as const) {
      const { status, body } = await api.call(method, url, sent);
      assert.equal(status, 403);
      assert.deepEqual(body, { error: "Session required: sign in by magic link" });
      const without = await api.app.inject({ method, url, ...(sent && { payload: sent }) });
      assert.equal(without.statusCode, 401);
    }
    assert.equal(api.services.links.ended.length, 0);
  });

  it("goes over to another team with the answer of a sign-in", async () => {
    const { status, body } = await api.call(
      "POST",
      "/v1/auth/session/team",
      { teamId: "team_01k9z3mxe5f8hrk3yv5pzq8c2d" },
      { authorization: signIn() },
    );
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body), ["session", "user", "team"]);
    assert.deepEqual([body.user.email, body.team.name], ["ada@example.com", "Other"]);
  });

  it("does not know a team that is not the person's", async () => {
    api.services.links.refusal = new Problem("team_not_found");
    const { status, body } = await api.call(
      "POST",
      "/v1/auth/session/team",
      { teamId: "team_01k9z3mxe5f8hrk3yv5pzq8c2d" },
      { authorization: signIn() },
    );
    assert.equal(status, 404);
    assert.deepEqual(body, { error: "Team not found" });
  });
});
