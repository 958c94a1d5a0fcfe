import { isUtf8 } from "node:buffer";
import { performance } from "node:perf_hooks";
import type { FastifyRequest, preValidationHookHandler } from "fastify";
import { echo, invalid } from "../../domain/complaint.ts";
import type { ExtractedPayloads } from "../../domain/json/outline.ts";
import { Problem } from "../../domain/problem.ts";
import type { JsonGate } from "../../json/gate.ts";
import type { LoopShare } from "../../service/access/loop-share.ts";
import type { Api } from "./schema-types.ts";
import { unknownField } from "./validation.ts";

declare module "fastify" {
  interface FastifyRequest {
    /**
     * The body as written: JSON.parse loses large numbers and duplicate keys. For a large body, the outline without its
     * payloads.
     */
    bodyText: string;
    /** When the server was ready to read the body, after authentication, on the clock of `performance`; 0 before. */
    readFromMs: number;
    /** When the whole body had arrived, on the clock of `performance`; 0 without a body, Infinity while it waits unread. */
    bodyAtMs: number;
    /** The extracted payloads; null if the text is complete. */
    extracted: ExtractedPayloads | null;
  }
}

interface Readers {
  readonly json: JsonGate;
  readonly loop: Pick<LoopShare, "spent"> | undefined;
}

type Done = (error: Error | null, body?: unknown) => void;

/** JSON is the only media type. An empty body is no body, with any Content-Type: many clients always send one. */
export function acceptJson(app: Api, json: JsonGate, loop?: Pick<LoopShare, "spent">): void {
  const readers: Readers = { json, loop };
  app.decorateRequest("bodyText", "");
  app.decorateRequest("readFromMs", 0);
  app.decorateRequest("bodyAtMs", 0);
  app.decorateRequest("extracted", null);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>("application/json", { parseAs: "buffer" }, (request, bytes, done) => {
    // JSON is UTF-8. Another declared charset is refused: the target would get other characters.
    const charset = CHARSET.exec(request.headers["content-type"] ?? "")?.[1]?.toLowerCase() ?? "utf-8";
    if (bytes.length === 0) done(null, undefined);
    else if (!UTF8_CHARSETS.has(charset)) done(new Problem("body_not_typed"));
    else if (!isUtf8(bytes)) done(NOT_UTF8);
    else parseJson(readers, request, bytes.toString("utf8"), done);
  });
}

const CHARSET = /;\s*charset\s*=\s*"?([^\s";]*)/i;
const UTF8_CHARSETS = new Set(["utf-8", "utf8", "us-ascii", "ascii"]);

/** Decoding would silently replace invalid UTF-8, and the target would get other bytes. */
const NOT_UTF8 = new Problem("body_not_json");

function parseJson({ json, loop }: Readers, request: FastifyRequest, text: string, done: Done): void {
  const { principal } = request;
  const reading = json.readBody(principal?.teamId ?? NO_TEAM, text, principal?.limits ?? null);
  if (reading !== null) {
    // Its deadline starts when a thread has parsed it.
    request.bodyAtMs = Number.POSITIVE_INFINITY;
    reading.then((body) => {
      request.bodyAtMs = performance.now();
      request.bodyText = body.text;
      request.extracted = body.extracted;
      go(loop, request, done, body.value);
    }, done);
    return;
  }
  request.bodyAtMs = performance.now();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    done(new Problem("body_not_json"));
    return;
  }
  request.bodyText = text;
  go(loop, request, done, value);
}

/** Everything up to the first await runs in this call. */
function go(loop: Readers["loop"], request: FastifyRequest, done: Done, body: unknown): void {
  const { principal, bodyAtMs } = request;
  done(null, body);
  if (principal !== null) loop?.spent(principal.teamId, "request", performance.now() - bodyAtMs);
}

/** Requests without a credential share one queue. */
const NO_TEAM = 0;

/**
 * For public routes: many clients send JSON under another type, or none. The body is validated and kept as text,
 * without building it.
 */
export function acceptJsonOfAnyType(app: Api, json: JsonGate): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>(
    "*",
    { parseAs: "buffer" },
    async (request: FastifyRequest, bytes: Buffer) => {
      if (bytes.length === 0) return undefined;
      if (!isUtf8(bytes)) throw NOT_UTF8;
      const text = bytes.toString("utf8");
      await json.check(NO_TEAM, text);
      request.bodyText = text;
      return null;
    },
  );
}

/** An unauthenticated request needs a few hundred bytes; a megabyte of fields would block others. */
export const OPEN_BODY_LIMIT = 4 * 1024;

/** More fields than any body has. Payloads are not counted. */
const MOST_FIELDS = 100;
const MOST_MEMBERS = 1_000;
const PAYLOAD_FIELDS: ReadonlySet<string> = new Set(["payload", "body"]);

/** Each broken rule is an object: a hundred thousand of them would block every other caller. */
export function manyFieldsIn(body: unknown): Problem | null {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return null;
  const fields = Object.entries(body);
  if (fields.length > MOST_FIELDS)
    return new Problem("invalid", { reason: `Request body must have at most ${MOST_FIELDS} fields` });
  const large = fields.find(
    ([name, value]) => !PAYLOAD_FIELDS.has(name) && countMembers(value) > MOST_MEMBERS,
  );
  if (large === undefined) return null;
  const [name] = large;
  return invalid([{ field: echo(name), error: `${echo(name)} must have at most ${MOST_MEMBERS} members` }]);
}

export const refuseManyFields: preValidationHookHandler = ({ body }, _reply, done) => {
  done(manyFieldsIn(body) ?? undefined);
};

function countMembers(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return Array.isArray(value) ? 0 : Object.keys(value).length;
}

/** For routes without a body: an empty object is accepted, a field would be silently ignored. */
export async function refuseBody(request: FastifyRequest): Promise<void> {
  const { body } = request;
  if (body === undefined || body === null) return;
  if (typeof body !== "object" || Array.isArray(body)) throw new Problem("body_not_object");
  const [field] = Object.keys(body);
  if (field !== undefined) throw invalid([unknownField(field)]);
}
