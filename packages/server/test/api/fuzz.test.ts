import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import fc from "fast-check";
import { PROBLEMS, type ProblemCode } from "../../src/domain/problem.ts";
import { createTestApi, type TestApi } from "./test-api.ts";

const ROUTES = [
  ["POST", "/v1/tasks"],
  ["GET", "/v1/tasks"],
  ["GET", "/v1/tasks/:id"],
  ["DELETE", "/v1/tasks/:id"],
  ["POST", "/v1/queues"],
  ["GET", "/v1/queues"],
  ["GET", "/v1/queues/:id"],
  ["PATCH", "/v1/queues/:id"],
  ["DELETE", "/v1/queues/:id"],
  ["POST", "/v1/queues/:id/pause"],
  ["POST", "/v1/queues/:id/resume"],
  ["POST", "/v1/tokens"],
  ["GET", "/v1/tokens"],
  ["DELETE", "/v1/tokens/:id"],
  ["POST", "/v1/callbacks/:id"],
  ["GET", "/v1/signing-secret"],
  ["POST", "/v1/signing-secret/rotate"],
  ["POST", "/v1/auth/magic-link"],
  ["POST", "/v1/auth/session"],
  ["DELETE", "/v1/auth/session"],
  ["POST", "/v1/auth/session/team"],
  ["GET", "/v1/me"],
  ["GET", "/v1/teams"],
  ["POST", "/v1/teams"],
  ["GET", "/v1/team"],
  ["PATCH", "/v1/team"],
  ["GET", "/v1/team/members"],
  ["PATCH", "/v1/team/members/:id"],
  ["DELETE", "/v1/team/members/:id"],
  ["DELETE", "/v1/team/membership"],
  ["POST", "/v1/team/invitations"],
  ["GET", "/v1/team/invitations"],
  ["DELETE", "/v1/team/invitations/:id"],
  ["POST", "/v1/apikeys"],
  ["GET", "/v1/apikeys"],
  ["DELETE", "/v1/apikeys/:id"],
  ["GET", "/v1/audit"],
  ["GET", "/v1/system"],
  ["POST", "/v1/oauth/applications"],
  ["GET", "/v1/oauth/applications"],
  ["DELETE", "/v1/oauth/applications/:id"],
  ["POST", "/v1/oauth/applications/:id/rotate"],
  ["GET", "/v1/oauth/authorizations"],
  ["DELETE", "/v1/oauth/authorizations/:id"],
] as const;

const FIELDS = [
  "queue",
  "webhook_url",
  "payload",
  "delay",
  "priority",
  "max_retries",
  "method",
  "headers",
  "run_at",
  "retry_backoff",
  "timeout",
  "wait_for_callback",
  "max_wait",
  "provider",
  "poll_config",
  "on_complete_url",
  "idempotency_key",
  "targetUrl",
  "body",
  "delayUntil",
  "maxRetries",
  "retryBackoff",
  "waitForCallback",
  "maxWait",
  "pollConfig",
  "onCompleteUrl",
  "idempotencyKey",
  "sign",
  "tags",
  "metadata",
  "name",
  "value",
  "teamId",
  "token",
  "allowedHosts",
  "concurrency",
  "retry_delay",
  "role",
  "email",
  "environment",
  "redirectUris",
  "scopes",
  "grantTypes",
  "__proto__",
  "constructor",
];

const plausible = fc.oneof(
  fc.constantFrom(
    "default",
    "http://a.example/",
    "2030-01-01T00:00:00Z",
    "POST",
    "fixed",
    "replicate",
    "\ud800",
    "",
    "\u0000",
    "tok_x",
  ),
  fc.constantFrom(0, 1, 5, -1, 1.5, 1e308, null, true),
  fc.dictionary(
    fc.oneof(fc.constantFrom("Host", "X-A", "x-a"), fc.string()),
    fc.oneof(fc.string(), fc.integer()),
  ),
  fc.record(
    {
      urlTemplate: fc.oneof(fc.constantFrom("https://a.example/{startResult.body.id}", "{"), fc.string()),
      statusPath: fc.string(),
      doneValues: fc.array(fc.oneof(fc.string({ unit: "binary" }), fc.integer()), { maxLength: 60 }),
      failValues: fc.array(fc.string()),
      forwardHeaders: fc.array(fc.string()),
    },
    { requiredKeys: [] },
  ),
  fc.jsonValue(),
);
const fields = fc.array(fc.tuple(fc.constantFrom(...FIELDS), plausible), { maxLength: 3 });
const body = fc.oneof(fields.map(toObjectText), fc.json(), fc.string());
const nearlyTask = fields.map((entries) =>
  toObjectText([["queue", "default"], ["webhook_url", "http://a.example/"], ...entries]),
);
const nearlyDirect = fields.map((entries) => toObjectText([["targetUrl", "http://a.example/"], ...entries]));
const query = fc.array(
  fc.tuple(
    fc.oneof(fc.constantFrom("limit", "offset", "status", "queue", "cursor", "action"), fc.string()),
    fc.oneof(fc.constantFrom("1", "20", "-1", "1e3", "pending", "default", "%00"), fc.string()),
  ),
  { maxLength: 4 },
);
const segment = fc.oneof(
  fc.constantFrom("default", "%00", "%zz", "..", "%2e%2e%2f", "task_", "task_7zzzzzzzzzzzzzzzzzzzzzzzzz"),
  fc.string().map(encodeURIComponent),
  fc.string({ minLength: 100, maxLength: 300 }).map(encodeURIComponent),
);

