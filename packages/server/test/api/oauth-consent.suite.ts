import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import {
  CALLBACK,
  cookieOf,
  exchangeOf,
  FORM,
  proofIn,
  queryOf,
  type RegisteredApplication,
  registerReports,
} from "./consent.ts";
import { createTestApi, PUBLIC_URL, type TestApi } from "./test-api.ts";
import type { TestPerson, TestTeam } from "./test-team.ts";

describe("OAuth consent", () => {
  let api: TestApi;
  /** The team that the application is of; ada lets it into another. */
  let owner: TestTeam;
  let application: RegisteredApplication;
  let ada: TestPerson;
  let query: string;
  let csrf: string;
  before(async () => {
    api = await createTestApi();
    owner = await api.openTeam("Difference Ltd");
    application = await registerReports(api, {}, owner);
    ada = await api.team.signIn("ada", "member");
    query = queryOf(application);
    csrf = proofIn(await look());
  });

  const look = (headers: Record<string, string> = cookieOf(ada), asked = query) =>
    api.send({ url: `/v1/oauth/authorize?${asked}`, headers });
  const decide = (form: Record<string, string>, headers: Record<string, string> = {}, asked = query) =>
    api.send({
      method: "POST",
      url: `/v1/oauth/authorize?${asked}`,
      headers: { ...cookieOf(ada), "content-type": FORM, ...headers },
      payload: new URLSearchParams(form).toString(),
    });
  const post = (path: string, form: string | Record<string, string>, headers: Record<string, string> = {}) =>
    api.send({
      method: "POST",
      url: path,
      headers: { "content-type": FORM, ...headers },
      payload: typeof form === "string" ? form : new URLSearchParams(form).toString(),
    });
  /** What ada's team is told of applications that were let in, the newest first. */
  const authorizations = async () =>
    (await api.call("GET", "/v1/audit?action=application.authorized")).body.events;
  const codeIn = (location: unknown) => new URL(String(location)).searchParams.get("code") ?? "";

  describe("the consent page", () => {
    it("names the application, its team, the scopes, the redirect host and the user", async () => {
      const { status, text, headers } = await look();

      assert.equal(status, 200);
      assert.equal(headers["content-type"], "text/html; charset=utf-8");
      for (const part of [
        "Reports",
        "Difference Ltd",
        "Analytical Engines",
        ada.email,
        "See tasks, with what they sent and what came back",
        "Send stored credentials along with its tasks",
        "reports.example",
      ])
        assert.ok(text.includes(part), part);
      assert.match(text, /<button type="submit" name="decision" value="allow">/);
      assert.match(text, /<button type="submit" name="decision" value="deny"/);
    });

    it("forbids framing and scripts, and form targets other than the application", async () => {
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

    it("allows the form to redirect to a loopback port and to a custom scheme", async () => {
      for (const [uri, target] of [
        ["http://127.0.0.1:5001/cb", "http://127.0.0.1:5001"],
        ["http://[::1]:5001/cb", "http:"],
        ["com.example.app:/cb", "com.example.app:"],
      ] as const) {
        const local = await registerReports(api, { redirectUris: [uri] });
        const { headers } = await look(cookieOf(ada), queryOf(local, { redirect_uri: uri }));
        const policy = String(headers["content-security-policy"]);
        assert.ok(policy.includes(`form-action 'self' ${target};`), policy);
      }
    });

    it("escapes names and the query", async () => {
      const evil = `<script>alert(1)</script>" onload='x' &amp;`;
      const team = await api.openTeam(evil);
      const asked = queryOf(await registerReports(api, { name: evil }, team));

      const { text } = await look(cookieOf(await team.signIn("eve", "member")), asked);

      assert.ok(!text.includes("<script"), text);
      assert.equal(
        text.split("&lt;script&gt;alert(1)&lt;/script&gt;&quot; onload=&#39;x&#39; &amp;amp;").length,
        6,
      );
      // The query of the address is in the form, and as harmless there.
      assert.ok(asked.includes("state=a%22b%3Cc"));
      assert.ok(text.includes(`action="?${asked.replaceAll("&", "&amp;")}"`));
    });

    it("redirects a user who is not signed in to the sign-in and back", async () => {
      const next = encodeURIComponent(`/v1/oauth/authorize?${query}`);
      for (const cookie of ["", "__Host-bellhop_session=other", "__Host-bellhop_session="]) {
        const { status, headers } = await look({ cookie });
        assert.deepEqual([status, headers.location], [303, `/sign-in?next=${next}`]);
      }
      const posted = await decide({ decision: "allow", csrf }, { cookie: "" });
      assert.deepEqual([posted.status, posted.headers.location], [303, `/sign-in?next=${next}`]);
    });

    it("reads a session only from the cookie", async () => {
      const { status } = await look(ada.headers);

      assert.equal(status, 303);
    });

    it("shows an error page without a redirect for an unknown client or redirect URI", async () => {
      for (const [asked, reason] of [
        [
          queryOf(application, { redirect_uri: "https://evil.example/<b>" }),
          "The application asked to send you back to an address that it has not registered.",
        ],
        [
          queryOf({ clientId: "app_<b>", clientSecret: "" }),
          "The application that sent you here is not known.",
        ],
      ] as const) {
        for (const answer of [
          await look(cookieOf(ada), asked),
          await look({}, asked),
          await decide({ decision: "allow", csrf }, {}, asked),
        ]) {
          assert.equal(answer.status, 400);
          assert.equal(answer.headers.location, undefined);
          assert.ok(answer.text.includes(reason));
          assert.doesNotMatch(answer.text, /evil|<b>/);
          assert.match(String(answer.headers["content-security-policy"]), /frame-ancestors 'none'/);
        }
      }
    });

    it("redirects every other error to the application", async () => {
      const { status, headers } = await look({}, queryOf(application, { response_type: "token" }));

      assert.equal(status, 302);
      const { origin, pathname, searchParams } = new URL(String(headers.location));
      assert.equal(`${origin}${pathname}`, CALLBACK);
      assert.deepEqual(
        [searchParams.get("error"), searchParams.get("state"), searchParams.get("iss")],
        ["unsupported_response_type", 'a"b<c', PUBLIC_URL],
      );
    });
  });

  describe("the decision", () => {
    it("redirects with a code when the user allows, and writes an audit event", async () => {
      const { status, headers } = await decide({ decision: "allow", csrf });

      assert.equal(status, 303);
      const { origin, pathname, searchParams } = new URL(String(headers.location));
      assert.equal(`${origin}${pathname}`, CALLBACK);
      assert.deepEqual([searchParams.get("state"), searchParams.get("iss")], ['a"b<c', PUBLIC_URL]);
      assert.equal(headers["cache-control"], "no-store");
      const [event] = await authorizations();
      assert.deepEqual(event.actor, { kind: "session", id: ada.id, name: ada.email });
      assert.match(event.address, /^10\./);
      assert.equal(event.requestId, headers["x-request-id"]);
      const { body } = await post("/v1/oauth/token", exchangeOf(application, codeIn(headers.location)));
      assert.equal(body.scope, "tasks:read tokens:use");
    });

    it("redirects with access_denied for anything but allow", async () => {
      const before = await authorizations();
      for (const decision of ["deny", "", "ALLOW", "yes"]) {
        const { status, headers } = await decide({ decision, csrf });
        assert.equal(status, 303);
        assert.ok(String(headers.location).startsWith(`${CALLBACK}?error=access_denied&`));
        assert.equal(codeIn(headers.location), "");
      }
      assert.deepEqual(await authorizations(), before);
    });

    it("is refused without a valid CSRF token, or from another origin", async () => {
      const before = await authorizations();
      const other = await registerReports(api, {}, owner);
      const foreign = proofIn(await look(cookieOf(ada), queryOf(other)));
      assert.match(foreign, /^[0-9a-f]{64}$/);
      for (const [form, headers] of [
        [{ decision: "allow" }, {}],
        [{ decision: "allow", csrf: "" }, {}],
        [{ decision: "allow", csrf: foreign }, {}],
        [{ decision: "allow", csrf }, { origin: "https://evil.example" }],
        [{ decision: "allow", csrf }, { origin: "null" }],
        [{ decision: "allow", csrf }, { origin: `${PUBLIC_URL}:8788` }],
      ] as const) {
        const answer = await decide(form, headers);
        assert.equal(answer.status, 403);
        assert.equal(answer.headers.location, undefined);
      }
      assert.equal(
        (await decide({ decision: "allow", csrf }, {}, `${query}&scope=tasks%3Aread`)).status,
        403,
      );
      assert.deepEqual(await authorizations(), before);
    });

    it("is accepted from the public URL's origin and from the origin of the Host header", async () => {
      for (const headers of [
        { origin: PUBLIC_URL },
        { origin: "http://bellhop.internal:1234", host: "bellhop.internal:1234" },
      ])
        assert.equal((await decide({ decision: "allow", csrf }, headers)).status, 303);
    });

    it("is refused when it is not a form", async () => {
      const before = await authorizations();
      const answer = await decide({ decision: "allow", csrf }, { "content-type": "application/json" });

      assert.equal(answer.status, 415);
      assert.deepEqual(await authorizations(), before);
    });
  });

  it("keeps secrets out of the log", async () => {
    api.lines.length = 0;
    await look();
    const { headers } = await decide({ decision: "allow", csrf });
    const code = codeIn(headers.location);
    const { body } = await post("/v1/oauth/token", exchangeOf(application, code));
    assert.match(body.access_token, /^ey/);
    const { clientId, clientSecret } = application;
    await post("/v1/oauth/revoke", {
      client_id: clientId,
      client_secret: clientSecret,
      token: body.access_token,
    });

    const log = JSON.stringify(api.lines);
    assert.equal(api.lines.length, 4);
    for (const secret of [clientId, clientSecret, code, body.access_token, ada.session, csrf])
      assert.ok(!log.includes(secret));
  });
});
