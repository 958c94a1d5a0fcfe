import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, beforeEach, describe, it } from "node:test";
import { Html, html } from "../../src/domain/html.ts";
import { Problem } from "../../src/domain/problem.ts";
import { newSecret } from "../../src/service/access/secret-hash.ts";
import { createFakeServices } from "./fake-services.ts";
import { type Answer, createTestApi, type TestApi, toAnswer } from "./test-api.ts";

const AUTHORIZE = "/v1/oauth/authorize?client_id=app_1&state=a%26b";
const HOSTILE = `"><script>alert(1)</script><img src=x onerror='alert(1)'>@example.com`;

describe("the sign-in pages", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });
  after(() => api.app.close());
  beforeEach(() => {
    const { links } = api.services;
    for (const list of [links.asked, links.exchanged]) list.length = 0;
    links.refusal = null;
  });

  const get = async (url: string, headers: Record<string, string> = {}) =>
    toAnswer(await api.app.inject({ url, headers }));
  const send = async (url: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    toAnswer(
      await api.app.inject({
        method: "POST",
        url,
        payload: new URLSearchParams(fields).toString(),
        headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
      }),
    );
  const newLink = (nextPath: string | null = null, teamName = "Acme") => {
    const token = newSecret();
    api.services.links.links.set(token, { email: "ada@example.com", nextPath, teamName });
    return token;
  };
  /** What a browser does with the page of a link: keeps its cookie, and sends its form with it. */
  const click = async (token: string) => {
    const page = await get(`/sign-in/link?token=${token}`);
    return send("/sign-in/link", fieldsOf(page), { cookie: cookieOf(page, "bellhop_form") });
  };

  it("ask for an address, and mail the link", async () => {
    const page = await get("/sign-in");
    assert.equal(page.status, 200);
    assert.match(page.text, /<label for="email">/);
    assert.match(page.text, /<input type="email" id="email" name="email"/);
    assert.match(page.text, /<form method="post" action="\/sign-in">/);

    const sent = await send("/sign-in", { email: "ada@example.com" });
    assert.equal(sent.status, 200);
    assert.match(sent.text, /<h1>Check your mail<\/h1>/);
    assert.deepEqual(api.services.links.asked, [
      { email: "ada@example.com", address: "127.0.0.1", nextPath: null },
    ]);
  });

  it("say the same of every address", async () => {
    const [a, b] = await Promise.all(
      ["ada@example.com", "bob@example.com"].map((email) => send("/sign-in", { email })),
    );
    assert.equal(a?.text, b?.text.replaceAll("bob@", "ada@"));
  });

  it("show the form again, with what was typed, for an address that is none", async () => {
    const { status, text } = await send("/sign-in", { email: "nonsense", next: AUTHORIZE });
    assert.equal(status, 400);
    assert.match(text, /role="alert">Please enter a valid mail address/);
    assert.match(text, /value="nonsense"/);
    assert.match(text, /name="next" value="\/v1\/oauth\/authorize\?client_id=app_1&amp;state=a%26b"/);
    assert.equal((await send("/sign-in", {})).status, 400);
  });

  it("lead nobody by our mail to where the consent page would send them on without a question", async () => {
    const { oauth, links } = api.services;
    for (const result of [
      { result: "returned", location: "https://evil.example/?error=invalid_request" },
      { result: "refused", reason: "Unknown." },
    ] as const) {
      oauth.result = result;
      await send("/sign-in", { email: "ada@example.com", next: AUTHORIZE });
    }
    oauth.result = null;

    assert.deepEqual(
      links.asked.map(({ nextPath }) => nextPath),
      [null, null],
    );
  });

  it("remember where the visitor wanted to go, if that is our consent page and nowhere else", async () => {
    const page = await get(`/sign-in?next=${encodeURIComponent(AUTHORIZE)}`);
    assert.equal(fieldsOf(page).next, AUTHORIZE);
    const sent = await send("/sign-in", { email: "ada@example.com", next: AUTHORIZE });
    assert.ok(sent.text.includes(`<a href="/sign-in?next=${encodeURIComponent(AUTHORIZE)}">ask again</a>`));

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
      await send("/sign-in", { email: "ada@example.com", next });
    }
    assert.deepEqual(
      api.services.links.asked.map(({ nextPath }) => nextPath),
      [AUTHORIZE, ...elsewhere.map(() => null)],
    );
  });

  it("need a click: a scanner that fetches the link, with GET or HEAD, does not use it up", async () => {
    const token = newLink();
    for (let round = 0; round < 3; round += 1) {
      assert.equal((await get(`/sign-in/link?token=${token}&utm_source=scanner`)).status, 200);
      const head = await api.app.inject({ method: "HEAD", url: `/sign-in/link?token=${token}` });
      assert.equal(head.statusCode, 200);
    }
    assert.equal(api.services.links.exchanged.length, 0);

    const { status, text } = await click(token);
    assert.equal(status, 200);
    assert.match(text, /<h1>You are signed in<\/h1>/);
    assert.match(
      text,
      /As <strong>ada@example\.com<\/strong>, in the team <strong><bdi>Acme<\/bdi><\/strong>/,
    );
  });

  it("keep the session in a cookie that only the consent page gets, and no script reads", async () => {
    const cookie = setCookie(await click(newLink()), "bellhop_session");
    assert.equal(
      cookie,
      "bellhop_session=head.session.signature; Path=/v1/oauth/authorize; Expires=Mon, 02 Mar 2026 09:30:00 GMT; " +
        "HttpOnly; SameSite=Lax",
    );
  });

  it("send the cookie over https only where Bellhop is reached by https", async () => {
    const services = createFakeServices();
    const secure = await createTestApi(services, { publicUrl: "https://bellhop.example" });
    const token = newSecret();
    services.links.links.set(token, { email: "ada@example.com", nextPath: null });
    const page = toAnswer(await secure.app.inject({ url: `/sign-in/link?token=${token}` }));
    const answer = await secure.app.inject({
      method: "POST",
      url: "/sign-in/link",
      payload: new URLSearchParams(fieldsOf(page)).toString(),
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        cookie: cookieOf(page, "bellhop_form"),
      },
    });
    assert.match(setCookie(page, "bellhop_form"), /; Secure$/);
    assert.match(setCookie(toAnswer(answer), "bellhop_session"), /; Secure$/);
    await secure.app.close();
  });

  it("lead on to where the visitor wanted to go", async () => {
    const answer = await click(newLink(AUTHORIZE));
    assert.equal(answer.status, 303);
    assert.equal(answer.headers.location, AUTHORIZE);
    assert.equal(answer.headers["cache-control"], "no-store");
    assert.match(setCookie(answer, "bellhop_session"), /^bellhop_session=head/);
  });

  it("refuse a form of another site, which would sign its visitor in as somebody else", async () => {
    const token = newLink();
    const page = await get(`/sign-in/link?token=${token}`);
    const fields = fieldsOf(page);
    const form = fields.form ?? "";
    const cookie = cookieOf(page, "bellhop_form");
    for (const [sent, cookies] of [
      [{ token }, ""],
      [{ token, form }, ""],
      [{ token }, cookie],
      [{ token, form: newSecret() }, cookie],
      [{ token, form: "" }, "bellhop_form="],
      [{ token, form: "x" }, "bellhop_form=x"],
      [{ token, form: "undefined" }, "bellhop_form=undefined"],
    ] as const) {
      const answer = await send("/sign-in/link", sent, cookies === "" ? {} : { cookie: cookies });
      assert.equal(answer.status, 403);
      assert.match(answer.text, /<h1>That did not come from here<\/h1>/);
      assert.equal(answer.headers["set-cookie"], undefined);
    }
    assert.equal(api.services.links.exchanged.length, 0);
    assert.match(setCookie(page, "bellhop_form"), /; Path=\/sign-in; HttpOnly; SameSite=Lax$/);
  });

  it("keep the key of a browser that has one, so that two tabs do not disturb each other", async () => {
    const first = await get(`/sign-in/link?token=${newLink()}`);
    const cookie = cookieOf(first, "bellhop_form");
    const second = await get(`/sign-in/link?token=${newLink()}`, { cookie: `a=b; ${cookie}; c=d` });
    assert.equal(fieldsOf(second).form, fieldsOf(first).form);
    const chosen = await get(`/sign-in/link?token=${newLink()}`, { cookie: "bellhop_form=chosen" });
    assert.match(fieldsOf(chosen).form ?? "", /^[0-9a-f]{64}$/);
  });

  it("are friendly about a link that no longer works", async () => {
    const used = newLink();
    await click(used);
    for (const page of [await click(used), await get("/sign-in/link"), await get("/sign-in/link?token=x")]) {
      assert.equal(page.status, 401);
      assert.match(page.text, /<h1>This link no longer works<\/h1>/);
      assert.match(page.text, /<a href="\/sign-in">/);
    }
  });

  it("answer every failure with a page, under its own status", async () => {
    const cases: [() => Promise<Answer>, number, RegExp][] = [
      [
        () => {
          api.services.links.refusal = new Problem("rate_limited", {}, { retryAfterSeconds: 900 });
          return send("/sign-in", { email: "ada@example.com" });
        },
        429,
        /Please wait 15 minutes/,
      ],
      [
        () => {
          api.services.links.refusal = new Problem("database_away");
          return send("/sign-in", { email: "ada@example.com" });
        },
        503,
        /Not available right now/,
      ],
      [
        () => {
          api.services.links.refusal = new Error("secret detail");
          return send("/sign-in", { email: "ada@example.com" });
        },
        500,
        /The fault is on our side/,
      ],
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
      if (status === 429) assert.equal(page.headers["retry-after"], "900");
    }
  });

  it("show what strangers chose as text, wherever it stands", async () => {
    const pages = [
      await send("/sign-in", { email: HOSTILE }),
      await send("/sign-in", { email: HOSTILE.replace("@", "") }),
      await get(`/sign-in?next=${encodeURIComponent(`/v1/oauth/authorize?x="><script>alert(1)</script>`)}`),
      await click(newLink(null, HOSTILE)),
      await get(`/sign-in/link?token=${encodeURIComponent(HOSTILE)}`),
    ];
    for (const { text } of pages) {
      assert.doesNotMatch(text, /<script|<img|onerror='/);
    }
    assert.ok(pages[0]?.text.includes("&lt;script&gt;alert(1)&lt;/script&gt;"));
  });

  it("run no script, load nothing, cannot be framed and pass no address on", async () => {
    for (const page of [
      await get("/sign-in"),
      await send("/sign-in", { email: "ada@example.com" }),
      await get(`/sign-in/link?token=${newLink()}`),
      await click(newLink()),
      await click(newSecret()),
    ])
      assertProtected(page);
  });

  it("are not part of the reference", async () => {
    const { paths } = (await get("/openapi.json")).body;
    assert.ok(!Object.keys(paths).some((path) => path.startsWith("/sign-in")));
  });

  it("keep tokens out of the log, which has the pattern of the route", async () => {
    const token = newLink();
    await click(token);
    const lines = JSON.stringify(api.lines);
    assert.ok(lines.includes('"/sign-in/link"'));
    assert.ok(!lines.includes(token));
  });
});

describe("a template of HTML", () => {
  it("escapes every value and leaves what is HTML already", () => {
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
