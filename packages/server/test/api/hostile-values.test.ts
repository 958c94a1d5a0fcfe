import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { PROBLEMS, type ProblemCode } from "../../src/domain/problem.ts";
import { ACCESS_ROWS, type AccessRow } from "../server/access-rows.ts";
import { openWorld, type World, type WorldTeam } from "../server/access-world.ts";
import type { ServerProcess } from "../server/server-process.ts";
import { type Answer, createTestApi, type TestApi } from "./test-api.ts";

/*
 * Each field, query parameter, header and part of a path of every route gets values that no client sends by mistake. The
 * answer is never a 500. The fields are those of the API reference; /v2 is not in it, so its fields are listed below.
 */

const LONG = "x".repeat(9_000);
const DEEP = "[".repeat(15_000) + "]".repeat(15_000);

/** Percent-encoded. A lone surrogate has no encoding: these are its bytes. */
const PATH_TEXTS = ["%00", "%ED%A0%80", "%", "__proto__", "9007199254740993", LONG];
const QUERY_TEXTS = [
  ...PATH_TEXTS,
  ...["", "%E2%80%A6", "-1", "2147483648", "1e400", "275760-09-13T00:00:00.000Z"],
];
/** NUL and line breaks cannot stand in a header. */
const HEADER_TEXTS = ["", "__proto__", "\xff", "-1", "9007199254740993", "1e400", LONG];
/** As JSON. */
const STRINGS = [...['"\\u0000"', '"\\ud800"', '""', '"__proto__"', '"…"', JSON.stringify(LONG)]];
const INSTANT = '"275760-09-13T00:00:00.000Z"';
/** Of a parameter that is no text. */
const FEW_TEXTS = ["%00", "-1", "9007199254740993", "1e400"];
const NUMBERS = ["-1", "2147483648", "9007199254740993", "1e400"];
const OTHERS = ['{"toString":null}', '[{"toString":null}]'];
const OBJECTS = [
  ...[
    "null",
    "true",
    "[]",
    "{}",
    '["\\u0000"]',
    '{"__proto__":{"toString":null}}',
    '{"__proto__":"\\u0000"}',
  ],
  ...['{"\\u0000":"\\u0000"}', DEEP],
];
const ANY = [...STRINGS.slice(0, 4), "1e400", ...OTHERS, ...OBJECTS];

const OPTIONS = [
  ...["method", "delay", "not-before", "timeout", "retries", "retry-delay", "label", "flow-control-key"],
  ...[
    "flow-control-value",
    "redact-fields",
    "callback",
    "failure-callback",
    "header-forward",
    "deduplication-id",
  ],
  ...[
    "content-based-deduplication",
    "forward-x",
    "callback-forward-x",
    "callback-retries",
    "cron",
    "schedule-id",
  ],
  ...["queue-name"],
].map((name) => `upstash-${name}`);

type Place = readonly (string | number)[];
interface Field {
  readonly place: Place;
  /** As JSON: those that are worth a try here. */
  readonly values: readonly string[];
  /** The rest of the body, if it is not the usual one. */
  readonly of?: object;
}
const field = (...place: Place): Field => ({ place, values: ANY });
const ENDPOINTS = [
  ...[field("endpoints"), field("endpoints", 0), field("endpoints", 0, "name"), field("endpoints", 0, "url")],
];
const named = (names: readonly string[]) => names.map((name) => field(name));

/** What the reference does not have. What shares its code with another route stands there alone. */
const UNLISTED: Readonly<
  Record<string, { body?: readonly Field[]; query?: readonly string[]; headers?: readonly string[] }>
