import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import { REQUEST_ID_HEADER } from "./request-id.ts";
import type { Api } from "./schema-types.ts";

/**
 * For answers that are the same for every caller: each route of the scope creates its bytes once and then sends the
 * same ones, compressed once per coding. Anyone may request them, some take a tenth of a second to compress, and a slow
 * reader must not keep a copy in memory.
 */
export function cacheAnswers(scope: Api): void {
  const made = new Map<string, Made>();
  scope.addHook("preHandler", (request, reply, done) => {
    const known = made.get(request.routeOptions.url ?? "");
    if (known === undefined) done();
    else reply.headers(known.headers).send(known.body);
  });
  scope.addHook("onSend", async (request, reply, payload) => {
    if (reply.statusCode !== 200) return payload;
    const url = request.routeOptions.url ?? "";
    if (!made.has(url) && Buffer.isBuffer(payload)) made.set(url, make(payload, reply));
    const known = made.get(url);
    return known === undefined ? payload : choose(known, request, reply);
  });
}

interface Made {
  readonly headers: Record<string, string>;
  readonly body: Buffer;
  readonly tag: string;
  readonly compressed: Map<Coding, Promise<Buffer>>;
}

function make(body: Buffer, reply: FastifyReply): Made {
  const tag = `"${createHash("sha256").update(body).digest("base64url")}"`;
  // Weak, because it is shared by all codings. Revalidated each time, so that a new release is seen at once.
  reply.headers({ etag: `W/${tag}`, "cache-control": "no-cache", vary: "accept-encoding" });
  return { headers: headersOf(reply), body, tag, compressed: new Map() };
}

/** All headers except those of a single request. */
function headersOf(reply: FastifyReply): Record<string, string> {
  const { [REQUEST_ID_HEADER]: _, ...headers } = reply.getHeaders();
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

const CODINGS = {
  // A higher quality takes a second for a hundredth less.
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes),
} as const;
export type Coding = keyof typeof CODINGS;

/** The bytes for this caller; null if it has them. */
async function choose(known: Made, request: FastifyRequest, reply: FastifyReply): Promise<Buffer | null> {
  if (isHeld(request, known.tag)) {
    reply.code(304);
    return null;
  }
  const [coding] = acceptedCodings(request);
  if (coding === undefined) return known.body;
  const compressed = known.compressed.get(coding) ?? CODINGS[coding](known.body);
  known.compressed.set(coding, compressed);
  reply.header("content-encoding", coding);
  return compressed;
}

/** Whether the caller holds this tag, in any coding. */
export function isHeld({ method, headers }: FastifyRequest, tag: string): boolean {
  const held = names(headers["if-none-match"]).map((name) => name.replace(/^W\//, ""));
  return method === "GET" && (held.includes(tag) || held.includes("*"));
}

/** The caller's accepted codings, the smallest first. */
export function acceptedCodings({ headers }: FastifyRequest): Coding[] {
  const accepted = names(headers["accept-encoding"]?.toString().toLowerCase());
  return (["br", "gzip"] as const).filter((name) => accepted.includes(name));
}

/** The members of a header list, without parameters and refused ones. */
function names(list = ""): readonly string[] {
  return list
    .split(",")
    .filter((member) => !/;\s*q=0(\.0*)?\s*$/i.test(member))
    .map((member) => member.replace(/;.*/, "").trim());
}
