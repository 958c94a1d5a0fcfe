import { Compile } from "typebox/compile";
import { createRandom, type Random } from "../rig/random.ts";
import { answerOf, type Document, inline, type Route, routesOf, type Schema } from "./document.ts";
import { createValues } from "./values.ts";

export interface FuzzRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export interface FuzzAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

export interface FuzzOptions {
  readonly document: Document;
  readonly requests: number;
  readonly seed: number;
  readonly send: (request: FuzzRequest) => Promise<FuzzAnswer>;
  /** Of each kind, good ones: one is drawn for a request. */
  readonly credentials: () => readonly string[];
  /** Told of every answer, such as to sign in again. */
  readonly onAnswer?: (request: FuzzRequest, answer: FuzzAnswer) => Promise<void>;
}

export interface FuzzVerdict {
  readonly violations: readonly string[];
  readonly statuses: ReadonlyMap<number, number>;
  /** Operations that were never answered with a success. */
  readonly neverGood: readonly string[];
}

/** At once: the database is waited for less. */
const CLIENTS = 8;

/** Requests made from the API's own reference, and its answers compared with it. */
export async function fuzz(options: FuzzOptions): Promise<FuzzVerdict> {
  const { document, send } = options;
  const random = createRandom(options.seed);
  // A stream has no end to wait for.
  const routes = routesOf(document).filter(
    (route) => answerOf(document, route, 200)?.content?.["text/event-stream"] === undefined,
  );
  const makeRequest = createRequests(document, random, options.credentials);
  const judge = createJudge(document);
  const violations: string[] = [];
  const statuses = new Map<number, number>();
  const good = new Set<Route>();
  let left = options.requests;
  const client = async () => {
    while (left > 0) await askOnce();
  };
  async function askOnce(): Promise<void> {
    left -= 1;
    const route = random.pick(routes);
    const request = makeRequest.next(route);
    const answer = await send(request);
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    if (answer.status < 400) good.add(route);
    makeRequest.learn(route, answer);
    const complaint = judge(route, answer);
    if (complaint !== null) violations.push(tell(request, answer, complaint));
    await options.onAnswer?.(request, answer);
  }
  await Promise.all(Array.from({ length: CLIENTS }, client));
  const neverGood = routes.filter((route) => !good.has(route)).map(({ method, path }) => `${method} ${path}`);
  return { violations, statuses, neverGood };
}

function tell(
  { method, path, headers, body }: FuzzRequest,
  { status, text }: FuzzAnswer,
  why: string,
): string {
  const sent = [method, path.slice(0, 300), headers["content-type"] ?? "", (body ?? "").slice(0, 600)];
  return `${why}\n  ${sent.join(" ")}\n  → ${status} ${text.slice(0, 600)}`;
}

/** Of what was created so much is remembered: most of it is used once. */
const REMEMBERED = 50;

