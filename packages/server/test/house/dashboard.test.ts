import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import type { Browser, Page } from "playwright-core";
import { ROOT, SERVER } from "../places.ts";
import { createTestDatabase, type TestDatabase } from "../test-database.ts";
import { startTestMailbox, type TestMailbox } from "../test-mailbox.ts";
import { startTestTarget, type TestTarget } from "../test-target.ts";
import { findBarriers, openChromium, SKIPPED } from "./chromium.ts";
import { type Json, launch, ready, type ServerProcess } from "./server-process.ts";

const OWNER = "owner@example.com";
const HOSTILE = `<img src=x onerror="window.hit=1"><script>window.hit=1</script>`;
const PATHS = [
  "/",
  "/queues",
  "/queues/errands",
  "/tasks",
  "/failures",
  "/new",
  "/schedules",
  "/vault",
  "/providers",
  "/keys",
  "/applications",
  "/team",
  "/audit",
  "/system",
  "/subscriptions",
];

/** One person's visit in a real browser, from the mail to the sign-out. What a step makes the next ones use. */
describe("the dashboard in a browser", { skip: SKIPPED }, () => {
  let test: TestDatabase;
  let mailbox: TestMailbox;
  let target: TestTarget;
  let server: ServerProcess;
  let browser: Browser;
  let page: Page;
  let failing = "";
  /** What the browser complained of: a blocked script or style, an error that no code caught. */
  const complaints: string[] = [];

  before(async () => {
    execFileSync(process.execPath, [join(ROOT, "scripts/page.mjs")], { stdio: "ignore" });
    [test, mailbox, target, browser] = await Promise.all([
      createTestDatabase({ template: "template0" }),
      startTestMailbox(),
      startTestTarget(),
      openChromium(),
    ]);
    const { host, port, user, database } = test.connection;
    server = await ready(
      launch({
        DATABASE_URL: `postgres://${user}@/${database}?host=${encodeURIComponent(host)}&port=${port}`,
        BELLHOP_OWNER_EMAIL: OWNER,
        BELLHOP_SMTP_URL: `smtp://127.0.0.1:${mailbox.port}`,
        BELLHOP_VAULT_KEYS: `test:${Buffer.alloc(32, 7).toString("base64")}`,
      }),
    );
    page = await browser.newPage();
    page.setDefaultTimeout(10_000);
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("console", (message) => {
      // A refusal that the page shows is also an error of the console's: the first look finds nobody signed in.
      const isRefusal = /the server responded with a status of 4\d\d/.test(message.text());
      if (message.type() === "error" && !isRefusal) complaints.push(message.text());
    });
    page.on("dialog", (dialog) => {
      complaints.push(`dialog: ${dialog.message()}`);
      dialog.dismiss();
    });
  });
  after(async () => {
    await browser?.close();
    server?.signal("SIGKILL");
    await server?.exited;
    await target?.close();
    await mailbox?.close();
    await test?.drop();
  });

  const go = (path: string) => page.goto(`${server.url}${path}`);
  const button = (name: string | RegExp) =>
    page.getByRole("button", { name, exact: typeof name === "string" });
  const row = (text: string) => page.getByRole("row").filter({ hasText: text });
  const dialog = () => page.getByRole("dialog");
  const heading = (name: string | RegExp) => page.getByRole("heading", { level: 1, name });
  const states = (text: string) => heading(new RegExp(`^${text}`, "i"));
  const newTask = async (url: string, { queue = "errands", body = "{}", delay = 0 } = {}) => {
    await go(`/new?queue=${queue}`);
    await page.getByLabel("URL").fill(url);
    await page.getByLabel("Payload").fill(body);
    if (delay > 0) await page.getByLabel("In how many seconds").fill(String(delay));
    await button("Send and follow").click();
    await page.waitForURL(/\/tasks\/task_/);
    return new URL(page.url()).pathname.split("/").at(-1) ?? "";
  };

  it("signs in by a link in a mail", async () => {
    await go("/tasks?status=failed");
    await page.getByLabel("Your mail address").fill(OWNER);
    await button("Send me a link").click();
    await page.getByText("A link is on its way").waitFor();
    const [mail] = await mailbox.received(1);
    const link = /http\S+\/sign-in\/link\?token=[0-9a-f]{64}/.exec(mail?.content.text ?? "")?.[0];
    await page.goto(link ?? "");
    await button("Sign in").click();
    await page.waitForURL(`${server.url}/`);
    await page.getByText(OWNER).waitFor();
    const cookies = await page.context().cookies();
    const { httpOnly, sameSite } = cookies.find(({ name }) => name === "bellhop_page") ?? {};
    assert.deepEqual([httpOnly, sameSite], [true, "Strict"]);
    assert.equal(await page.evaluate("document.cookie"), "");
  });

  it("makes a queue, pauses and resumes it", async () => {
    await go("/queues");
    await button("New queue").click();
    await dialog().getByLabel("Name").fill("errands");
    await dialog().getByLabel("Retries").fill("1");
    await dialog().getByLabel("First retry after").fill("0");
    await dialog().getByRole("button", { name: "Create" }).click();
    await row("errands").getByRole("button", { name: "Pause" }).click();
    await row("errands").getByText("paused").waitFor();
    await row("errands").getByRole("button", { name: "Resume" }).click();
    await row("errands").getByText("paused").waitFor({ state: "detached" });
  });

  it("sends a task and watches it complete", async () => {
    target.answer = (_call, response) => setTimeout(() => response.end('{"answer":42}'), 300);
    await newTask(target.url, { body: '{"order":12345678901234567890}' });
    await states("completed").waitFor();
    assert.equal(target.calls.at(-1)?.body, '{"order":12345678901234567890}');
    assert.ok((await page.getByText("12345678901234567890").count()) > 0);
  });

  it("shows the attempts of a task that fails, and retries it", async () => {
    target.answer = (_call, response) => response.writeHead(503).end("out of order");
    failing = await newTask(target.url);
    await states("failed").waitFor();
    await page.getByText("Attempts (2 of at most 2)").waitFor();
    await page.getByText("out of order").first().waitFor();

    await go("/failures");
    await row("127.0.0.1").getByText("503").waitFor();
    target.answer = (_call, response) => response.end("{}");
    await go(`/tasks/${failing}`);
    await button("Retry").click();
    await states("completed").waitFor();
  });

  it("retries a group of failures as a whole", async () => {
    target.answer = (_call, response) => response.writeHead(500).end();
    const task = { queue: "errands", webhook_url: target.url, max_retries: 0 };
    const { json } = await server.api("POST", "/v1/tasks/batch", { tasks: [task, task, task] });
    const ids: string[] = json.results.map((result: Json) => result.task.id);
    for (const id of ids) await server.ended(id);
    target.answer = (_call, response) => response.end("{}");
    await go("/failures");
    await row("500").getByRole("button", { name: /Retry/ }).click();
    await dialog().getByRole("button", { name: "Retry 3 tasks" }).click();
    await dialog().getByText("3 of 3 tasks · completed").waitFor();
    for (const id of ids) assert.equal((await server.ended(id)).status, "completed");
    await dialog().getByRole("button", { name: "Done" }).click();
  });

  it("cancels a task that waits", async () => {
    await newTask(target.url, { delay: 3600 });
    await button("Cancel").click();
    await states("cancelled").waitFor();
  });

  it("stores a credential and revokes it, and never shows it again", async () => {
    await go("/vault");
    await button("Store a credential").first().click();
    await dialog().getByLabel("Name").fill("some vendor");
    await dialog().getByLabel("Value").fill("Bearer very-secret");
    await dialog().getByRole("button", { name: "Store" }).click();
    await row("some vendor").getByText(/tok_/).waitFor();
    assert.doesNotMatch(await page.content(), /very-secret/);
    await row("some vendor")
      .getByRole("button", { name: /Revoke/ })
      .click();
    await dialog().getByRole("button", { name: "Revoke it" }).click();
    await row("some vendor").waitFor({ state: "detached" });
  });

  it("makes a key, which works until it is revoked", async () => {
    await go("/keys");
    await button("New key").first().click();
    await dialog().getByLabel("Name").fill("billing");
    await dialog().getByRole("button", { name: "Create" }).click();
    const key = (await dialog().locator("code").textContent()) ?? "";
    assert.match(key, /^bh_live_/);
    const ask = async () =>
      (await fetch(`${server.url}/v1/me`, { headers: { authorization: `Bearer ${key}` } })).status;
    assert.equal(await ask(), 200);
    await button("I have kept it").click();
    await row("billing")
      .getByRole("button", { name: /Revoke/ })
      .click();
    await dialog().getByRole("button", { name: "Revoke it" }).click();
    await row("billing").waitFor({ state: "detached" });
    assert.equal(await ask(), 401);
  });

  it("shows as text what strangers wrote: names, payloads, headers and answers", async () => {
    target.answer = (_call, response) =>
      response.writeHead(200, { "content-type": "text/html", "x-hostile": HOSTILE }).end(HOSTILE);
    const { json } = await server.api("POST", "/v1/tasks", {
      queue: "errands",
      webhook_url: `${target.url}?q=${encodeURIComponent(HOSTILE)}`,
      payload: { [HOSTILE]: HOSTILE },
      headers: { "x-text": HOSTILE },
      tags: [HOSTILE.slice(0, 60)],
      metadata: { note: HOSTILE },
    });
    await server.api("POST", "/v1/apikeys", { name: HOSTILE });
    await server.ended(json.id);
    for (const path of [`/tasks/${json.id}`, "/tasks", "/keys", "/audit", "/"]) {
      await go(path);
      await page.locator("h1").first().waitFor();
    }
    await go(`/tasks/${json.id}`);
    await states("completed").waitFor();
    assert.ok((await page.getByText("onerror=").count()) > 0);
    assert.equal(await page.evaluate("window.hit"), undefined);
    assert.equal(await page.locator("img[src='x']").count(), 0);
  });

  it("keeps nobody out: no serious barrier on any page, in either theme", async () => {
    const found: string[] = [];
    for (const path of [...PATHS, `/tasks/${failing}`]) {
      await go(path);
      await page.locator("h1").first().waitFor();
      for (const [colorScheme, what] of [
        ["light", "everything"],
        ["dark", "colours"],
      ] as const) {
        await page.emulateMedia({ colorScheme });
        await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor();
        for (const barrier of await findBarriers(page, what)) found.push(`${path} ${colorScheme} ${barrier}`);
      }
    }
    assert.deepEqual(found, []);
  });

  it("goes to another team, and sees that one alone", async () => {
    await go("/queues");
    await page.evaluate(`fetch("/v1/teams", {
      method: "POST", body: '{"name":"Second"}', headers: { "content-type": "application/json", "bellhop-page": "1" },
    }).then(() => null)`);
    await page.reload();
    await page.getByTitle("Team, theme and sign out").click();
    await page.getByRole("menuitem", { name: "Second" }).click();
    await page.getByTitle("Team, theme and sign out").getByText("Second").waitFor();
    await go("/queues");
    await row("default").waitFor();
    assert.equal(await row("errands").count(), 0);
  });

  it("sends less than 300 kB of script for its first look", async () => {
    await go("/");
    await heading(/./).first().waitFor();
    const scripts = await page.evaluate<string[]>(
      "performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => name.endsWith('.js'))",
    );
    const sizes = scripts.map((url) => {
      const file = join(SERVER, "dist/page", new URL(url).pathname);
      return gzipSync(readFileSync(file)).length;
    });
    const total = sizes.reduce((sum, size) => sum + size, 0);
    assert.ok(sizes.length > 0 && total < 300_000, `${total} bytes in ${sizes.length} files`);
  });

  it("signs out, and the browser is nobody's", async () => {
    await page.emulateMedia({ colorScheme: "light" });
    await go("/");
    await page.getByTitle("Team, theme and sign out").click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByLabel("Your mail address").waitFor();
    const names = (await page.context().cookies()).map(({ name }) => name);
    assert.ok(!names.includes("bellhop_page"), names.join(", "));
  });

  it("was refused nothing by its own policy, and threw nothing", () => {
    assert.deepEqual(complaints, []);
  });
});
