import assert from "node:assert/strict";
import { before, beforeEach, describe, it } from "node:test";
import { createTestApi, type TestApi } from "./test-api.ts";

describe("the log", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });
  beforeEach(() => {
    api.lines.length = 0;
  });

  it("has one line per request, with route pattern, team id and request id", async () => {
    const { body: me } = await api.call("GET", "/v1/me");
    api.lines.length = 0;
    await api.call("GET", "/v1/tasks/task_secret", undefined, { "x-request-id": "abc" });

    assert.equal(api.lines.length, 1);
    const { method, route, status, team, requestId, msg, ms } = api.lines[0] ?? {};
    assert.deepEqual(
      { method, route, status, team, requestId, msg },
      {
        method: "GET",
        route: "/v1/tasks/:task_id",
        status: 404,
        team: me.team.id,
        requestId: "abc",
        msg: "request",
      },
    );
    assert.equal(typeof ms, "number");
  });

  it("has one line for a request without a matching route or with a malformed URL", async () => {
    await api.call("GET", "/secret");
    await api.call("GET", "/v1/%zz");

    assert.deepEqual(
      api.lines.map(({ route, status, team }) => [route, status, team]),
      [
        [null, 404, null],
        [null, 400, null],
      ],
    );
  });

  it("never contains a credential, URL, header or body", async () => {
    await api.call(
      "POST",
      "/v1/tasks",
      {
        queue: "default",
        webhook_url: "http://a/?secret",
        payload: { secret: 1 },
        headers: { "x-secret": "secret" },
      },
      { "x-secret": "secret" },
    );
    await api.call("POST", "/v1/tasks?secret=1", { secret: 1 });
    await api.call("GET", "/v1/tasks/secret");
    await api.call("GET", "/secret");

    const text = JSON.stringify(api.lines);
    assert.equal(api.lines.length, 4);
    assert.ok(!text.includes("secret"), text);
    assert.ok(!text.includes(api.team.key), text);
  });

  it("contains the stack of an unexpected error, which the answer does not", async (test) => {
    test.mock.method(api.services.queues, "list", async () => {
      throw new Error("the secret reason");
    });

    const { status, body, headers } = await api.call("GET", "/v1/queues");

    assert.equal(status, 500);
    assert.deepEqual(body, { error: "Internal server error", code: "internal" });
    const bug = api.lines.find((line) => line.msg === "request failed");
    assert.equal(bug?.requestId, headers["x-request-id"]);
    assert.match(JSON.stringify(bug), /the secret reason.*log\.suite\.[jt]s/);
  });
});
