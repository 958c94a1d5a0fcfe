import type { FastifyReply, FastifyRequest } from "fastify";
import { callerOf } from "../../api/http/auth-hook.ts";
import { refuse } from "../../api/http/error-answer.ts";
import type { Api } from "../../api/http/schema-types.ts";
import { fitPage } from "../../api/schemas/page.ts";
import { echo, invalid, mustBe } from "../../domain/complaint.ts";
import type { Page } from "../../domain/page.ts";
import { Problem } from "../../domain/problem.ts";
import { isStorable, STORABLE_RULE } from "../../domain/storable-text.ts";
import type { JsonGate } from "../../json/gate.ts";
import type { LoopShare } from "../../service/access/loop-share.ts";
import { type Destination, readDestination } from "./domain-destination.ts";
import type { HeaderMap } from "./domain-options.ts";

/** Not in our own reference: QStash documents it, and docs/from-qstash.md the differences. */
export const HIDDEN = { schema: { hide: true } } as const;

/** Bodies are bytes and are not looked into: they may be anything. */
export function acceptBytes(app: Api, loop: Pick<LoopShare, "spent">): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>("*", { parseAs: "buffer" }, (request, bytes, done) => {
    request.bodyAtMs = performance.now();
    done(null, bytes.length === 0 ? undefined : bytes);
    const { principal, bodyAtMs } = request;
    if (principal !== null) loop.spent(principal.teamId, "request", performance.now() - bodyAtMs);
  });
}

/** QStash has one status for everything that a plan does not allow. */
const STATUS_OF_PLAN = 412;

/** In QStash's form, which clients parse: `{ error }`, and the burst limit beside a 429. */
export function answerQstashError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const problem = refuse(error, request, reply);
  if (problem.code === "limit_reached") reply.code(STATUS_OF_PLAN);
  if (problem.status === 429) {
    for (const name of ["Limit", "Remaining", "Reset"]) {
      const figure = reply.getHeader(`x-ratelimit-${name.toLowerCase()}`) ?? retryAfter(name, problem);
      if (figure !== null) reply.header(`Burst-RateLimit-${name}`, figure);
    }
  }
  const { message, code } = problem;
  return reply.type("application/json; charset=utf-8").send(JSON.stringify({ error: message, code }));
}

function retryAfter(name: string, { retryAfterSeconds }: Problem): number | null {
  if (name === "Remaining") return 0;
  return name === "Reset" ? retryAfterSeconds : null;
}

/** The protocol has no pages: a list that has more than a page, or more than an answer has room for, is refused. */
export function wholeList<T, View>(page: Page<T>, viewOf: (item: T) => View, other: string): readonly View[] {
  const { items, hasMore } = fitPage(page, viewOf);
  if (hasMore) throw new Problem("list_too_large", { other });
  return items;
}

export function bytesIn(request: FastifyRequest): Buffer | null {
  return Buffer.isBuffer(request.body) ? request.body : null;
}

/** Parses the body as JSON, through the gate for untrusted JSON. Undefined without a body. */
export async function jsonIn(request: FastifyRequest, json: JsonGate): Promise<unknown> {
  const bytes = bytesIn(request);
  if (bytes === null) return undefined;
  const { teamId, limits } = callerOf(request);
  const text = bytes.toString("utf8");
  const reading = json.readBody(teamId, text, limits);
  if (reading !== null) return (await reading).value;
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem("body_not_json");
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export async function objectIn(
  request: FastifyRequest,
  json: JsonGate,
  fields: readonly string[],
): Promise<Readonly<Record<string, unknown>>> {
  const value = await jsonIn(request, json);
  if (!isObject(value)) throw new Problem("body_not_object");
  const unknown = Object.keys(value).find((name) => !fields.includes(name));
  if (unknown !== undefined)
    throw invalid([{ field: echo(unknown), error: `Unknown field "${echo(unknown)}"` }]);
  return value;
}

/** The headers as sent: a name that came several times has its values joined. */
export function headersIn(request: FastifyRequest): HeaderMap {
  const { rawHeaders } = request.raw;
  const headers = new Map<string, string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? "";
    const value = rawHeaders[index + 1] ?? "";
    const earlier = headers.get(name);
    headers.set(name, earlier === undefined ? value : `${earlier}, ${value}`);
  }
  return headers;
}

/** The raw path and query after `parts` segments: routers decode and normalise theirs. */
export function destinationIn(request: FastifyRequest, parts: number): Destination {
  const url = request.raw.url ?? "";
  let at = 0;
  for (let part = 0; part <= parts; part += 1) at = url.indexOf("/", at) + 1;
  return requireDestination(url.slice(at));
}

export function requireDestination(text: string): Destination {
  const destination = readDestination(text);
  if ("error" in destination) throw invalid([destination]);
  return destination;
}

/** Every value of the query by name: repeated ones, and those separated by commas. All can be stored, and so compared. */
export function queryIn(request: FastifyRequest): ReadonlyMap<string, readonly string[]> {
  const url = request.raw.url ?? "";
  const query = new Map<string, string[]>();
  const at = url.indexOf("?");
  if (at < 0) return query;
  for (const [name, value] of new URLSearchParams(url.slice(at + 1))) {
    const values = query.get(name) ?? [];
    if (!isStorable(value)) throw invalid([mustBe(echo(name), STORABLE_RULE)]);
    values.push(...value.split(",").filter((part) => part !== ""));
    query.set(name, values);
  }
  return query;
}

export function parameterIn(request: FastifyRequest, name: string): string {
  const { params } = request;
  const value = isObject(params) ? params[name] : undefined;
  if (typeof value !== "string" || value === "") throw invalid([mustBe(name, "given")]);
  if (!isStorable(value)) throw invalid([mustBe(name, STORABLE_RULE)]);
  return value;
}
