import assert from "node:assert/strict";
import { before, describe, it, type TestContext } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { createSourceLimit } from "../../src/service/access/source-limit.ts";
import { databaseAway } from "../test-sql.ts";
import { createTestApi, type TestApi } from "./test-api.ts";
import type { TestTeam } from "./test-team.ts";

describe("the rate limit of a team", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  const openLimitedTeam = async (perMinute: number): Promise<TestTeam> => {
    const team = await api.openTeam();
    await api.server.database.rows("update teams set requests_per_minute = $2 where id = $1", [
      team.id,
      perMinute,
    ]);
    return team;
  };
  const limitHeaders = (headers: Record<string, unknown>) => [
    String(headers["x-ratelimit-limit"]),
    String(headers["x-ratelimit-remaining"]),
  ];
  /** When there is room again, in seconds since 1970: within the next minute. */
  const assertReset = (headers: Record<string, unknown>) => {
    const aheadSeconds = Number(headers["x-ratelimit-reset"]) - Date.now() / 1000;
    assert.ok(aheadSeconds > -2 && aheadSeconds <= 61, String(headers["x-ratelimit-reset"]));
  };

  it("is in every authenticated answer with the remaining requests, even in a refusal", async () => {
    const { headers: credential } = await openLimitedTeam(60);
    let left = 60;
    for (const [method, url, body, expected] of [
      ["GET", "/v1/queues", undefined, 200],
      ["GET", "/v1/tasks/task_1", undefined, 404],
      ["POST", "/v1/queues", "not json", 400],
      ["POST", "/v1/queues", { nam: "a" }, 400],
    ] as const) {
      const { status, headers } = await api.call(method, url, body, credential);
      left -= 1;
      assert.equal(status, expected);
      assert.deepEqual(limitHeaders(headers), ["60", String(left)]);
      assertReset(headers);
    }
  });

  it("adds no headers for a team without a limit", async () => {
    const { status, headers } = await api.call("GET", "/v1/queues");

    assert.equal(status, 200);
    assert.deepEqual(
      Object.keys(headers).filter((name) => name.startsWith("x-ratelimit")),
      [],
    );
  });

  it("answers 429 with Retry-After before the body is parsed", async () => {
    const { id, headers: credential } = await openLimitedTeam(2);
    for (const expected of ["1", "0"]) {
      const { headers } = await api.call("GET", "/v1/queues", undefined, credential);
      assert.deepEqual(limitHeaders(headers), ["2", expected]);
    }
    const task = { queue: "default", webhook_url: "http://a/" };
    for (const sent of ["not json", task, task]) {
      const { status, body, headers } = await api.call("POST", "/v1/tasks", sent, credential);
      assert.deepEqual([status, body], [429, { error: "Rate limit exceeded", code: "rate_limited" }]);
      const retryAfter = Number(headers["retry-after"]);
      assert.ok(retryAfter > 0 && retryAfter <= 60, String(retryAfter));
      assert.deepEqual(limitHeaders(headers), ["2", "0"]);
      assertReset(headers);
    }
    assert.deepEqual(await api.server.database.rows("select 1 from tasks where team_id = $1", [id]), []);
  });

  it("counts only requests with a valid credential on an existing route", async () => {
    const { headers: credential } = await openLimitedTeam(10);
    for (const headers of [{}, { authorization: "Bearer nonsense" }]) {
      const answer = await api.send({ url: "/v1/queues", headers });
      assert.equal(answer.status, 401);
      assert.equal(answer.headers["x-ratelimit-limit"], undefined);
    }
    const nowhere = await api.call("GET", "/v1/nowhere", undefined, credential);
    assert.deepEqual([nowhere.status, nowhere.headers["x-ratelimit-limit"]], [404, undefined]);

    const { headers } = await api.call("GET", "/v1/queues", undefined, credential);
    assert.deepEqual(limitHeaders(headers), ["10", "9"]);
  });

  it("answers 503 while the database cannot be reached", async (test) => {
    test.mock.method(api.services.limits, "count", () => Promise.reject(databaseAway()));

    const { status, headers } = await api.call("GET", "/v1/queues");

    assert.deepEqual([status, headers["retry-after"]], [503, "1"]);
  });
});

