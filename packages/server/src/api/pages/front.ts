import { html } from "../../domain/html.ts";
import type { Api } from "../http/schema-types.ts";
import { sendPage } from "./page.ts";

/** What a browser finds at the address of the server; programs are told the same in JSON. */
export function registerFrontPage(app: Api, version: string): void {
  app.get("/", { schema: { hide: true } }, async (request, reply) => {
    reply.header("vary", "accept");
    if (!request.headers.accept?.includes("text/html"))
      return { name: "Bellhop", version, docs: "/docs", openapi: "/openapi.json" };
    return sendPage(reply, {
      title: "This is a Bellhop server",
      body: html`<p>It accepts HTTP calls to make later, and makes sure that they are made: at their time, within their limits,
again after a failure, with a record of every attempt.</p>
<ul>
<li><a href="/docs">API reference</a></li>
<li><a href="/openapi.json">OpenAPI document</a></li>
<li><a href="/sign-in">Sign in</a></li>
</ul>
<p class="soft">Version ${version}</p>`,
    });
  });
}
