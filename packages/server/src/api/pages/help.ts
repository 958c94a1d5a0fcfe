import type { FastifyReply } from "fastify";
import { html } from "../../domain/html.ts";
import { Problem } from "../../domain/problem.ts";
import { costs, FILE } from "../http/cost.ts";
import type { Api } from "../http/schema-types.ts";
import { UNCOUNTED } from "../http/visit-limit.ts";
import { pathOf, sendDocument, sendPageFile } from "./dashboard.ts";
import { sendPage } from "./page.ts";
import type { PageFiles } from "./page-files.ts";

const PATH = "/help";
const LIST = "/llms.txt";
const NO_LIST = "# Bellhop\n\n> A self-hosted HTTP task queue. The API is described at /openapi.json.\n";

/** The documentation of the version that runs here, built from the repository's `docs`. Uncounted: every file is in memory. */
export function registerHelpPages(app: Api, help: PageFiles | null): void {
  const options = {
    config: { ...UNCOUNTED, ...costs("point", { rows: 0, bytes: FILE }) },
    schema: { hide: true },
  };

  app.get(PATH, options, async (request, reply) =>
    help === null ? sendMissing(reply) : sendDocument(help.index, request, reply),
  );

  // At the root, where programs look for it.
  app.get(LIST, options, async (request, reply) => {
    const list = help?.files.get(LIST);
    if (list !== undefined) return sendPageFile(list, request, reply);
    return reply.type("text/plain; charset=utf-8").send(NO_LIST);
  });

  app.get(`${PATH}/*`, options, async (request, reply) => {
    const path = pathOf(request).slice(PATH.length);
    const page = help?.files.get(`${path}.html`);
    if (page !== undefined) return sendDocument(page, request, reply);
    const file = path.endsWith(".html") ? undefined : help?.files.get(path);
    if (file === undefined) throw new Problem("not_found");
    return sendPageFile(file, request, reply);
  });
}

function sendMissing(reply: FastifyReply): FastifyReply {
  return sendPage(reply, {
    title: "The documentation is not built here",
    body: html`<p>Run <code>npm run build</code> in the checkout, and start the server again. The same pages are Markdown files in
its directory <code>docs</code>.</p>
<ul>
<li><a href="/docs">API reference</a></li>
</ul>`,
  });
}
