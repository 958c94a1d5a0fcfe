import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import * as oauth from "oauth4webapi";
import type { Page } from "playwright-core";
import { PATIENCE_MS } from "../patience.ts";
import { SERVER } from "../places.ts";
import type { TestMailbox } from "../test-mailbox.ts";
import type { TestTarget } from "../test-target.ts";
import { findBarriers, findSmall, findWide, SKIPPED } from "./chromium.ts";
import { type DashboardScene, openDashboard, startRelay } from "./dashboard-scene.ts";
import { type Json, type ServerProcess, until } from "./server-process.ts";

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
  "/schedules/nightly",
  "/vault",
  "/providers",
  "/keys",
  "/applications",
  "/team",
  "/audit",
  "/system",
  "/subscriptions",
  "/alerts",
  "/flows",
];

/** Buttons whose names say so. */
const OPENS_DIALOG = /…$|^(New (alert|key|queue|schedule)|Set limits|Store a|Register an|Invite)/;

/** One person's visit in a real browser, from the mail to the sign-out. What a step makes the next ones use. */
describe("the dashboard in a browser", { skip: SKIPPED }, () => {
  let scene: DashboardScene;
  let mailbox: TestMailbox;
  let target: TestTarget;
  let server: ServerProcess;
  let page: Page;
  let failing = "";
  let theme: "light" | "dark" = "light";
  /** What is wider than a phone, found while every page is looked at. */
  const wide: string[] = [];
  /** The dialogs that were opened meanwhile, and the barriers in them. */
  const dialogs: string[] = [];
  const inDialogs: string[] = [];

  before(async () => {
    scene = await openDashboard(OWNER);
    ({ mailbox, target, server, page } = scene);
  });
  after(() => scene?.close());

  const go = (path: string) => page.goto(`${server.url}${path}`);
  const button = (name: string | RegExp) =>
    page.getByRole("button", { name, exact: typeof name === "string" });
  const row = (text: string) => page.getByRole("row").filter({ hasText: text });
  const dialog = () => page.getByRole("dialog");
  const heading = (name: string | RegExp) => page.getByRole("heading", { level: 1, name });
  const states = (text: string) => heading(new RegExp(`^${text}`, "i"));
  /** The page has its data. */
  const loaded = async () => {
    await page.locator("h1").first().waitFor();
    await page.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
  };
  /** As a link does: the browser keeps the page, and its scripts and axe compiled. */
  const follow = async (path: string) => {
    await page.evaluate(`document.querySelector("h1").classList.add("of-the-page-before")`);
    await page.evaluate(`history.pushState({}, "", ${JSON.stringify(path)})`);
    await page.locator("h1:not(.of-the-page-before)").first().waitFor();
    await loaded();
  };
  /** Everything in the theme that is on, and the colours in the other one, which stays on for the next look. */
  const findInBothThemes = async (where: string, within: string, withOtherColours: string) => {
    const barriers = await findBarriers(page, "everything", within);
    const found = barriers.map((barrier) => `${where} ${theme} ${barrier}`);
    theme = theme === "light" ? "dark" : "light";
    await page.emulateMedia({ colorScheme: theme });
    await page.locator(`html[data-mantine-color-scheme="${theme}"]`).waitFor();
    for (const barrier of await findBarriers(page, "colours", withOtherColours))
      found.push(`${where} ${theme} ${barrier}`);
    return found;
  };
  const lookAtDialog = async (name: string) => {
    await dialog().waitFor();
    dialogs.push(name);
    inDialogs.push(...(await findInBothThemes(name, '[role="dialog"]', '[role="dialog"]')));
    await page.keyboard.press("Escape");
    await dialog().waitFor({ state: "detached" });
  };
  const newTask = async (url: string, { queue = "errands", body = "{}", delay = 0 } = {}) => {
    await go(`/new?queue=${queue}`);
    await page.getByLabel("URL").fill(url);
    await page.getByLabel("Payload").fill(body);
    if (delay > 0) await page.getByLabel("Delay in seconds").fill(String(delay));
    await button("Send and follow").click();
    await page.waitForURL(/\/tasks\/task_/);
    return new URL(page.url()).pathname.split("/").at(-1) ?? "";
  };

  it("signs in by a mailed link, and returns to the requested page", async () => {
    await go("/tasks?status=failed");
    await page.getByLabel("Your mail address").fill(OWNER);
    await button("Send me a link").click();
    await page.getByText("Check your mail").waitFor();
    const [mail] = await mailbox.received(1);
    const link = /http\S+\/sign-in\/link\?token=[0-9a-f]{64}/.exec(mail?.content.text ?? "")?.[0];
    await page.goto(link ?? "");
    await button("Sign in").click();
    await page.waitForURL(`${server.url}/tasks?status=failed`);
    await page.getByText(OWNER).waitFor();
    const cookies = await page.context().cookies();
    const { httpOnly, sameSite } = cookies.find(({ name }) => name === "bellhop_page") ?? {};
    assert.deepEqual([httpOnly, sameSite], [true, "Strict"]);
    assert.equal(await page.evaluate("document.cookie"), "");
  });

  it("welcomes a new user: sends a sample task, follows it and shows its code", async () => {
    await go("/");
    await heading("Welcome to Bellhop").waitFor();
    assert.deepEqual(await findBarriers(page, "everything"), []);
    await button("Send it").click();
    await page.getByRole("status").getByText("completed").first().waitFor();
    await page.getByText("curl -X POST").waitFor();
    await page.getByText("TypeScript").click();
    await page.getByText('webhookUrl: "http://echo.bellhop.invalid/hello"').waitFor();
    await page.getByRole("link", { name: "What was sent, and what came back" }).click();
    await states("completed").waitFor();
    await page.getByText("Bellhop made this call").first().waitFor();
    await go("/");
    await page.getByText("All queues are keeping up").waitFor();
  });

  it("creates a queue, pauses and resumes it", async () => {
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

  it("sends a task and follows it to completion", async () => {
    target.answer = (_call, response) => setTimeout(() => response.end('{"answer":42}'), 300);
    await newTask(target.url, { body: '{"order":12345678901234567890}' });
    await states("completed").waitFor();
    assert.equal(target.calls.at(-1)?.body, '{"order":12345678901234567890}');
    assert.ok((await page.getByText("12345678901234567890").count()) > 0);
  });

  it("shows the attempts of a failed task, and retries it", async () => {
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

  it("finds, understands and retries a customer's failed tasks in fourteen keystrokes", async () => {
    const said = '{"error":{"message":"Card declined for cus_7"}}';
    target.answer = (_call, response) => response.writeHead(402).end(said);
    const task = { queue: "errands", webhook_url: target.url, max_retries: 0, tags: ["customer:cus_7"] };
    const other = { ...task, tags: ["customer:cus_8"] };
    const { json } = await server.api("POST", "/v1/tasks/batch", { tasks: [task, other, task] });
    const [first, theirs, second]: string[] = json.results.map((result: Json) => result.task.id);
    for (const id of [first, theirs, second]) await server.ended(id ?? "");
    target.answer = (_call, response) => response.end("{}");
    await go("/");
    await page.getByText("Card declined for cus_7").first().waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("cus_7");
    await page.getByRole("option", { name: /^Failed tasks with tag customer:cus_7/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/tag=customer%3Acus_7/);
    await page.getByLabel("Tasks", { exact: true }).getByText("Card declined for cus_7").nth(1).waitFor();
    for (const key of ["j", "x", "j", "x"]) await page.keyboard.press(key);
    await page.getByText("2 selected").waitFor();
    await page.keyboard.press("r");
    await dialog().getByText("Retry 2 tasks").waitFor();
    await page.keyboard.press("Tab");
    await dialog().getByRole("button", { name: "Retry" }).press("Enter");
    await dialog().waitFor({ state: "detached" });
    for (const id of [first, second]) assert.equal((await server.ended(id ?? "")).status, "completed");
    assert.equal((await server.ended(theirs ?? "")).status, "failed");
  });

  it("dismisses a group of failures, which names the customer it concerns most", async () => {
    await go("/failures");
    const group = row("Card declined for cus_7");
    await group.getByRole("link", { name: "customer:cus_8 1" }).waitFor();
    await group.getByRole("button", { name: "Dismiss …" }).click();
    await dialog().getByRole("button", { name: "Dismiss 1 task" }).click();
    await dialog().getByText("1 of 1 task · completed").waitFor();
    await dialog().getByRole("button", { name: "Done" }).click();
    await group.waitFor({ state: "detached" });
  });

  it("shows an open circuit breaker where its tasks are looked for, and closes it", async () => {
    const breaker = { failures: 2, ratio: 0.5, within: 60, cooldown: 600 };
    await server.api("POST", "/v1/queues", { name: "payments", breaker });
    target.answer = (_call, response) => response.writeHead(503).end();
    const task = { queue: "payments", webhook_url: target.url, max_retries: 0 };
    for (const _ of [1, 2]) await server.ended((await server.api("POST", "/v1/tasks", task)).json.id);
    await until(async () => (await server.api("GET", "/v1/breakers")).json.breakers.length === 1);
    const { json } = await server.api("POST", "/v1/tasks", task);
    target.answer = (_call, response) => response.end("{}");
    const { host } = new URL(target.url);
    await go("/");
    await row("payments").getByText(`${host} has been failing for`).waitFor();
    await go(`/tasks/${json.id}`);
    await page.getByText("circuit breaker").first().waitFor();
    await go("/failures");
    await page.getByLabel("Open circuit breakers").getByRole("link", { name: "payments" }).click();
    await page.getByLabel("Open circuit breakers").getByText(host).waitFor();
    assert.deepEqual(await findBarriers(page, "everything"), []);
    await button("Close it").click();
    await page.getByLabel("Open circuit breakers").waitFor({ state: "detached" });
    assert.equal((await server.ended(json.id)).status, "completed");
    await server.api("DELETE", "/v1/queues/payments");
  });

  it("shows the operator the nodes, the database and its disk", async () => {
    await go("/system");
    await page.getByText(/of at most \d+/).waitFor();
    await page.getByRole("columnheader", { name: "Loop lag" }).waitFor();
    await page.getByText("not held back").waitFor();
  });

  it("shows failures with the target's message and a retry button on a phone", async () => {
    target.answer = (_call, response) => response.writeHead(503).end('{"message":"Upstream 17 is down"}');
    const task = { queue: "errands", webhook_url: target.url, max_retries: 0 };
    const { json } = await server.api("POST", "/v1/tasks/batch", { tasks: [task, task] });
    for (const { task: made } of json.results) await server.ended(made.id);
    const storageState = await page.context().storageState();
    const phone = await page
      .context()
      .browser()
      ?.newContext({
        storageState,
        viewport: { width: 390, height: 844 },
        hasTouch: true,
        isMobile: true,
      });
    const hand = await phone?.newPage();
    assert.ok(hand !== undefined && phone !== undefined);
    hand.setDefaultTimeout(PATIENCE_MS);
    await hand.goto(server.url);
    await hand
      .getByRole("status")
      .getByText(/errands: 2 failing at 127.0.0.1/)
      .waitFor();
    await hand.getByText("Upstream 17 is down").first().waitFor();
    const small = (await findSmall(hand)).map((element) => `overview ${element}`);
    await hand
      .getByRole("status")
      .getByText(/errands: 2 failing/)
      .tap();
    const group = hand.getByRole("row").filter({ hasText: "Upstream 17 is down" });
    await group.getByRole("button", { name: "Retry …" }).waitFor();
    small.push(...(await findSmall(hand)).map((element) => `failures ${element}`));
    await group.getByRole("link", { name: "Sample" }).tap();
    await hand.getByText("The target answered 503: Upstream 17 is down").first().waitFor();
    await hand.goto(`${server.url}/tasks?status=failed`);
    await hand.getByText("Upstream 17 is down").first().waitFor();
    small.push(...(await findSmall(hand)).map((element) => `tasks ${element}`));
    await phone.close();
    assert.deepEqual(small, []);
    target.answer = (_call, response) => response.end("{}");
  });

  it("sorts queues by a column, and filters and exports the audit log", async () => {
    await go("/queues");
    await page.getByRole("columnheader").getByRole("button", { name: "Failure rate" }).click();
    await page
      .getByRole("columnheader", { name: "Failure rate" })
      .and(page.locator("[aria-sort=descending]"))
      .waitFor();
    await go("/audit");
    await page.getByRole("combobox", { name: "Only this change" }).fill("queue.paused");
    await row("queue.created").first().waitFor({ state: "detached" });
    await row("queue.paused").getByRole("link", { name: "errands" }).waitFor();
    await button("Export").click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: "CSV" }).click(),
    ]);
    assert.equal(download.suggestedFilename(), "audit.csv");
  });

  it("cancels a delayed task by its button, and shows it cancelled", async () => {
    await newTask(target.url, { delay: 3600 });
    await button("Cancel").click();
    await states("cancelled").waitFor();
  });

  it("asks for confirmation before the key c cancels the selected tasks only", async () => {
    const task = { queue: "errands", webhook_url: target.url, delay: 3600 };
    const { json } = await server.api("POST", "/v1/tasks/batch", { tasks: [task, task, task] });
    const [first, second, third]: string[] = json.results.map((result: Json) => result.task.id);
    const statusOf = async (id = "") => (await server.api("GET", `/v1/tasks/${id}`)).json.status;
    await go("/tasks?status=pending");
    await page.getByLabel(`Select ${second}`).check();
    await page.getByLabel(`Select ${third}`).check();
    await page.getByText("2 selected").click();
    await page.keyboard.press("c");
    await dialog().getByText("Cancel 2 tasks").waitFor();
    assert.deepEqual([await statusOf(second), await statusOf(third)], ["pending", "pending"]);
    await dialog().getByRole("button", { name: "Cancel" }).click();
    await dialog().waitFor({ state: "detached" });
    assert.deepEqual(await Promise.all([first, second, third].map(statusOf)), [
      "pending",
      "cancelled",
      "cancelled",
    ]);
    await server.api("DELETE", `/v1/tasks/${first}`);
  });

  it("extends a selection from the loaded rows to all matches, and cancels them", async () => {
    const task = { queue: "errands", webhook_url: target.url, delay: 3600, tags: ["many"] };
    for (const count of [100, 30])
      await server.api("POST", "/v1/tasks/batch", { tasks: Array.from({ length: count }, () => task) });
    await go("/tasks?tag=many");
    await page.getByLabel("Select all rows that are loaded").check();
    await page.getByText("100 selected").waitFor();
    await button("Select all 130 that match").click();
    await button("Cancel …").click();
    await dialog().getByLabel("Tasks a second").fill("1000");
    await dialog().getByRole("button", { name: "Cancel 130 tasks" }).click();
    await dialog().getByText("130 of 130 tasks · completed").waitFor();
    await dialog().getByRole("button", { name: "Done" }).click();
  });

  it("creates a schedule, runs it, and pauses it", async () => {
    await go("/schedules");
    await button("New schedule").first().click();
    await dialog().getByLabel("Name").fill("nightly");
    await dialog()
      .getByLabel("Task", { exact: true })
      .fill(JSON.stringify({ queue: "errands", webhook_url: target.url }));
    await dialog().getByRole("button", { name: "Create" }).click();
    await row("nightly").getByText("no task yet").waitFor();
    await row("nightly").getByRole("button", { name: "Run now" }).click();
    await row("nightly").getByText("completed").waitFor();
    await row("nightly").getByRole("button", { name: "More about nightly" }).click();
    await page.getByRole("menuitem", { name: "Pause" }).click();
    await row("nightly").getByText("paused").waitFor();
    await go("/audit");
    await row("schedule.paused").getByRole("link", { name: "nightly" }).waitFor();
  });

  it("sets, pauses and resumes a flow, which a task's page names as its reason", async () => {
    await go("/flows");
    await button("Set limits").first().click();
    await dialog().getByLabel("Key").fill("customer-42");
    await dialog().getByLabel("Calls at once").fill("2");
    await dialog().getByLabel("Calls begun").fill("100");
    await dialog().getByLabel("In so many seconds").fill("60");
    assert.deepEqual(await findBarriers(page, "everything"), []);
    await button("Save").click();
    await row("customer-42").getByText("2 at once, 100 in 60 s").waitFor();
    await row("customer-42").getByRole("button", { name: "Pause" }).click();
    await row("customer-42").getByText("paused").waitFor();
    const flowing = { queue: "errands", webhook_url: target.url, flow: "customer-42" };
    const { json } = await server.api("POST", "/v1/tasks", flowing);
    await row("customer-42").getByText("0 of 2").waitFor();
    assert.deepEqual(await findBarriers(page, "everything"), []);
    await go(`/tasks/${json.id}`);
    await page.getByRole("link", { name: "Open the flow" }).click();
    await row("customer-42").getByRole("button", { name: "Resume" }).click();
    // A busy machine may have needed a second permit: one that is not used within 100 ms counts too.
    await row("customer-42")
      .getByText(/^[1-9] of 100$/)
      .waitFor();
    await go(`/tasks/${json.id}`);
    await states("completed").waitFor();
  });

  it("stores a flow in strict order that stops at a failed task", async () => {
    await go("/flows");
    await button("Set limits").first().click();
    await dialog().getByLabel("Key").fill("account-7");
    await dialog().getByLabel("Strict order").check();
    await dialog().getByLabel("After a failed task").click();
    await page.getByRole("option", { name: "stop until" }).click();
    await button("Save").click();
    await row("account-7").getByText("in strict order").waitFor();
    const { json } = await server.api("GET", "/v1/flows/account-7");
    assert.deepEqual([json.flow.ordered, json.flow.on_failure], [true, "block"]);
    await row("account-7").getByRole("button", { name: "Set" }).click();
    await dialog().getByLabel("Strict order").uncheck();
    await dialog().getByLabel("Calls at once").fill("3");
    await button("Save").click();
    await row("account-7").getByText("3 at once").waitFor();
  });

  it("creates an alert, sends a test mail, and changes it", async () => {
    await go("/alerts");
    await button("New alert").click();
    await dialog().getByLabel("Name").fill("Nothing is due");
    await dialog().getByLabel("Percent failed, at least").fill("30");
    await dialog().getByLabel("Address of channel 1").fill(OWNER);
    assert.deepEqual(await findBarriers(page, "everything"), []);
    await button("Create").click();
    await row("Nothing is due").getByText("Failure rate ≥ 30 % within 300 s").waitFor();
    const mails = mailbox.mails.length;
    await row("Nothing is due").getByRole("button", { name: "Test" }).click();
    const mail = (await mailbox.received(mails + 1)).at(-1);
    assert.equal(mail?.content.subject, "[Bellhop] Test: Nothing is due");
    await row("Nothing is due").getByRole("button", { name: "Change" }).click();
    await dialog().getByLabel("Watch").click();
    await page.getByRole("option", { name: "Queue depth" }).click();
    await dialog().getByLabel("Due and pending tasks, at least").fill("7");
    await button("Save").click();
    await row("Nothing is due").getByText("Queue depth ≥ 7").waitFor();
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
    await dialog().getByText("No open task names it.").waitFor();
    await dialog().getByRole("button", { name: "Revoke it" }).click();
    await row("some vendor").waitFor({ state: "detached" });
  });

  it("creates an API key, which works until it is revoked", async () => {
    await go("/keys");
    await button("New key").first().click();
    await dialog().getByLabel("Name").fill("billing");
    await dialog().getByRole("button", { name: "Create" }).click();
    const key = (await dialog().locator("code").textContent()) ?? "";
    assert.match(key, /^bh_live_/);
    const ask = async () =>
      (await fetch(`${server.url}/v1/me`, { headers: { authorization: `Bearer ${key}` } })).status;
    assert.equal(await ask(), 200);
    await button("I have stored it").click();
    await row("billing")
      .getByRole("button", { name: /Revoke/ })
      .click();
    await dialog().getByRole("button", { name: "Revoke it" }).click();
    await row("billing").waitFor({ state: "detached" });
    assert.equal(await ask(), 401);
  });

  it("gives an OAuth client access by the consent page, until it is revoked", async () => {
    const back = `${target.url}/back`;
    await go("/applications");
    await button("Register an application").first().click();
    await dialog().getByLabel("Name").fill("Reports");
    await dialog().getByLabel("Redirect URIs").fill(back);
    await dialog().getByLabel("Redirect URIs").press("Enter");
    await dialog().getByRole("button", { name: "Register" }).click();
    const secret = (await dialog().locator("code").textContent()) ?? "";
    await button("I have stored it").click();
    const { json } = await server.api("GET", "/v1/oauth/applications");
    const client = { client_id: json.applications[0].clientId };

    const insecure = { [oauth.allowInsecureRequests]: true };
    const issuer = new URL(server.url);
    const as = await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...insecure }),
    );
    const verifier = oauth.generateRandomCodeVerifier();
    const url = new URL(as.authorization_endpoint ?? "");
    url.search = new URLSearchParams({
      client_id: client.client_id,
      response_type: "code",
      redirect_uri: back,
      scope: "tasks:read",
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      state: "as-it-was",
    }).toString();
    await page.goto(url.href);
    await heading("Allow Reports?").waitFor();
    assert.deepEqual(await findBarriers(page, "everything"), []);
    await button("Allow").click();
    await page.waitForURL(`${back}?**`);

    const told = oauth.validateAuthResponse(as, client, new URL(page.url()), "as-it-was");
    const answer = await oauth.authorizationCodeGrantRequest(
      as,
      client,
      oauth.ClientSecretBasic(secret),
      told,
      back,
      verifier,
      insecure,
    );
    const { access_token } = await oauth.processAuthorizationCodeResponse(as, client, answer);
    const ask = async () =>
      (await fetch(`${server.url}/v1/tasks`, { headers: { authorization: `Bearer ${access_token}` } }))
        .status;
    assert.equal(await ask(), 200);
    await go("/applications");
    await row(OWNER).getByRole("button", { name: "End" }).click();
    await page.getByText("No person has granted an application access").waitFor();
    assert.equal(await ask(), 401);
  });

  it("shows the sandbox separately, and keeps the choice from page to page", async () => {
    const { json } = await server.api("POST", "/v1/apikeys", { name: "tests", environment: "test" });
    await fetch(`${server.url}/v1/tasks`, {
      method: "POST",
      headers: { authorization: `Bearer ${json.apiKey.key}`, "content-type": "application/json" },
      body: JSON.stringify({ queue: "errands", webhook_url: `${target.url}/only-a-test` }),
    });
    await go("/queues");
    await row("errands").getByRole("link", { name: "0" }).waitFor();
    await page.getByText("Sandbox", { exact: true }).click();
    await row("errands").getByRole("link", { name: "1" }).waitFor();
    await page.getByRole("link", { name: "Tasks" }).first().click();
    await page.getByText("/only-a-test").waitFor();
    assert.equal(new URL(page.url()).search, "?sandbox=true");
    await page.getByText("Live", { exact: true }).click();
    await page.getByText("/only-a-test").waitFor({ state: "detached" });
  });

  it("catches up after its connections were lost", async (t) => {
    const relay = await startRelay(server.url);
    t.after(relay.close);
    const send = (path: string) =>
      server.api("POST", "/v1/tasks", { queue: "errands", webhook_url: target.url + path });
    const [stream] = await Promise.all([
      // The previous page may still be opening a stream, which does not count.
      page.waitForResponse((response) => response.url().startsWith(`${relay.url}/v1/events`)),
      page.goto(`${relay.url}/tasks?host=127.0.0.1`),
    ]);
    assert.equal(stream.status(), 200);
    // Once the list is loaded, an event is what makes the page show a new task: it has received an id to resume from.
    await loaded();
    await send("/seen");
    await page.getByText("/seen").first().waitFor();
    relay.cut();
    await page.getByTitle("Pause updates (p)").getByText("reconnecting").waitFor();
    await page.getByText("The server does not answer").waitFor();
    await send("/missed");
    const resumed = page.waitForRequest(
      (request) => request.url().includes("/v1/events") && "last-event-id" in request.headers(),
    );
    relay.mend();
    await resumed;
    await page.getByText("/missed").first().waitFor();
    await page.getByTitle("Pause updates (p)").getByText("updating").waitFor();
    await go("/");
  });

  it("shows untrusted names, payloads, headers and answers as text", async () => {
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

  it("has no serious accessibility barrier on any page, in either theme", async () => {
    await go("/");
    await heading("Overview").waitFor();
    for (const key of ["/", "?"]) {
      await page.keyboard.press(key);
      await lookAtDialog(key);
    }
    const found: string[] = [];
    // The overview last: it is open.
    for (const path of [...PATHS.slice(1), `/tasks/${failing}`, "/"]) {
      await follow(path);
      // Beside the pages stands the same list of pages.
      found.push(...(await findInBothThemes(path, "html", path === "/" ? "html" : "main")));
      for (const element of await findWide(page, 390)) wide.push(`${path} ${element}`);
      const names = await page.locator("main").getByRole("button", { name: OPENS_DIALOG }).allInnerTexts();
      for (const name of new Set(names.map((text) => text.trim()))) {
        await page.locator("main").getByRole("button", { name, exact: true }).first().click();
        await lookAtDialog(`${path} ${name}`);
      }
    }
    assert.deepEqual(found, []);
  });

  it("has no serious accessibility barrier in any dialog, in either theme", () => {
    assert.deepEqual(inDialogs, []);
    for (const known of [
      "/queues New queue",
      "/queues/errands Delete …",
      "/failures Dismiss …",
      "/flows Set …",
    ])
      assert.ok(dialogs.includes(known), `${known} is none of ${dialogs.join(", ")}`);
  });

  it("fits a phone, with a navigation bar at the bottom", async () => {
    assert.deepEqual(wide, []);
    await page.setViewportSize({ width: 390, height: 844 });
    const bar = page.getByRole("navigation", { name: "Pages, short" });
    const [first, last] = [bar.getByRole("link").first(), bar.getByRole("button", { name: "More" })];
    assert.equal((await last.boundingBox())?.y, (await first.boundingBox())?.y);
    await page
      .getByRole("navigation", { name: "Pages, short" })
      .getByRole("link", { name: "Queues" })
      .click();
    await heading("Queues").waitFor();
    await button("More").click();
    await dialog().getByRole("link", { name: "Vault" }).click();
    await heading("Vault").waitFor();
    await page.setViewportSize({ width: 1280, height: 720 });
  });

  it("switches to another team, and shows only that team", async () => {
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

  it("loads less than 300 kB of script for the first page", async () => {
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

  it("reports that the session has ended when it asks for a new sign-in", async () => {
    await go("/");
    const cookies = await page.context().cookies();
    await page.context().addCookies(cookies.map((cookie) => ({ ...cookie, value: "a.b.c" })));
    // Keys, and not a link: the page may have noticed by itself before.
    await page.keyboard.press("g");
    await page.keyboard.press("v");
    await page.getByText("Your session has ended").waitFor();
    await page.context().addCookies(cookies);
  });

  it("signs out, and removes the session cookie", async () => {
    await page.emulateMedia({ colorScheme: "light" });
    await go("/");
    await page.getByTitle("Team, theme and sign out").click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByLabel("Your mail address").waitFor();
    const names = (await page.context().cookies()).map(({ name }) => name);
    assert.ok(!names.includes("bellhop_page"), names.join(", "));
  });

  it("causes no violation of its content security policy, and no error", () => {
    assert.deepEqual(scene.complaints, []);
  });
});
