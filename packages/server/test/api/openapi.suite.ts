import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import AjvCompiler from "@fastify/ajv-compiler";
import { fastify } from "fastify";
import type { Api } from "../../src/api/http/schema-types.ts";
import { ajvOptions } from "../../src/api/http/validation.ts";
import { serveReference } from "../../src/api/openapi/reference.ts";
import { PROBLEMS } from "../../src/domain/problem.ts";
import { buildOpenApiDocument } from "../../src/server/openapi-document.ts";
import { VERSION } from "../../src/version.ts";
import { REFERENCE } from "../places.ts";
import { COST_ROWS } from "./cost-rows.ts";
import { createTestApi, PUBLIC_URL, type TestApi } from "./test-api.ts";

const OPERATIONS = [
  "get /.well-known/oauth-authorization-server getAuthorizationServer",
  "get /healthz getHealth",
  "get /livez getLiveness",
  "get /readyz getReadiness",
  "get /v1/alerts listAlerts",
  "post /v1/alerts createAlert",
  "delete /v1/alerts/{alert_id} deleteAlert",
  "get /v1/alerts/{alert_id} getAlert",
  "patch /v1/alerts/{alert_id} updateAlert",
  "post /v1/alerts/{alert_id}/test testAlert",
  "get /v1/apikeys listApiKeys",
  "post /v1/apikeys createApiKey",
  "delete /v1/apikeys/{key_id} revokeApiKey",
  "get /v1/audit listAuditEvents",
  "post /v1/auth/magic-link requestMagicLink",
  "delete /v1/auth/session endSession",
  "post /v1/auth/session openSession",
  "post /v1/auth/session/team switchTeam",
  "get /v1/breakers listBreakers",
  "post /v1/breakers/{host}/close closeBreaker",
  "post /v1/callbacks/{callbackId} resolveCallback",
  "get /v1/events streamEvents",
  "get /v1/flows listFlows",
  "delete /v1/flows/{key} deleteFlow",
  "get /v1/flows/{key} getFlow",
  "put /v1/flows/{key} putFlow",
  "post /v1/flows/{key}/pause pauseFlow",
  "post /v1/flows/{key}/reset resetFlow",
  "post /v1/flows/{key}/resume resumeFlow",
  "get /v1/me getMe",
  "get /v1/oauth/applications listApplications",
  "post /v1/oauth/applications createApplication",
  "delete /v1/oauth/applications/{clientId} deleteApplication",
  "post /v1/oauth/applications/{clientId}/rotate rotateApplicationSecret",
  "get /v1/oauth/authorizations listAuthorizations",
  "delete /v1/oauth/authorizations/{authorization_id} endAuthorization",
  "get /v1/oauth/authorize authorize",
  "post /v1/oauth/revoke revokeAccessToken",
  "post /v1/oauth/token issueAccessToken",
  "get /v1/providers listProviders",
  "get /v1/queues listQueues",
  "post /v1/queues createQueue",
  "delete /v1/queues/{queue_name} deleteQueue",
  "get /v1/queues/{queue_name} getQueue",
  "patch /v1/queues/{queue_name} updateQueue",
  "post /v1/queues/{queue_name}/pause pauseQueue",
  "post /v1/queues/{queue_name}/resume resumeQueue",
  "get /v1/sandbox getSandbox",
  "post /v1/sandbox/advance advanceSandbox",
  "get /v1/schedules listSchedules",
  "post /v1/schedules createSchedule",
  "delete /v1/schedules/{schedule} deleteSchedule",
  "get /v1/schedules/{schedule} getSchedule",
  "patch /v1/schedules/{schedule} updateSchedule",
  "put /v1/schedules/{schedule} putSchedule",
  "post /v1/schedules/{schedule}/pause pauseSchedule",
  "post /v1/schedules/{schedule}/resume resumeSchedule",
  "post /v1/schedules/{schedule}/run runSchedule",
  "get /v1/sessions listSessions",
  "delete /v1/sessions/{session_id} endOneSession",
  "get /v1/signing-secret getSigningSecret",
  "post /v1/signing-secret/rotate rotateSigningSecret",
  "get /v1/stats/failures getFailureStats",
  "get /v1/stats/queues getQueueStats",
  "get /v1/system getSystem",
  "get /v1/tasks listTasks",
  "post /v1/tasks createTask",
  "delete /v1/tasks/{task_id} deleteTask",
  "get /v1/tasks/{task_id} getTask",
  "post /v1/tasks/{task_id}/cancel cancelTask",
  "post /v1/tasks/{task_id}/dismiss dismissTask",
  "get /v1/tasks/{task_id}/explain explainTask",
  "post /v1/tasks/{task_id}/notifications/resend resendTaskNotification",
  "post /v1/tasks/{task_id}/retry retryTask",
  "post /v1/tasks/batch createTasks",
  "get /v1/tasks/bulk listBulks",
  "post /v1/tasks/bulk createBulk",
  "get /v1/tasks/bulk/{bulk_id} getBulk",
  "post /v1/tasks/bulk/{bulk_id}/stop stopBulk",
  "get /v1/team getTeam",
  "patch /v1/team renameTeam",
  "get /v1/team/invitations listInvitations",
  "post /v1/team/invitations createInvitation",
  "delete /v1/team/invitations/{invitation_id} revokeInvitation",
  "get /v1/team/members listMembers",
  "delete /v1/team/members/{user_id} removeMember",
  "patch /v1/team/members/{user_id} changeMemberRole",
  "delete /v1/team/membership leaveTeam",
  "get /v1/teams listTeams",
  "post /v1/teams createTeam",
  "get /v1/tokens listTokens",
  "post /v1/tokens createToken",
  "delete /v1/tokens/{tokenId} revokeToken",
  "get /v1/tokens/{tokenId} getToken",
  "get /v1/url-groups listUrlGroups",
  "delete /v1/url-groups/{name} deleteUrlGroup",
  "get /v1/url-groups/{name} getUrlGroup",
  "put /v1/url-groups/{name} putUrlGroup",
  "get /v1/webhooks listWebhooks",
  "post /v1/webhooks createWebhook",
  "delete /v1/webhooks/{webhook_id} deleteWebhook",
  "get /v1/webhooks/{webhook_id} getWebhook",
  "patch /v1/webhooks/{webhook_id} updateWebhook",
  "get /v1/webhooks/{webhook_id}/deliveries listWebhookDeliveries",
  "post /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver redeliverWebhook",
  "post /v1/webhooks/{webhook_id}/test testWebhook",
];

