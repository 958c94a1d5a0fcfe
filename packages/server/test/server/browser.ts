import assert from "node:assert/strict";
import { type ServerProcess, until } from "./server-process.ts";

export interface Visit {
  readonly status: number;
  readonly url: URL;
  readonly headers: Headers;
  readonly text: string;
  /** Where it leads; null if it leads nowhere. */
  readonly location: string | null;
}

/** What a browser does, by hand: it keeps cookies and sends forms, and follows only where the test says so. */
export interface Browser {
  get(url: string): Promise<Visit>;
  /** Sends the form of a page as the button with this value would. */
  submit(page: Visit, fields?: Record<string, string>): Promise<Visit>;
  post(url: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<Visit>;
  /** From the page that asks for a sign-in, through the mail, to where it leads. */
  signIn(from: Visit, email: string): Promise<Visit>;
}

export function openBrowser(server: ServerProcess): Browser {
  const cookies = new Map<string, { readonly value: string; readonly path: string }>();

  async function visit(method: string, to: string, init: RequestInit = {}): Promise<Visit> {
    const url = new URL(to, server.url);
    const sent = [...cookies]
      .filter(([, { path }]) => url.pathname.startsWith(path))
      .map(([name, { value }]) => `${name}=${value}`);
    const headers = { ...init.headers, ...(sent.length > 0 && { cookie: sent.join("; ") }) };
    const response = await fetch(url, { ...init, method, redirect: "manual", headers });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, { value, path: /Path=([^;]+)/.exec(line)?.[1] ?? "/" });
    }
    return {
      url,
      status: response.status,
      headers: response.headers,
      text: await response.text(),
      location: response.headers.get("location"),
    };
  }

  const browser: Browser = {
    get: (url) => visit("GET", url),
    post: (url, fields, headers = {}) => visit("POST", url, { body: new URLSearchParams(fields), headers }),
    submit(page, fields = {}) {
      const [, action = ""] = /<form method="post" action="([^"]*)"/.exec(page.text) ?? [];
      const hidden = [...page.text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)];
      const filled = Object.fromEntries(
        hidden.map(([, name = "", value = ""]) => [name, readEscaped(value)]),
      );
      const target = new URL(readEscaped(action), page.url);
      return browser.post(target.href, { ...filled, ...fields }, { origin: page.url.origin });
    },
    async signIn(from, email) {
      const form = await browser.get(from.location ?? "");
      const before = server.stderr.length;
      assert.equal((await browser.submit(form, { email })).status, 200);
      const link = () =>
        /http:[^\s"\\]+\/sign-in\/link\?token=\w+(?=\W)/.exec(server.stderr.slice(before))?.[0];
      await until(() => link() !== undefined);
      const signedIn = await browser.submit(await browser.get(link() ?? ""));
      assert.equal(signedIn.status, 303);
      return browser.get(signedIn.location ?? "");
    },
  };
  return browser;
}

function readEscaped(text: string): string {
  return text
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}
