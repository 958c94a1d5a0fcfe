// Takes the pictures of the dashboard that the README and docs/dashboard.md show: starts a server with a database of its own, lets sample
// tasks run for a few minutes so that the charts have something to show, and looks at it in both themes.
// MINUTES says for how long; needs a Chromium (CHROMIUM_PATH, or where Debian puts it).
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { startEcho } from "../packages/server/dist/cli/echo.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const images = join(root, "docs", "images");
const minutes = Number(process.env.MINUTES ?? 10);
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, colorScheme: "dark" };
const browserPath = [process.env.CHROMIUM_PATH ?? "", "/usr/bin/chromium", "/usr/bin/google-chrome"].find(
  (path) => path !== "" && existsSync(path),
);
if (browserPath === undefined) {
  console.error("No Chromium here: apt-get install chromium, or name one in CHROMIUM_PATH.");
  process.exit(1);
}

const dataDir = await mkdtemp(join(tmpdir(), "bellhop-screenshots-"));
const echo = await startEcho({ host: "127.0.0.1", port: 0, print: () => {} });
const server = startServer();
try {
  const { url, key, link } = await server.ready;
  const call = (path, body) =>
    fetch(url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const browser = await chromium.launch({
    executablePath: browserPath,
    args: ["--no-sandbox", "--disable-gpu"],
  });
  // Signed in first: the link is good for some minutes only.
  const cookies = await signIn(browser, link);
  const take = (picture) => takePicture(browser, cookies, url, picture);
  await take({ name: "first-minute", path: "/", waitFor: ".steps" });
  await runSamples(call);
  for (const colorScheme of ["light", "dark"])
    await take({
      name: `overview-${colorScheme}`,
      path: "/?range=15m",
      waitFor: ".chart canvas",
      colorScheme,
    });
  await take({ name: "failures", path: "/failures", waitFor: "tbody tr" });
  await take({ name: "phone", path: "/tasks?status=failed", waitFor: ".task-row", ...PHONE });
  await browser.close();
} finally {
  server.stop();
  await server.exited;
  await echo.stop();
  await rm(dataDir, { recursive: true, force: true });
}

/** The server as `npm start` runs it; what its banner shows once is taken from there. */
function startServer() {
  const child = spawn(process.execPath, [join(root, "packages", "server", "dist", "main.js")], {
    env: { ...process.env, PORT: "0", BELLHOP_DATA_DIR: dataDir, DATABASE_URL: "" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  const ready = new Promise((resolve, reject) => {
    const read = (chunk) => {
      said += chunk;
      const url = /Bellhop is ready at (\S+)/.exec(said)?.[1];
      if (url === undefined) return;
      const key = /bh_live_\w+/.exec(said)?.[0];
      const link = /http\S+token=\w+/.exec(said)?.[0];
      if (key === undefined || link === undefined) reject(new Error("The banner has no key or no link"));
      else resolve({ url, key, link });
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("exit", (code) => reject(new Error(`The server ended (${code}):\n${said}`)));
  });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  return { ready, exited, stop: () => child.kill("SIGTERM") };
}

async function signIn(browser, link) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(link);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForSelector("h1");
  const state = await context.storageState();
  await context.close();
  return state;
}

/** A day like any other, with a payment provider that is away for the last third of it. */
async function runSamples(call) {
  const queues = [
    { name: "emails", concurrency: 20 },
    { name: "billing", concurrency: 5, retry_backoff: "fixed", retry_delay: 3 },
    { name: "media", concurrency: 1 },
    { name: "webhooks", concurrency: 50 },
  ];
  for (const queue of queues) await call("/v1/queues", queue);
  const startedAt = Date.now();
  const lengthMs = minutes * 60_000;
  for (let number = 0; Date.now() - startedAt < lengthMs; ) {
    const share = (Date.now() - startedAt) / lengthMs;
    const count = Math.round(6 + 3 * Math.sin(share * 9));
    const tasks = Array.from({ length: count }, (_, index) => sample(number + index, share > 0.66));
    number += count;
    await call("/v1/tasks/batch", { tasks });
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

/** One of ten is for the payment provider; two are for a queue that is a little slower than they come. */
function sample(number, isAway) {
  const to = (path) => echo.url + path;
  const kind = number % 10;
  const payload = { number };
  if (kind === 9 && isAway)
    return { queue: "billing", webhook_url: to("/status/503"), payload, max_retries: 1 };
  if (kind === 9) return { queue: "billing", webhook_url: to("/charges"), payload };
  if (kind === 8 || kind === 3) return { queue: "media", webhook_url: to("/slow/1"), payload };
  if (kind === 7) return { queue: "webhooks", webhook_url: to("/fail/1"), payload };
  if (kind === 6) return { targetUrl: to("/fal"), provider: "fal", body: { prompt: "a bell on a desk" } };
  return { queue: kind < 4 ? "emails" : "webhooks", webhook_url: to("/welcome"), payload };
}

async function takePicture(
  browser,
  storageState,
  url,
  { name, path, waitFor, colorScheme = "light", ...device },
) {
  const context = await browser.newContext({
    storageState,
    colorScheme,
    viewport: { width: 1440, height: 1000 },
    ...device,
  });
  const page = await context.newPage();
  await page.goto(url + path);
  await page.waitForSelector(waitFor);
  // What was waited for is there; the numbers of a second later are as well.
  await page.waitForTimeout(2000);
  await mkdir(images, { recursive: true });
  await page.screenshot({ path: join(images, `${name}.png`) });
  await context.close();
}
