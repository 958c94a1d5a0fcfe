import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { before, describe, it } from "node:test";
import { Html, html } from "../../src/domain/html.ts";
import { hashSecret, newSecret } from "../../src/service/access/secret-hash.ts";
import { databaseAway } from "../test-sql.ts";
import { queryOf, type RegisteredApplication, registerReports } from "./consent.ts";
import { type Answer, createTestApi, type TestApi, VERSION } from "./test-api.ts";
import { linkTokenIn } from "./test-team.ts";

const DAY_MS = 24 * 3_600_000;
const HOSTILE = `"><script>alert(1)</script><img src=x onerror='alert(1)'>@example.com`;

describe("the front page", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  it("shows a browser what this is, with working links", async () => {
    const accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    const { status, headers, text } = await api.send({ url: "/", headers: { accept } });

    assert.equal(status, 200);
    assert.match(String(headers["content-type"]), /^text\/html/);
    const links = [...text.matchAll(/href="([^"]*)"/g)].map(([, target = ""]) => target);
    assert.deepEqual(links, ["/help/", "/docs", "/openapi.json", "/sign-in"]);
    assert.match(text, /not built here: run <code>npm run build<\/code>/);
    for (const url of links) assert.ok((await api.send({ url })).status < 400, url);
  });

  it("answers other clients in JSON", async () => {
    for (const accept of ["application/json", "*/*", ""]) {
      const { status, body, headers } = await api.send({ url: "/", headers: { accept } });
      const expected = {
        name: "Bellhop",
        version: VERSION,
        docs: "/docs",
        help: "/help",
        openapi: "/openapi.json",
      };
      assert.deepEqual([status, body, headers.vary], [200, expected, "accept"]);
    }
  });
});

