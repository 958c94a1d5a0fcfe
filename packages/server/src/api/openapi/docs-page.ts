import { createHash } from "node:crypto";
import scalar from "@scalar/fastify-api-reference";
import type { FastifyReply, FastifyRequest, preHandlerHookHandler } from "fastify";
import { cacheAnswers } from "../http/answer-cache.ts";
import type { Api } from "../http/schema-types.ts";

const PATH = "/docs";

/** The HTML reference. It must work offline and must not contact other servers. */
export async function serveDocs(app: Api): Promise<void> {
  await app.register(async (docs) => {
    docs.addHook("onSend", protectPage);
    docs.addHook("preHandler", leadToPage);
    cacheAnswers(docs);
    await docs.register(scalar, {
      routePrefix: PATH,
      configuration: {
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
  });
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
