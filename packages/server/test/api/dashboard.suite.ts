import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { readPageFiles } from "../../src/api/pages/page-files.ts";
import { type Answer, assertNow, createTestApi, type TestApi } from "./test-api.ts";

const PAGE = { "bellhop-page": "1" };
const SCRIPT = "console.log('dashboard')";

describe("the dashboard", () => {
  let api: TestApi;
  let directory: string;
  before(async () => {
    directory = mkdtempSync(join(tmpdir(), "bellhop-page-"));
    mkdirSync(join(directory, "assets"));
    const put = (name: string, bytes: string | Buffer) => writeFileSync(join(directory, name), bytes);
    put("index.html", "<!doctype html><title>Bellhop</title>");
    put("favicon.svg", "<svg/>");
    put("assets/index-1a2b.js", SCRIPT);
    put("assets/index-1a2b.js.br", brotliCompressSync(SCRIPT));
    put("assets/index-1a2b.js.gz", gzipSync(SCRIPT));
    const page = readPageFiles(directory);
    assert.ok(page);
    api = await createTestApi({ page });
  });
  after(async () => {
    await api.close();
    rmSync(directory, { recursive: true });
  });

  const browse = (
    url: string,
    headers: Record<string, string> = {},
    method: "GET" | "POST" | "HEAD" = "GET",
  ) => api.send({ method, url, headers: { accept: "text/html,*/*;q=0.8", ...headers } });
  const cookieOf = (session: string) => ({ cookie: `a=b; __Host-bellhop_page=${session}` });
  const ask = (session: string, url: string, headers: Record<string, string> = {}) =>
    api.send({ url, headers: { ...cookieOf(session), ...PAGE, ...headers } });
  const post = (session: string, url: string, payload?: object) =>
    api.send({
      method: "POST",
      url,
      headers: { ...cookieOf(session), ...PAGE },
      ...(payload && { payload }),
    });
  const cookiesIn = ({ headers }: Answer) => [headers["set-cookie"] ?? []].flat();

  describe("files", () => {
    it("serves the page at / and at every path without a route of its own", async () => {
      for (const url of ["/", "/queues", "/queues/orders.eu", "/tasks/task_1?tab=attempts", "/tasks/"]) {
        const { status, headers, text } = await browse(url);
        assert.deepEqual([status, headers["content-type"]], [200, "text/html; charset=utf-8"], url);
        assert.match(text, /<title>Bellhop/);
      }
      assert.equal((await browse("/queues", {}, "HEAD")).status, 200);
    });

    it("does not serve the page to other clients than browsers, or at API paths", async () => {
      assert.equal((await api.send({ url: "/" })).body.name, "Bellhop");
      for (const url of [
        "/v1/nothing",
        "/v2/nothing",
        "/docs/nothing",
        "/page/nothing",
        "/assets/nothing.js",
        "/robots.txt",
      ])
        assert.equal((await browse(url)).body.code, "not_found", url);
      assert.equal((await api.send({ url: "/queues" })).body.code, "not_found");
      assert.equal((await browse("/queues", {}, "POST")).body.code, "not_found");
      assert.equal((await browse("/v1/queues")).body.code, "api_key_required");
    });

    it("allows scripts and requests only from this server, and no framing", async () => {
      const one = await browse("/");
      const policy = String(one.headers["content-security-policy"]);
      assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /);
      assert.match(policy, /; connect-src 'self'; .*; frame-ancestors 'none'; base-uri 'none'$/);
      assert.doesNotMatch(policy, /unsafe|http|\*/);
      assert.equal(one.headers["x-frame-options"], "DENY");
    });

    it("revalidates the page each time and answers 304 while it is unchanged", async () => {
      const first = await browse("/");
      assert.equal(first.headers["cache-control"], "no-cache");
      const again = await browse("/", { "if-none-match": String(first.headers.etag) });
      assert.deepEqual([again.status, again.text], [304, ""]);
    });

    it("serves hashed files as immutable, in the smallest coding that the browser accepts", async () => {
      for (const [accepted, coding, bytes] of [
        ["gzip, deflate, br, zstd", "br", brotliCompressSync(SCRIPT)],
        ["gzip", "gzip", gzipSync(SCRIPT)],
        ["br;q=0", undefined, Buffer.from(SCRIPT)],
      ] as const) {
        const answer = await api.app.inject({
          url: "/assets/index-1a2b.js",
          headers: { "accept-encoding": accepted },
        });
        assert.deepEqual(answer.rawPayload, bytes);
        const { headers } = answer;
        assert.equal(headers["content-encoding"], coding);
        assert.equal(headers["cache-control"], "public, max-age=31536000, immutable");
        assert.equal(headers["content-type"], "text/javascript; charset=utf-8");
      }
      const icon = await api.send({ url: "/favicon.svg" });
      assert.deepEqual([icon.status, icon.headers["cache-control"]], [200, "no-cache"]);
      for (const url of ["/assets/index-1a2b.js.br", "/assets/../index.html", "/assets/..%2findex.html"])
        assert.equal((await api.send({ url })).status, 404, url);
    });
  });

  describe("session cookie", () => {
    it("authenticates only same-origin requests with the Bellhop-Page header", async () => {
      const { session } = await api.team.signIn("cookie", "viewer");
      assert.equal((await ask(session, "/v1/queues")).status, 200);
      assert.equal((await ask(session, "/v1/queues", { "sec-fetch-site": "same-origin" })).status, 200);

      const refused: Record<string, string>[] = [
        { "bellhop-page": "" },
        { "bellhop-page": "true" },
        { "sec-fetch-site": "same-site" },
        { "sec-fetch-site": "cross-site" },
        { "sec-fetch-site": "none" },
        { authorization: "Basic abc" },
      ];
      for (const headers of refused) {
        const answer = await ask(session, "/v1/queues", headers);
        assert.deepEqual(
          [answer.status, answer.body.code],
          [401, "api_key_required"],
          JSON.stringify(headers),
        );
        assert.equal((await ask(session, "/page/session", headers)).status, 401);
      }
      // Without the prefix any host of the same domain could have planted it.
      const planted = await api.send({
        url: "/v1/queues",
        headers: { ...PAGE, cookie: `bellhop_page=${session}` },
      });
      assert.equal(planted.status, 401);
      const wrong = await ask(session, "/v1/queues", { authorization: "Bearer a.b.c" });
      assert.equal(wrong.body.code, "token_invalid");
      const key = await ask(session, "/v1/me", { "x-api-key": api.team.key });
      assert.equal(key.body.kind, "api_key");
    });

    it("shows the user, the role, the current team and all teams", async () => {
      const { session, email, id } = await api.team.signIn("whoami", "member");
      const { status, headers, body } = await ask(session, "/page/session");
      assert.deepEqual([status, headers["cache-control"]], [200, "no-store"]);
      assert.deepEqual(body.person, { id, email });
      assert.deepEqual([body.team.name, body.role, body.environment], [api.team.name, "member", "live"]);
      assert.equal(body.isOperator, false);
      assert.deepEqual(
        body.teams.map((team: { name: string; current: boolean }) => [team.name, team.current]),
        [[api.team.name, true]],
      );
      assert.deepEqual(body.signIn, { mail: true, linkInLog: false });
    });

    it("answers 401 with the ways to sign in, and whether a session was sent", async () => {
      const cases = [
        [PAGE, false],
        [{ ...PAGE, ...cookieOf("a.b.c") }, true],
        [{}, false],
      ] as const;
      for (const [headers, hadSession] of cases) {
        const { status, body } = await api.send({ url: "/page/session", headers });
        assert.equal(status, 401);
        const signIn = { mail: true, linkInLog: false, hadSession };
        assert.deepEqual([body.code, body.signIn], ["token_invalid", signIn]);
      }
    });

    it("ends the session and clears the cookies on sign-out", async () => {
      const { session } = await api.team.signIn("out", "viewer");
      const foreign = await api.send({
        method: "POST",
        url: "/page/session/end",
        headers: cookieOf(session),
      });
      assert.equal(foreign.status, 401);
      assert.equal((await ask(session, "/v1/queues")).status, 200);

      const out = await post(session, "/page/session/end");
      assert.equal(out.status, 200);
      for (const cookie of cookiesIn(out))
        assert.match(cookie, /^__Host-bellhop_(page|session)=; Path=\/; Secure; Expires=Thu, 01 Jan 1970 /);
      assert.equal(cookiesIn(out).length, 2);
      assert.equal((await ask(session, "/v1/queues")).status, 401);
    });

    it("switches to another team of the user and sets a cookie for it", async () => {
      const { session, headers } = await api.team.signIn("switch", "viewer");
      const second = (await api.call("POST", "/v1/teams", { name: "Second" }, headers)).body.team.id;

      assert.equal((await post(session, "/page/session/team", { team: "team_none" })).status, 404);
      const switched = await post(session, "/page/session/team", { team: second });

      assert.equal(switched.status, 200);
      assert.deepEqual([switched.body.team.id, switched.body.role], [second, "owner"]);
      assert.doesNotMatch(switched.text, /eyJ/);
      const [page = "", consent = ""] = cookiesIn(switched);
      const token =
        /^__Host-bellhop_page=([^;]+); Path=\/; Secure; Expires=[^;]+; HttpOnly; SameSite=Strict$/.exec(
          page,
        )?.[1];
      assert.ok(token !== undefined && consent.startsWith(`__Host-bellhop_session=${token};`));
      assert.equal((await ask(token, "/v1/team")).body.team.id, second);
      assert.equal((await ask(session, "/v1/team")).status, 401);
    });
  });

  describe("sessions", () => {
    it("lists the sessions of the user alone, and ends them one by one", async () => {
      const { session, headers, email } = await api.team.signIn("lists-sessions", "viewer");
      const again = await api.team.signIn("lists-sessions", "viewer");
      assert.equal(again.email, email);
      await api.team.signIn("somebody-else", "viewer");

      const { body } = await api.call("GET", "/v1/sessions", undefined, headers);
      assert.deepEqual(
        body.sessions.map((one: { current: boolean }) => one.current),
        [false, true],
      );
      const [newer, own] = body.sessions;
      assert.match(newer.id, /^ses_[0-9a-z]{26}$/);
      assert.equal(newer.team.name, api.team.name);
      assertNow(newer.createdAt);
      assertNow(newer.expiresAt, 24 * 3600);

      const end = (id: string) => api.call("DELETE", `/v1/sessions/${id}`, undefined, headers);
      const ended = await end(newer.id);
      assert.equal(ended.status, 200);
      assertNow(ended.body.session.endedAt);
      assert.equal((await ask(again.session, "/v1/queues")).status, 401);
      assert.equal((await end(newer.id)).body.code, "session_not_found");
      assert.equal((await end(own.id)).status, 200);
      assert.equal((await ask(session, "/v1/queues")).status, 401);
    });

    it("lists only itself to a session that an invitation opened", async () => {
      const { email } = await api.team.signIn("bound", "member");
      const others = await api.openTeam("Others");
      const { status } = await api.call("POST", "/v1/team/invitations", { email }, others.headers);
      assert.equal(status, 201);
      const token = /token=(\w+)/.exec(api.mails.at(-1)?.text ?? "")?.[1];
      const opened = await api.send({ method: "POST", url: "/v1/auth/session", payload: { token } });
      const headers = { authorization: `Bearer ${opened.body.session.token}` };

      const { body } = await api.call("GET", "/v1/sessions", undefined, headers);
      assert.deepEqual(
        body.sessions.map((one: { team: { name: string } }) => one.team.name),
        ["Others"],
      );
    });
  });
});