describe("the rate limit of requests without a credential", () => {
  const PUBLIC = [
    "/v1/providers",
    "/openapi.json",
    "/docs/",
    "/docs/openapi.yaml",
    "/.well-known/oauth-authorization-server",
  ];
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  /** The real limit, with fewer visits. */
  function allowVisits(test: TestContext, most: number): void {
    const { visits } = api.services;
    const fewer = createSourceLimit({ most, seconds: 60, monotonicMs: () => 0 });
    test.mock.method(visits, "refuse", fewer.refuse);
    test.mock.method(visits, "count", fewer.count);
  }
  const get = (url: string, remoteAddress = "192.0.2.1", method: "GET" | "HEAD" = "GET") =>
    api.send({ method, url, remoteAddress });

  it("is shared by all public routes and counted per address", async (test) => {
    allowVisits(test, PUBLIC.length);
    for (const url of PUBLIC) assert.equal((await get(url)).status, 200, url);
    for (const url of PUBLIC) {
      const { status, headers } = await get(url);
      assert.deepEqual([status, headers["retry-after"]], [429, "60"], url);
    }
    assert.deepEqual((await get("/v1/providers")).body, {
      error: "Rate limit exceeded",
      code: "rate_limited",
    });
    assert.equal((await get("/v1/providers", "192.0.2.2")).status, 200);
  });

  it("counts HEAD and GET alike", async (test) => {
    allowVisits(test, 2);
    for (const method of ["HEAD", "GET"] as const)
      assert.equal((await get("/v1/providers", "192.0.2.1", method)).status, 200);
    assert.equal((await get("/v1/providers")).status, 429);
  });

  it("excludes health checks, callbacks and requests with a credential", async (test) => {
    allowVisits(test, 1);
    const remoteAddress = "192.0.2.3";
    for (let visit = 0; visit < 3; visit += 1) {
      for (const url of ["/livez", "/readyz", "/healthz"])
        assert.equal((await get(url, remoteAddress)).status, 200, url);
      const { headers } = api.team;
      assert.equal((await api.send({ url: "/v1/queues", headers, remoteAddress })).status, 200);
      const url = `/v1/callbacks/${"f".repeat(64)}`;
      assert.equal((await api.send({ method: "POST", url, payload: {}, remoteAddress })).status, 404);
    }
  });
});

describe("static answers", () => {
  it("are identical for each request except for the request id", async () => {
    const api = await createTestApi();
    for (const url of [
      "/openapi.json",
      "/docs/",
      "/docs/openapi.json",
      "/docs/openapi.yaml",
      "/docs/js/scalar.js",
    ]) {
      const first = await api.send({ url, headers: { "x-request-id": "first" } });
      const second = await api.send({ url, headers: { "x-request-id": "second" } });
      assert.deepEqual([first.status, second.text], [200, first.text], url);
      const shown = ({ date: _, "x-request-id": __, ...headers }: typeof first.headers) => headers;
      assert.deepEqual(shown(second.headers), shown(first.headers), url);
      assert.deepEqual([first.headers["x-request-id"], second.headers["x-request-id"]], ["first", "second"]);
      const head = await api.send({ method: "HEAD", url });
      assert.deepEqual(
        [head.status, head.text, head.headers["content-length"]],
        [200, "", first.headers["content-length"]],
      );
    }
  });

  it("are compressed as the client accepts, and answered 304 when the client has them", async () => {
    const api = await createTestApi();
    for (const url of ["/openapi.json", "/docs/js/scalar.js"]) {
      const ask = async (headers: Record<string, string>) => {
        const { statusCode, headers: told, rawPayload } = await api.app.inject({ url, headers });
        return {
          status: statusCode,
          coding: told["content-encoding"],
          etag: String(told.etag),
          told,
          rawPayload,
        };
      };
      const plain = await ask({});
      const decoders = { gzip: gunzipSync, br: brotliDecompressSync };
      for (const [accept, expected] of [
        ["gzip, deflate, br", "br"],
        ["gzip, br;q=0", "gzip"],
        ["GZIP;q=0.5", "gzip"],
        ["deflate", undefined],
        ["", undefined],
        ["gzip;q=0, identity", undefined],
      ] as const) {
        const { coding, rawPayload, etag, told } = await ask({ "accept-encoding": accept });
        assert.deepEqual([coding, etag, told.vary], [expected, plain.etag, "accept-encoding"], accept);
        assert.equal(told["content-length"], String(rawPayload.length));
        const bytes = expected === undefined ? rawPayload : decoders[expected](rawPayload);
        assert.ok(bytes.equals(plain.rawPayload), accept);
        if (expected !== undefined) assert.ok(rawPayload.length < bytes.length / 3);
      }
      for (const held of [plain.etag, plain.etag.slice(2), `"other", ${plain.etag}`, "*"]) {
        const { status, rawPayload, etag } = await ask({ "if-none-match": held, "accept-encoding": "br" });
        assert.deepEqual([status, rawPayload.length, etag], [304, 0, plain.etag], held);
      }
      assert.equal((await ask({ "if-none-match": 'W/"other"' })).status, 200);
    }
  });
});
