// The dashboard as a browser gets it: a page without a script or style of its own text, and files that never change.
// What it may do is held by its policy, whatever a foreign text in it tries.
import { randomBytes } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Problem } from "../../domain/problem.ts";
import { acceptedCodings, isHeld } from "../http/answer-cache.ts";
import type { Api } from "../http/schema-types.ts";
import { UNCOUNTED } from "../http/visit-limit.ts";
import type { PageFile, PageFiles } from "./page-files.ts";

/**
 * Stands in the built page where the nonce of its styles goes: components write style elements while they run. New with
 * each answer, so that a text that finds its way into the page cannot know it.
 */
const NONCE = "__NONCE__";

/** First parts of paths that are never a page of the dashboard: there an unknown path is a mistake, and is told so. */
const OTHERS = new Set(["v1", "page", "assets", "docs", "sign-in", ".well-known"]);

/** A year: the longest that is usual. */
const FOR_GOOD = "public, max-age=31536000, immutable";

export interface Dashboard {
  /** Whether this request, which no route knows, is for a page or a file of the dashboard; it is answered then. */
  answer(request: FastifyRequest, reply: FastifyReply): boolean;
  sendIndex(request: FastifyRequest, reply: FastifyReply): FastifyReply;
  sendFile(file: PageFile, request: FastifyRequest, reply: FastifyReply): FastifyReply;
  findFile(path: string): PageFile | undefined;
}

export function createDashboard({ index, files }: PageFiles): Dashboard {
  function sendIndex(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    reply.headers({ etag: index.tag, "cache-control": "no-cache", vary: "accept" });
    // No policy goes with it: the browser keeps the one that came with the page it holds, whose nonce it names.
    if (isHeld(request, index.tag)) return reply.code(304).send();
    const nonce = randomBytes(16).toString("base64");
    return reply
      .code(200)
      .headers({
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": policyOf(nonce),
        "referrer-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
        "x-frame-options": "DENY",
      })
      .send(index.text.replaceAll(NONCE, nonce));
  }

  function sendFile(file: PageFile, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    reply.headers({
      etag: `W/${file.tag}`,
      "cache-control": file.isImmutable ? FOR_GOOD : "no-cache",
      vary: "accept-encoding",
    });
    if (isHeld(request, file.tag)) return reply.code(304).send();
    const coding = acceptedCodings(request).find((name) => file.compressed.has(name));
    if (coding !== undefined) reply.header("content-encoding", coding);
    const bytes = (coding === undefined ? undefined : file.compressed.get(coding)) ?? file.plain;
    // An image of ours that is opened by itself is a document, and may do nothing either.
    return reply
      .code(200)
      .headers({ "content-type": file.type, "content-security-policy": "default-src 'none'" })
      .send(bytes);
  }

  return {
    sendIndex,
    sendFile,
    findFile: (path) => files.get(path),
    answer(request, reply) {
      const { method, headers } = request;
      if (method !== "GET" && method !== "HEAD") return false;
      const path = pathOf(request);
      const file = files.get(path);
      if (file !== undefined) sendFile(file, request, reply);
      else if (headers.accept?.includes("text/html") && !OTHERS.has(path.split("/")[1] ?? ""))
        sendIndex(request, reply);
      else return false;
      return true;
    },
  };
}

/** Files with hashed names. Uncounted: one look at the dashboard asks for many, and each is in memory. */
export function registerDashboardFiles(app: Api, dashboard: Dashboard | null): void {
  app.get("/assets/*", { config: UNCOUNTED, schema: { hide: true } }, async (request, reply) => {
    const file = dashboard?.findFile(pathOf(request));
    if (dashboard === null || file === undefined) throw new Problem("not_found");
    return dashboard.sendFile(file, request, reply);
  });
}

function pathOf({ url }: FastifyRequest): string {
  const end = url.indexOf("?");
  return end < 0 ? url : url.slice(0, end);
}

/** No script but our files, no style but our files and what our scripts write, no talk with any other server. */
function policyOf(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join("; ");
}