function createRequests(document: Document, random: Random, credentials: () => readonly string[]) {
  const values = createValues(random, (schema) => inline(document, schema));
  /** What names things in paths, by the name of the parameter. */
  const known = new Map<string, string[]>();
  let sources = 0;

  function segment(name: string): string {
    const names = known.get(name) ?? [];
    if (names.length > 0 && random.chance(0.75)) return random.pick(names);
    return random.chance(0.3) ? "default" : values.oddText().slice(0, 2_000) || "x";
  }

  function drawValue(schema: Schema): unknown {
    return random.chance(0.8) ? values.good(schema) : values.odd();
  }

  function pathOf({ path, operation }: Route): string {
    const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) => inUrl(segment(name)));
    const query = (operation.parameters ?? []).flatMap((parameter) => {
      if (parameter.in !== "query" || !(parameter.required || random.chance(0.3))) return [];
      return [`${parameter.name}=${inUrl(toText(drawValue(parameter.schema ?? {})).slice(0, 2_000))}`];
    });
    if (random.chance(0.02)) query.push(`${inUrl(values.oddText().slice(0, 100))}=1`);
    return query.length === 0 ? filled : `${filled}?${query.join("&")}`;
  }

  function bodyOf({ operation }: Route): { type: string; text: string } | null {
    const [type, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
    if (type === undefined) return random.chance(0.02) ? { type: "application/json", text: "{}" } : null;
    const schema = content?.schema ?? {};
    const value = random.chance(0.65) ? values.good(schema) : values.bad(schema);
    if (type.endsWith("urlencoded")) return { type, text: formText(value) };
    const text = JSON.stringify(value) ?? "null";
    if (random.chance(0.04)) return { type, text: text.slice(0, random.between(0, text.length)) };
    return { type: random.chance(0.02) ? "text/plain" : type, text };
  }

  return {
    next(route: Route): FuzzRequest {
      const body = bodyOf(route);
      sources += 1;
      const credential = random.chance(0.96)
        ? random.pick(credentials())
        : random.pick(["bh_live_wrong", "", "\u00e9", "a b c"]);
      const isOpen = route.operation.security?.length === 0;
      return {
        method: route.method,
        path: pathOf(route),
        headers: {
          // Each from an address of its own: limits by address are not what is looked for here.
          "x-forwarded-for": `10.${(sources >> 16) & 255}.${(sources >> 8) & 255}.${sources & 255}`,
          ...(!isOpen && { authorization: `Bearer ${credential}` }),
          ...(body !== null && { "content-type": body.type }),
          ...(random.chance(0.05) && { "idempotency-key": random.pick(["one", "two", "x".repeat(300)]) }),
        },
        body: body?.text ?? null,
      };
    },
    /** What a request has made may be asked for by others. */
    learn({ path, method }: Route, { status, text }: FuzzAnswer): void {
      if (status !== 201 && !(method === "GET" && path === "/v1/team/members")) return;
      for (const [name, values] of namesIn(path, text)) {
        const list = [...(known.get(name) ?? []), ...values];
        known.set(name, list.slice(-REMEMBERED));
      }
    },
  };
}

/** By which parameter what was created on a path is named in others. */
const NAMED_BY: Readonly<Record<string, readonly [parameter: string, field: string]>> = {
  "/v1/tasks": ["task_id", "id"],
  "/v1/queues": ["queue_name", "name"],
  "/v1/tokens": ["tokenId", "id"],
  "/v1/apikeys": ["key_id", "id"],
  "/v1/team/members": ["user_id", "id"],
  "/v1/team/invitations": ["invitation_id", "id"],
  "/v1/oauth/applications": ["clientId", "clientId"],
};

function namesIn(path: string, text: string): [string, string[]][] {
  const [parameter, field] = NAMED_BY[path] ?? [];
  if (parameter === undefined || field === undefined) return [];
  const named = [...text.matchAll(new RegExp(`"${field}":"([^"]+)"`, "g"))].map(([, value = ""]) => value);
  const callbacks = [...text.matchAll(/\/v1\/callbacks\/([\w-]+)/g)].map(([, value = ""]) => value);
  return [
    [parameter, named.slice(0, path === "/v1/team/members" ? undefined : 1)],
    ["callbackId", callbacks],
  ];
}

/** Null for an answer as the reference describes it, otherwise what is wrong with it. */
function createJudge(document: Document): (route: Route, answer: FuzzAnswer) => string | null {
  const compiled = new Map<Schema, ReturnType<typeof Compile>>();
  function fits(schema: Schema, body: unknown): string | null {
    const check = compiled.get(schema) ?? Compile(inline(document, schema));
    compiled.set(schema, check);
    if (check.Check(body)) return null;
    const [first] = check.Errors(body);
    return `does not fit its schema: ${JSON.stringify(first)}`;
  }

  return (route, { status, contentType, text }) => {
    if (status >= 500) return "an answer of the server's own fault";
    const described = answerOf(document, route, status);
    if (described === undefined) return `the reference does not say that it answers ${status}`;
    const schema = described.content?.["application/json"]?.schema;
    if (!contentType.startsWith("application/json")) {
      const isMeant =
        described.content === undefined ||
        Object.keys(described.content).some((type) => contentType.startsWith(type));
      return isMeant ? null : `the reference does not say that it answers with ${contentType}`;
    }
    if (schema === undefined) return "the reference does not say that it answers with JSON";
    try {
      return fits(schema, JSON.parse(text));
    } catch {
      return "it is not JSON";
    }
  };
}

function formText(value: unknown): string {
  const fields = typeof value === "object" && value !== null ? Object.entries(value) : [["a", value]];
  return fields.map(([name, field]) => `${inUrl(toText(name))}=${inUrl(toText(field))}`).join("&");
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** encodeURIComponent throws for half a character. */
function inUrl(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString());
}
