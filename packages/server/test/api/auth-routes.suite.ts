import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { newSecret } from "../../src/service/access/secret-hash.ts";
import { assertNow, createTestApi, type TestApi } from "./test-api.ts";
import { bearer, linkTokenIn } from "./test-team.ts";

const DAY_SECONDS = 24 * 3600;

describe("sign-in over the API", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  /** Without a credential. */
  const post = (
    url: string,
    payload: object | string,
    more: { remoteAddress?: string; headers?: object } = {},
  ) =>
    api.send({
      method: "POST",
      url,
      payload,
      ...more,
      headers: { "content-type": "application/json", ...more.headers },
    });
  const linkFor = async (email: string) => {
    assert.equal((await post("/v1/auth/magic-link", { email })).status, 202);
    return linkTokenIn(api.mails.at(-1));
  };
  const me = (credential: string) => api.call("GET", "/v1/me", undefined, bearer(credential));

  it("answers 202 to a link request without a credential, and mails the link", async () => {
    const { status, body } = await post("/v1/auth/magic-link", { email: "asks@auth.example" });

    assert.equal(status, 202);
    assert.deepEqual(body, { sent: true });
    assert.equal(api.mails.at(-1)?.to, "asks@auth.example");
    const links = await api.server.database.rows(
      "select next_path from sign_in_links where email = 'asks@auth.example'",
    );
    assert.deepEqual(links, [{ next_path: null }]);
  });

  it("refuses an invalid mail address with the rule that it breaks, and mails nothing", async () => {
    const sent = api.mails.length;
    for (const [payload, error] of [
      [{ email: "nonsense" }, "email must be a valid mail address"],
      [{ email: "" }, "email must be a valid mail address"],
      [{ email: 5 }, "email must be a string"],
      [{}, "email is required"],
      [{ mail: "ada@example.com" }, 'Unknown field "mail" (did you mean "email"?)'],
      [{ email: "ada@example.com", next: "/" }, 'Unknown field "next"'],
      ["[]", "Request body must be a JSON object"],
    ] as const) {
      const { status, body } = await post("/v1/auth/magic-link", payload);
      assert.equal(status, 400, error);
      assert.equal(body.error, error);
    }
    assert.equal(api.mails.length, sent);
  });

  it("answers 429 with Retry-After when a source asks too often", async () => {
    const remoteAddress = "192.0.2.30";
    for (const [url, most, seconds, bodyOf] of [
      ["/v1/auth/magic-link", 20, 900, (number: number) => ({ email: `often-${number}@auth.example` })],
      ["/v1/auth/session", 30, 60, () => ({ token: newSecret() })],
    ] as const) {
      for (let number = 0; number < most; number += 1)
        assert.notEqual((await post(url, bodyOf(number), { remoteAddress })).status, 429);

      const answer = await post(url, bodyOf(most), { remoteAddress });

      assert.equal(answer.status, 429);
      assert.deepEqual(answer.body, { error: "Rate limit exceeded", code: "rate_limited" });
      const retryAfter = Number(answer.headers["retry-after"]);
      assert.ok(retryAfter > seconds - 60 && retryAfter <= seconds, String(retryAfter));
      assert.notEqual((await post(url, bodyOf(most))).status, 429);
    }
  });

  it("exchanges a link's token for a session, once", async () => {
    const token = await linkFor("ada@auth.example");
    const { status, body, headers } = await post("/v1/auth/session", { token });

    assert.equal(status, 200);
    assert.equal(headers["cache-control"], "no-store");
    assert.deepEqual(Object.keys(body), ["session", "user", "team"]);
    assert.deepEqual(Object.keys(body.session), ["token", "expiresAt"]);
    assertNow(body.session.expiresAt, DAY_SECONDS);
    assert.equal((await me(body.session.token)).status, 200);
    assert.deepEqual(body.user, { id: body.user.id, email: "ada@auth.example" });
    assert.match(body.user.id, /^user_[0-9a-z]{26}$/);
    assert.match(body.team.id, /^team_[0-9a-z]{26}$/);
    assert.deepEqual({ ...body.team, id: "" }, { id: "", name: "ada's team", plan: "free" });

    const again = await post("/v1/auth/session", { token });
    assert.equal(again.status, 401);
    assert.deepEqual(again.body, { error: "Invalid or expired token", code: "token_invalid" });
    assert.equal(again.headers["www-authenticate"], "Bearer");
    assert.equal((await post("/v1/auth/session", {})).body.error, "token is required");
  });

  it("ignores an invalid credential on a route that needs none", async () => {
    const token = await linkFor("other@auth.example");
    const { status } = await post("/v1/auth/session", { token }, { headers: bearer("nonsense") });
    assert.equal(status, 200);
  });

  it("keeps tokens and mail addresses out of the log", async () => {
    const token = await linkFor("canary@auth.example");
    const { body } = await post("/v1/auth/session", { token });
    const lines = JSON.stringify(api.lines);
    for (const secret of [token, "canary@auth.example", body.session.token])
      assert.ok(!lines.includes(secret), secret);
  });

  it("ends only the caller's session on sign-out, whatever the role", async () => {
    const { session, headers } = await api.team.signIn("leaves", "viewer");
    const { session: elsewhere } = await api.team.signIn("leaves", "viewer");
    const signOut = () => api.call("DELETE", "/v1/auth/session", undefined, headers);

    const { status, body } = await signOut();

    assert.equal(status, 200);
    assert.deepEqual(body, { session: { endedAt: body.session.endedAt } });
    assertNow(body.session.endedAt);
    assert.equal((await signOut()).status, 401);
    assert.deepEqual([(await me(session)).status, (await me(elsewhere)).status], [401, 200]);
  });

  it("refuses sign-out and team switch for an API key, which has no session", async () => {
    for (const [method, url, sent] of [
      ["DELETE", "/v1/auth/session", undefined],
      ["POST", "/v1/auth/session/team", { teamId: "team_1" }],
    ] as const) {
      const { status, body } = await api.call(method, url, sent);
      assert.equal(status, 403);
      assert.deepEqual(body, { error: "Session required: sign in by magic link", code: "session_required" });
      assert.equal((await api.send({ method, url, ...(sent && { payload: sent }) })).status, 401);
    }
    assert.equal((await me(api.team.key)).status, 200);
  });

  it("ends the session and opens one in the other team on a team switch", async () => {
    const { session, headers, email } = await api.team.signIn("goes-over", "viewer");
    const { team } = (await api.call("POST", "/v1/teams", { name: "Other" }, headers)).body;

    const { status, body } = await api.call("POST", "/v1/auth/session/team", { teamId: team.id }, headers);

    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body), ["session", "user", "team"]);
    assert.deepEqual([body.user.email, body.team.name], [email, "Other"]);
    assert.equal((await me(body.session.token)).body.team.id, team.id);
    assert.equal((await me(session)).status, 401);
  });

  it("answers 404 to a switch to a team without membership, and keeps the session", async () => {
    const { session, headers } = await api.team.signIn("stays", "viewer");
    const { headers: others } = await api.openTeam();
    const foreign = (await api.call("GET", "/v1/team", undefined, others)).body.team.id;
    for (const teamId of [foreign, "team_01k9z3mxe5f8hrk3yv5pzq8c2d"]) {
      const { status, body } = await api.call("POST", "/v1/auth/session/team", { teamId }, headers);
      assert.equal(status, 404);
      assert.deepEqual(body, { error: "Team not found", code: "team_not_found" });
    }
    assert.equal((await me(session)).status, 200);
  });
});