> = {
  "POST /v2/publish/*": { headers: ["upstash-not-before", "upstash-label", "upstash-forward-x"] },
  "POST /v2/schedules/*": { headers: ["upstash-cron", "upstash-schedule-id", "upstash-queue-name"] },
  "POST /v2/dlq/retry/:dlqId": { headers: ["upstash-not-before", "upstash-forward-x"] },
  "POST /v2/batch": {
    body: [
      ...[
        field(),
        field(0),
        field(0, "destination"),
        field(0, "headers"),
        field(0, "body"),
        field(0, "queue"),
      ],
      field(0, "__proto__"),
      ...OPTIONS.map((name) => ({
        place: [0, "headers", name],
        values: [...STRINGS.slice(0, 4), ...OTHERS],
      })),
      field(0, "headers", "upstash-forward-x"),
    ],
  },
  "DELETE /v2/messages": {
    query: ["url", "host", "queueName", "count", "toDate", "cursor"],
    body: named(["label", "messageIds"]),
  },
  "GET /v2/dlq": { query: ["responseStatus", "dlqIds", "cursor"] },
  "POST /v2/dlq/retry": { body: named(["responseStatus", "dlqIds", "fromDate"]) },
  "GET /v2/logs": { query: ["state", "cursor"] },
  "POST /v2/queues": { body: named(["queueName", "parallelism", "paused"]) },
  "GET /v2/flowControl": { query: ["search"] },
  "POST /v2/flowControl/:flowControlKey/pin": { query: ["parallelism", "rate", "period"] },
  "POST /v2/flowControl/:flowControlKey/unpin": { query: ["parallelism", "rate"] },
  "POST /v2/topics/:name/endpoints": { body: ENDPOINTS },
  "DELETE /v2/topics/:name/endpoints": { body: ENDPOINTS },
  "GET /sign-in": { query: ["to", "email"] },
  "GET /sign-in/link": { query: ["token"] },
  "POST /page/session/team": { body: named(["team"]) },
};

const CODE = { grant_type: "authorization_code", code: "c".repeat(64), code_verifier: "v".repeat(43) };
/** Fields of forms, and what else stands in the form. */
const FORMS: Readonly<Record<string, readonly (readonly [field: string, others: Form])[]>> = {
  "POST /v1/oauth/token": [
    ["grant_type", {}],
    ...["client_id", "client_secret", "scope"].map(
      (name) => [name, { grant_type: "client_credentials" }] as const,
    ),
    ["refresh_token", { grant_type: "refresh_token" }],
    ...["code", "code_verifier", "redirect_uri"].map((name) => [name, CODE] as const),
  ],
  "POST /v1/oauth/revoke": [["token", {}]],
  "POST /v1/oauth/authorize": [["csrf", {}]],
  "POST /sign-in": [["email", {}]],
  "POST /sign-in/link": [["token", {}]],
};
type Form = Readonly<Record<string, string>>;

/** In place of the body of the row: with it, more fields are looked at. */
const BODIES: Readonly<Record<string, object>> = {
  "POST /v1/alerts": {
    name: "Made",
    when: { kind: "failure_rate", threshold: 10 },
    notify: [{ url: "http://127.0.0.1:9/" }],
  },
  "POST /v1/tasks/bulk": { action: "retry", filter: { queue: "nobody-has-this" }, dry_run: true },
};

const DIRECT = { targetUrl: "http://127.0.0.1:9/", queue: "default", delay: 3600 };

// biome-ignore lint/suspicious/noExplicitAny: a document of schemas, walked without knowing them
type Json = any;