/** Callers of these have no credential yet, or need none. */
const OPEN = [
  "post /v1/auth/magic-link",
  "post /v1/auth/session",
  "post /v1/callbacks/{callbackId}",
  "get /v1/oauth/authorize",
  "get /v1/providers",
];

interface Answer {
  readonly $ref?: string;
  readonly description: string;
  readonly headers?: Record<string, { readonly $ref: string }>;
  readonly content?: Record<string, { readonly schema: { readonly $ref?: string } }>;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly responses: Record<string, Answer>;
  readonly parameters?: { in: string; name: string; required: boolean }[];
  readonly security?: unknown[];
}

describe("the OpenAPI document", () => {
  let api: TestApi;
  // biome-ignore lint/suspicious/noExplicitAny: the document is looked into as a reader would
  let document: any;
  before(async () => {
    api = await createTestApi();
    document = await buildOpenApiDocument(VERSION, PUBLIC_URL);
  });

  const operations = (): [string, Operation][] =>
    Object.entries<Record<string, Operation>>(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]): [string, Operation] => [
        `${method} ${path}`,
        operation,
      ]),
    );

  /** What a pointer into the document points at. */
  const at = (pointer: string) =>
    pointer
      .slice(2)
      .split("/")
      .reduce((part, key) => part?.[key.replaceAll("~1", "/")], document);
  const answerOf = (answer: Answer): Answer =>
    answer.$ref === undefined ? answer : { ...at(answer.$ref), description: answer.description };

  it("is OpenAPI 3.1 and lists every route", () => {
    assert.equal(document.openapi, "3.1.0");
    assert.equal(document.info.version, VERSION);
    assert.deepEqual(
      operations()
        .map(([route, { operationId }]) => `${route} ${operationId}`)
        .sort((a, b) => (a.split(" ")[1] ?? "").localeCompare(b.split(" ")[1] ?? "") || a.localeCompare(b)),
      OPERATIONS,
    );
  });

  it("lists every /v1 route of the tests' server: no setting adds one", () => {
    const routes = Object.keys(COST_ROWS).filter((route) => route.includes(" /v1/"));
    const listed = operations().map(([route]) => {
      const [method = "", path = ""] = route.split(" ");
      return `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ":$1")}`;
    });
    // A form of the consent page.
    const hidden = ["POST /v1/oauth/authorize"];
    assert.deepEqual(
      routes.filter((route) => !listed.includes(route)),
      hidden,
    );
  });

  it("describes each response of each route, and each path parameter", () => {
    for (const [route, { responses, summary, parameters = [] }] of operations()) {
      assert.ok(summary, route);
      assert.ok(
        Object.keys(responses).some((status) => status.startsWith("2")),
        route,
      );
      for (const [status, answer] of Object.entries(responses)) {
        const { description, content } = answerOf(answer);
        assert.ok(description && description !== "Default Response", route);
        // Browsers are led on from here, or read a page.
        if (route === "get /v1/oauth/authorize" && status !== "431")
          assert.doesNotMatch(Object.keys(content ?? {}).join(), /json/);
        else {
          const isStream = route === "get /v1/events" && status === "200";
          assert.deepEqual(Object.keys(content ?? {}), [isStream ? "text/event-stream" : "application/json"]);
        }
      }
      const named = [...route.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      assert.deepEqual(
        parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name),
        named,
      );
    }
  });

  it("describes the body of POST /v1/tasks as a queue task or a direct task", () => {
    const { requestBody, parameters } = document.paths["/v1/tasks"].post;

    assert.deepEqual(requestBody.content["application/json"].schema, {
      oneOf: [{ $ref: "#/components/schemas/CreateTask" }, { $ref: "#/components/schemas/CreateDirectTask" }],
    });
    assert.deepEqual(
      parameters.map(({ in: place, name, required }: Record<string, unknown>) => [place, name, required]),
      [
        ["query", "wait", false],
        ["header", "Idempotency-Key", false],
      ],
    );
  });

  it("requires a credential on every route except the public ones", () => {
    const usual = [{ apiKey: [] }, { apiKeyHeader: [] }, { session: [] }, { oauth2: [] }];
    assert.deepEqual(document.security, usual);
    for (const [route, { security = usual, responses }] of operations()) {
      const isOpen = !route.includes("/v1/") || OPEN.includes(route);
      assert.equal(security.length === 0, isOpen, route);
      if (!isOpen) assert.ok(responses[401], route);
    }
  });

  it("names the scope that an application needs, and the routes for sessions only", () => {
    const scopeOf = (path: string, method: string) => document.paths[path][method].security;

    assert.deepEqual(scopeOf("/v1/tasks", "post").at(-1), { oauth2: ["tasks:write"] });
    assert.deepEqual(scopeOf("/v1/oauth/applications", "get").at(-1), { oauth2: ["team:read"] });
    assert.deepEqual(scopeOf("/v1/teams", "get"), [{ session: [] }]);
    assert.equal(scopeOf("/v1/me", "get"), undefined);
    assert.deepEqual(scopeOf("/v1/oauth/token", "post"), [{ clientSecret: [] }]);
    const { flows } = document.components.securitySchemes.oauth2;
    assert.equal(flows.authorizationCode.authorizationUrl, `${PUBLIC_URL}/v1/oauth/authorize`);
    assert.ok(flows.clientCredentials.scopes["tokens:use"]);
  });

  it("describes the token request as a form", () => {
    const { content } = document.paths["/v1/oauth/token"].post.requestBody;

    assert.deepEqual(Object.keys(content), ["application/x-www-form-urlencoded"]);
  });

  /** A start takes it for granted: see `ajvOptions`. */
  it("contains only valid JSON Schemas", () => {
    const customOptions = { ...ajvOptions.customOptions, validateSchema: true };
    const check = (models: Record<string, object>) => AjvCompiler()(models, { customOptions });
    const found: [name: string, schema: object][] = Object.entries(document.components.schemas);
    JSON.stringify(document.paths, (key, value) => {
      if (key === "schema") found.push([`schema-${found.length}`, value]);
      return value;
    });

    assert.ok(found.length > 200, `${found.length} schemas`);
    check(Object.fromEntries(found.map(([$id, schema]) => [$id, { $id, ...schema }])));
    assert.throws(() => check({ Wrong: { $id: "Wrong", type: "text" } }), /schema is invalid/);
  });

  it("has no dangling reference and no unused component", () => {
    const used = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g)].map(
      ([, target]) => target ?? "",
    );

    assert.ok(used.length > 20);
    for (const target of used) assert.ok(at(target), target);
    const { securitySchemes: _, ...components } = document.components;
    const all = Object.entries<object>(components).flatMap(([kind, named]) =>
      Object.keys(named).map((name) => `#/components/${kind}/${name}`),
    );
    assert.deepEqual(
      all.filter((target) => !used.includes(target)),
      [],
    );
  });

  it("defines each error response once per status, and names the codes of each operation", () => {
    for (const [route, { responses }] of operations()) {
      for (const [status, answer] of Object.entries(responses)) {
        if (Number(status) < 400 || answer.content !== undefined) continue;
        const { content } = answerOf(answer);
        const isOAuth = answer.$ref?.includes("/OAuth");
        const schema = `#/components/schemas/${isOAuth ? "OAuthError" : "Error"}`;
        assert.equal(content?.["application/json"]?.schema.$ref, schema, `${route} ${status}`);
      }
      assert.ok(responses[431]?.$ref, route);
    }
    const { 404: notFound } = document.paths["/v1/queues/{queue_name}"].get.responses;
    assert.deepEqual(notFound, {
      $ref: "#/components/responses/NotFound",
      description: '`queue_not_found`: Queue "<name>" not found',
    });
    assert.deepEqual(document.components.schemas.Error.properties.code.enum, Object.keys(PROBLEMS));
  });

  it("lists the headers of each response", () => {
    const headersOf = (path: string, method: string, status: number) =>
      Object.keys(answerOf(document.paths[path][method].responses[status]).headers ?? {});
    const limits = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"];

    for (const [route, { responses }] of operations()) {
      for (const answer of Object.values(responses)) {
        assert.ok(Object.hasOwn(answerOf(answer).headers ?? {}, "X-Request-Id"), route);
      }
    }
    assert.deepEqual(headersOf("/v1/queues", "get", 200), ["X-Request-Id", ...limits]);
    assert.deepEqual(headersOf("/v1/queues", "get", 429), ["X-Request-Id", ...limits, "Retry-After"]);
    assert.deepEqual(headersOf("/v1/queues", "get", 401), ["X-Request-Id", "WWW-Authenticate"]);
    assert.deepEqual(headersOf("/v1/tasks", "post", 200), ["X-Request-Id", ...limits, "Idempotent-Replayed"]);
    assert.deepEqual(headersOf("/v1/providers", "get", 200), ["X-Request-Id"]);
    assert.deepEqual(headersOf("/v1/oauth/token", "post", 200), ["X-Request-Id"]);
    assert.deepEqual(headersOf("/v1/oauth/token", "post", 503), ["X-Request-Id", "Retry-After"]);
  });

  it("describes the task notification as a webhook", () => {
    const { requestBody, parameters } = document.webhooks.taskEnded.post;

    assert.deepEqual(
      parameters.map(({ name }: { name: string }) => name),
      ["webhook-id", "webhook-timestamp", "webhook-signature"],
    );
    const { properties } = at(requestBody.content["application/json"].schema.$ref);
    assert.deepEqual(Object.keys(properties), ["type", "timestamp", "data"]);
  });

  it("suits client generators: no empty objects, and no defaults on optional fields", () => {
    const broken: string[] = [];
    const look = (part: unknown, path: string): void => {
      if (typeof part !== "object" || part === null) return;
      const { type, properties, additionalProperties, required = [] } = part as Record<string, unknown>;
      const isObject = [type].flat().includes("object");
      // Generators make `Record<string, never>` of such a schema.
      if (isObject && Object.keys(properties ?? {}).length === 0 && !additionalProperties)
        broken.push(`${path} takes only an empty object`);
      for (const [name, field] of Object.entries(properties ?? {})) {
        // A generator takes a field with a default for one that is always there.
        if (!(required as string[]).includes(name) && "default" in field)
          broken.push(`${path}.${name} has a default`);
      }
      for (const [name, inner] of Object.entries(part)) look(inner, `${path}/${name}`);
    };
    look(document, "");

    assert.deepEqual(broken, []);
    assert.match(
      document.components.schemas.CreateQueue.properties.concurrency.description,
      /Default: `5`\.$/,
    );
  });

  it("is not made by a running server, which could do nothing else meanwhile", () => {
    assert.equal(api.app.hasDecorator("swagger"), false);
  });

  it("is served as the routes say, with the public URL of the server", async () => {
    const bare = async (publicUrl: string) => {
      const app: Api = fastify();
      await serveReference(app, REFERENCE, publicUrl);
      return async (url: string) => (await app.inject(url)).body;
    };
    const PLAIN = "http://10.0.0.1:8080/jobs";
    const [here, there] = [await bare(PUBLIC_URL), await bare(PLAIN)];
    const plain = await buildOpenApiDocument(VERSION, PLAIN);
    for (const [get, expected] of [
      [here, document],
      [there, plain],
    ] as const)
      for (const url of ["/openapi.json", "/docs/openapi.json"])
        assert.equal(await get(url), JSON.stringify(expected), "npm run generate");
    const urlsIn = (text: string) => text.match(/"http:\/\/10\.0\.0\.1[^"]*"/g);
    const yaml = await there("/docs/openapi.yaml");
    assert.deepEqual(urlsIn(yaml), urlsIn(JSON.stringify(plain)));
    assert.doesNotMatch(yaml, /127\.0\.0\.1:8787/);

    const odd = `https://bellhop.test/"$&`;
    const { servers } = JSON.parse(await (await bare(odd))("/openapi.json"));
    assert.deepEqual(servers, [{ url: odd }]);
  });

  it("is shown at /docs/, to which /docs redirects because of relative links", async () => {
    for (const url of ["/docs", "/docs/", "/docs?a=/"]) {
      const { status, headers } = await api.send({ url });
      const expected = url === "/docs/" ? [200, undefined] : [301, "/docs/"];
      assert.deepEqual([status, headers.location], expected, url);
    }
  });

  it("is shown by a page that loads nothing from other hosts", async () => {
    const page = await api.send({ url: "/docs/" });
    const policy = String(page.headers["content-security-policy"]);

    assert.equal(page.status, 200);
    assert.doesNotMatch(page.text, /https?:\/\//);
    assert.match(policy, /default-src 'none'; script-src 'self' 'sha256-[\w+/]+=*';/);
    assert.doesNotMatch(policy, /https?:|\*|unsafe-eval/);
    for (const url of ["/docs/js/scalar.js", "/docs/openapi.json", "/docs/openapi.yaml"]) {
      assert.equal((await api.send({ url })).status, 200, url);
    }
  });
});
