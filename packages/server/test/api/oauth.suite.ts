import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { OAuthRefusal } from "../../src/domain/identity/oauth-refusal.ts";
import { Problem } from "../../src/domain/problem.ts";
import { SESSION } from "./fake-oauth.ts";
import { createTestApi, type TestApi, toAnswer } from "./test-api.ts";

const FORM = "application/x-www-form-urlencoded";
const QUERY = "client_id=app_1&state=a%22b%3Cc";
const COOKIE = `other=1; bellhop_session=${SESSION}`;

describe("the pages and routes of OAuth", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });
  beforeEach(() => {
    const { oauth } = api.services;
    Object.assign(oauth, { question: {}, result: null, refusal: null, teamName: "Analytical Engines" });
    oauth.allowed.length = 0;
    oauth.received.length = 0;
    api.lines.length = 0;
  });
  after(() => api.app.close());

  const look = async (headers: Record<string, string> = { cookie: COOKIE }) =>
    toAnswer(await api.app.inject({ url: `/v1/oauth/authorize?${QUERY}`, headers }));
  const decide = async (form: Record<string, string>, headers: Record<string, string> = {}, query = QUERY) =>
    toAnswer(
      await api.app.inject({
        method: "POST",
        url: `/v1/oauth/authorize?${query}`,
        headers: { cookie: COOKIE, "content-type": FORM, ...headers },
        payload: new URLSearchParams(form).toString(),
      }),
    );
  const csrf = `proof of ${QUERY}`;
  const post = async (path: string, payload: string | object, headers: Record<string, string> = {}) =>
    toAnswer(
      await api.app.inject({
        method: "POST",
        url: path,
        headers: { "content-type": FORM, ...headers },
        payload,
      }),
    );

  describe("the consent page", () => {
    it("says who asks, for what, where, and whom it takes you for", async () => {
      const { status, text, headers } = await look();

      assert.equal(status, 200);
      assert.equal(headers["content-type"], "text/html; charset=utf-8");
      for (const part of [
        "Reports",
        "Difference Ltd",
        "Analytical Engines",
        "ada@example.test",
        "See tasks, with what they sent and what came back",
        "Send stored credentials along with its tasks",
        "reports.example",
      ])
        assert.ok(text.includes(part), part);
      assert.match(text, /<button type="submit" name="decision" value="allow">/);
      assert.match(text, /<button type="submit" name="decision" value="deny"/);
    });

    it("cannot be framed, runs nothing, and leads nowhere but back to the application", async () => {
      const { headers } = await look();

      const policy = String(headers["content-security-policy"]);
      assert.match(policy, /default-src 'none'/);
      assert.match(policy, /frame-ancestors 'none'/);
      assert.match(policy, /form-action 'self' https:\/\/reports\.example(;|$)/);
      assert.doesNotMatch(policy, /unsafe-|script-src/);
      assert.equal(headers["x-frame-options"], "DENY");
      assert.equal(headers["cache-control"], "no-store");
      // With our usual policy a browser says that the form comes from `null`.
      assert.equal(headers["referrer-policy"], "same-origin");
    });

    it("lets the form lead to a port of this machine and to a scheme of the application's own", async () => {
      for (const [redirectUri, target] of [
        ["http://127.0.0.1:5001/cb", "http://127.0.0.1:5001"],
        ["http://[::1]:5001/cb", "http:"],
        ["com.example.app:/cb", "com.example.app:"],
      ] as const) {
        api.services.oauth.question = { redirectUri };
        const policy = String((await look()).headers["content-security-policy"]);
        assert.ok(policy.includes(`form-action 'self' ${target};`), policy);
      }
    });

    it("shows names as names, whatever they hold", async () => {
      const evil = `<script>alert(1)</script>" onload='x' &amp;`;
      api.services.oauth.question = { applicationName: evil, ownerName: evil };
      api.services.oauth.teamName = evil;

      const { text } = await look();

      assert.ok(!text.includes("<script"), text);
      assert.equal(
        text.split("&lt;script&gt;alert(1)&lt;/script&gt;&quot; onload=&#39;x&#39; &amp;amp;").length,
        6,
      );
      // The query of the address is in the form, and as harmless there.
      assert.ok(text.includes('action="?client_id=app_1&amp;state=a%22b%3Cc"'));
    });

    it("sends whoever is not signed in to the sign-in, and from there back", async () => {
      const next = encodeURIComponent(`/v1/oauth/authorize?${QUERY}`);
      for (const cookie of ["", "bellhop_session=other", "bellhop_session="]) {
        const { status, headers } = await look({ cookie });
        assert.deepEqual([status, headers.location], [303, `/sign-in?next=${next}`]);
      }
      const posted = await decide({ decision: "allow", csrf }, { cookie: "" });
      assert.deepEqual([posted.status, posted.headers.location], [303, `/sign-in?next=${next}`]);
    });

    it("never reads a session from anywhere but the cookie", async () => {
      const { status } = await look({ authorization: `Bearer ${SESSION}` });

      assert.equal(status, 303);
    });

    it("answers with a page, not with a redirect, where the address is unproven", async () => {
      api.services.oauth.result = {
        result: "refused",
        reason: "An <b>address</b> that is not registered.",
      };

      for (const answer of [await look(), await look({}), await decide({ decision: "allow", csrf })]) {
        assert.equal(answer.status, 400);
        assert.equal(answer.headers.location, undefined);
        assert.ok(answer.text.includes("An &lt;b&gt;address&lt;/b&gt; that is not registered."));
        assert.match(String(answer.headers["content-security-policy"]), /frame-ancestors 'none'/);
      }
    });

    it("sends every other mistake back to the application", async () => {
      api.services.oauth.result = { result: "returned", location: "https://reports.example/cb?error=x" };

      const { status, headers } = await look({});

      assert.deepEqual([status, headers.location], [302, "https://reports.example/cb?error=x"]);
    });
  });

  describe("the answer to the question", () => {
    it("goes back to the application with a code", async () => {
      const { status, headers } = await decide({ decision: "allow", csrf });

      assert.deepEqual([status, headers.location], [303, "https://reports.example/cb?code=c"]);
      assert.equal(headers["cache-control"], "no-store");
      const [requester] = api.services.oauth.allowed;
      assert.equal(requester?.name, "ada@example.test");
      assert.equal(requester?.address, "127.0.0.1");
      assert.equal(requester?.requestId, headers["x-request-id"]);
    });

    it("goes back without one when it is no, or nothing", async () => {
      for (const decision of ["deny", "", "ALLOW", "yes"]) {
        const { status, headers } = await decide({ decision, csrf });
        assert.deepEqual([status, headers.location], [303, "https://reports.example/cb?error=access_denied"]);
      }
      assert.equal(api.services.oauth.allowed.length, 0);
    });

    it("does not count from another site: without the proof, with another page's, or from another origin", async () => {
      for (const [form, headers] of [
        [{ decision: "allow" }, {}],
        [{ decision: "allow", csrf: "" }, {}],
        [{ decision: "allow", csrf: "proof of client_id=app_2" }, {}],
        [{ decision: "allow", csrf }, { origin: "https://evil.example" }],
        [{ decision: "allow", csrf }, { origin: "null" }],
        [{ decision: "allow", csrf }, { origin: "http://127.0.0.1:8788" }],
      ] as const) {
        const answer = await decide(form, headers);
        assert.equal(answer.status, 403);
        assert.equal(answer.headers.location, undefined);
      }
      assert.equal(
        (await decide({ decision: "allow", csrf }, {}, `${QUERY}&scope=team%3Awrite`)).status,
        403,
      );
      assert.equal(api.services.oauth.allowed.length, 0);
    });

    it("counts from our own origin, as callers or as the browser know it", async () => {
      for (const headers of [
        { origin: "http://127.0.0.1:8787" },
        { origin: "http://bellhop.internal:1234", host: "bellhop.internal:1234" },
      ])
        assert.equal((await decide({ decision: "allow", csrf }, headers)).status, 303);
    });

    it("must be a form", async () => {
      const answer = await decide({ decision: "allow", csrf }, { "content-type": "application/json" });

      assert.equal(answer.status, 415);
      assert.equal(api.services.oauth.allowed.length, 0);
    });
  });

  describe("the token endpoint", () => {
    const TOKEN = "/v1/oauth/token";

    it("answers in the form of RFC 6749, and is not kept by anyone", async () => {
      const { status, body, headers } = await post(TOKEN, "grant_type=client_credentials&scope=&a=%2B+b", {
        authorization: "Basic abc",
      });

      assert.equal(status, 200);
      assert.deepEqual(body, {
        access_token: "a.b.c",
        token_type: "Bearer",
        expires_in: 3600,
        scope: "tasks:read",
      });
      assert.equal(headers["cache-control"], "no-store");
      const [received] = api.services.oauth.received;
      assert.deepEqual(
        [...(received?.parameters ?? [])],
        [
          ["grant_type", "client_credentials"],
          ["a", "+ b"],
        ],
      );
      assert.equal(received?.authorization, "Basic abc");
      assert.equal(received?.address, "127.0.0.1");
    });

    it("refuses in the form of RFC 6749, with nothing else in the body", async () => {
      for (const [error, status] of [
        ["invalid_request", 400],
        ["invalid_client", 401],
        ["invalid_grant", 400],
        ["invalid_scope", 400],
        ["unauthorized_client", 400],
        ["unsupported_grant_type", 400],
      ] as const) {
        api.services.oauth.refusal = new OAuthRefusal(error, 'what "was" \\ wrong\n');
        const answer = await post(TOKEN, "grant_type=x");
        assert.deepEqual(
          [answer.status, answer.body],
          [status, { error, error_description: "what ?was? ? wrong?" }],
        );
        assert.equal(answer.headers["cache-control"], "no-store");
        const challenge = status === 401 ? 'Basic realm="Bellhop", charset="UTF-8"' : undefined;
        assert.equal(answer.headers["www-authenticate"], challenge);
      }
    });

    it("takes url-encoded forms only, each parameter once, none in the address, up to 16 KiB", async () => {
      const refused = async (expected: number, ...[path, payload, headers]: Parameters<typeof post>) => {
        const { status, body } = await post(path, payload, headers);
        assert.deepEqual([status, body.error, Object.keys(body).length], [expected, "invalid_request", 2]);
        return body.error_description;
      };
      assert.equal(
        await refused(415, TOKEN, "{}", { "content-type": "application/json" }),
        "Content-Type must be application/x-www-form-urlencoded",
      );
      assert.equal(await refused(400, TOKEN, "scope=a&scope=a"), "scope was sent more than once");
      assert.match(await refused(400, `${TOKEN}?client_secret=x`, "a=1"), /belong into the form/);
      await refused(413, TOKEN, `a=${"x".repeat(16 * 1024)}`);
      assert.equal(api.services.oauth.received.length, 0);
    });

    it("says when to come back, and nothing of what went wrong inside", async () => {
      api.services.oauth.refusal = new Problem("rate_limited", {}, { retryAfterSeconds: 7 });
      const limited = await post(TOKEN, "a=1");
      assert.deepEqual(
        [limited.status, limited.body, limited.headers["retry-after"]],
        [429, { error: "temporarily_unavailable", error_description: "Rate limit exceeded" }, "7"],
      );
      api.services.oauth.refusal = new Problem("database_away");
      assert.equal((await post(TOKEN, "a=1")).status, 503);

      api.lines.length = 0;
      api.services.oauth.refusal = new TypeError("the reason");
      const bug = await post(TOKEN, "client_secret=bhs_secret", { authorization: "Basic secret" });
      assert.deepEqual(
        [bug.status, bug.body],
        [500, { error: "server_error", error_description: "Internal server error" }],
      );
      const log = JSON.stringify(api.lines);
      assert.match(log, /the reason/);
      assert.doesNotMatch(log, /secret/);
    });
  });

  it("revocation answers with an empty object", async () => {
    const { status, body, headers } = await post("/v1/oauth/revoke", "token=x");

    assert.deepEqual([status, body], [200, {}]);
    assert.equal(headers["cache-control"], "no-store");
    assert.equal(api.services.oauth.received[0]?.parameters.get("token"), "x");
  });

  it("the metadata is what RFC 8414 asks for", async () => {
    const { status, body } = toAnswer(
      await api.app.inject({ url: "/.well-known/oauth-authorization-server" }),
    );

    assert.equal(status, 200);
    const issuer = "http://127.0.0.1:8787";
    const { scopes_supported: scopes, ...rest } = body;
    assert.ok(scopes.includes("tokens:use") && scopes.includes("team:write"));
    assert.deepEqual(rest, {
      issuer,
      authorization_endpoint: `${issuer}/v1/oauth/authorize`,
      token_endpoint: `${issuer}/v1/oauth/token`,
      revocation_endpoint: `${issuer}/v1/oauth/revoke`,
      response_types_supported: ["code"],
      response_modes_supported: ["query"],
      grant_types_supported: ["authorization_code", "refresh_token", "client_credentials"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post"],
      revocation_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post"],
      authorization_response_iss_parameter_supported: true,
      service_documentation: `${issuer}/docs`,
    });
  });

  it("no secret of a request is in the log", async () => {
    await look();
    await decide({ decision: "allow", csrf });
    await post("/v1/oauth/token", "code=secret&client_secret=secret", { authorization: "Basic secret" });
    await post("/v1/oauth/revoke", "token=secret");

    const log = JSON.stringify(api.lines);
    assert.equal(api.lines.length, 4);
    assert.doesNotMatch(log, /secret|app_1|session\.signature|proof/);
  });
});