describe("fuzzed requests", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  /** The promise of every answer: JSON with an error text that is ours, the request's id, and never a 500. */
  async function check(
    method: string,
    url: string,
    headers: Record<string, string>,
    payload?: string | Buffer,
  ) {
    const answer = await api.send({
      method: method as "GET",
      url,
      headers: { ...api.team.headers, ...headers },
      ...(payload !== undefined && { payload }),
    });
    const context = `${method} ${url} ${payload} → ${answer.status} ${answer.text}`;
    assert.ok(answer.status < 500, context);
    assert.ok(answer.headers["x-request-id"], context);
    if (method === "HEAD") return;
    assert.equal(typeof answer.body, "object", context);
    if (answer.status >= 400) {
      assert.equal(typeof answer.body.error, "string", context);
      assert.equal(PROBLEMS[answer.body.code as ProblemCode]?.status, answer.status, context);
      assert.deepEqual(
        Object.keys(answer.body).filter((key) => !["error", "code", "details"].includes(key)),
        [],
        context,
      );
      assert.doesNotMatch(answer.text, /FST_ERR|statusCode|schemaPath|instancePath|must NOT/, context);
      // Whatever the database cannot hold has a rule of its own, which the answer names.
      assert.doesNotMatch(answer.text, /cannot be stored/, context);
    }
  }
  const countTasks = async (shape: "queue" | "direct") => {
    const values = [api.team.id, shape];
    return (await api.server.database.rows("select 1 from tasks where team_id = $1 and shape = $2", values))
      .length;
  };

  it("are answered without a 500: bodies", async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...ROUTES), body, ([method, path], text) =>
        check(method, path.replace(":id", "default"), { "content-type": "application/json" }, text),
      ),
      { numRuns: 400 },
    );
  });

  it("are answered without a 500: nearly valid queue tasks", async () => {
    await fc.assert(
      fc.asyncProperty(nearlyTask, (text) =>
        check("POST", "/v1/tasks", { "content-type": "application/json" }, text),
      ),
      { numRuns: 300 },
    );
    assert.ok((await countTasks("queue")) > 10);
  });

  it("are answered without a 500: nearly valid direct tasks", async () => {
    await fc.assert(
      fc.asyncProperty(nearlyDirect, (text) =>
        check("POST", "/v1/tasks", { "content-type": "application/json" }, text),
      ),
      { numRuns: 300 },
    );
    assert.ok((await countTasks("direct")) > 10);
  });

  it("are answered without a 500: callbacks of any content type", async () => {
    const type = fc.constantFrom("application/json", "text/plain", "a/b+json", "x", "");
    await fc.assert(
      fc.asyncProperty(segment, type, fc.oneof(body, fc.uint8Array()), (id, contentType, payload) =>
        check(
          "POST",
          `/v1/callbacks/${id}`,
          { "content-type": contentType },
          typeof payload === "string" ? payload : Buffer.from(payload),
        ),
      ),
      { numRuns: 300 },
    );
  });

  it("are answered without a 500: bytes that are not UTF-8", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 40 }), (bytes) =>
        check("POST", "/v1/tasks", { "content-type": "application/json" }, Buffer.from(bytes)),
      ),
      { numRuns: 150 },
    );
  });

  it("are answered without a 500: query strings", async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...ROUTES), query, ([method, path], pairs) => {
        const text = pairs.map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`);
        return check(method, `${path.replace(":id", "default")}?${text.join("&")}`, {});
      }),
      { numRuns: 250 },
    );
  });

  it("are answered without a 500: paths and methods", async () => {
    const method = fc.constantFrom(
      "GET",
      "HEAD",
      "POST",
      "PUT",
      "PATCH",
      "DELETE",
      "OPTIONS",
      "TRACE",
      "PROPFIND",
    );
    await fc.assert(
      fc.asyncProperty(method, fc.constantFrom(...ROUTES), segment, (verb, [, path], part) =>
        check(verb, path.includes(":id") ? path.replace(":id", part) : `${path}/${part}`, {}),
      ),
      { numRuns: 400 },
    );
  });

  it("are answered without a 500: headers", async () => {
    const value = fc.string({ unit: fc.constantFrom(..."aB0 ;=/,\"'*\u00e9\\") });
    const name = fc.constantFrom(
      "content-type",
      "accept",
      "x-request-id",
      "x-api-key",
      "accept-version",
      "expect",
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...ROUTES), fc.dictionary(name, value), ([method, path], headers) =>
        check(method, path.replace(":id", "default"), headers, '{"a":1}'),
      ),
      { numRuns: 200 },
    );
  });

  it("log no error, whatever was sent", () => {
    assert.deepEqual(
      api.lines.filter((line) => Number(line.level) >= 50),
      [],
    );
  });
});

/** Names may repeat: the last one counts. */
function toObjectText(entries: [string, unknown][]): string {
  return `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(",")}}`;
}