describe("hostile values", () => {
  let api: TestApi;
  let world: World;
  let document: Json;
  let application: Form;
  const statuses = new Map<number, number>();
  before(async () => {
    api = await createTestApi({});
    const url = await api.app.listen({ port: 0, host: "127.0.0.1" });
    world = await openWorld({ url } as ServerProcess, api.server.database);
    const grantTypes = ["authorization_code", "refresh_token", "client_credentials"];
    const made = { name: "Forms", scopes: ["tasks:read"], grantTypes, redirectUris: ["https://a.test/"] };
    const { json } = await world.call(world.ours.liveKey, "POST", "/v1/oauth/applications", made);
    application = { client_id: json.application.clientId, client_secret: json.application.clientSecret };
    document = (await api.send({ method: "GET", url: "/openapi.json" })).body;
  });
  after(async () => {
    await world.close();
    await api.close();
  });

  for (const [route, row] of Object.entries(ACCESS_ROWS)) {
    it(`are answered without a 500 by ${route}`, async () => {
      const failures: string[] = [];
      for (const [place, request] of requestsOf(route, document, application)) {
        const answer = await ask(route, row, request);
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        const complaint = complaintAbout(answer, request);
        if (complaint !== null) failures.push(`${place}: ${complaint}`);
      }
      assert.deepEqual(failures, []);
    });
  }

  it("get past the schemas of fields where text is allowed", () => {
    const accepted = (statuses.get(200) ?? 0) + (statuses.get(201) ?? 0) + (statuses.get(202) ?? 0);
    assert.ok(accepted > 400, JSON.stringify([...statuses]));
  });

  it("log no error", () => {
    const errors = api.lines.filter(({ level }) => Number(level) >= 50);
    assert.deepEqual(errors, []);
  });

  /** What requests of a route are about. Another one is made when a request may have ended it. */
  let made: { readonly route: string; readonly name: string } | null = null;

  async function nameFor(route: string, row: AccessRow, team: WorldTeam): Promise<string> {
    if (made?.route !== route) made = { route, name: (await row.make?.(world, team)) ?? "" };
    return made.name;
  }

  async function ask(
    route: string,
    row: AccessRow,
    { path, query, headers, body, form }: Hostile,
  ): Promise<Answer> {
    const [method = "", pattern = ""] = route.split(" ");
    const { ours } = world;
    const team = row.test === true ? { ...ours, liveKey: ours.testKey } : ours;
    const name = path ?? (await nameFor(route, row, team));
    const names = name.split(" ");
    const url =
      (path === undefined ? row.path : undefined) ?? pattern.replace(/:\w+|\*/g, () => names.shift() ?? "");
    const base = BODIES[route] ?? row.bodyOf?.(name) ?? row.body;
    const json = body === undefined ? jsonOf(base) : withValue(body.of ?? base, body.place, body.value);
    const payload = form ?? json;
    const whole = url + (query ?? row.query ?? "");
    const said = { ...row.headers, ...headers };
    const credential = row.scope === "session" ? ours.owner : team.liveKey;
    // Its answer does not end: the socket closes.
    if (route === "GET /v1/events") {
      const { status, json } = await world.call(credential, method, whole, undefined, said);
      return { status, headers: {}, text: JSON.stringify(json), body: json ?? undefined };
    }
    const answer = await api.send({
      method: method as "GET",
      url: whole,
      headers: {
        ...(row.scope !== "public" && { authorization: `Bearer ${credential}` }),
        ...(payload !== undefined && { "content-type": form === undefined ? "application/json" : FORM }),
        ...said,
      },
      ...(payload !== undefined && { payload }),
    });
    if (answer.status < 300 && !KEEPING.test(method)) made = null;
    return answer;
  }
});

const FORM = "application/x-www-form-urlencoded";

/** A change leaves what it is about in place. */
const KEEPING = /^(?:GET|PUT|PATCH)$/;

function jsonOf(body: unknown): string | undefined {
  return body === undefined ? undefined : JSON.stringify(body);
}

interface Hostile {
  /** The whole of it. */
  readonly form?: string;
  readonly path?: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: { readonly of?: object; readonly place: Place; readonly value: string };
}

function* requestsOf(route: string, document: Json, application: Form): Generator<[string, Hostile]> {
  const [method = "", pattern = ""] = route.split(" ");
  const operation = document.paths[pattern.replace(/:(\w+)/g, "{$1}")]?.[method.toLowerCase()];
  const listed = (operation?.parameters ?? []) as { in: string; name: string; schema: Json }[];
  const unlisted = UNLISTED[route] ?? {};
  const short = (text: string) => text.slice(0, 30);
  if (/:\w+|\*/.test(pattern)) for (const text of PATH_TEXTS) yield [`path ${short(text)}`, { path: text }];
  const query = listed.filter((each) => each.in === "query");
  for (const { name, schema } of [...query, ...(unlisted.query ?? []).map((name) => ({ name, schema: {} }))])
    for (const text of schema.enum !== undefined || schema.type === "integer" ? FEW_TEXTS : QUERY_TEXTS)
      yield [`?${name}=${short(text)}`, { query: `?${name}=${text}` }];
  const headers = listed.filter((each) => each.in === "header").map(({ name }) => name);
  for (const name of [...headers, ...(unlisted.headers ?? [])])
    for (const text of HEADER_TEXTS) yield [`${name}: ${short(text)}`, { headers: { [name]: text } }];
  for (const [name, others] of FORMS[route] ?? [])
    for (const text of QUERY_TEXTS) {
      const { [name]: _, ...rest } = { ...application, ...others };
      yield [`${name}=${short(text)}`, { form: `${new URLSearchParams(rest)}&${name}=${text}` }];
    }
  const schema = operation?.requestBody?.content["application/json"]?.schema;
  const fields = schema === undefined ? [] : [field(), ...fieldsIn(schema, document, 4)];
  for (const { values, ...field } of [...fields, ...(unlisted.body ?? [])])
    for (const value of values)
      yield [`${field.place.join(".")} = ${short(value)}`, { body: { ...field, value } }];
}

