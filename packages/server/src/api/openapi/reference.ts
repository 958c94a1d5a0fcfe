import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { preHandlerHookHandler } from "fastify";
import { cacheAnswers } from "../http/answer-cache.ts";
import { costs, FILE } from "../http/cost.ts";
import type { Api } from "../http/schema-types.ts";

/** The public URL in the committed document. A server puts its own in its place. */
export const WRITTEN_URL = "http://127.0.0.1:8787";

const PAGE = "/docs";

interface Part {
  readonly file: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Downloads, also for pages of other hosts. */
const downloadAs = (name: string) => ({
  "content-disposition": `filename=${name}`,
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "*",
});

const PARTS: Readonly<Record<string, Part>> = {
  "/openapi.json": {
    file: "openapi.json",
    headers: { "content-type": "application/json; charset=utf-8" },
  },
  [`${PAGE}/`]: {
    file: "index.html",
    headers: { "content-type": "text/html; charset=utf-8" },
  },
  [`${PAGE}/js/scalar.js`]: {
    file: "scalar.js",
    headers: { "content-type": "application/javascript; charset=utf-8" },
  },
  [`${PAGE}/openapi.json`]: {
    file: "openapi.json",
    headers: { "content-type": "application/json; charset=utf-8", ...downloadAs("bellhop-api.json") },
  },
  [`${PAGE}/openapi.yaml`]: {
    file: "openapi.yaml",
    headers: { "content-type": "application/yaml", ...downloadAs("bellhop-api.yaml") },
  },
};

/**
 * The OpenAPI document and the page that shows it, as `scripts/reference.mjs` left them in this directory. No request makes
 * them: that takes half a second, in which the process starts no task. The page works offline and contacts no other server.
 */
export async function serveReference(app: Api, directory: string, publicUrl: string): Promise<void> {
  const read = async (file: string) => {
    const bytes = await readFile(join(directory, file));
    return file.startsWith("openapi.") ? putUrl(bytes, publicUrl) : bytes;
  };
  await app.register(async (scope) => {
    scope.addHook("preHandler", leadToPage);
    cacheAnswers(scope);
    for (const [path, { file, headers }] of Object.entries(PARTS)) {
      const readPart = once(() => read(file));
      scope.get(
        path,
        { config: costs("point", { rows: 0, bytes: FILE }), schema: { hide: true } },
        async (_request, reply) => {
          const bytes = await readPart();
          reply.headers(headers);
          if (file === "index.html") reply.header("content-security-policy", policyOf(String(bytes)));
          return bytes;
        },
      );
    }
  });
}

/** In the text, because to parse the document and write it again takes a hundred times as long. In both forms a URL is a JSON string. */
function putUrl(document: Buffer, publicUrl: string): Buffer {
  const escaped = JSON.stringify(publicUrl).slice(1, -1);
  return Buffer.from(document.toString().replaceAll(`"${WRITTEN_URL}`, () => `"${escaped}`));
}

/** Requests that come at the same time share one reading of 3.5 MB. A failure is not kept. */
function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= load().finally(() => {
      loading = undefined;
    });
    return loading;
  };
}

/** The page has relative URLs: without the trailing slash they would break. */
const leadToPage: preHandlerHookHandler = ({ url }, reply, done) => {
  if (url === PAGE || url.startsWith(`${PAGE}?`)) reply.redirect(`${PAGE}/`, 301);
  else done();
};

const INLINE_SCRIPT = /<script type="text\/javascript">([\s\S]*?)<\/script>/g;

/** The page depends on a script of 3.5 MB: the policy enforces the settings that `scripts/reference.mjs` gives it. */
function policyOf(page: string): string {
  const scripts = Array.from(page.matchAll(INLINE_SCRIPT), ([, source = ""]) => `'sha256-${sha256(source)}'`);
  return [
    "default-src 'none'",
    `script-src ${["'self'", ...scripts].join(" ")}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
