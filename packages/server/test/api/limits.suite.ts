import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Problem } from "../../src/domain/problem.ts";
import { createSourceLimit } from "../../src/service/access/source-limit.ts";
import type { Allowance } from "../../src/service/access/team-meter.ts";
import { createFakeServices, LIVE_KEY } from "./fake-services.ts";
import { createTestApi, type TestApi, toAnswer } from "./test-api.ts";

describe("the limit of a team", () => {
  const withAllowance = async (
    answer: Allowance | Promise<Allowance>,
    use: (api: TestApi) => Promise<void>,
  ) => {
    const api = await createTestApi({ ...createFakeServices(), limits: { count: () => answer } });
    try {
      await use(api);
    } finally {
      await api.app.close();
    }
  };
  const limitHeaders = (headers: Record<string, unknown>) => [
    String(headers["x-ratelimit-limit"]),
    String(headers["x-ratelimit-remaining"]),
    String(headers["x-ratelimit-reset"]),
  ];

  it("every authenticated answer tells what is left, also a refusal", async () => {
    const allowance = { limit: 60, remaining: 41, resetSeconds: 1_772_357_460, retryAfterSeconds: null };
    for (const answer of [allowance, Promise.resolve(allowance)]) {
      await withAllowance(answer, async ({ call }) => {
        for (const [method, url, body, expected] of [
          ["GET", "/v1/queues", undefined, 200],
          ["GET", "/v1/tasks/task_1", undefined, 404],
          ["POST", "/v1/queues", "not json", 400],
          ["POST", "/v1/queues", { nam: "a" }, 400],
        ] as const) {
          const { status, headers } = await call(method, url, body);
          assert.equal(status, expected);
          assert.deepEqual(limitHeaders(headers), ["60", "41", "1772357460"]);
        }
      });
    }
  });

  it("a team without one is told so", async () => {
    const none = { limit: null, remaining: 0, resetSeconds: 1_772_357_400, retryAfterSeconds: null };
    await withAllowance(none, async ({ call }) => {
      const { headers } = await call("GET", "/v1/queues");
      assert.deepEqual(limitHeaders(headers), ["unlimited", "unlimited", "1772357400"]);
    });
  });

  it("over it the answer is 429 with the time to wait, before anything else is looked at", async () => {
    const none = { limit: 60, remaining: 0, resetSeconds: 1_772_357_460, retryAfterSeconds: 37 };
    for (const answer of [none, Promise.resolve(none)]) {
      await withAllowance(answer, async ({ call, services }) => {
        const { status, body, headers } = await call("POST", "/v1/tasks", "not json");
        assert.deepEqual([status, body], [429, { error: "Rate limit exceeded" }]);
        assert.equal(headers["retry-after"], "37");
        assert.deepEqual(limitHeaders(headers), ["60", "0", "1772357460"]);
        assert.deepEqual(services.requests, []);
      });
    }
  });

  it("counts only who has shown a credential that counts", async () => {
    let counted = 0;
    const services = createFakeServices();
    const count: typeof services.limits.count = (principal) => {
      counted += 1;
      return services.limits.count(principal);
    };
    const { app } = await createTestApi({ ...services, limits: { count } });
    for (const headers of [{}, { authorization: "Bearer nonsense" }]) {
      const answer = toAnswer(await app.inject({ url: "/v1/queues", headers }));
      assert.equal(answer.status, 401);
      assert.equal(answer.headers["x-ratelimit-limit"], undefined);
    }
    await app.inject({ url: "/v1/nowhere", headers: { authorization: `Bearer ${LIVE_KEY}` } });
    assert.equal(counted, 0);
    await app.close();
  });

  it("while it cannot be known the answer is 503", async () => {
    await withAllowance(Promise.reject(new Problem("database_away")), async ({ call }) => {
      const { status, headers } = await call("GET", "/v1/queues");
      assert.deepEqual([status, headers["retry-after"]], [503, "1"]);
    });
  });
});

describe("the limit of visits without a credential", () => {
  const PUBLIC = [
    "/v1/providers",
    "/openapi.json",
    "/docs/",
    "/docs/openapi.yaml",
    "/.well-known/oauth-authorization-server",
  ];
  async function createLimited(most: number): Promise<TestApi> {
    const visits = createSourceLimit({ most, seconds: 60, monotonicMs: () => 0 });
    return createTestApi({ ...createFakeServices(), visits });
  }
  const get = async (
    { app }: TestApi,
    url: string,
    remoteAddress = "192.0.2.1",
    method: "GET" | "HEAD" = "GET",
  ) => toAnswer(await app.inject({ method, url, remoteAddress }));

  it("is one for all public routes, counted by address", async () => {
    const api = await createLimited(PUBLIC.length);
    for (const url of PUBLIC) assert.equal((await get(api, url)).status, 200, url);
    for (const url of PUBLIC) {
      const { status, headers } = await get(api, url);
      assert.deepEqual([status, headers["retry-after"]], [429, "60"], url);
    }
    assert.deepEqual((await get(api, "/v1/providers")).body, { error: "Rate limit exceeded" });
    assert.equal((await get(api, "/v1/providers", "192.0.2.2")).status, 200);
    await api.app.close();
  });

  it("counts a request once, whatever its method", async () => {
    const api = await createLimited(2);
    for (const method of ["HEAD", "GET"] as const)
      assert.equal((await get(api, "/v1/providers", "192.0.2.1", method)).status, 200);
    assert.equal((await get(api, "/v1/providers")).status, 429);
    await api.app.close();
  });

  it("is not for health, nor for callbacks, nor for who has a credential", async () => {
    const api = await createLimited(1);
    for (let visit = 0; visit < 3; visit += 1) {
      for (const url of ["/livez", "/readyz", "/healthz"])
        assert.equal((await get(api, url)).status, 200, url);
      assert.equal((await api.call("GET", "/v1/queues")).status, 200);
      assert.equal((await api.call("POST", `/v1/callbacks/${"f".repeat(64)}`, {})).status, 404);
    }
    await api.app.close();
  });
});

describe("what is the same for everybody", () => {
  it("is made once and stays as it was, but for the request's own id", async () => {
    const { app } = await createTestApi();
    for (const url of [
      "/openapi.json",
      "/docs/",
      "/docs/openapi.json",
      "/docs/openapi.yaml",
      "/docs/js/scalar.js",
    ]) {
      const answers = [];
      for (const id of ["first", "second"])
        answers.push(toAnswer(await app.inject({ url, headers: { "x-request-id": id } })));
      const [first, second] = answers;
      assert.ok(first !== undefined && second !== undefined);
      assert.deepEqual([first.status, second.text], [200, first.text], url);
      const shown = ({ date: _, "x-request-id": __, ...headers }: typeof first.headers) => headers;
      assert.deepEqual(shown(second.headers), shown(first.headers), url);
      assert.deepEqual([first.headers["x-request-id"], second.headers["x-request-id"]], ["first", "second"]);
      const head = toAnswer(await app.inject({ method: "HEAD", url }));
      assert.deepEqual(
        [head.status, head.text, head.headers["content-length"]],
        [200, "", first.headers["content-length"]],
      );
    }
    await app.close();
  });
});
