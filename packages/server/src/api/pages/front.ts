import { html } from "../../domain/html.ts";
import { costs, SMALL } from "../http/cost.ts";
import type { Api } from "../http/schema-types.ts";
import type { Dashboard } from "./dashboard.ts";
import { sendPage } from "./page.ts";

/** What a browser finds at the address of the server: the dashboard. Programs are told in JSON what this is. */
export function registerFrontPage(app: Api, version: string, dashboard: Dashboard | null): void {
  app.get(
    "/",
    { config: costs("point", { rows: 0, bytes: SMALL }), schema: { hide: true } },
    async (request, reply) => {
      reply.header("vary", "accept");
      if (!request.headers.accept?.includes("text/html"))
        return { name: "Bellhop", version, docs: "/docs", help: "/help", openapi: "/openapi.json" };
      if (dashboard !== null) return dashboard.sendIndex(request, reply);
      return sendPage(reply, {
        title: "This is a Bellhop server",
        body: html`<p>It accepts HTTP calls to make later, and makes sure that they are made: at their time, within their limits,
again after a failure, with a record of every attempt.</p>
<ul>
<li><a href="/help/">Documentation</a></li>
<li><a href="/docs">API reference</a></li>
<li><a href="/openapi.json">OpenAPI document</a></li>
<li><a href="/sign-in">Sign in</a></li>
</ul>
<p>The dashboard is not built here: run <code>npm run build</code>, and start the server again.</p>
<p class="soft">Version ${version}</p>`,
      });
    },
  );
}
