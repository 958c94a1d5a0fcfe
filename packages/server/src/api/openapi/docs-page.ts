import { createHash } from "node:crypto";
import { type FastifyReply, type FastifyRequest, fastify, type preHandlerHookHandler } from "fastify";
import { cacheAnswers } from "../http/answer-cache.ts";
import { costs, RECORD } from "../http/cost.ts";
import type { Api } from "../http/schema-types.ts";

const PATH = "/docs";

/** What the page consists of, all under its path. */
const PARTS = ["/", "/js/scalar.js", "/openapi.json", "/openapi.yaml"];

/** The HTML reference. It must work offline and must not contact other servers. */
export async function serveDocs(app: Api): Promise<void> {
  await app.register(async (docs) => {
    docs.addHook("onSend", protectPage);
    docs.addHook("preHandler", leadToPage);
    cacheAnswers(docs);
    let renderer: ReturnType<typeof createRenderer> | undefined;
    for (const part of PARTS) {
      docs.get(
        `${PATH}${part}`,
        { config: costs("point", { rows: 0, bytes: RECORD }), schema: { hide: true } },
        async (_request, reply) => {
          renderer ??= createRenderer(() => app.swagger());
          const { headers, payload } = await (await renderer).inject(`${PATH}${part}`);
          for (const name of RENDERED_HEADERS) {
            const value = headers[name];
            if (value !== undefined) reply.header(name, value);
          }
          return payload;
        },
      );
    }
  });
}

const RENDERED_HEADERS = [
  "content-type",
  "content-disposition",
  "access-control-allow-origin",
  "access-control-allow-methods",
];

/** Renders each part once, for the first visitor: to load it takes a tenth of the server's start. */
async function createRenderer(content: () => object) {
  const renderer = fastify({ routerOptions: { ignoreTrailingSlash: true } });
  const { default: scalar } = await import("@scalar/fastify-api-reference");
  await renderer.register(scalar, {
    routePrefix: PATH,
    configuration: {
      content,
      pageTitle: "Bellhop API",
      orderSchemaPropertiesBy: "preserve",
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      showDeveloperTools: "never",
      persistAuth: false,
      agent: { disabled: true },
    },
  });
  return renderer;
}

/** The page has relative URLs: without the trailing slash they would break. */
const leadToPage: preHandlerHookHandler = ({ url }, reply, done) => {
  if (url === PATH || url.startsWith(`${PATH}?`)) reply.redirect(`${PATH}/`, 301);
  else done();
};

const INLINE_SCRIPT = /<script type="text\/javascript">([\s\S]*?)<\/script>/g;

/** The settings above depend on a bundle of 3.5 MB; the policy enforces them. */
async function protectPage(
  _request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  const isPage =
    typeof payload === "string" && String(reply.getHeader("content-type")).startsWith("text/html");
  if (!isPage) return payload;
  const scripts = Array.from(
    payload.matchAll(INLINE_SCRIPT),
    ([, source = ""]) => `'sha256-${sha256(source)}'`,
  );
  reply.header(
    "content-security-policy",
    [
      "default-src 'none'",
      `script-src ${["'self'", ...scripts].join(" ")}`,
      "style-src 'self' 'unsafe-inline'",
      "img-src 'self' data:",
      "font-src 'self' data:",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join("; "),
  );
  return payload;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
