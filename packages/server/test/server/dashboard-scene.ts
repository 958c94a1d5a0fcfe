import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { PATIENCE_MS } from "../patience.ts";
import { ROOT } from "../places.ts";
import { createTestDatabase, type TestDatabase } from "../test-database.ts";
import { startTestMailbox, type TestMailbox } from "../test-mailbox.ts";
import { startTestTarget, type TestTarget } from "../test-target.ts";
import { openChromium } from "./chromium.ts";
import { launch, ready, type ServerProcess } from "./server-process.ts";

/** A server, a mailbox, a target, and a browser that looks at the server. */
export interface DashboardScene {
  readonly server: ServerProcess;
  readonly mailbox: TestMailbox;
  readonly target: TestTarget;
  readonly page: Page;
  /** What the browser complained of: a blocked script or style, an error that no code caught. */
  readonly complaints: string[];
  close(): Promise<void>;
}

export async function openDashboard(owner: string): Promise<DashboardScene> {
  execFileSync(process.execPath, [join(ROOT, "scripts/page.mjs")], { stdio: "ignore" });
  const [test, mailbox, target, browser] = await Promise.all([
    createTestDatabase(),
    startTestMailbox(),
    startTestTarget(),
    openChromium(),
  ]);
  const server = launch({
    DATABASE_URL: urlOf(test),
    BELLHOP_OWNER_EMAIL: owner,
    BELLHOP_SMTP_URL: `smtp://127.0.0.1:${mailbox.port}`,
    BELLHOP_VAULT_KEYS: `test:${Buffer.alloc(32, 7).toString("base64")}`,
  });
  await ready(server);
  const complaints: string[] = [];
  const page = await openPage(browser, complaints);
  return {
    server,
    mailbox,
    target,
    page,
    complaints,
    async close() {
      await browser.close();
      server.signal("SIGKILL");
      await server.exited;
      await target.close();
      await mailbox.close();
      await test.drop();
    },
  };
}

function urlOf({ connection: { host, port, user, database } }: TestDatabase): string {
  return `postgres://${user}@/${database}?host=${encodeURIComponent(host)}&port=${port}`;
}

async function openPage(browser: Browser, complaints: string[]): Promise<Page> {
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    // A refusal that the page shows is also an error of the console's: the first look finds nobody signed in, and a busy
    // machine may answer 503, after which the page asks again.
    const isTold = /the server responded with a status of (4\d\d|503)|net::ERR_/.test(message.text());
    if (message.type() === "error" && !isTold) complaints.push(message.text());
  });
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  return page;
}

/** Stands between a browser and the server, and can be cut. */
export interface Relay {
  readonly url: string;
  /** Breaks every connection, and refuses new ones. */
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

export async function startRelay(serverUrl: string): Promise<Relay> {
  const { hostname, port } = new URL(serverUrl);
  const open = new Set<Socket>();
  let isCut = false;
  const relay = createServer((near) => {
    if (isCut) return near.destroy();
    const far = connect(Number(port), hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.pipe(to);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        open.delete(from);
        to.destroy();
      });
    }
  });
  const breakAll = () => {
    for (const socket of open) socket.destroy();
  };
  await once(relay.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(relay.address() as AddressInfo).port}`,
    cut() {
      isCut = true;
      breakAll();
    },
    mend() {
      isCut = false;
    },
    async close() {
      breakAll();
      relay.close();
      await once(relay, "close");
    },
  };
}
