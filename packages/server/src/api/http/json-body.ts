import { isUtf8 } from "node:buffer";
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
     * The body as it was written: the parsed value has lost what JSON.parse loses, large numbers and duplicate keys. Of a large
     * body it is the outline, without what its tasks carry.
     */
    bodyText: string;
    /** When the whole body was there, on the clock of `performance`; 0 where there is none, Infinity while it is not to be read yet. */
    bodyAtMs: number;
    /** What the outline left out; null: the text is whole. */
    extracted: ExtractedPayloads | null;
  }
}

interface Readers {
  readonly json: JsonGate;
  readonly loop: Pick<LoopShare, "spent"> | undefined;
}

type Done = (error: Error | null, body?: unknown) => void;

/** JSON is the only media type. An empty body is no body, whatever its Content-Type: many clients always send one. */
export function acceptJson(app: Api, json: JsonGate, loop?: Pick<LoopShare, "spent">): void {
  const readers: Readers = { json, loop };
  app.decorateRequest("bodyText", "");
  app.decorateRequest("bodyAtMs", 0);
  app.decorateRequest("extracted", null);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>("application/json", { parseAs: "buffer" }, (request, bytes, done) => {
    // JSON is UTF-8. Text that says otherwise must not be taken for it: the target would get other characters.
    const charset = CHARSET.exec(request.headers["content-type"] ?? "")?.[1]?.toLowerCase() ?? "utf-8";
    if (bytes.length === 0) done(null, undefined);
    else if (!UTF8_CHARSETS.has(charset)) done(new Problem("body_not_typed"));
    else if (!isUtf8(bytes)) done(NOT_UTF8);
    else parseJson(readers, request, bytes.toString("utf8"), done);
  });
}

const CHARSET = /;\s*charset\s*=\s*"?([^\s";]*)/i;
const UTF8_CHARSETS = new Set(["utf-8", "utf8", "us-ascii", "ascii"]);

/** Decoding would silently replace what is not UTF-8, and the target would get other bytes than were sent to us. */
const NOT_UTF8 = new Problem("body_not_json");

function parseJson({ json, loop }: Readers, request: FastifyRequest, text: string, done: Done): void {
  const { principal } = request;
  const reading = json.readBody(principal?.teamId ?? NO_TEAM, text, principal?.limits ?? null);
  if (reading !== null) {
    // Its time to be answered begins when a thread has read it.
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

/** All that follows of itself, until the first wait, happens in this call. */
function go(loop: Readers["loop"], request: FastifyRequest, done: Done, body: unknown): void {
  const { principal, bodyAtMs } = request;
  done(null, body);
  if (principal !== null) loop?.spent(principal.teamId, "request", performance.now() - bodyAtMs);
}

/** Requests without a credential wait in one line. */
const NO_TEAM = 0;

/**
 * For routes that strangers call: many send JSON under another type, or under none. What counts is the body, which is checked and kept
 * as text: nothing is built of it.
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

/** A stranger needs a few hundred bytes; a megabyte of fields takes longer to read than all that others wait for. */
export const OPEN_BODY_LIMIT = 4 * 1024;

/** More than any body has, and of what a field holds, more than any. What a task carries is not looked into. */
const MOST_FIELDS = 100;
const MOST_MEMBERS = 1_000;
const PAYLOAD_FIELDS: ReadonlySet<string> = new Set(["payload", "body"]);

/** Each broken rule is an object of its own: a hundred thousand of them keep every other caller waiting. */
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

/** For routes that take no body: an empty object does no harm, a field would be swallowed. */
export async function refuseBody(request: FastifyRequest): Promise<void> {
  const { body } = request;
  if (body === undefined || body === null) return;
  if (typeof body !== "object" || Array.isArray(body)) throw new Problem("body_not_object");
  const [field] = Object.keys(body);
  if (field !== undefined) throw invalid([unknownField(field)]);
}