/**
 * Models that stand in several bodies are read by the same code, and a number or a word is refused by its schema alone: once
 * is enough.
 */
const walked = new Set<string>();

/** Where a value can stand: each property, an element of each list, and a name of each record. */
function fieldsIn(schema: Json, document: Json, depth: number): Field[] {
  const { $ref } = schema;
  if ($ref !== undefined) {
    const name = $ref.split("/").at(-1);
    if (walked.has(name)) return [];
    walked.add(name);
    const fields = fieldsIn(document.components.schemas[name], document, depth);
    return name === "CreateDirectTask" ? ofDirectTasksAlone(fields, document) : fields;
  }
  if (depth === 0) return [];
  const inner = (name: string | number, child: Json): Field[] => {
    const values = valuesFor(child);
    const isKnown =
      values.length <= NUMBERS.length + OTHERS.length && walked.has(`${name} ${JSON.stringify(child)}`);
    walked.add(`${name} ${JSON.stringify(child)}`);
    return [
      ...(isKnown ? [] : [{ place: [name], values }]),
      ...fieldsIn(child, document, depth - 1).map(({ place, values }) => ({
        place: [name, ...place],
        values,
      })),
    ];
  };
  const found = [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, child]) => inner(name, child)),
    ...(schema.items === undefined ? [] : inner(0, schema.items)),
    ...(typeof schema.additionalProperties === "object" ? inner("x", schema.additionalProperties) : []),
    ...[...(schema.oneOf ?? []), ...(schema.anyOf ?? [])].flatMap((child) =>
      fieldsIn(child, document, depth),
    ),
  ];
  return found;
}

function ofDirectTasksAlone(fields: readonly Field[], document: Json): Field[] {
  const others = document.components.schemas.CreateTask.properties;
  return fields.filter(({ place }) => !(String(place[0]) in others)).map((each) => ({ ...each, of: DIRECT }));
}

/** The schema refuses every other type in the same way. */
function valuesFor({ type, enum: words, format }: Json): readonly string[] {
  const kind = Array.isArray(type) ? type[0] : type;
  if (words !== undefined || kind === "boolean") return [...OTHERS, '"__proto__"'];
  if (format === "date-time") return [INSTANT, ...STRINGS, ...OTHERS];
  if (kind === "string") return [...STRINGS, ...OTHERS];
  if (kind === "integer" || kind === "number") return [...NUMBERS, ...OTHERS];
  return ANY;
}

const MARK = "@@here@@";

/** The body with the value at this place. An entry of a list that says all in one field is that field alone. */
function withValue(base: unknown, place: Place, value: string): string {
  return JSON.stringify(put(base, place)).replace(`"${MARK}"`, () => value);
}

function put(at: Json, [name, ...rest]: Place): Json {
  if (name === undefined) return MARK;
  if (typeof name === "number") return [put(Array.isArray(at) ? at[name] : undefined, rest)];
  const others = typeof at === "object" && at !== null && !Array.isArray(at) ? Object.entries(at) : [];
  return Object.fromEntries([...others, [name, put(Object.fromEntries(others)[name], rest)]]);
}

function complaintAbout({ status, text, body }: Answer, { body: sent }: Hostile): string | null {
  const start = `${status} ${text.slice(0, 200)}`;
  if (status >= 500 || text.includes("cannot be stored")) return start;
  if (status < 400 || body === undefined) return null;
  const { error, code } = body as { error: unknown; code?: ProblemCode };
  if (typeof error !== "string" || (code !== undefined && PROBLEMS[code] === undefined)) return start;
  // What stands inside of the value is named instead, if that is what is wrong.
  const names = sent?.place.filter((each) => typeof each === "string") ?? [];
  const isNamed = names.length === 0 || names.some((each) => text.includes(each));
  return code !== "invalid" || isNamed || /^Unknown |^Header |is required/.test(error)
    ? null
    : `unnamed: ${start}`;
}
