import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Agent, request } from "undici";
import { createTestDatabase, type TestDatabase } from "../test-database.ts";
import { startTestMailbox, type TestMailbox } from "../test-mailbox.ts";
import { type Json, launch, ready, type ServerProcess, until } from "./server-process.ts";

const OWNER = "owner@example.com";

/** A person's way in, over real sockets: one node mails, the other has no mail server and logs its links. */
describe("a person", () => {
  const agent = new Agent();
  let test: TestDatabase;
  let mailbox: TestMailbox;
  let node: ServerProcess;
  let other: ServerProcess;

  before(async () => {
    test = await createTestDatabase();
    mailbox = await startTestMailbox();
    const { host, port, user, database } = test.connection;
    const environment = {
      DATABASE_URL: `postgres://${user}@/${database}?host=${encodeURIComponent(host)}&port=${port}`,
      BELLHOP_OWNER_EMAIL: OWNER,
    };
    node = launch({ ...environment, BELLHOP_SMTP_URL: `smtp://127.0.0.1:${mailbox.port}` });
    other = launch(environment);
    await Promise.all([node, other].map(ready));
  });
  after(async () => {
    for (const server of [node, other]) {
      if (server?.child.exitCode !== null) continue;
      server.signal("SIGKILL");
      await server.exited;
    }
    await agent.destroy();
    await mailbox.close();
    await test.drop();
  });

  async function ask(
    server: ServerProcess,
    method: "GET" | "POST" | "DELETE",
    path: string,
    options: {
      body?: object;
      form?: Record<string, string>;
      token?: string;
      cookie?: string;
      page?: true;
    } = {},
  ) {
    const { body, form, token, cookie, page } = options;
    const payload = form ? new URLSearchParams(form).toString() : body && JSON.stringify(body);
    const type = form ? "application/x-www-form-urlencoded" : "application/json";
    const answer = await request(path.startsWith("http") ? path : `${server.url}${path}`, {
      dispatcher: agent,
      method,
      headers: {
        ...(payload !== undefined && { "content-type": type }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(cookie !== undefined && { cookie }),
        ...(page && { "bellhop-page": "1" }),
      },
      ...(payload !== undefined && { body: payload }),
    });
    const text = await answer.body.text();
    const isJson = String(answer.headers["content-type"]).startsWith("application/json");
    const json: Json = isJson ? JSON.parse(text) : null;
    return { status: answer.statusCode, headers: answer.headers, text, json };
  }
  /** The link in the mail that comes next. */
  async function nextLink(send: () => Promise<{ status: number }>, status: number): Promise<URL> {
    const count = mailbox.mails.length;
    assert.equal((await send()).status, status);
    const mails = await mailbox.received(count + 1);
    const link = /http\S+\/sign-in\/link\?token=[0-9a-f]{64}/.exec(mails[count]?.content.text ?? "")?.[0];
    assert.ok(link);
    return new URL(link);
  }
  const tokenOf = (link: URL) => link.searchParams.get("token") ?? "";
  const askByApi = (email: string) =>
    nextLink(() => ask(node, "POST", "/v1/auth/magic-link", { body: { email } }), 202);
  const openSession = async (email: string): Promise<Json> => {
    const token = tokenOf(await askByApi(email));
    const { status, json } = await ask(node, "POST", "/v1/auth/session", { body: { token } });
    assert.equal(status, 200);
    return json;
  };

  it("signs in on the pages by a mailed link, even after a scanner opened it", async () => {
    const asked = await ask(node, "GET", "/sign-in");
    assert.match(asked.text, /<form method="post" action="\/sign-in">/);
    const link = await nextLink(() => ask(node, "POST", "/sign-in", { form: { email: OWNER } }), 200);
    const [mail] = mailbox.mails;
    assert.deepEqual([link.origin, mail?.to, mail?.from], [node.url, [OWNER], "bellhop@localhost"]);

    // A scanner follows the link first, and the person all the same gets in.
    await ask(node, "GET", link.href);
    const page = await ask(node, "GET", link.href);
    const form = Object.fromEntries(
      [...page.text.matchAll(/name="(\w+)" value="(\w+)"/g)].map(([, name, value]) => [name, value]),
    );
    const cookie = String(page.headers["set-cookie"]).split(";")[0] ?? "";
    const signedIn = await ask(node, "POST", "/sign-in/link", { form, cookie });

    assert.deepEqual([signedIn.status, signedIn.headers.location], [303, "/"]);
    const [held = ""] = [signedIn.headers["set-cookie"] ?? []].flat().map((text) => text.split(";")[0] ?? "");
    assert.match(held, /^bellhop_page=[\w-]+\.[\w-]+\.[\w-]+$/);
    const { status, json } = await ask(other, "GET", "/page/session", { cookie: held, page: true });
    assert.deepEqual(
      [status, json.person.email, json.team.name, json.role, json.isOperator, json.signIn],
      [200, OWNER, "Operator", "owner", true, { mail: false, linkInLog: true }],
    );
    const again = await ask(node, "POST", "/sign-in/link", { form, cookie });
    assert.equal(again.status, 401);
    assert.match(again.text, /This link no longer works/);
  });

  it("signs in by the API on every node, and signs out", async () => {
    const { session, user, team } = await openSession("ada@example.com");
    assert.deepEqual([user.email, team.name, team.plan], ["ada@example.com", "ada's team", "free"]);
    const { token } = session;
    for (const server of [node, other])
      assert.equal((await ask(server, "GET", "/v1/queues", { token })).status, 200);

    const out = await ask(node, "DELETE", "/v1/auth/session", { token });
    assert.equal(out.status, 200);
    assert.ok(out.json.session.endedAt);
    const endedMs = Date.now();
    const here = await ask(node, "GET", "/v1/queues", { token });
    assert.equal(here.status, 401);
    assert.deepEqual(here.json, { error: "Invalid or expired token", code: "token_invalid" });
    await until(async () => (await ask(other, "GET", "/v1/queues", { token })).status === 401);
    // Unheard, it would have been known for a minute.
    assert.ok(Date.now() - endedMs < 20_000);
  });

  it("switches to another of their teams", async () => {
    const first = await openSession("bob@example.com");
    const created = await ask(node, "POST", "/v1/teams", {
      body: { name: "Second" },
      token: first.session.token,
    });
    const { status, json } = await ask(node, "POST", "/v1/auth/session/team", {
      body: { teamId: created.json.team.id },
      token: first.session.token,
    });

    assert.equal(status, 200);
    assert.deepEqual([json.team.name, json.session.expiresAt], ["Second", first.session.expiresAt]);
    const me = await ask(other, "GET", "/v1/me", { token: json.session.token });
    assert.equal(me.json.team.name, "Second");
    assert.equal((await ask(node, "GET", "/v1/me", { token: first.session.token })).status, 401);
  });

  it("finds the link in the log of a server without a mail server", async () => {
    assert.match((await ask(other, "GET", "/sign-in")).text, /in the log of this server/);
    assert.match((await ask(node, "GET", "/sign-in")).text, /We mail you a link/);
    const body = { email: "carol@example.com" };
    assert.equal((await ask(other, "POST", "/v1/auth/magic-link", { body })).status, 202);
    await until(() => other.logged("mail.not_sent").length > 0);
    const token = /token=([0-9a-f]{64})/.exec(other.logged("mail.not_sent")[0].text)?.[1] ?? "";
    assert.equal((await ask(node, "POST", "/v1/auth/session", { body: { token } })).status, 200);
  });

  it("leaves no link, token or address in the log of a server with a mail server", async () => {
    const link = await askByApi("dave@example.com");
    const { json } = await ask(node, "POST", "/v1/auth/session", { body: { token: tokenOf(link) } });
    node.signal("SIGTERM");
    assert.equal(await node.exited, 0);

    assert.match(node.stderr, /mail\.sent/);
    for (const secret of [tokenOf(link), json.session.token, "dave@"])
      assert.ok(!(node.stderr + node.stdout).includes(secret), secret);
  });
});
