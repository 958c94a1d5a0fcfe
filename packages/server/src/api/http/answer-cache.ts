import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import { REQUEST_ID_HEADER } from "./request-id.ts";
import type { Api } from "./schema-types.ts";

/**
 * For answers that are the same for everybody: each route of the scope makes its answer once and gives the same bytes
 * ever after, compressed once per coding. Any stranger may ask for them, some take a tenth of a second to make, and a
 * caller that reads one slowly must not keep a copy of it in our memory.
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
    if (typeof payload === "string") made.set(url, make(payload, reply));
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

function make(text: string, reply: FastifyReply): Made {
  const body = Buffer.from(text);
  const tag = `"${createHash("sha256").update(body).digest("base64url")}"`;
  // Weak, because it is one for all codings. It may be kept, and is asked about each time: a new release is seen at once.
  reply.headers({ etag: `W/${tag}`, "cache-control": "no-cache", vary: "accept-encoding" });
  return { headers: headersOf(reply), body, tag, compressed: new Map() };
}

/** All but what belongs to the one request. */
function headersOf(reply: FastifyReply): Record<string, string> {
  const { [REQUEST_ID_HEADER]: _, ...headers } = reply.getHeaders();
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

const CODINGS = {
  // Beyond this quality it takes a second for a hundredth less.
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes),
} as const;
export type Coding = keyof typeof CODINGS;

/** The bytes that this caller wants; null for none, where it has them. */
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

/** Whether the caller says that it holds what has this tag, in whatever coding. */
export function isHeld({ method, headers }: FastifyRequest, tag: string): boolean {
  const held = names(headers["if-none-match"]).map((name) => name.replace(/^W\//, ""));
  return method === "GET" && (held.includes(tag) || held.includes("*"));
}

/** The codings that the caller takes, the smallest first. */
export function acceptedCodings({ headers }: FastifyRequest): Coding[] {
  const accepted = names(headers["accept-encoding"]?.toString().toLowerCase());
  return (["br", "gzip"] as const).filter((name) => accepted.includes(name));
}

/** The members of a list in a header, without their parameters, and without those that are refused by them. */
function names(list = ""): readonly string[] {
  return list
    .split(",")
    .filter((member) => !/;\s*q=0(\.0*)?\s*$/i.test(member))
    .map((member) => member.replace(/;.*/, "").trim());
}