describe("the sign-in pages", () => {
  let api: TestApi;
  let application: RegisteredApplication;
  /** A question of an application's that waits for an answer. */
  let authorize: string;
  let people = 0;
  before(async () => {
    api = await createTestApi();
    application = await registerReports(api);
    authorize = `/v1/oauth/authorize?${queryOf(application, { state: "a&b" })}`;
  });

  const get = (url: string, headers: Record<string, string> = {}) => api.send({ url, headers });
  const send = (
    url: string,
    fields: Record<string, string>,
    headers: Record<string, string> = {},
    source: { readonly remoteAddress?: string } = {},
  ) =>
    api.send({
      method: "POST",
      url,
      payload: new URLSearchParams(fields).toString(),
      headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
      ...source,
    });
  /** Of somebody who was not here before. */
  const newEmail = () => {
    people += 1;
    return `person-${people}@pages.example`;
  };
  const newLink = async (email = newEmail(), fields: Record<string, string> = {}) => {
    assert.equal((await send("/sign-in", { email, ...fields })).status, 200);
    return linkTokenIn(api.mails.at(-1));
  };
  /** Where the link that was mailed to this address leads on to; undefined if there is none. */
  const nextPathOf = async (email: string) => {
    const [link] = await api.server.database.rows<{ next_path: string | null }>(
      "select next_path from sign_in_links where email = $1",
      [email],
    );
    return link?.next_path;
  };
  /** What a browser does with the page of a link: keeps its cookie, and sends its form with it. */
  const click = async (token: string) => {
    const page = await get(`/sign-in/link?token=${token}`);
    return send("/sign-in/link", fieldsOf(page), { cookie: cookieOf(page, "__Host-bellhop_form") });
  };

  it("ask for a mail address and mail the link", async () => {
    const page = await get("/sign-in");
    assert.equal(page.status, 200);
    assert.match(page.text, /<label for="email">/);
    assert.match(page.text, /<input type="email" id="email" name="email"/);
    assert.match(page.text, /<form method="post" action="\/sign-in">/);

    const email = newEmail();
    const sent = await send("/sign-in", { email });
    assert.equal(sent.status, 200);
    assert.match(sent.text, /<h1>Check your mail<\/h1>/);
    const mail = api.mails.at(-1);
    assert.equal(mail?.to, email);
    assert.match(linkTokenIn(mail), /^[0-9a-f]{64}$/);
    assert.equal(await nextPathOf(email), null);
  });

  it("say that the link is in the log on a server without mail", async () => {
    const logging = await createTestApi({ links: "log" });
    const form = await logging.send({ url: "/sign-in" });
    assert.match(form.text, /in the log of this server/);
    const sent = await logging.send({
      method: "POST",
      url: "/sign-in",
      payload: `email=${newEmail()}`,
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    await logging.close();

    assert.equal(sent.status, 200);
    assert.match(sent.text, /the link is in its log/);
    assert.match(sent.text, /mail\.not_sent[\s\S]*BELLHOP_SMTP_URL/);
    assert.doesNotMatch(form.text + sent.text, /spam|mail you|Mail me/);
  });

  it("point to the operator when links are neither mailed nor logged", async () => {
    const closed = await createTestApi({ links: "operator" });
    const form = await closed.send({ url: "/sign-in" });
    const sent = await closed.send({
      method: "POST",
      url: "/sign-in",
      payload: `email=${newEmail()}`,
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    await closed.close();

    assert.equal(sent.status, 200);
    assert.match(sent.text, /bellhop session link/);
    assert.doesNotMatch(form.text + sent.text, /spam|mail you|Mail me|its log, in/);
  });

  it("say the same for known and unknown addresses", async () => {
    const ada = await api.team.signIn("ada", "member");
    const stranger = newEmail();
    const [a, b] = await Promise.all([ada.email, stranger].map((email) => send("/sign-in", { email })));
    assert.equal(a?.text, b?.text.replaceAll(stranger, ada.email));
  });

  it("show the form again, with the input, for an invalid mail address", async () => {
    const { status, text } = await send("/sign-in", { email: "nonsense", next: authorize });
    assert.equal(status, 400);
    assert.match(text, /role="alert">Please enter a valid mail address/);
    assert.match(text, /value="nonsense"/);
    assert.ok(text.includes(`name="next" value="${authorize.replaceAll("&", "&amp;")}"`));
    assert.ok(authorize.includes("&state=a%26b"));
    assert.equal((await send("/sign-in", {})).status, 400);
  });

  it("drop a next path that would redirect without a consent page", async () => {
    for (const [query, status] of [
      [queryOf(application, { response_type: "token" }), 302],
      [queryOf(application, { redirect_uri: "https://evil.example/" }), 400],
    ] as const) {
      const next = `/v1/oauth/authorize?${query}`;
      assert.equal((await get(next)).status, status);
      const email = newEmail();
      assert.equal((await send("/sign-in", { email, next })).status, 200);
      assert.equal(await nextPathOf(email), null);
    }
  });

  it("keep the next path only if it is the consent page", async () => {
    const page = await get(`/sign-in?next=${encodeURIComponent(authorize)}`);
    assert.equal(fieldsOf(page).next, authorize);
    const email = newEmail();
    const sent = await send("/sign-in", { email, next: authorize });
    assert.ok(sent.text.includes(`<a href="/sign-in?next=${encodeURIComponent(authorize)}">ask again</a>`));
    assert.equal(await nextPathOf(email), authorize);

    const elsewhere = [
      "https://evil.example/",
      "//evil.example/v1/oauth/authorize?",
      "/\\evil.example/v1/oauth/authorize?",
      "\\/v1/oauth/authorize?x",
      "/v1/oauth/authorize",
      "/v1/oauth/authorize.evil?x",
      "/v1/oauth/authorize?x\r\nSet-Cookie: a=b",
      "/v1/oauth/authorize?x y",
      "/v1/oauth/authorize?ü",
      `/v1/oauth/authorize?${"x".repeat(5000)}`,
      "javascript:alert(1)",
      "/v1/tasks",
      " /v1/oauth/authorize?x",
    ];
    for (const next of elsewhere) {
      assert.equal(fieldsOf(await get(`/sign-in?next=${encodeURIComponent(next)}`)).next, undefined, next);
      const visitor = newEmail();
      await send("/sign-in", { email: visitor, next });
      assert.equal(await nextPathOf(visitor), null, next);
    }
  });

  it("need a click: a scanner that fetches the link with GET or HEAD does not use it up", async () => {
    const { email } = await api.team.signIn("clicks", "member");
    const token = await newLink(email);
    for (let round = 0; round < 3; round += 1) {
      assert.equal((await get(`/sign-in/link?token=${token}&utm_source=scanner`)).status, 200);
      assert.equal((await api.send({ method: "HEAD", url: `/sign-in/link?token=${token}` })).status, 200);
    }

    const { status, headers } = await click(token);
    assert.deepEqual([status, headers.location], [303, "/"]);
  });

  it("set the session for the consent page in an HttpOnly cookie that lasts a day", async () => {
    const cookie = setCookie(await click(await newLink()), "__Host-bellhop_session");
    const [, session = "", expires = ""] =
      /^__Host-bellhop_session=([^;]+); Path=\/; Secure; Expires=([^;]+); HttpOnly; SameSite=Lax$/.exec(
        cookie,
      ) ?? [];
    const aheadMs = Date.parse(expires) - Date.now();
    assert.ok(aheadMs > DAY_MS - 120_000 && aheadMs <= DAY_MS, expires);
    assert.equal((await get(authorize, { cookie: `__Host-bellhop_session=${session}` })).status, 200);
  });

  it("set __Host- cookies when the public URL or a trusted proxy shows TLS", async () => {
    const local = { publicUrl: "http://127.0.0.1:8787" };
    const [plain, proxied] = [
      await createTestApi(local),
      await createTestApi({ ...local, trustProxy: ["10.0.0.0/8"] }),
    ];
    const byTls = { "x-forwarded-proto": "https" };
    for (const [asked, headers, prefix, attributes] of [
      [api, {}, "__Host-", ["Path=/; Secure", "Path=/; Secure"]],
      [plain, {}, "", ["Path=/sign-in", "Path=/v1/oauth/authorize"]],
      [plain, byTls, "", ["Path=/sign-in", "Path=/v1/oauth/authorize"]],
      [proxied, byTls, "__Host-", ["Path=/; Secure", "Path=/; Secure"]],
    ] as const) {
      const page = await asked.send({ url: `/sign-in/link?token=${await newLink()}`, headers });
      const answer = await asked.send({
        method: "POST",
        url: "/sign-in/link",
        payload: new URLSearchParams(fieldsOf(page)).toString(),
        headers: {
          ...headers,
          "content-type": "application/x-www-form-urlencoded",
          cookie: cookieOf(page, `${prefix}bellhop_form`),
        },
      });
      const [form, session] = attributes;
      assert.ok(setCookie(page, `${prefix}bellhop_form`).includes(`; ${form}; HttpOnly; SameSite=Lax`));
      const held = setCookie(answer, `${prefix}bellhop_session`);
      assert.match(held, /; HttpOnly; SameSite=Lax$/);
      assert.ok(held.includes(`; ${session}; Expires=`), held);
      const consent = { ...headers, cookie: held.split(";")[0] ?? "" };
      assert.equal((await asked.send({ url: authorize, headers: consent })).status, 200);
    }
    await plain.close();
    await proxied.close();
  });

  it("ignore a session cookie without the __Host- prefix under TLS", async () => {
    const held = setCookie(await click(await newLink()), "__Host-bellhop_session").split(";")[0] ?? "";
    assert.equal((await get(authorize, { cookie: held })).status, 200);
    assert.equal((await get(authorize, { cookie: held.replace("__Host-", "") })).status, 303);
  });

  it("redirect to the next path after the sign-in", async () => {
    const answer = await click(await newLink(newEmail(), { next: authorize }));
    assert.equal(answer.status, 303);
    assert.equal(answer.headers.location, authorize);
    assert.equal(answer.headers["cache-control"], "no-store");
    assert.match(setCookie(answer, "__Host-bellhop_session"), /^__Host-bellhop_session=ey/);
  });

  it("refuse a form without the token of its cookie (login CSRF)", async () => {
    const token = await newLink();
    const page = await get(`/sign-in/link?token=${token}`);
    const fields = fieldsOf(page);
    const form = fields.form ?? "";
    const cookie = cookieOf(page, "__Host-bellhop_form");
    for (const [sent, cookies] of [
      [{ token }, ""],
      [{ token, form }, ""],
      [{ token }, cookie],
      [{ token, form: newSecret() }, cookie],
      [{ token, form: "" }, "__Host-bellhop_form="],
      [{ token, form: "x" }, "__Host-bellhop_form=x"],
      [{ token, form: "undefined" }, "__Host-bellhop_form=undefined"],
    ] as const) {
      const answer = await send("/sign-in/link", sent, cookies === "" ? {} : { cookie: cookies });
      assert.equal(answer.status, 403);
      assert.match(answer.text, /<h1>That did not come from here<\/h1>/);
      assert.equal(answer.headers["set-cookie"], undefined);
    }
    assert.match(setCookie(page, "__Host-bellhop_form"), /; Path=\/; Secure; HttpOnly; SameSite=Lax$/);
    assert.equal((await click(token)).status, 303);
  });

  it("reuse the form token of the browser, so that two tabs both work", async () => {
    const first = await get(`/sign-in/link?token=${await newLink()}`);
    const cookie = cookieOf(first, "__Host-bellhop_form");
    const second = await get(`/sign-in/link?token=${await newLink()}`, { cookie: `a=b; ${cookie}; c=d` });
    assert.equal(fieldsOf(second).form, fieldsOf(first).form);
    const chosen = await get(`/sign-in/link?token=${await newLink()}`, {
      cookie: "__Host-bellhop_form=chosen",
    });
    assert.match(fieldsOf(chosen).form ?? "", /^[0-9a-f]{64}$/);
  });

  it("answer 401 with a way to get a new link for a used, replaced or expired link", async () => {
    const used = await newLink();
    await click(used);
    const email = newEmail();
    const replaced = await newLink(email);
    await newLink(email);
    const expired = await newLink();
    const open = await get(`/sign-in/link?token=${expired}`);
    await api.server.database.rows("update sign_in_links set expires_at = now() where hash = $1", [
      hashSecret(expired),
    ]);
    const late = await send("/sign-in/link", fieldsOf(open), {
      cookie: cookieOf(open, "__Host-bellhop_form"),
    });
    // Also at once, before a click.
    const opened = [used, replaced, expired, newSecret(), "x"].map((token) =>
      get(`/sign-in/link?token=${token}`),
    );
    for (const page of [late, await get("/sign-in/link"), ...(await Promise.all(opened))]) {
      assert.equal(page.status, 401);
      assert.doesNotMatch(page.text, /Welcome/);
      assert.match(page.text, /<h1>This link no longer works<\/h1>/);
      assert.match(page.text, /<a href="\/sign-in">/);
    }
  });

  it("answer each failure with an HTML page under its own status", async (test) => {
    const failing = async (error: Error) => {
      const { mock } = test.mock.method(api.services.signIn, "requestLink", () => Promise.reject(error));
      const page = await send("/sign-in", { email: newEmail() });
      mock.restore();
      return page;
    };
    const source = { remoteAddress: "192.0.2.70" };
    for (let mails = 0; mails < 20; mails += 1)
      assert.equal((await send("/sign-in", { email: newEmail() }, {}, source)).status, 200);
    const cases: [() => Promise<Answer>, number, RegExp][] = [
      [() => send("/sign-in", { email: newEmail() }, {}, source), 429, /Please wait 1[45] minutes/],
      [() => failing(databaseAway()), 503, /Not available right now/],
      [() => failing(new Error("secret detail")), 500, /The fault is on our side/],
      [() => send("/sign-in", { email: "x".repeat(17_000) }), 413, /Request body too large/],
      [() => send("/sign-in", { email: "a" }, { "content-type": "application/json" }), 415, /did not work/],
      [() => get("/sign-in/link?token=a&token=b"), 400, /did not work/],
    ];
    for (const [ask, status, text] of cases) {
      const page = await ask();
      assert.equal(page.status, status);
      assert.match(page.text, text);
      assert.match(String(page.headers["content-type"]), /^text\/html/);
      assert.doesNotMatch(page.text, /secret detail/);
      assertProtected(page);
      if (status !== 429) continue;
      const retryAfter = Number(page.headers["retry-after"]);
      assert.ok(retryAfter > 840 && retryAfter <= 900, String(retryAfter));
    }
  });

  it("escape untrusted values wherever they show them", async () => {
    const { email } = await (await api.openTeam(HOSTILE)).signIn("eve", "member");
    const pages = [
      await send("/sign-in", { email: HOSTILE }),
      await send("/sign-in", { email: HOSTILE.replace("@", "") }),
      await get(`/sign-in?next=${encodeURIComponent(`/v1/oauth/authorize?x="><script>alert(1)</script>`)}`),
      await click(await newLink(email)),
      await get(`/sign-in/link?token=${encodeURIComponent(HOSTILE)}`),
    ];
    for (const { text } of pages) {
      assert.doesNotMatch(text, /<script|<img|onerror='/);
    }
    assert.ok(pages[0]?.text.includes("&lt;script&gt;alert(1)&lt;/script&gt;"));
  });

  it("send headers that forbid scripts, other resources, framing and referrers", async () => {
    for (const page of [
      await get("/sign-in"),
      await send("/sign-in", { email: newEmail() }),
      await get(`/sign-in/link?token=${await newLink()}`),
      await click(newSecret()),
    ])
      assertProtected(page);
  });

  it("are not part of the OpenAPI document", async () => {
    const { paths } = (await get("/openapi.json")).body;
    assert.ok(!Object.keys(paths).some((path) => path.startsWith("/sign-in")));
  });

  it("keep tokens out of the log, which has the route pattern", async () => {
    const token = await newLink();
    await click(token);
    const lines = JSON.stringify(api.lines);
    assert.ok(lines.includes('"/sign-in/link"'));
    assert.ok(!lines.includes(token));
  });
});

describe("html", () => {
  it("escapes each value, except values that are Html already", () => {
    const inner = html`<b title="${`"'<>&`}">${5}</b>`;
    assert.equal(String(html`<p>${inner}${null}${undefined}${[inner, inner]}</p>`).match(/<b /g)?.length, 3);
    assert.equal(String(inner), '<b title="&quot;&#39;&lt;&gt;&amp;">5</b>');
    assert.ok(inner instanceof Html);
  });
});

function assertProtected({ headers, text }: Answer): void {
  const style = /<style>([\s\S]*?)<\/style>/.exec(text)?.[1] ?? "";
  const hash = createHash("sha256").update(style).digest("base64");
  assert.equal(
    headers["content-security-policy"],
    `default-src 'none'; style-src 'sha256-${hash}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  );
  assert.equal(headers["referrer-policy"], "no-referrer");
  assert.equal(headers["cache-control"], "no-store");
  assert.equal(headers["x-content-type-options"], "nosniff");
  assert.doesNotMatch(text, /<script|https?:\/\/| style=| on\w+=/i);
}

/** The fields of the form of a page, as a browser would send them. */
function fieldsOf({ text }: Answer): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const [, name = "", value = ""] of text.matchAll(
    /<input type="hidden" name="(\w+)" value="([^"]*)">/g,
  ))
    fields[name] = value.replaceAll("&amp;", "&");
  return fields;
}

function setCookie({ headers }: Answer, name: string): string {
  return [headers["set-cookie"] ?? []].flat().find((cookie) => cookie.startsWith(`${name}=`)) ?? "";
}

function cookieOf(answer: Answer, name: string): string {
  return setCookie(answer, name).split(";")[0] ?? "";
}
