// The dashboard as a browser gets it: a page without a script or style in its own text, and files that never change.
// What it may do is held by its policy, whatever a foreign text in it tries.
import type { FastifyReply, FastifyRequest } from "fastify";
import { Problem } from "../../domain/problem.ts";
import { acceptedCodings, isHeld } from "../http/answer-cache.ts";
import { costs, FILE } from "../http/cost.ts";
import type { Api } from "../http/schema-types.ts";
import { UNCOUNTED } from "../http/visit-limit.ts";
import type { PageFile, PageFiles } from "./page-files.ts";

/**
 * First path segments that never belong to the dashboard: unknown paths there are errors. Its own have no dot, so it does not
 * answer for files that programs look for at the root, such as robots.txt.
 */
const OTHERS = /^(?:v1|v2|page|assets|docs|help|sign-in|.*\..*)$/;

/** A year: the longest that is usual. */
const FOR_GOOD = "public, max-age=31536000, immutable";

export interface Dashboard {
  /** Whether this unmatched request is for the dashboard; if so, it is answered. */
  answer(request: FastifyRequest, reply: FastifyReply): boolean;
  sendIndex(request: FastifyRequest, reply: FastifyReply): FastifyReply;
  sendFile(file: PageFile, request: FastifyRequest, reply: FastifyReply): FastifyReply;
  findFile(path: string): PageFile | undefined;
}

export function createDashboard({ index, files }: PageFiles): Dashboard {
  const sendIndex: Dashboard["sendIndex"] = (request, reply) => sendDocument(index, request, reply);
  return {
    sendIndex,
    sendFile: sendPageFile,
    findFile: (path) => files.get(path),
    answer(request, reply) {
      const { method, headers } = request;
      if (method !== "GET" && method !== "HEAD") return false;
      const path = pathOf(request);
      const file = files.get(path);
      if (file !== undefined) sendPageFile(file, request, reply);
      else if (headers.accept?.includes("text/html") && !OTHERS.test(path.split("/")[1] ?? ""))
        sendIndex(request, reply);
      else return false;
      return true;
    },
  };
}

/** A page of ours that runs scripts: the dashboard, or one of the documentation. */
export function sendDocument(file: PageFile, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.headers({
    "cache-control": "no-cache",
    vary: "accept, accept-encoding",
    "content-security-policy": POLICY,
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "x-frame-options": "DENY",
  });
  return send(file, request, reply);
}

/** What such a page loads. */
export function sendPageFile(file: PageFile, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.headers({
    "cache-control": file.isImmutable ? FOR_GOOD : "no-cache",
    vary: "accept-encoding",
    // An image of ours that is opened by itself is a document, and may do nothing either.
    "content-security-policy": "default-src 'none'",
  });
  return send(file, request, reply);
}

function send(file: PageFile, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.headers({ etag: `W/${file.tag}`, "content-type": file.type });
  if (isHeld(request, file.tag)) return reply.code(304).send();
  const coding = acceptedCodings(request).find((name) => file.compressed.has(name));
  if (coding !== undefined) reply.header("content-encoding", coding);
  const bytes = (coding === undefined ? undefined : file.compressed.get(coding)) ?? file.plain;
  return reply.code(200).send(bytes);
}

/** Files with hashed names. Uncounted: one look at the dashboard asks for many, and each is in memory. */
export function registerDashboardFiles(app: Api, dashboard: Dashboard | null): void {
  app.get(
    "/assets/*",
    { config: { ...UNCOUNTED, ...costs("point", { rows: 0, bytes: FILE }) }, schema: { hide: true } },
    async (request, reply) => {
      const file = dashboard?.findFile(pathOf(request));
      if (dashboard === null || file === undefined) throw new Problem("not_found");
      return dashboard.sendFile(file, request, reply);
    },
  );
}

/** Without the query. */
export function pathOf({ url }: FastifyRequest): string {
  const end = url.indexOf("?");
  return end < 0 ? url : url.slice(0, end);
}

/** Only our own scripts and styles, no other server, no framing. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");
